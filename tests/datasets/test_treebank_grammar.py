"""The grammar is well formed, and its derivations end."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from structlearn.datasets.grammar import DEPRELS, START, grammar, rule_lines
from structlearn.datasets.lexicon import TAGS, lexicon


def parsed_rules():
    out = []
    for weight, line in rule_lines():
        left, right = line.split(" -> ")
        out.append((weight, left.strip(), [item.partition(":")[::2] for item in right.split()]))
    return out


def test_every_rule_has_one_head_and_known_relations():
    for weight, left, children in parsed_rules():
        assert weight > 0
        heads = [name for name, _ in children if name.startswith("*")]
        if len(children) == 1 and children[0][0][0].isupper():
            assert not heads, f"{left}: a rule that passes through needs no star"
            continue
        assert len(heads) == 1, left
        for name, relation in children:
            assert relation in (("",) if name.startswith("*") else DEPRELS), (left, name)


def test_every_symbol_is_defined_and_reached():
    children = defaultdict(set)
    for _, left, right in parsed_rules():
        children[left] |= {name.lstrip("*") for name, _ in right}
    reached, todo = set(), [START]
    while todo:
        symbol = todo.pop()
        if symbol not in reached:
            reached.add(symbol)
            todo += children[symbol] if symbol[0].isupper() else ()
    phrases = {symbol for symbol in reached if symbol[0].isupper()}
    assert phrases <= set(children)
    assert reached - phrases <= set(lexicon())
    # "I" as the subject of a relative clause's verb is the one pair that agreement makes idle.
    assert set(children) - phrases <= {"SBAR.rel.i"}


def test_derivations_end():
    rules = parsed_rules()
    symbols = sorted({left for _, left, _ in rules})
    place = {symbol: i for i, symbol in enumerate(symbols)}
    totals = defaultdict(float)
    for weight, left, _ in rules:
        totals[left] += weight
    offspring = np.zeros((len(symbols), len(symbols)))
    for weight, left, children in rules:
        for name, _ in children:
            if name.lstrip("*") in place:
                offspring[place[left], place[name.lstrip("*")]] += weight / totals[left]
    assert max(abs(np.linalg.eigvals(offspring))) < 0.95


def test_categories():
    for name, category in lexicon().items():
        assert category.tag in TAGS, name
        assert len(set(category.words)) == len(category.words), f"{name} lists a word twice"
        assert all(word and not set(word) & set(" ()/") for word in category.words), name


@pytest.mark.parametrize("u", [0.0, 0.25, np.nextafter(1.0, 0.0)])
def test_sampling_reaches_both_ends(u):
    for category in lexicon().values():
        assert category.sample(lambda: u)
    assert grammar().bounds[-1] == 1.0


def test_frequent_words_come_first():
    category = lexicon()["n.anim.sg"]
    rng = np.random.default_rng(0)
    words = [category.sample(rng.random) for _ in range(4000)]
    first, twentieth = words.count(category.words[0]), words.count(category.words[19])
    assert first > 4 * twentieth > 0


def test_coined_words_are_new_and_keep_their_suffix():
    category = lexicon()["v.tr.g"]
    rng = np.random.default_rng(0)
    words = {category.sample(rng.random) for _ in range(20000)} - set(category.words)
    assert len(words) > 100
    assert all(word.endswith("ing") for word in words)
