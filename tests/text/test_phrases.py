"""Names of features in words."""

import re
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.datasets import make_treebank
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates
from structlearn.text.phrases import Phrases

BANK = make_treebank(30, random_state=0)


@pytest.mark.parametrize(
    ("template", "value", "phrase"),
    [
        ("word", "=dog", 'the word is "dog"'),
        ("word[-1]", "=dog", 'the word before is "dog"'),
        ("pos[2]", "=NN", 'the tag two after is "NN"'),
        ("c4[-7]", "=x", 'the column 4 7 before is "x"'),
        ("lower(word[0])", "=dog", 'the word, lower-cased, is "dog"'),
        ("digits(word[0])", "=dog", 'the word is "dog"'),
        ("digits(word[0])", "=0000", 'the word, digits as 0, is "0000"'),
        ("prefix(word[0], 2)", "=un", 'the word begins with "un"'),
        ("suffix(lower(word[1]), 3)", "=ing", 'the word after, lower-cased, ends in "ing"'),
        (
            "lower(suffix(word[0], 2))",
            "=ly",
            'the word, lower-cased, its last 2 characters, is "ly"',
        ),
        ("shape(word[0])", "=XxxDd", "the word has the shape XxxDd"),
        ("shape(word[0], short)", "=Xx", "the word has the short shape Xx"),
        ("ngrams(word[0], 2)", "=^a", 'the word begins with "a"'),
        ("ngrams(word[0], 2)", "=b$", 'the word ends in "b"'),
        ("ngrams(word[0], 2)", "=ab", 'the word contains "ab"'),
        ("match(word[0], /^a=b$/)", "=1", "the word matches /^a=b$/"),
        (
            "seen(lower(digits(word[0])))",
            "=ADP/SCONJ",
            "the word, lower-cased, digits as 0, was seen as ADP or SCONJ",
        ),
        ("seen(word[0])", "=?", "the word was not seen in training"),
        ("word[-1]", "=_B-1", "it is the first token"),
        ("word[-2]", "=_B-1", "it is the second token"),
        ("word[-2] word[-1]", "=_B-2 _B-1", "it is the first token"),
        ("pos[2]", "=_B+2", "it is the last token"),
        ("pos[0] pos[1]", "=NN _B+1", 'it is the last token and the tag is "NN"'),
        ("pos[2]", "=_B+1", "it is the last token but one"),
        ("word[0]", "=a=b", 'the word is "a=b"'),
        ("word[-1] pos[0]", "=the NN", 'the word before is "the" and the tag is "NN"'),
        ("first", "=1", "it is the first token"),
        ("bias", "", "always"),
        ("transition: word[0]", "=dog", 'pair of labels where the word is "dog"'),
        ('call(word[0], "vowels")', "=3", 'the word gives "3" in vowels()'),
    ],
)
def test_tokens(template, value, phrase):
    templates = FeatureTemplates.parse(template, functions={"vowels": str})
    (one,) = templates.templates
    said = Phrases(templates)
    assert said(one.text() + value) == phrase
    assert said(f"at 'x: y': {one.text()}{value}") == f"at 'x: y': {phrase}"


@pytest.mark.parametrize(
    ("template", "value", "phrase"),
    [
        ("before(word)", "=the", 'the word before it is "the"'),
        ("before(word[-1])", "=the", 'the word two before it is "the"'),
        ("begin(word)", "=the", 'its first word is "the"'),
        ("begin(pos[1])", "=NN", 'its second tag is "NN"'),
        ("end(word)", "=dog", 'its last word is "dog"'),
        ("end(word[-1])", "=big", 'its last word but one is "big"'),
        ("after(pos)", "=VB", 'the tag after it is "VB"'),
        ("inside(lower(word))", "=dog", 'a word in it, lower-cased, is "dog"'),
        ("inside(word[-1])", "=big", 'the word before one in it is "big"'),
        ("whole(pos)", "=DT NN", 'its tags are "DT NN"'),
        ("whole(seen(word, types))", "=? NP/VP", "its words were seen as (unseen), NP or VP"),
        ("before(word)", "=_B-1", "it begins at the first token"),
        ("before(word[-1])", "=_B-1", "it begins at the second token"),
        ("after(pos)", "=_B+1", "it ends at the last token"),
        ("begin(pos[1])", "=_B+1", "it begins at the last token"),
        ("inside(word[-1])", "=_B-1", "one in it is the first token"),
        ("length", "=1", "it has 1 token"),
        ("length begin(pos)", "=2 DT", 'it has 2 tokens and its first tag is "DT"'),
        ("bias", "=1", "always"),
    ],
)
def test_segments(template, value, phrase):
    templates = FeatureTemplates.parse(template)
    (one,) = templates.templates
    assert Phrases(templates)(one.text() + value) == phrase


def test_other_names_stay_as_they_are():
    said = Phrases(FeatureTemplates.parse("word[0]"))
    for name in ("labels NN VB", "feature 7", "first label NN", "word given NN", "x=3"):
        assert said(name) == name
    assert said("word=dog") == 'the word is "dog"'  # of a hidden Markov model


@pytest.mark.parametrize("preset", ["pos", "ner", "chunk", "segments"])
def test_every_feature_of_the_presets_has_a_phrase(preset):
    rows = [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in BANK]
    kind = SegmentTagger if preset == "segments" else Tagger
    tagger = kind(preset, n_models=1, max_iter=1).fit(rows)
    names = {
        name for row in tagger.explain(rows[:4]) for d in row for name, _ in d["contributions"]
    }
    features = {name for name in names if re.search(r"[\[(]", name)}
    assert len(features) > 50
    said = Phrases(tagger.model_.templates)
    for name in features:
        phrase = said(name)
        assert phrase != name
        assert not re.search(r"\w\(|\[-?\d", phrase), phrase


#: Labels and words with everything that separates parts of names.
ODD = st.one_of(
    st.sampled_from(["A/B", "A", "B", "a b", "\\", "a\\", "\\/", "?", "/", " ", "=", "a: b", ", "]),
    st.text("/ \\?=:,ab", min_size=1, max_size=4),
)


@pytest.mark.filterwarnings("ignore:.*is taken for a label like others")
@given(st.lists(ODD, min_size=1, max_size=3, unique=True), ODD)
@settings(derandomize=True, deadline=None, database=None, max_examples=60)
def test_labels_and_words_are_shown_whole(labels, word):
    """The phrases of a feature are known without its name: from the labels that a word had."""
    sentences = [[(word, label), ("x y", "N")] for label in labels] * 20
    counts = Counter(label for (_, label), _ in sentences)
    assert len(set(counts.values())) == 1  # equally often: sorted by their bytes
    ranked = sorted(labels, key=str.encode)
    *some, last = ranked
    listed = f"{', '.join(some)} or {last}" if some else last
    templates = FeatureTemplates.parse("seen(word)\nseen(word) word\nword word[1]")
    tagger = Tagger(templates, max_iter=1, n_models=1).fit(sentences)
    said = Phrases(tagger.model_.templates)
    corpus = Corpus.from_sentences([[word, "x y"]])
    first, _ = tagger.model_.core.features_of(corpus.core, 0, False)
    assert {said(name) for name, _ in first} == {
        f"the word was seen as {listed}",
        f'the word was seen as {listed} and the word is "{word}"',
        f'the word is "{word}" and the word after is "x y"',
    }


def test_labels_of_whole_segments_are_shown_whole():
    rows = [[("a", "B-A/B"), ("b", "I-A/B"), ("c", "O")], [("a", "B-x y"), ("b", "I-x y")]] * 12
    tagger = SegmentTagger(FeatureTemplates.parse("whole(seen(word, types))"), max_iter=2).fit(rows)
    names = {name for row in tagger.explain(rows[:2], in_words=True)
             for d in row for name, _ in d["contributions"]}  # fmt: skip
    assert "its words were seen as A/B or x y, A/B or x y" in names


def test_different_sets_of_labels_are_different_values():
    """A word seen as A and as B, and a word seen as A/B."""
    rows = [[("u", "A"), ("u", "B"), ("v", "A/B"), (f"w{i}", "A")] for i in range(20)]
    tagger = Tagger(FeatureTemplates.parse("seen(word)"), max_iter=1, n_models=1).fit(rows)
    phrases = {row["feature"] for row in tagger.top_features(n=99, in_words=True)}
    assert {"the word was seen as A or B", "the word was seen as A/B"} <= phrases
