"""Looking at a dependency parser: what it is, and what decided the arcs of a sentence."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Any

from ...text.corpus import Corpus
from ..html_page import html_page
from ..learning import learner_facts
from .heaviest import ARCS, heaviest_features
from .reading import gold_tree, read_treebank

__all__ = ["explain_sentence", "inspect_parser", "inspect_parser_html"]

#: Sentences of a file that are explained, where nobody asks for more.
_SENTENCES = 20


def explain_sentence(parser: Any, corpus: Corpus, sentence: int) -> list[dict[str, Any]]:
    """Return, word by word, the arc of the best tree, its best rival, and the reasons.

    Returns
    -------
    list of dict
        head, label and score of the arc; rival_head, rival_label and rival_score of the best other
        arc into the word where the pruner left one; reasons: (template, weight for the arc less
        weight for the rival). Scores of pairs of arcs (order 2) come on top of them and can turn
        the balance.
    """
    model = parser._fitted()
    one = read_treebank([list(corpus[sentence])])
    _, tags = parser._tagged(one, None)
    found: list[dict[str, Any]] = model.core.explain(one._core, tags, model.lemmas, 0)
    return found


def inspect_parser(
    parser: Any,
    top: int = 10,
    sentences: Any = None,
    labels: Sequence[str] | None = None,
    most: int = _SENTENCES,
) -> str:
    """Return what a parser is as text, or, with sentences, what decided their arcs.

    Parameters
    ----------
    top : int
        Reasons for each word, features of each relation.
    sentences : path, Corpus or list of sentences, optional
    labels : list of str, optional
        Only these relations.
    most : int
        The most sentences that are shown.
    """
    _check_labels(parser, labels)
    if sentences is None:
        return "\n".join([_summary(parser), *_feature_lines(_stored(parser), top, labels)])
    corpus = read_treebank(sentences)
    lines = _decisions(parser, corpus, top, labels, most)
    if len(corpus) > most:
        lines.append(_cut(len(corpus), most))
    if gold_tree(corpus, 0) is not None:
        lines += ["", "The heaviest features of these trees"]
        found = heaviest_features(parser._fitted(), corpus, kept=top)
        lines += _feature_lines(found, top, labels)
    return "\n".join(lines).rstrip()


def _decisions(
    parser: Any, corpus: Corpus, top: int, labels: Sequence[str] | None, most: int
) -> list[str]:
    lines = []
    for number in range(min(len(corpus), most)):
        words = ["ROOT", *corpus.cells(number, "form")]
        lines.append(" ".join(words[1:]))
        for m, word in enumerate(explain_sentence(parser, corpus, number), 1):
            if labels and word["label"] not in labels:
                continue
            head = words[word["head"]]
            line = f"{m:>4} {words[m]}  <-{word['label']}-  {word['head']} {head}"
            line += f"  {word['score']:+.3f}"
            if "rival_head" in word:
                rival = words[word["rival_head"]]
                line += f"   rather than <-{word['rival_label']}- {word['rival_head']} {rival}"
                line += f"  {word['rival_score']:+.3f}"
            lines.append(line)
            strongest = sorted(word["reasons"], key=lambda r: (-abs(r[1]), r[0]))[:top]
            lines += [f"       {weight:+.3f}  {name}" for name, weight in strongest if weight]
        lines.append("")
    return lines


def inspect_parser_html(
    parser: Any,
    top: int = 10,
    sentences: Any = None,
    labels: Sequence[str] | None = None,
    most: int = _SENTENCES,
) -> str:
    """Return a page: the parser, and pictures of the trees of sentences with the reasons."""
    from html import escape

    _check_labels(parser, labels)
    parts = [f"<h1>Dependency parser</h1><pre>{escape(_summary(parser))}</pre>"]
    found = _stored(parser)
    if sentences is not None:
        corpus = read_treebank(sentences)
        shown = range(min(len(corpus), most))
        part = read_treebank([list(corpus[i]) for i in shown])
        trees = parser.predict(part)
        if any(gold_tree(part, i) is not None for i in shown):
            parts.append(
                '<p class="note">Arcs that the gold tree does not have are <span class="red">red'
                '</span>; those that are missing stand dashed and <span class="green">green</span> '
                "below the words.</p>"
            )
        for i in shown:
            picture = trees[i].draw(gold_tree(part, i))
            parts.append(f'<div class="wide">{picture.svg}</div>')
        if len(corpus) > most:
            parts.append(f'<p class="note">{escape(_cut(len(corpus), most))}</p>')
        text = "\n".join(_decisions(parser, part, top, labels, most)).rstrip()
        parts.append(f"<h2>What decided</h2><pre>{escape(text)}</pre>")
    lines = "\n".join(_feature_lines(found, top, labels)).strip()
    parts.append(f"<h2>The heaviest features</h2><pre>{escape(lines)}</pre>")
    return html_page("Dependency parser", parts)


def _cut(there: int, shown: int) -> str:
    return f"{shown} of {there} sentences are shown; --most N shows more."


def _check_labels(parser: Any, labels: Sequence[str] | None) -> None:
    known = [*parser._fitted().labels, ARCS]
    for label in labels or ():
        if label not in known:
            raise ValueError(f"the model has no relation {label!r}; it has {' '.join(known)}")


def _stored(parser: Any) -> dict[str, Any]:
    """Return the features that were named after training; older models have none."""
    found = parser._fitted().training.get("features")
    return dict(found) if isinstance(found, dict) else {}


def _feature_lines(
    found: dict[str, Any], top: int, labels: Sequence[str] | None = None
) -> list[str]:
    lines = []
    for group, rows in found.items():
        if labels and group not in labels:
            continue
        lines += ["", "arcs of any relation" if group == ARCS else group]
        lines += [f"  {weight:+.4f}  {name}" for name, weight in rows[:top]]
    if not lines:
        lines = ["", "The model holds no names of features: give --input, sentences with trees."]
    return lines


def _summary(parser: Any) -> str:
    model = parser._fitted()
    training = model.training
    kind = "projective" if model.projective else "any"
    weights = memoryview(model.arrays["weights"]).cast("B").cast("f")
    used = sum(1 for w in weights if w)
    lines = [
        f"order {model.order}, {kind} trees, learned by {training.get('learner')}"
        f" from {training.get('sentences')} sentences, {training.get('tokens')} words",
        *(f"{name}: {value}" for name, value in learner_facts(training)),
        f"at most {model.most} heads a word, of at least {model.least:g} of the best one's"
        " probability",
        f"{used} of {len(weights)} weights are not 0",
        f"taggers: {', '.join(t.target_name for t in model.taggers) or 'none (gold tags)'}",
        *textwrap.wrap(
            f"{len(model.labels)} relations: {' '.join(model.labels)}", 98, subsequent_indent="    "
        ),
    ]
    for record in training.get("history", []):
        if "dev_las" in record:
            run = f"run {record['run']}, " if training.get("n_models", 1) > 1 else ""
            lines.append(f"{run}pass {record['pass']}: dev LAS {100 * record['dev_las']:.2f}")
    return "\n".join(lines)
