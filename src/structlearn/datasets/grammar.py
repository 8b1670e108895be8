"""The grammar of the treebank, read from the rule lines and linked to the lexicon."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, product

from structlearn.datasets import rules
from structlearn.datasets.category import Category
from structlearn.datasets.lexicon import lexicon

START = "S.top"

DEPRELS = (
    "root",
    "nsubj",
    "csubj",
    "obj",
    "iobj",
    "obl",
    "nmod",
    "det",
    "poss",
    "nummod",
    "amod",
    "compound",
    "advmod",
    "case",
    "mark",
    "aux",
    "cop",
    "xcomp",
    "ccomp",
    "advcl",
    "acl",
    "appos",
    "cc",
    "conj",
    "punct",
)

_FORMS = tuple("zpmdwbgn")
_NUMBERS = ("sg", "pl")
_CLASSES = ("anim", "thing", "place", "abs")
# The verb forms for each subject, with their frequencies.
_AGREEMENT = (
    ("sg", "z", 0.35),
    ("sg", "d", 0.29),
    ("pl", "p", 0.17),
    ("pl", "w", 0.12),
    ("i", "m", 0.04),
    ("i", "d", 0.03),
)


@dataclass(slots=True)
class Phrase:
    """A phrasal symbol with its rules, linked to the symbols that they rewrite to."""

    label: str
    bounds: list[float] = field(default_factory=list)
    rules: list[Rule] = field(default_factory=list)


@dataclass(slots=True)
class Rule:
    """One right-hand side: the children, the number of the head, the relations of the others."""

    children: tuple[Phrase | Category, ...]
    head: int
    relations: tuple[str, ...]
    passes: Phrase | None


def _expand(line: str) -> list[tuple[float, str]]:
    """Return the lines, with their weights, that a line with variables expands to."""
    text, _, listed = line.partition(";")
    weight, _, rule = text.partition(" ")
    base, rule = float(weight), rule.strip()
    forms = tuple(listed.split()) or _FORMS
    if "@n" in rule and "@f" in rule:
        pairs = [(n, f, share) for n, f, share in _AGREEMENT if f in forms]
    else:
        numbers = _NUMBERS if "@n" in rule else ("",)
        pairs = [(n, f, 1.0) for n, f in product(numbers, forms if "@f" in rule else ("",))]
    return [
        (base * share, rule.replace("@n", n).replace("@f", f).replace("@c", c))
        for n, f, share in pairs
        for c in (_CLASSES if "@c" in rule else ("",))
    ]


def rule_lines() -> list[tuple[float, str]]:
    """Return every rule of the grammar, variables expanded, with its weight."""
    texts = (rules.SENTENCES, rules.VERB_PHRASES, rules.NOUN_PHRASES, rules.MODIFIERS)
    lines = (line for text in texts for line in text.splitlines() if line.strip())
    return [expanded for line in lines for expanded in _expand(line)]


def _link(right: str, phrases: dict[str, Phrase], categories: dict[str, Category]) -> Rule:
    names, relations, head = [], [], -1
    for position, item in enumerate(right.split()):
        name, _, relation = item.partition(":")
        if name.startswith("*"):
            head, name = position, name[1:]
        names.append(name)
        relations.append(relation)
    children = tuple(phrases[n] if n[0].isupper() else categories[n] for n in names)
    only = children[0]
    passes = only if len(children) == 1 and isinstance(only, Phrase) else None
    return Rule(children, 0 if passes else head, tuple(relations), passes)


@cache
def grammar() -> Phrase:
    """Return the start symbol of the linked grammar; built once."""
    by_left: dict[str, list[tuple[float, str]]] = {}
    for weight, line in rule_lines():
        left, _, right = line.partition(" -> ")
        by_left.setdefault(left.strip(), []).append((weight, right))
    phrases = {left: Phrase(left.partition(".")[0]) for left in by_left}
    for left, alternatives in by_left.items():
        total = sum(weight for weight, _ in alternatives)
        phrase = phrases[left]
        phrase.bounds = [sum_ / total for sum_ in accumulate(weight for weight, _ in alternatives)]
        phrase.bounds[-1] = 1.0  # rounding must not leave a gap at the end
        phrase.rules = [_link(right, phrases, lexicon()) for _, right in alternatives]
    return phrases[START]
