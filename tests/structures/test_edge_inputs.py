"""Every query of every structure on inputs at the edge: a right answer, or an error that helps.

The right answer is that for plain float64 arrays, example by example; the other tests compare
those with enumeration.
"""

import numpy as np
import pytest

from structlearn.exceptions import CapabilityError, InfeasibleError
from structlearn.structures import Arborescence, Lattice, Matching, Multiclass, SpanningTree
from tests.structures.query_cases import CASES, QUERIES, same

EVERY = pytest.mark.parametrize(
    ("case", "query"), [(case, query) for case in CASES for query in QUERIES]
)


def question(case, query):
    """Return a function of scores (and of outputs and parts), with those of the case."""
    structure, scores = CASES[case]
    y = structure.argmax(**scores)
    parts = structure.encode(y, **scores)

    def ask(given, y=y, parts=parts):
        return QUERIES[query](structure, y, parts, given)

    return ask, structure, scores, y, parts


def changed(structure, scores, change):
    """Return the scores with each block changed, and the topology as it is."""
    return {k: v if k in structure.topology else change(v) for k, v in scores.items()}


def strided(a):
    return np.repeat(a, 2, axis=-1)[..., ::2] if a.ndim else a


def read_only(a):
    copy = a.copy()
    copy.flags.writeable = False
    return copy


ACCEPTED = {
    "fortran": lambda a: a.copy(order="F"),
    "strided": strided,
    "read-only": read_only,
    "big-endian": lambda a: a.astype(">f8"),
    "object": lambda a: a.astype(object),
    "long double": lambda a: a.astype(np.longdouble),
}


@EVERY
def test_layouts(case, query):
    ask, structure, scores, *_ = question(case, query)
    try:
        right = ask(scores)
    except CapabilityError:
        pytest.skip("mathematics denies it")
    for name, change in ACCEPTED.items():
        given = changed(structure, scores, change)
        before = {k: np.array(v) for k, v in given.items()}
        assert same(ask(given), right), name
        assert all(np.array_equal(before[k], given[k]) for k in given), f"{name}: changed"


@EVERY
def test_other_numbers(case, query):
    ask, structure, scores, *_ = question(case, query)
    for kind in (np.float32, np.float16, np.int32, np.int8, np.uint8, bool):
        rounded = changed(structure, scores, lambda a, kind=kind: np.abs(a * 2).astype(kind))
        plain = changed(structure, rounded, lambda a: a.astype(np.float64))
        try:
            right = ask(plain)
        except CapabilityError:
            pytest.skip("mathematics denies it")
        assert same(ask(rounded), right), kind


def in_shape(value, dtype=None):
    return lambda a: np.full(np.shape(a), value, dtype=dtype)


#: Of no structure: wrong values, wrong kinds, wrong shapes.
REFUSED = {
    "NaN": in_shape(np.nan),
    "+inf": in_shape(np.inf),
    "complex": lambda a: a + 0.5j,
    "complex objects": lambda a: (a + 0.5j).astype(object),
    "strings of numbers": lambda a: a.astype(str),
    "bytes of numbers": lambda a: a.astype(np.bytes_),
    "strings": in_shape("x"),
    "None": in_shape(None),
    "dates": in_shape(0, "M8[s]"),
    "times": in_shape(0, "m8[s]"),
    "records": in_shape(0, [("a", float)]),
    "a whole number beyond all": in_shape(10**400, object),
    "string": lambda a: "abc",
    "bytes": lambda a: b"ab",
    "dictionary": lambda a: {"a": 1},
    "set": lambda a: {1.0},
    "function": lambda a: len,
    "generator": lambda a: (x for x in [1.0]),
    "six axes": lambda a: np.zeros((1, 2, 1, 2, 1, 2)),
    "nothing of each": lambda a: np.zeros((0,) * max(a.ndim, 1)),
    "no position": lambda a: np.zeros((0, *a.shape[1:])),
    "no outcome": lambda a: np.zeros((*a.shape[:-1], 0)),
    "ragged": lambda a: [[[1.0], [2.0, 3.0]], [[1.0]]],
}


#: What structures say that have an argmax alone.
NO_SUMS = "under these constraints|that needs a dynamic program|no dynamic program"


def blocks_of(structure):
    return r"\b(" + "|".join(structure.blocks(2)) + r")\b"


@EVERY
def test_what_is_no_score(case, query):
    """Refused by name: no query reads past it, drops half of it, or crashes."""
    ask, structure, scores, *_ = question(case, query)
    if query == "decode":
        return
    unread = query == "encode"  # the values, not their kind
    expected = f"{blocks_of(structure)}|#P-hard|{NO_SUMS}"
    for name, change in REFUSED.items():
        if unread and name in ("NaN", "+inf", "None"):
            continue
        with pytest.raises(ValueError, match=expected):
            ask(changed(structure, scores, change))
    with pytest.raises(ValueError, match=f"foo|#P-hard|{NO_SUMS}"):
        ask({**scores, "foo": np.zeros(3)})
    if query != "encode" or case not in ("program", "lattice"):  # whose sizes are their own
        with pytest.raises(ValueError, match=expected):
            ask({})


@EVERY
def test_everything_forbidden(case, query):
    ask, structure, scores, *_ = question(case, query)
    given = {
        k: v if k in structure.topology or k.startswith("potts") else np.full(v.shape, -np.inf)
        for k, v in scores.items()
    }
    if query in ("encode", "decode"):
        assert same(ask(given), ask(scores))
    elif case == "program":
        pass  # nothing at all is one of its outputs
    elif query == "score":
        assert ask(given) == -np.inf
    elif query == "count":
        assert ask(given) == 0
    else:
        with pytest.raises((InfeasibleError, CapabilityError)):
            ask(given)


@EVERY
def test_batches(case, query):
    """None, one, two examples; and one that is wrong among right ones, which is named."""
    ask, structure, scores, y, parts = question(case, query)
    try:
        right = ask(scores)
    except CapabilityError:
        right = None
    for n in (0, 1, 2):
        for kind in (list, tuple):
            given = {k: kind([v] * n) for k, v in scores.items()}
            if query == "as_program":
                with pytest.raises(ValueError, match="one example"):
                    ask(given)
                continue
            try:
                answers = ask(given, [y] * n, [parts] * n)
            except CapabilityError:
                assert right is None
                continue
            assert isinstance(answers, list)
            assert len(answers) == n
            if "sample" not in query and right is not None:  # each example has a seed of its own
                assert all(same(answer, right) for answer in answers)
    if query in ("as_program", "decode") or right is None:
        return
    named = "" if query == "entropy" else "example 1: "
    for wrong in (np.zeros(0), [], "x", np.full(2, 1j)):
        given = {k: [v, v if k in structure.topology else wrong] for k, v in scores.items()}
        with pytest.raises(ValueError, match=named + ".*" + blocks_of(structure)):
            ask(given, [y, y])


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("n", [0, -1, 1.5, "2", None, True])
def test_numbers_of_outputs(case, n):
    structure, scores = CASES[case]
    empty = {k: [] for k in scores}
    for temperature in (1.0, 0.0):
        for given in (scores, empty):
            with pytest.raises(ValueError, match=r"n must be a whole number >= 1|#P-hard"):
                structure.sample(n, temperature=temperature, **given)
    for given in (scores, empty):
        with pytest.raises(ValueError, match="n must be a whole number >= 1"):
            structure.kbest(n, **given)


def test_one_tree_without_edges_has_numbers_too():
    for n in (0, -1):
        with pytest.raises(ValueError, match="n must be a whole number"):
            SpanningTree().sample(n, edge=np.zeros((1, 1)))


def test_numbers_that_are_no_tables():
    """A number is no array of one score."""
    with pytest.raises(ValueError, match=r"label has shape \(\), expected \(K,\)"):
        Multiclass().argmax(label=1.0)


def test_nested_lists_of_labelled_arcs_are_one_example():
    scores = np.random.default_rng(0).normal(size=(4, 4, 2))
    heads, labels = Arborescence().argmax(arc=scores)
    for given in (scores.tolist(), list(scores)):
        got = Arborescence().argmax(arc=given)
        assert got[0].tolist() == heads.tolist()
        assert got[1].tolist() == labels.tolist()
        assert len(Arborescence().sample(3, arc=given, random_state=0)) == 3
    squares = [scores[:, :, 0], scores[:, :, 1]]
    assert len(Arborescence().argmax(arc=squares)) == 2


# -- outputs that are none ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([], "edge numbers"),
        ([[1]], "edge numbers"),
        ([1.0], "edge numbers"),
        (None, "edge numbers"),
        ("1", "edge numbers"),
        ([3], "among 0..2"),
        ([-1], "among 0..2"),
        ([0], "not a path from node 0 to node 2"),
        ([2], "not a path"),
        ([2, 0], "not a path"),
        ([1, 1], "not a path"),
    ],
)
def test_paths_of_a_lattice(y, message):
    lattice = Lattice([(0, 1), (0, 2), (1, 2)])
    for ask in (lattice.score, lattice.encode):
        with pytest.raises(ValueError, match=message):
            ask(y, edge=np.zeros(3))
    with pytest.raises(ValueError, match=message):
        lattice.nodes(y)


@pytest.mark.parametrize("parts", [np.ones(2), np.ones(3), np.full(3, 0.5), np.zeros(3), 1.0])
def test_parts_of_a_lattice(parts):
    with pytest.raises(ValueError, match=r"these parts are not an output|not a path|edge numbers"):
        Lattice([(0, 1), (0, 2), (1, 2)]).decode({"edge": parts})


def test_parts_of_a_matching():
    for parts in (np.ones(3), np.zeros((2, 2, 2)), 1.0):
        with pytest.raises(ValueError, match="these parts are not an output"):
            Matching().decode({"pair": parts})


def test_a_batch_has_a_list_of_outputs():
    with pytest.raises(ValueError, match="a list of outputs, one per example, got 0"):
        Multiclass().score(0, label=[np.zeros(2), np.zeros(2)])
    with pytest.raises(ValueError, match="the batch has 2 inputs, but 1 outputs"):
        Multiclass().encode([0], label=[np.zeros(2), np.zeros(2)])
