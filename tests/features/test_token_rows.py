"""Tokens and arrays to rows of numbers: vocabulary, counts, pointers."""

import pickle
import random
from collections import OrderedDict, deque
from collections.abc import Mapping
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from structlearn.features.arrays import DenseEncoder, SparseEncoder, is_sparse
from structlearn.features.rows import Where
from structlearn.features.tokens import TokenEncoder
from structlearn.features.vocabulary import Vocabulary

REPEATABLE = settings(derandomize=True, deadline=None, database=None)
WHERE = Where("label")

names = st.text(alphabet="abcdef=: é", max_size=3)
values = st.floats(-5, 5) | st.booleans() | names
dictionaries = st.recursive(
    st.dictionaries(names, values | st.lists(names, max_size=2), max_size=4),
    lambda inner: st.dictionaries(names, values | inner, max_size=3),
)
tokens = st.one_of(
    names,
    st.lists(names | st.tuples(names, st.floats(-5, 5) | st.integers(-3, 3)), max_size=4),
    st.sets(names, max_size=4),
    dictionaries,
)
data_sets = st.lists(st.lists(tokens, max_size=4), min_size=1, max_size=5)


def dense(rows):
    """The rows as an array; repeated features add up."""
    out = np.zeros((len(rows.indptr) - 1, rows.n_features))
    values = np.ones(len(rows.indices)) if rows.values is None else rows.values
    for row, (a, b) in enumerate(zip(rows.indptr[:-1], rows.indptr[1:], strict=True)):
        np.add.at(out[row], rows.indices[a:b], values[a:b])
    return out


def features(token):
    """The documented meaning of a token, one pair a feature."""
    if isinstance(token, str):
        return [(token, 1.0)]
    if isinstance(token, Mapping):
        return [entry for k, v in token.items() for entry in entries(str(k), v)]
    rows = sorted(token) if isinstance(token, (set, frozenset)) else token
    return [row if isinstance(row, tuple) else (row, 1.0) for row in rows]


def entries(name, value):
    """The features of one entry of a dictionary."""
    if isinstance(value, str):
        return [(f"{name}:{value}", 1.0)]
    if isinstance(value, Mapping):
        return [entry for k, v in value.items() for entry in entries(f"{name}:{k}", v)]
    if isinstance(value, (set, frozenset)):
        value = sorted(value)
    if isinstance(value, (list, tuple)):
        return [(f"{name}:{v}", 1.0) for v in value]
    return [(name, float(value))]


@settings(REPEATABLE, max_examples=150)
@given(X=data_sets, later=data_sets)
def test_rows_say_what_the_tokens_say(X, later):
    encoder = TokenEncoder()
    rows = encoder.fit_transform(X, WHERE)
    order = list(dict.fromkeys(n for x in X for t in x for n, _ in features(t)))
    assert encoder.vocabulary.names() == order
    for data, found in ((X, rows), (later, encoder.transform(later, WHERE))):
        assert found.site_ptr.tolist() == np.cumsum([0, *map(len, data)]).tolist()
        assert found.n_features == len(order)
        expected = np.zeros((int(found.site_ptr[-1]), len(order)))
        for row, token in zip(expected, [t for x in data for t in x], strict=True):
            for name, value in features(token):
                if name in order:
                    row[order.index(name)] += value
        np.testing.assert_allclose(dense(found), expected, rtol=0, atol=1e-12)
        assert found.indices.dtype == np.int32
        assert found.indptr.dtype == np.int64


@settings(REPEATABLE, max_examples=60)
@given(X=data_sets, min_count=st.integers(2, 4))
def test_rare_names_are_left_out(X, min_count):
    seen = [n for x in X for t in x for n, _ in features(t)]
    encoder = TokenEncoder(min_count)
    rows = encoder.fit_transform(X, WHERE)
    kept = [n for n in dict.fromkeys(seen) if seen.count(n) >= min_count]
    assert encoder.vocabulary.names() == kept
    assert rows.n_features == len(kept)
    np.testing.assert_array_equal(dense(rows), dense(encoder.transform(X, WHERE)))


def test_learning_more_keeps_what_was_learned():
    encoder = TokenEncoder(min_count=2)
    encoder.fit_transform([["a", "a", "b"]], WHERE)
    rows = encoder.fit_transform([["b", "c", "c", "a"]], WHERE)
    assert encoder.vocabulary.names() == ["a", "c"]
    assert rows.indices.tolist() == [1, 1, 0]
    assert rows.indptr.tolist() == [0, 0, 1, 2, 3]


def columns(vocabulary, names):
    """The columns of names, −1 for those that are not known."""
    return vocabulary.read([[names]], "=", learn=False)[2].tolist()


def test_vocabulary():
    vocabulary = Vocabulary()
    assert vocabulary.read([["x"], [["y", "x"]]], "=", learn=True)[2].tolist() == [0, 1, 0]
    assert vocabulary.read([["z", "y"]], "=", learn=True)[2].tolist() == [2, 1]
    assert columns(vocabulary, ["z", "?", "x"]) == [2, -1, 0]
    assert len(vocabulary) == 3
    assert vocabulary.keep(np.array([True, False, True])).tolist() == [0, -1, 1]
    assert vocabulary.names() == ["x", "z"]
    assert columns(vocabulary, ["x", "y", "z"]) == [0, -1, 1]


def test_vocabulary_of_known_names():
    vocabulary = Vocabulary(["b", "a"])
    assert columns(vocabulary, ["a", "?", "b"]) == [1, -1, 0]
    assert vocabulary.read([["c", "a"]], "=", learn=True)[2].tolist() == [2, 1]
    with pytest.raises(ValueError, match="appears twice in the vocabulary"):
        Vocabulary(["a", "b", "a"])
    with pytest.raises(TypeError, match="a name is a string"):
        Vocabulary(["a", 3])


def test_another_separator():
    encoder = TokenEncoder(separator=":")
    encoder.fit_transform([[{"w": "x", "n": 2, "in": {"w": "y", "l": ["z"]}, "s": {"t"}}]], WHERE)
    assert encoder.vocabulary.names() == ["w:x", "n", "in:w:y", "in:l:z", "s:t"]


@pytest.mark.parametrize(
    ("token", "message"),
    [
        (3, "not int"),
        (None, "not NoneType"),
        ([1, 2], "a feature in a list is a string, not int"),
        ({1, 2}, "a feature in a list is a string, not int"),
        ({"a", 1}, "not supported between"),
        ({"f": object()}, "feature 'f' has a value of type object"),
        ({"f": [1]}, "a feature in a list is a string, not int"),
        ({b"f": 1}, "the name of a feature is a string, not bytes: b'f'"),
        (b"bytes", "a feature in a list is a string, not int"),
    ],
)
def test_what_is_no_token(token, message):
    with pytest.raises(ValueError, match=f"example 1, position 2: .*{message}"):
        TokenEncoder().fit_transform([["a"], ["b", "c", token]], WHERE)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_values_that_are_not_finite(value):
    X = [["a"], [], ["b", {"c": 1.0, "d": value}, "e"]]
    with pytest.raises(ValueError, match="example 2, position 1: feature 'd' is"):
        TokenEncoder().fit_transform(X, WHERE)
    with pytest.raises(ValueError, match=r"^example 1: feature 'd'"):
        TokenEncoder().fit_transform([["b", {"d": value}]], Where("label", single_site=True))


def test_failure_leaves_the_vocabulary():
    encoder = TokenEncoder()
    encoder.fit_transform([["a"]], WHERE)
    with pytest.raises(ValueError, match="not int"):
        encoder.fit_transform([["b", 3]], WHERE)
    assert encoder.vocabulary.names() == ["a"]


# -- arrays ---------------------------------------------------------------------------------------


def test_dense_rows():
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3).reshape(1, 3)
    rows = DenseEncoder().fit_transform([a, b], WHERE)
    assert rows.is_dense
    assert rows.site_ptr.tolist() == [0, 2, 3]
    np.testing.assert_array_equal(rows.values, np.vstack([a, b]))
    assert rows.values.dtype == np.float64
    assert rows.sites(0) == (2,)
    grid = DenseEncoder().fit_transform([np.zeros((2, 4, 3)), np.zeros((1, 1, 3))], WHERE)
    assert [grid.sites(i) for i in (0, 1)] == [(2, 4), (1, 1)]
    assert grid.site_ptr.tolist() == [0, 8, 9]


@settings(REPEATABLE, max_examples=30)
@given(seed=st.integers(0, 1000), format=st.sampled_from(["csr", "csc", "coo", "lil", "dok"]))
def test_sparse_rows(seed, format):
    rng = np.random.default_rng(seed)
    arrays = [rng.integers(0, 3, size=(rng.integers(0, 4), 5)) * 0.5 for _ in range(3)]
    rows = SparseEncoder().fit_transform(
        [sparse.csr_matrix(a).asformat(format) for a in arrays], WHERE
    )
    assert not rows.is_dense
    assert rows.site_ptr.tolist() == np.cumsum([0, *map(len, arrays)]).tolist()
    np.testing.assert_array_equal(dense(rows), np.vstack(arrays))
    assert rows.indices.dtype == np.int32


def test_ones_need_no_values():
    ones = SparseEncoder().fit_transform([sparse.csr_matrix(np.eye(3))], WHERE)
    assert ones.values is None
    assert TokenEncoder().fit_transform([[{"a": True}, "b"]], WHERE).values is None


def test_is_sparse():
    assert is_sparse(sparse.csr_matrix((2, 2)))
    assert is_sparse(sparse.csr_array((2, 2)))
    assert not is_sparse(np.zeros((2, 2)))
    assert not is_sparse([["a"]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_number_of_columns(kind):
    encoder = DenseEncoder() if kind is np.asarray else SparseEncoder()
    encoder.fit_transform([kind(np.ones((2, 3)))], WHERE)
    with pytest.raises(ValueError, match="example 1: label has 4 features, expected 3"):
        encoder.transform([kind(np.ones((2, 3))), kind(np.ones((1, 4)))], WHERE)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_not_finite(kind):
    bad = np.zeros((3, 2))
    bad[2, 1] = np.nan
    encoder = DenseEncoder() if kind is np.asarray else SparseEncoder()
    with pytest.raises(ValueError, match="example 1, position 2: label contains NaN or infinity"):
        encoder.fit_transform([kind(np.ones((2, 2))), kind(bad)], WHERE)


# -- tokens of every kind -------------------------------------------------------------------------


class Text(str):
    """A string of a class of its own."""


class Frozen(Mapping):
    """A mapping that is no dictionary."""

    def __init__(self, items):
        self.items_ = dict(items)

    def __getitem__(self, key):
        return self.items_[key]

    def __iter__(self):
        return iter(self.items_)

    def __len__(self):
        return len(self.items_)


def random_tokens(rng, plain):
    """Return sentences of every kind of token; plain: of the built-in types alone."""
    texts = ["", "a", "a:b", "é", "ÿ", "Ā", "€", "名前", "😀", "\ud800", "x" * 70, "a\0b"]
    numbers = [True, False, 1, 0, -3, 2.5, 10**15]
    others = [np.float32(0.5), np.True_, np.int64(-2), Fraction(1, 4), np.float64(1.0)]

    def text():
        found = "".join(rng.choices(texts, k=rng.randrange(3)))
        return found if plain or rng.random() < 0.7 else rng.choice([Text, np.str_])(found)

    def value(depth=0):
        kind = rng.randrange(5 if plain else 9)
        if kind < 2:
            return text()
        if kind == 2:
            return rng.choice(numbers)
        if kind == 3:
            return rng.choice([list, tuple])([text(), text()])
        if kind == 4:
            return {text(): value(depth + 1) for _ in range(rng.randrange(3))} if depth < 3 else 1
        if kind == 5:
            return rng.choice(others)
        if kind == 6:
            return rng.choice([set, frozenset])({text(), text()})
        return rng.choice([Frozen, OrderedDict])({text(): value(4)})

    def token():
        kind = rng.randrange(5 if plain else 9)
        if kind == 0:
            return text()
        if kind < 3:
            return (list if kind == 1 else tuple)(text() for _ in range(rng.randrange(5)))
        if kind == 3:
            return {text(): value() for _ in range(rng.randrange(5))}
        if kind == 4:
            return [(text(), rng.choice(numbers)), text()]
        if kind == 5:
            return rng.choice([set, frozenset])({text() for _ in range(3)})
        if kind == 6:
            return rng.choice([Frozen, OrderedDict])({text(): value() for _ in range(2)})
        if kind == 7:
            return {rng.randrange(5): value(), None: text()}
        return [(text(), rng.choice(others)), text()]

    return [[token() for _ in range(rng.randrange(1, 6))] for _ in range(30)]


@pytest.mark.parametrize("plain", [True, False])
def test_tokens_of_every_kind(plain):
    rng = random.Random(plain)
    encoder, columns = TokenEncoder(), {}
    for _ in range(50):
        X = random_tokens(rng, plain)
        rows = [features(token) for x in X for token in x]
        found = [feature for row in rows for feature in row]
        unseen = encoder.transform(X, WHERE)
        known = [columns[name] for name, _ in found if name in columns]
        np.testing.assert_array_equal(unseen.indices, known)
        learned = encoder.fit_transform(X, WHERE)
        wanted = [columns.setdefault(str(name), len(columns)) for name, _ in found]
        np.testing.assert_array_equal(learned.indices, wanted)
        np.testing.assert_array_equal(learned.site_ptr, np.cumsum([0, *map(len, X)]))
        np.testing.assert_array_equal(np.diff(learned.indptr), list(map(len, rows)))
        np.testing.assert_array_equal(learned.values, [float(value) for _, value in found])
    assert encoder.vocabulary.names() == list(columns)
    again = pickle.loads(pickle.dumps(encoder.vocabulary))
    assert again.names() == list(columns)


@pytest.mark.parametrize(
    "example",
    [["a", "b:c"], ("a", "b:c"), deque(["a", "b:c"]), np.array(["a", "b:c"]),
     np.array(["a", "b:c"], dtype=object), [["a"], {"b": "c"}], [Frozen({"a": True}), {"b:c"}],
     [iter(["a"]), (x for x in ["b:c"])], [np.array(["a"]), {"b": np.str_("c")}]],
)  # fmt: skip
def test_examples_of_every_kind(example):
    encoder = TokenEncoder()
    rows = encoder.fit_transform([example], WHERE)
    assert encoder.vocabulary.names() == ["a", "b:c"]
    assert rows.indptr.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("example", "message"),
    [
        ("text", "example 1 is a string, 'text': an example is a list of tokens"),
        (3, "example 1 is of type int, where a list of tokens is needed"),
        ({"a"}, "example 1 is of type set, where a list of tokens is needed"),
        (None, "example 1 is of type NoneType, where a list of tokens is needed"),
    ],
)
def test_what_is_no_example(example, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        TokenEncoder().fit_transform([["a"], example], WHERE)


def test_what_a_token_raises_is_raised():
    class Broken(Mapping):
        def __len__(self):
            return 1

        def __iter__(self):
            return iter("a")

        def __getitem__(self, key):
            raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        TokenEncoder().fit_transform([["a", Broken()]], WHERE)

    def tokens():
        yield "a"
        raise KeyError("b")

    with pytest.raises(KeyError, match="b"):
        TokenEncoder().fit_transform([["a", tokens()]], WHERE)
    inside = {}
    inside["inside"] = inside
    with pytest.raises(RecursionError):
        TokenEncoder().fit_transform([["a", inside]], WHERE)


def test_lists_that_shrink_while_they_are_read():
    """What an object does when it is asked must not end in memory that is no longer there."""
    sentence = ["a" * 50 + str(i) for i in range(100)]

    class Emptying(Mapping):
        def __len__(self):
            return 1

        def __iter__(self):
            sentence.clear()
            return iter(["x"])

        def __getitem__(self, key):
            return "y"

    sentence.insert(60, Emptying())
    encoder = TokenEncoder()
    encoder.fit_transform([sentence], WHERE)
    assert encoder.vocabulary.names() == [*("a" * 50 + str(i) for i in range(60)), "x:y"]


@pytest.mark.parametrize(
    "bad", [3, {"a": None}, {"a": float("nan")}, ["a", 1], {"a": ["b", 2]}, {"n": 10**400}]
)
def test_nothing_is_learned_from_examples_that_are_refused(bad):
    encoder = TokenEncoder()
    encoder.fit_transform([["known"]], Where("label"))
    with pytest.raises(ValueError, match="example 1, position 1: "):
        encoder.fit_transform([[["new"] * 300, {"more": "names"}], ["x", bad]], Where("label"))
    assert encoder.vocabulary.names() == ["known"]
    rows = encoder.fit_transform([["new", "known"]], Where("label"))
    assert rows.indices.tolist() == [1, 0]


def test_a_table_that_has_grown_and_shrunk_finds_its_names():
    names = [f"f{i}" for i in range(5000)]
    vocabulary = Vocabulary(names[:2000])
    with pytest.raises(ValueError, match="not int"):
        vocabulary.read([[names, 3]], "=", learn=True)
    assert len(vocabulary) == 2000
    assert columns(vocabulary, names) == [*range(2000), *[-1] * 3000]
    kept = np.arange(2000) % 3 == 0
    assert vocabulary.keep(kept).tolist() == [i // 3 if i % 3 == 0 else -1 for i in range(2000)]
    assert vocabulary.names() == names[:2000:3]
    with pytest.raises(ValueError, match="twice"):
        Vocabulary(["a", "b", "a"])
