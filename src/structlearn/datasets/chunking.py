"""Chunks, read off a tree of the treebank's grammar.

The chunks follow the conventions of the CoNLL-2000 shared task: a noun phrase up to its head,
without anything after it; a verb group from the first auxiliary to the last verb ("wants to go" is
one group); a preposition by itself; the word that opens a subordinate clause by itself; adjective
and adverb phrases where they are not inside one of the others.
"""

from __future__ import annotations

from structlearn.datasets.sentence import Tree, is_leaf

_OUTSIDE = frozenset({"CC", "."})


def chunks_of(tree: Tree) -> list[str]:
    """Return the chunk tag (IOB2) of every word of a tree.

    Parameters
    ----------
    tree : nested tuple
        A tree as :class:`~structlearn.datasets.Sentence` holds it.

    Returns
    -------
    list of str
    """
    out: list[str] = []
    _phrase(tree, out)
    return out


def _children(tree: Tree) -> list[Tree]:
    return [child for child in tree[1:] if not isinstance(child, str)]


def _add(out: list[str], label: str, inside: bool) -> None:
    out.append(("I-" if inside else "B-") + label)


def _phrase(tree: Tree, out: list[str]) -> None:
    label = str(tree[0])
    children = _children(tree)
    if label == "VP":
        _verb_group(children, out, False)
    elif label == "NP" and all(is_leaf(child) or child[0] == "ADJP" for child in children):
        start = len(out)
        for _ in range(_width(tree)):
            _add(out, "NP", len(out) > start)
    else:
        _other(label, children, out)


def _other(label: str, children: list[Tree], out: list[str]) -> None:
    """Chunk a clause, a prepositional, adjective or adverb phrase, or a noun phrase of several."""
    previous_leaf = False
    for child in children:
        if not is_leaf(child):
            _phrase(child, out)
        elif label in ("S", "NP") or (child[0] in _OUTSIDE and not previous_leaf):
            out.append("O")  # punctuation, conjunctions, the inverted verb of a question
        else:
            _add(out, label, previous_leaf)
        previous_leaf = is_leaf(child)


def _verb_group(children: list[Tree], out: list[str], inside: bool) -> None:
    """Chunk a verb phrase; ``inside``: a verb group continues up to its first word."""
    for child in children:
        if is_leaf(child):
            if child[0] in _OUTSIDE:
                out.append("O")
                inside = False
            else:
                _add(out, "VP", inside)
                inside = True
        elif child[0] == "VP":
            _verb_group(_children(child), out, inside)
            inside = False
        elif child[0] == "ADVP" and inside and child is not children[-1]:
            # An adverb between auxiliary and verb does not end the group.
            for _ in range(_width(child)):
                _add(out, "VP", True)
        else:
            _phrase(child, out)
            inside = False


def _width(tree: Tree) -> int:
    return 1 if is_leaf(tree) else sum(_width(child) for child in _children(tree))
