"""Features of segments against a plain reading of the templates."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn import _core
from structlearn.exceptions import FileError
from structlearn.text import Corpus, FeatureTemplates
from tests.text.feature_reference import joined_values

TEMPLATES = """
before(word)
before(word[-1]) begin(pos)
begin(lower(word))
begin(word[1])
begin(first)
inside(suffix(word, 1..2))
inside(word[-1]) inside(pos)
inside(ngrams(word, 2))
inside(pos) length
end(digits(word)) after(word)
end(last)
after(ngrams(lower(word), 2)) length
whole(lower(word))
whole(pos) before(pos)
whole(suffix(word, 2))
begin(word) end(word)
length
bias
ends: marked
before(word[-1]) after(pos[1])
before(ngrams(word, 2))
inside(word[2])
"""
WORDS = st.text(alphabet="aBc1é", min_size=1, max_size=3)
SENTENCES = st.lists(
    st.lists(st.tuples(WORDS, st.sampled_from("NVP")), min_size=1, max_size=6),
    min_size=1,
    max_size=3,
)


def ngrams(s):
    marked = f"^{s}$"
    return sorted({marked[i : i + 2] for i in range(len(marked) - 1)})


def digits(s):
    return "".join("0" if c.isdigit() else c for c in s)


def oracle(tokens, b, e):
    """Return the names of the features of a segment, written out by hand, template by template."""
    n = len(tokens)

    def at(t, column, marked=False):
        if 0 <= t < n:
            return [tokens[t][column]]
        return [f"_B{t}" if t < 0 else f"_B+{t - n + 1}"] if marked else []

    def grams(t, change=str, marked=False):
        if 0 <= t < n:
            return ngrams(change(tokens[t][0]))
        return at(t, 0, marked)

    def some(values, keep):
        return [keep(v) for v in values if keep(v) is not None]

    word, pos, d, inside = 0, 1, [str(e - b)], range(b, e)
    found = []

    def add(text, *values):
        for joined in itertools.product(*values):
            found.append(f"{text}={joined_values(joined)}" if joined else text)

    add("begin(word[-1])", at(b - 1, word))
    add("begin(word[-2]) begin(pos[0])", at(b - 2, word), at(b, pos))
    add("begin(lower(word[0]))", [tokens[b][0].lower()])
    add("begin(word[1])", at(b + 1, word))
    add("begin(first)", ["1"] if b == 0 else [])
    for t in inside:
        for k in (1, 2):
            add(
                f"inside(suffix(word[0], {k}))",
                some(at(t, word), lambda s, k=k: s[-k:] if len(s) >= k else None),
            )
        add("inside(word[-1]) inside(pos[0])", at(t - 1, word), at(t, pos))
        add("inside(ngrams(word[0], 2))", grams(t))
        add("inside(pos[0]) length", at(t, pos), d)
    add("end(digits(word[0])) end(word[1])", [digits(tokens[e - 1][0])], at(e, word))
    add("end(last)", ["1"] if e == n else [])
    add("end(ngrams(lower(word[1]), 2)) length", grams(e, str.lower), d)
    add("whole(lower(word[0]))", [" ".join(tokens[t][0].lower() for t in inside)])
    add("whole(pos[0]) begin(pos[-1])", [" ".join(tokens[t][1] for t in inside)], at(b - 1, pos))
    if all(len(tokens[t][0]) >= 2 for t in inside):
        add("whole(suffix(word[0], 2))", [" ".join(tokens[t][0][-2:] for t in inside)])
    add("begin(word[0]) end(word[0])", at(b, word), at(e - 1, word))
    add("length", d)
    add("begin(bias)", ["1"])
    add("begin(word[-2]) end(pos[2])", at(b - 2, word, True), at(e + 1, pos, True))
    add("begin(ngrams(word[-1], 2))", grams(b - 1, marked=True))
    for t in inside:
        add("inside(word[2])", at(t + 2, word, True))
    return found


def spans(tokens, width):
    for b in range(len(tokens)):
        for e in range(b + 1, min(b + width, len(tokens)) + 1):
            yield b, e


def make(text, corpus):
    features = FeatureTemplates.parse(text).compile("columns", corpus.n_columns)
    return features, _core.Extractor(features, corpus.core)


def counted(features, extractor, corpus, width, marks, *open_segments):
    vocabulary = _core.Vocabulary(features, 0, 0, "")
    vocabulary.add_label("0")
    open_numbers = np.array(open_segments, np.int32).ravel()
    vocabulary.add_segments(extractor, corpus.core, width, np.array(marks, np.int32), open_numbers)
    return vocabulary


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.integers(1, 4))
def test_names_and_keys(sentences, width):
    corpus = Corpus.from_sentences(sentences)
    _, extractor = make(TEMPLATES, corpus)
    name_of = {}
    for s, tokens in enumerate(sentences):
        for b, e in spans(tokens, width):
            names, keys = zip(*extractor.named(s, b, e), strict=True)
            assert sorted(names) == sorted(oracle(tokens, b, e))
            for key, n in zip(*np.unique(keys, return_counts=True), strict=True):
                name_of.setdefault(int(key), []).append((s, b, e, int(n)))
    # A key stands for one name: they are found in the same segments, equally often.
    by_name = {}
    for s, tokens in enumerate(sentences):
        for b, e in spans(tokens, width):
            names = [name for name, _ in extractor.named(s, b, e)]
            for name in set(names):
                by_name.setdefault(name, []).append((s, b, e, names.count(name)))
    assert sorted(name_of.values()) == sorted(by_name.values())


@settings(max_examples=30, deadline=None)
@given(SENTENCES, st.integers(1, 3), st.data())
def test_rows_have_the_features_of_gold_segments(sentences, width, data):
    corpus = Corpus.from_sentences(sentences)
    features, extractor = make(TEMPLATES, corpus)

    def keys_of(s, b, e):
        return [key for _, key in extractor.named(s, b, e)]

    marks, gold, names = [], set(), {}
    for s, tokens in enumerate(sentences):
        at = 0
        while at < len(tokens):
            end = data.draw(st.integers(at + 1, min(at + width, len(tokens))))
            marks += [0] + [-1] * (end - at - 1)
            gold |= set(keys_of(s, at, end))
            names.update((key, name) for name, key in extractor.named(s, at, end))
            at = end
    vocabulary = counted(features, extractor, corpus, width, marks)
    keys = np.frombuffer(vocabulary.keys(), dtype=np.uint64)
    assert set(keys.tolist()) == gold
    assert vocabulary.size == len(gold)
    kept = np.arange(len(gold), dtype=np.uint32)
    named, text, ends = vocabulary.names(extractor, False, kept, 0, len(corpus))
    assert np.frombuffer(named, np.uint64).tolist() == sorted(gold)
    cut = [0, *np.frombuffer(ends, np.uint32).tolist()]
    told = [bytes(text)[a:b].decode() for a, b in itertools.pairwise(cut)]
    assert told == [names[key] for key in sorted(gold)]
    vocabulary.freeze(0, 0, None)
    rows = vocabulary.segment_rows(extractor, corpus.core, width).arrays()
    lengths = [len(tokens) * width for tokens in sentences]
    assert rows["sentence"].tolist() == [0, *np.cumsum(lengths).tolist()]
    assert len(rows["begin"]) == sum(lengths) + 1
    for s, tokens in enumerate(sentences):
        for b in range(len(tokens)):
            for d in range(1, width + 1):
                site = rows["sentence"][s] + b * width + d - 1
                found = rows["feature"][rows["begin"][site] : rows["begin"][site + 1]]
                expected = [] if b + d > len(tokens) else keys_of(s, b, b + d)
                assert sorted(keys[found].tolist()) == sorted(k for k in expected if k in gold)


def test_rare_features_go():
    corpus = Corpus.from_sentences([[("a", "x"), ("b", "x"), ("a", "x")]])
    features, extractor = make("begin(word)", corpus)
    vocabulary = counted(features, extractor, corpus, 2, [0, 0, 0])
    assert vocabulary.size == 2
    vocabulary.freeze(2, 0, None)
    assert vocabulary.size == 1
    rows = vocabulary.segment_rows(extractor, corpus.core, 2).arrays()
    assert rows["begin"].tolist() == [0, 1, 2, 2, 2, 3, 3]


def test_segments_that_cannot_be_counted():
    corpus = Corpus.from_sentences([[("a", "x"), ("b", "x"), ("a", "x")]])
    features, extractor = make("begin(word)", corpus)
    with pytest.raises(ValueError, match="too long"):
        counted(features, extractor, corpus, 2, [0, -1, -1])
    with pytest.raises(ValueError, match="a label that was not added"):
        counted(features, extractor, corpus, 2, [-1, 0, 0])
    with pytest.raises(ValueError, match="a mark a token"):
        counted(features, extractor, corpus, 2, [0])
    for wrong in ((0, 4, 0), (2, 2, 0), (0, 3, 0), (0, 1, 1), (3, 4, 0), (1, 0, 0), (-1, 1, 0)):
        with pytest.raises(ValueError, match=r"too long|was not added|not in order"):
            counted(features, extractor, corpus, 2, [-2, -2, -2], wrong)
    with pytest.raises(ValueError, match="begin, end and label"):
        counted(features, extractor, corpus, 2, [-2, -2, -2], (0, 1))
    for span in ((0, 2, 2), (0, 2, 4), (1, 0, 1)):
        with pytest.raises(IndexError):
            extractor.named(*span)


def test_open_segments_are_counted_beside_whole_sentences():
    corpus = Corpus.from_sentences([[("a", "x"), ("b", "x")], [("a", "x"), ("c", "x")]])
    features, extractor = make("begin(word)", corpus)
    vocabulary = counted(features, extractor, corpus, 2, [-2, -2, 0, 0], (0, 2, 0), (1, 2, 0))
    vocabulary.freeze(0, 0, None)
    whole = counted(features, extractor, corpus, 2, [0, 0, 0, 0])
    whole.freeze(0, 0, None)
    assert vocabulary.size == whole.size == 3
    with pytest.raises(ValueError, match="not in order"):
        counted(features, extractor, corpus, 2, [0, 0, -2, -2], (2, 3, 0), (0, 1, 0))


def test_templates_survive_json():
    templates = FeatureTemplates.parse(TEMPLATES)
    again = FeatureTemplates.from_json(templates.to_json())
    assert again.templates == templates.templates
    assert [t.text() for t in FeatureTemplates.parse("\n".join(
        t.text() for t in templates.templates if "bias" not in t.text()
    )).templates] == [t.text() for t in templates.templates if "bias" not in t.text()]  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("word length\nbegin(pos)", "needs a place"),
        ("begin\nbegin(word)", "needs a place"),
        ("lower(begin(word))", "needs a place"),
        ("begin(end(word))", "is a place in a segment"),
        ("whole(word[1])", "no offsets"),
        ("before(word[-1000])", "an offset beyond 1000"),
        ('begin(vector(word, "x"))', "numbers"),
        ("begin(word", "'\\)' expected"),
        ("transition: begin(word)", "needs a place"),
        ("begin(fly(word))", "no function 'fly'"),
    ],
)
def test_what_no_segment_has(line, reason):
    with pytest.raises(FileError, match=reason):
        FeatureTemplates.parse(line)


def test_whole_takes_one_value():
    with pytest.raises(ValueError, match="one value a token"):
        FeatureTemplates.parse("whole(ngrams(word, 2))").compile("columns", 2)


def test_tokens_and_segments_do_not_mix():
    one, other = (FeatureTemplates.parse(line).templates for line in ("word", "begin(word)"))
    for templates in (one + other, other + one):
        with pytest.raises(ValueError, match="tokens and of segments do not go together"):
            FeatureTemplates(templates).compile("columns", 2)
