"""The values that features are shown with are those that the core hashes."""

import random
import re
from collections import defaultdict

import pytest

from structlearn.datasets import make_treebank
from structlearn.tasks import DependencyParser
from structlearn.tasks.dependencies.naming import ArcNames, arc_names
from structlearn.text.dependency_treebank import as_conllu

UNIVERSAL = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "DT": "DET", "JJ": "ADJ", "RB": "ADV",
    "IN": "ADP", "CC": "CCONJ", "PRP": "PRON", "MD": "AUX", "TO": "PART", "CD": "NUM",
}  # fmt: skip
ROWS = [
    [
        (str(i), w, w.lower(), UNIVERSAL.get(t, "VERB" if t[0] == "V" else "PUNCT"), t, f"F={t[0]}",
         str(h), r, "_", "_")
        for i, (w, t, h, r) in enumerate(zip(s.words, s.tags, s.heads, s.deprels, strict=True), 1)
    ]
    for s in make_treebank(80, random_state=0)
]  # fmt: skip


@pytest.fixture(scope="module")
def parser():
    options = {"gold_tags": True, "max_iter": 2, "hash_bits": 20, "order": 1, "lemmas": True}
    return DependencyParser(**options).fit(ROWS)


def _class(head, word):
    far = abs(head - word)
    return head < word, min(far, 4) if far < 5 else 5 if far < 8 else 6 if far < 13 else 7


def test_a_weight_follows_from_the_value_that_is_shown(parser):
    """Arcs with the same value of a feature, direction and distance have the same weight of it."""
    model, corpus = parser.model_, as_conllu(ROWS)
    rng = random.Random(0)
    found = defaultdict(set)
    tags = [None, None, None]
    for s, words in enumerate(arc_names(corpus, tags)):
        n = len(ROWS[s])
        for _ in range(4):  # any arcs, not only those of trees
            heads = [rng.choice([h for h in range(n + 1) if h != m]) for m in range(1, n + 1)]
            labels = [rng.randrange(len(model.labels)) for _ in heads]
            rows = model.core.reasons(corpus.core, tags, model.lemmas, s, heads, labels)
            for m, (head, label, row) in enumerate(zip(heads, labels, rows, strict=True), 1):
                for name, weight in row:
                    shown = words.named(name, head, m)
                    kind = (head < m, label) if name.startswith("relation") else _class(head, m)
                    found[shown, kind].add(round(weight, 6))
    several = {key: weights for key, weights in found.items() if len(weights) > 1}
    assert len(found) > 10_000
    assert not several
    assert sum(weights != {0.0} for weights in found.values()) > 1000


def test_all_parts_of_names_have_values(parser):
    decisions = parser.explain(ROWS[:10])
    assert len(decisions) == 10
    names = {name for arcs in decisions for arc in arcs for name, _ in arc["contributions"]}
    for name in names:
        plain = re.sub(r", (head (before|after) it|\d( or more)? from the end)", "", name)
        plain = plain.replace("no verb, punctuation", "nothing")
        plain = re.sub("^(at '.*?': )?(runner-up: )?(relation: )?", "", plain)
        assert all(" = " in part for part in plain.split(", ")), name
    assert any(name.startswith("distance = ") for name in names)


def test_values_of_an_arc():
    words = ArcNames(
        ["He", "sat", "in", "the", "Room101", "."],
        ["he", "sit", "in", "the", "room", "."],
        ["PRON", "VERB", "ADP", "DET", "NOUN", "PUNCT"],
        ["PRP", "VBD", "IN", "DT", "_", "."],
        ["_", "Tense=Past", "_", "_", "_", "_"],
    )

    def said(template, head=2, word=5):
        return words.named(template, head, word)

    assert said("distance") == "distance = 3"
    assert said("distance", 0, 5) == "distance = 5"
    assert said("relation: distance", 0, 5) == "relation: distance = 5 to 7, head before it"
    assert said("head tag, word form") == "head tag = VERB/VBD, word form = 'room000'"
    assert said("word marker, word suffix") == "word marker = 'in', word suffix = -000"
    assert said("word shape, word prefix") == "word shape = Xxd, word prefix = roo-"
    assert said("after word upos, 2 after word upos") == (
        "after word upos = PUNCT, 2 after word upos = (none)"
    )
    assert said("head upos", 0, 2) == "head upos = ROOT"
    assert said("between") == "between = no verb, punctuation mark or conjunction"
    assert said("between", 1, 6) == "between = 1 verb"
    assert said("all tags between", 6, 1) == "all tags between = ADP DET NOUN VERB"
    assert said("place") == "place = 2 from the start, 1 from the end"
    assert said("head feats") == "head feats = VERB Tense=Past"
