"""Relations on scores of random trees and annotated texts, against independent scorers."""

from __future__ import annotations

from typing import Any

import numpy as np

from fuzz.metamorphic.answers import demand_same, plain
from fuzz.metamorphic.oracles.attachment_scores import attachment_scores
from fuzz.metamorphic.oracles.bracket_scores import bracket_scores
from fuzz.metamorphic.oracles.ud_scores import ud_scores
from fuzz.metamorphic.relation import relation
from structlearn import metrics
from structlearn.metrics import brackets
from structlearn.metrics.alignment import aligned_scores
from structlearn.text.trees import Tree

__all__: list[str] = []

Rng = np.random.Generator
ROUNDING = 1e-12


def _choice(rng: Rng, values: Any) -> Any:
    return values[int(rng.integers(len(values)))]


# -- dependencies -------------------------------------------------------------------------------

RELATIONS = ("root", "nsubj", "nsubj:pass", "obl", "obl:tmod", "_")


@relation("attachment scores", {"no mistake": 0.0, "some": 0.2, "many": 0.8}, claim="to 1e-12")
def attachment(mistakes: float, rng: Rng) -> None:
    """UAS, LAS, relations, roots and whole trees are those of a plain loop; so are intervals."""
    gold, predicted = [], []
    for _ in range(int(rng.integers(1, 5))):
        n = int(rng.integers(1, 8))

        def drawn(n: int = n) -> list[tuple[int, str]]:
            return [(int(h), _choice(rng, RELATIONS)) for h in rng.integers(0, n + 1, size=n)]

        truth = drawn()
        other = [(h if rng.random() < 0.5 else a, r if rng.random() < 0.5 else b)
                 for (h, r), (a, b) in zip(truth, drawn(), strict=True)]  # fmt: skip
        gold.append(truth)
        predicted.append([b if rng.random() < mistakes else a
                          for a, b in zip(truth, other, strict=True)])  # fmt: skip
    expected = attachment_scores(gold, predicted)
    report = metrics.attachment_report(gold, predicted)
    figures = report.as_dict()
    demand_same("scores", expected, {name: figures[name] for name in expected}, ROUNDING)
    for name in ("uas", "las"):
        interval = metrics.attachment_interval(
            gold, predicted, labelled=name == "las", n_resamples=20, random_state=0
        )
        demand_same(f"interval of {name}", expected[name], interval.value, ROUNDING)
    right = sum(s.correct for s in report.by_label.values())
    demand_same("sum over relations", expected["las"] * report.n_words, float(right), 1e-9)
    order = rng.permutation(len(gold)).tolist()
    moved = metrics.attachment_report([gold[i] for i in order], [predicted[i] for i in order])
    demand_same("another order", plain(figures), plain(moved.as_dict()), ROUNDING)


# -- constituents -------------------------------------------------------------------------------

LABELS = ("S", "NP", "NP", "ADVP", "PRT", "TOP", "ROOT", "S1", "")
TAGS = ("N", "V", ",", ".", "``", "''", ":", "-LRB-")


def _tree(rng: Rng, tags: list[str]) -> Tree:
    """Return a tree over tags, with numbers as words."""
    leaves = [Tree(tag, word=str(i)) for i, tag in enumerate(tags)]

    def over(nodes: list[Tree], top: bool) -> Tree:
        if len(nodes) == 1 and not top and rng.random() < 0.6:
            return nodes[0]
        children = nodes
        if len(nodes) > 1 and rng.random() < 0.7:
            cut = int(rng.integers(1, len(nodes)))
            children = [over(nodes[:cut], False), over(nodes[cut:], False)]
        tree = Tree(_choice(rng, LABELS), children)
        return Tree(_choice(rng, LABELS), [tree]) if rng.random() < 0.2 else tree

    return over(leaves, True)


@relation("brackets", {"up to 4 words": 4, "up to 12 words": 12}, claim="to 1e-12")
def scores_of_brackets(most: int, rng: Rng) -> None:
    """Precision, recall, F1 and exact match are evalb's with the parameters of Collins."""
    gold, predicted = [], []
    for _ in range(int(rng.integers(1, 4))):
        tags = [_choice(rng, TAGS) for _ in range(int(rng.integers(1, most + 1)))]
        gold.append(_tree(rng, tags))
        others = [tag if rng.random() < 0.8 else _choice(rng, TAGS) for tag in tags]
        guess = _tree(rng, others) if rng.random() < 0.8 else gold[-1]
        predicted.append(guess)
    expected = bracket_scores(gold, predicted)
    compared = [t.spans() for t in gold], [t.spans() for t in predicted], [t.tags for t in gold]
    scores = brackets.bracket_scores(*compared)
    for name in ("f1", "precision", "recall", "exact_match"):
        demand_same(name, expected[name], getattr(scores, name), ROUNDING)
    by_label = brackets.brackets_by_label(*compared)
    sums = [sum(getattr(s, name) for s in by_label.values()) for name in ("correct", "gold")]
    demand_same("sums over labels", [scores.correct, scores.gold], sums)


# -- annotated text -----------------------------------------------------------------------------

FEATS = ("_", "Number=Plur", "Case=Nom|Number=Sing", "Typo=Yes", "Case=Nom|Typo=Yes", "Case=Gen")


def _annotated(rng: Rng, text: str, like: list[Any] | None, multiword: float) -> list[Any]:
    """Return an annotation of a text: sentences of tokens with their words.

    Parameters
    ----------
    like : list, optional
        Another annotation, most of whose tokens, words and cells are reused.
    multiword : float
        The share of tokens of several words.
    """
    tokens = _tokens_by_begin(like)
    sentences: list[Any] = [[]]
    at = 0
    while at < len(text):
        if (old := tokens.get(at)) is not None and rng.random() < 0.7:
            size, words = old
            forms = [cells[1] for cells in words]
            ends = rng.random() < 0.15
        else:
            size = min(len(text) - at, int(rng.integers(1, 4)))
            forms, words = [text[at : at + size]], []
            if rng.random() < multiword:
                forms = [_form(rng, text[at : at + size]) for _ in range(int(rng.integers(2, 5)))]
            ends = rng.random() < 0.2
        form = text[at : at + size]
        if size > 1 and rng.random() < 0.1:
            form = f"{form[0]} {form[1:]}"  # an inner blank does not count
        sentences[-1].append((form, [_cells(rng, f, old) for f, old in zip(
            forms, words or [None] * len(forms), strict=True)]))  # fmt: skip
        at += size
        if ends and at < len(text):
            sentences.append([])
    return [_with_heads(rng, sentence) for sentence in sentences]


def _tokens_by_begin(annotation: list[Any] | None) -> dict[int, Any]:
    tokens, at = {}, 0
    for sentence in annotation or ():
        for form, words in sentence:
            size = len(form.replace(" ", ""))
            tokens[at] = (size, words)
            at += size
    return tokens


def _form(rng: Rng, token: str) -> str:
    return _choice(rng, (token, token.upper(), token[0], "a", "B", "c"))


def _cells(rng: Rng, form: str, old: Any) -> list[str]:
    """Return the cells of a word, most of them from an old one."""
    drawn = [form, _choice(rng, "xyz"), _choice(rng, "NV"), _choice(rng, "ABC"),
             _choice(rng, FEATS), "_", _choice(rng, RELATIONS[:-1])]  # fmt: skip
    if old is not None:
        cells = [old[k] for k in range(1, 8)]
        drawn = [a if rng.random() < 0.85 else b for a, b in zip(cells, drawn, strict=True)]
    return ["_", *drawn, "_", "_"]


def _with_heads(rng: Rng, sentence: list[Any]) -> list[Any]:
    """Number the words of a sentence, and keep or draw their heads."""
    n = sum(len(words) for _, words in sentence)
    number = 0
    for _, words in sentence:
        for cells in words:
            number += 1
            cells[0] = str(number)
            if cells[6] == "_" or int(cells[6]) > n:
                cells[6] = str(int(rng.integers(0, n + 1)))
    return sentence


@relation(
    "UD evaluation",
    {"words alone": 0.0, "some multiword": 0.2, "mostly": 0.8},
    not_claimed={
        "gold lemmas and relations that are _": "they are unknown, and left out as everywhere; "
        "the script of the task takes any lemma for right, and _ for a relation"
    },
)
def ud_evaluation(multiword: float, rng: Rng) -> None:
    """Tokens, sentences, words, tags, lemmas and heads are right as the CoNLL 2018 task has it."""
    text = "".join("abcAB"[int(k)] for k in rng.integers(5, size=int(rng.integers(1, 25))))
    gold = _annotated(rng, text, None, multiword)
    system = _annotated(rng, text, gold, multiword)
    expected = ud_scores(gold, system)
    figures = aligned_scores(gold, system)
    counts = {name: (s.correct, s.gold, s.predicted) for name, s in figures.items()}
    demand_same("counts", plain(expected), plain(counts))
    for name, (right, n_gold, n_system) in expected.items():
        precision, recall = right / n_system, right / n_gold
        both = precision + recall
        f1 = 2 * precision * recall / both if both else 0.0
        ratios = figures[name].as_dict()
        demand_same(name, [precision, recall, f1],
                    [ratios["precision"], ratios["recall"], ratios["f1"]], ROUNDING)  # fmt: skip
    same = aligned_scores(gold, gold)
    for name, score in same.items():
        demand_same(f"{name} of itself", 1.0, score.f1)
