"""Scores by alignment: worked cases, and a second way to count."""

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.metrics.alignment import aligned_scores, universal


def token(form, *words):
    """Return a token; a word is form/lemma/upos/head/relation, its parts may be left out."""
    rows = []
    for word in words or (form,):
        cells = [*word.split("/"), *[""] * 5][:5]
        form_, lemma, upos, head, relation = (
            c or d for c, d in zip(cells, ("", "_", "X", "0", "dep"), strict=True)
        )
        rows.append(("1", form_, lemma, upos, "_", "_", head, relation, "_", "_"))
    return form, rows


def counts(score):
    return score.correct, score.gold, score.predicted


def test_the_same_is_perfect():
    text = [[token("Fish", "Fish/fish/NOUN/2/nsubj"), token("swim", "swim/swim/VERB/0/root")]]
    assert {name: s.f1 for name, s in aligned_scores(text, text).items()} == dict.fromkeys(
        [
            "tokens",
            "sentences",
            "words",
            "upos",
            "ufeats",
            "alltags",
            "lemmas",
            "uas",
            "las",
        ],
        1.0,
    )


def test_tokens_and_sentences_are_spans():
    gold = [[token("a"), token("bc")], [token("d")]]
    system = [[token("a"), token("b"), token("c"), token("d")]]
    scores = aligned_scores(gold, system)
    assert counts(scores["tokens"]) == (2, 3, 4)
    assert counts(scores["sentences"]) == (0, 2, 1)
    assert counts(scores["words"]) == (2, 3, 4)
    assert scores["tokens"].precision == 2 / 4
    assert scores["tokens"].recall == 2 / 3
    assert scores["tokens"].f1 == pytest.approx(4 / 7)


def test_words_of_multiword_tokens_are_aligned_by_their_forms():
    gold = [[token("don't", "do", "n't"), token("go")]]
    # The token is found but split otherwise; then as two tokens.
    scores = aligned_scores(gold, [[token("don't", "don", "n't"), token("go")]])
    assert counts(scores["tokens"]) == (2, 2, 2)
    assert counts(scores["words"]) == (2, 3, 3)
    scores = aligned_scores(gold, [[token("do"), token("n't"), token("go")]])
    assert counts(scores["tokens"]) == (1, 2, 3)
    assert counts(scores["words"]) == (3, 3, 3)


def test_a_long_range_takes_in_the_tokens_that_it_covers():
    gold = [[token("abcd", "ab", "x", "cd"), token("e")]]
    system = [[token("ab"), token("cde", "cd", "e")]]
    scores = aligned_scores(gold, system)
    assert counts(scores["words"]) == (3, 4, 3)


def test_heads_count_where_their_words_are_aligned():
    gold = [[token("a", "a/_/X/2/nsubj"), token("b", "b/_/X/0/root"), token("c", "c/_/X/2/obj:x")]]
    system = [[token("a", "a/_/X/2/nsubj"), token("b", "b/_/X/0/root"), token("c", "c/_/X/1/obj")]]
    scores = aligned_scores(gold, system)
    assert counts(scores["uas"]) == (2, 3, 3)
    assert counts(scores["las"]) == (2, 3, 3)
    # The subtype of a relation does not count; a head that is no aligned word is wrong.
    system = [[token("a", "a/_/X/2/nsubj"), token("b", "b/_/X/0/root"), token("c", "c/_/X/2/obj")]]
    assert counts(aligned_scores(gold, system)["las"]) == (3, 3, 3)
    gold = [[token("ab", "ab/_/X/2"), token("c", "c/_/X/0/root")]]
    system = [[token("a", "a/_/X/3"), token("b", "b/_/X/1"), token("c", "c/_/X/0/root")]]
    assert counts(aligned_scores(gold, system)["uas"]) == (1, 2, 3)


def test_a_lemma_that_nobody_knows_is_left_out():
    gold = [[token("a", "a/_"), token("b", "b/b"), token("c", "c/c"), token("_", "_/_")]]
    system = [[token("a", "a/z"), token("b", "b/c"), token("c", "c/c"), token("_", "_/_")]]
    assert counts(aligned_scores(gold, system)["lemmas"]) == (2, 3, 3)


def test_features_of_all_languages_count():
    assert universal("Typo=Yes|Number=Sing|Case=Nom") == "Case=Nom|Number=Sing"
    assert universal("_") == universal("ExtPos=ADP") == ""


def test_other_texts_are_refused():
    with pytest.raises(ValueError, match="'c' and the other 'd'"):
        aligned_scores([[token("a b c")]], [[token("abd")]])


@settings(deadline=None)
@given(st.data())
def test_spans_without_ranges_are_counted_by_sets(data):
    text = "abcdefghij"
    cuts = [data.draw(st.sets(st.integers(1, 9))) for _ in range(2)]
    both = []
    for some in cuts:
        ends = [0, *sorted(some), 10]
        both.append([(a, b) for a, b in itertools.pairwise(ends)])
    gold, system = ([[token(text[a:b]) for a, b in spans]] for spans in both)
    scores = aligned_scores(gold, system)
    same = len(set(both[0]) & set(both[1]))
    assert counts(scores["tokens"]) == counts(scores["words"]) == (same, len(both[0]), len(both[1]))


def test_multiword_tokens_of_blanks_alone():
    """They have no characters, and were never passed."""
    words = [
        (str(i), form, "_", "_", "_", "_", "0", "_", "_", "_") for i, form in enumerate("ab", 1)
    ]
    sentences = [[("\u2028", words), ("c", [words[0]])]]
    assert aligned_scores(sentences, sentences)["words"].f1 == 1.0


def test_a_token_of_a_blank_after_a_multiword_token():
    def word(i, form):
        return (str(i), form, "_", "_", "_", "_", "0", "_", "_", "_")

    sentence = [("ab", [word(1, "a"), word(2, "b")]), ("\x85", [word(3, "\x85")])]
    sentence.append((".", [word(4, ".")]))
    assert aligned_scores([sentence], [sentence])["words"].f1 == 1.0


def test_tokens_cut_otherwise_beside_multiword_tokens():
    """As the script of the CoNLL 2018 task aligns them, worked by hand.

    Only one word before a multiword token is passed: the second, "b", is in its stretch. A gold
    token that begins with a multiword token of the system is in its stretch, however long.
    """
    gold = [[token("aab"), token("A", "a/x", "B/y")]]
    scores = aligned_scores(gold, [[token("aa"), token("b", "b/y"), token("A", "A/z")]])
    assert counts(scores["words"]) == (1, 3, 3)
    # B and b, not a and A; the lemma of aab is not known.
    assert counts(scores["lemmas"]) == (1, 2, 3)
    system = [[token("B", "B", "B"), token("ca", "B/x", "c"), token("a", "B/y", "a/y")]]
    scores = aligned_scores([[token("Bca"), token("a", "B/x", "a/y")]], system)
    assert counts(scores["words"]) == (2, 3, 6)
    assert counts(scores["lemmas"]) == (2, 2, 6)  # the first B, of "ca"; that of Bca is not known
