"""The layers of a sentence agree, the same seed gives the same data, the ambiguity is honest."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.datasets import make_treebank
from structlearn.datasets.grammar import DEPRELS
from structlearn.datasets.lexicon import TAGS
from structlearn.datasets.sentence import Sentence

PINNED = [
    "In that little evening her change that is seeing them reswallowed some love quickly .",
    "I am showing all books to me .",
    "Be small .",
]

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(scope="module")
def bank() -> list[Sentence]:
    return make_treebank(3000, random_state=0)


@pytest.fixture(scope="module")
def tags_by_word() -> dict[str, set[str]]:
    out = defaultdict(set)
    for s in make_treebank(15000, random_state=0):
        for word, tag in zip(s.words, s.tags, strict=True):
            out[word].add(tag)
    return out


def leaves(tree):
    if isinstance(tree[1], str):
        return [tree]
    return [leaf for child in tree[1:] for leaf in leaves(child)]


def check_tree(sentence: Sentence) -> None:
    pairs = leaves(sentence.tree)
    assert tuple(word for _, word in pairs) == sentence.words
    assert tuple(tag for tag, _ in pairs) == sentence.tags
    assert set(sentence.tags) <= set(TAGS)
    # An independent reading of the bracket string gives the same words and tags.
    assert re.findall(r"\((\S+) ([^\s()]+)\)", sentence.brackets) == pairs
    assert sentence.brackets.count("(") == sentence.brackets.count(")")

    spans = sentence.spans
    assert spans[0] == (0, len(sentence), "S")
    assert len({(i, j) for i, j, _ in spans}) == len(spans)
    for i, j, label in spans:
        assert 0 <= i < j <= len(sentence)
        assert label in {"S", "SBAR", "NP", "VP", "PP", "ADJP", "ADVP", "PRT"}
        for k, m, _ in spans:
            assert not i < k < j < m, "constituents cross"


def check_dependencies(sentence: Sentence) -> None:
    heads, n = sentence.heads, len(sentence)
    assert len(heads) == len(sentence.deprels) == n
    assert set(sentence.deprels) <= set(DEPRELS)
    assert heads.count(0) == 1
    for head, relation in zip(heads, sentence.deprels, strict=True):
        assert (head == 0) == (relation == "root")
    for word in range(1, n + 1):
        seen = set()
        while word:
            assert word not in seen, "cycle"
            seen.add(word)
            word = heads[word - 1]
    arcs = [(min(m, h), max(m, h)) for m, h in enumerate(heads, 1)]
    for a, b in arcs:
        for c, d in arcs:
            assert not a < c < b < d, "not projective"


def check_heads_against_tree(sentence: Sentence) -> None:
    for i, j, _ in sentence.spans:
        outside = [m for m in range(i, j) if not i < sentence.heads[m] <= j]
        assert len(outside) == 1, "a constituent has exactly one head word"


def check_chunks(sentence: Sentence) -> None:
    assert len(sentence.chunks) == len(sentence)
    spans = sentence.spans
    start = 0
    previous = "O"
    for position, chunk in enumerate((*sentence.chunks, "O")):
        assert re.fullmatch(r"O|[BI]-(NP|VP|PP|ADJP|ADVP|SBAR|PRT)", chunk)
        if chunk.startswith("I-"):
            assert previous != "O"
            assert previous[2:] == chunk[2:]
            continue
        if previous != "O":
            label = previous[2:]
            assert any(i <= start and position <= j for i, j, name in spans if name == label)
        start, previous = position, chunk
    for position, (tag, chunk) in enumerate(zip(sentence.tags, sentence.chunks, strict=True)):
        if tag == ".":
            assert chunk == "O"
        if tag in ("NN", "NNS", "NNP", "PRP", "PRP$", "DT", "WH"):
            assert chunk[2:] == "NP"
        if tag in ("VB", "VBZ", "VBG", "VBN", "MD", "TO"):
            inverted = (position == 0) and chunk == "O"
            assert inverted or chunk[2:] == "VP"


@settings(max_examples=40, deadline=None)
@given(seeds)
def test_layers_agree(seed):
    for sentence in make_treebank(15, random_state=seed):
        check_tree(sentence)
        check_dependencies(sentence)
        check_heads_against_tree(sentence)
        check_chunks(sentence)


def test_every_tag_relation_and_chunk_occurs(bank):
    assert {tag for s in bank for tag in s.tags} == set(TAGS)
    assert {relation for s in bank for relation in s.deprels} == set(DEPRELS)
    kinds = {chunk[2:] for s in bank for chunk in s.chunks if chunk != "O"}
    assert kinds == {"NP", "VP", "PP", "ADJP", "ADVP", "SBAR", "PRT"}


def test_base_noun_phrases_are_one_chunk(bank):
    for sentence in bank[:500]:
        inner = [(i, j) for i, j, label in sentence.spans if label == "NP"]
        for i, j in inner:
            if any(i <= k and m <= j and (i, j) != (k, m) for k, m, _ in sentence.spans):
                continue
            assert sentence.chunks[i:j] == ("B-NP",) + ("I-NP",) * (j - i - 1)


@given(seeds)
@settings(max_examples=10, deadline=None)
def test_same_seed_same_sentences_and_a_longer_bank_begins_alike(seed):
    first = make_treebank(20, random_state=seed)
    assert make_treebank(20, random_state=seed) == first
    assert make_treebank(30, random_state=seed)[:20] == first


def test_other_seed_other_sentences():
    assert make_treebank(20, random_state=1) != make_treebank(20, random_state=2)


def test_sentences_of_a_seed_are_the_same_everywhere():
    # Pinned: a change here is a change of the data set, which users must be told about.
    assert [s.text for s in make_treebank(3, random_state=0)] == PINNED


def test_generator_and_random_state_move_on():
    for make in (np.random.default_rng, np.random.RandomState):
        source = make(3)
        first, second = make_treebank(5, random_state=source), make_treebank(5, random_state=source)
        assert first != second
        assert make_treebank(5, random_state=make(3)) == first
    assert make_treebank(5) != make_treebank(5)
    assert make_treebank(5, random_state=np.int64(3)) == make_treebank(5, random_state=3)


def test_bad_arguments():
    with pytest.raises(ValueError, match="negative"):
        make_treebank(-1)
    with pytest.raises(TypeError):
        make_treebank(2.5)
    with pytest.raises(TypeError, match="random_state"):
        make_treebank(1, random_state="seed")
    assert make_treebank(0) == []


def test_lengths(bank):
    lengths = [len(s) for s in bank]
    assert min(lengths) >= 3
    assert max(lengths) <= 25
    assert 10 <= np.mean(lengths) <= 12
    assert np.std(lengths) > 3


def most_frequent_tags(train):
    counts = defaultdict(Counter)
    for sentence in train:
        for word, tag in zip(sentence.words, sentence.tags, strict=True):
            counts[word][tag] += 1
    return {word: tags.most_common(1)[0][0] for word, tags in counts.items()}


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_memorising_the_tag_of_a_word_falls_short(seed):
    bank = make_treebank(2000, random_state=seed)
    best = most_frequent_tags(bank[:1000])
    tokens = [pair for s in bank[1000:] for pair in zip(s.words, s.tags, strict=True)]
    accuracy = np.mean([best.get(word, "NN") == tag for word, tag in tokens])
    unknown = np.mean([word not in best for word, _ in tokens])
    assert 0.88 <= accuracy <= 0.93
    assert 0.03 <= unknown <= 0.08


def test_context_resolves_much_of_the_ambiguity():
    bank = make_treebank(8000, random_state=4)
    train, test = bank[:6000], bank[6000:]
    best = most_frequent_tags(train)
    counts = defaultdict(Counter)
    for s in train:
        for before, word, tag in zip(("", *s.tags), s.words, s.tags, strict=False):
            counts[before, word][tag] += 1
    alone, context = [], []
    for s in test:
        for before, word, tag in zip(("", *s.tags), s.words, s.tags, strict=False):
            if word not in best:
                continue
            alone.append(best[word] == tag)
            seen = counts.get((before, word))
            context.append((seen.most_common(1)[0][0] if seen else best[word]) == tag)
    assert 1 - np.mean(context) < 0.6 * (1 - np.mean(alone))
    assert np.mean(context) < 0.995, "some ambiguity must be left"


@pytest.mark.parametrize(
    ("word", "tags"),
    [
        ("fish", {"NN", "NNS", "VB", "VBP"}),
        ("sleep", {"NN", "VB", "VBP"}),
        ("light", {"NN", "JJ", "VB"}),
        ("that", {"DT", "IN", "WH"}),
        ("her", {"PRP", "PRP$"}),
        ("to", {"TO", "IN"}),
        ("like", {"IN", "VB", "VBP"}),
        ("walks", {"NNS", "VBZ"}),
        ("broken", {"JJ", "VBN"}),
        ("loved", {"VBD", "VBN"}),
        ("singing", {"NN", "JJ", "VBG"}),
        ("up", {"IN", "RB"}),
        ("can", {"MD", "NN"}),
    ],
)
def test_ambiguous_words(word, tags, tags_by_word):
    assert tags <= tags_by_word[word]


def test_prepositional_phrases_attach_to_nouns_and_verbs(bank):
    attached = defaultdict(Counter)
    for s in bank:
        for word, head, relation in zip(s.words, s.heads, s.deprels, strict=True):
            if relation == "case":
                attached[word][s.deprels[head - 1]] += 1
    for preposition in ("in", "on", "with", "near"):
        share = attached[preposition]["nmod"] / sum(attached[preposition].values())
        assert 0.05 < share < 0.95
    assert attached["of"]["nmod"] > 3 * attached["of"]["obl"]


def test_the_article_fits_the_next_word(bank):
    for s in bank:
        for word, following in zip(s.words, s.words[1:], strict=False):
            if word.lower() == "an":
                assert following[0].lower() in "aeiouh"
            if word.lower() == "a":
                assert following[0].lower() not in "aeio"


def test_a_bank_is_a_list_and_a_sentence_is_a_frozen_value(bank):
    train, test = bank[:2400], bank[2400:]
    assert (len(train), len(test)) == (2400, 600)
    sentence = bank[0]
    assert sentence.words[0][0].isupper()
    assert str(sentence).split()[0] == f"{sentence.words[0]}/{sentence.tags[0]}"
    with pytest.raises(dataclasses.FrozenInstanceError):
        sentence.words = ()
    assert pickle.loads(pickle.dumps(sentence)) == sentence
    assert len(set(bank)) > 0.9 * len(bank)
