"""What structures accept as scores, and how they refuse the rest."""

import numpy as np
import pytest
from edge_structures import TwoBlocks

from structlearn.structures import Chain, Exhaustive, Lattice, Multiclass

RNG = np.random.default_rng(0)
LABEL = np.round(RNG.normal(size=(4, 3)), 2)
TRANSITION = np.round(RNG.normal(size=(3, 3)), 2)
BEST = Chain().argmax(label=LABEL, transition=TRANSITION)


# -- what is accepted --------------------------------------------------------------------------


@pytest.mark.parametrize(
    "convert",
    [
        np.asfortranarray,
        lambda a: np.repeat(a, 2, axis=0)[::2],
        lambda a: np.repeat(a, 2, axis=1)[:, ::2],
        lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
        lambda a: a.tolist(),
        lambda a: tuple(map(tuple, a.tolist())),
        lambda a: [np.array(row) for row in a],
        lambda a: a.astype(">f8"),
        lambda a: a.astype(object),
        lambda a: a.astype(np.longdouble),
    ],
    ids=[
        "fortran",
        "every other row",
        "every other column",
        "reversed",
        "list",
        "tuple",
        "list of rows",
        "big-endian",
        "object",
        "long double",
    ],
)
@pytest.mark.parametrize("which", ["label", "transition", "both"])
def test_layouts(convert, which):
    scores = {"label": LABEL, "transition": TRANSITION}
    scores |= {k: convert(v) for k, v in scores.items() if which in (k, "both")}
    right = {"label": LABEL, "transition": TRANSITION}
    chain = Chain()
    if which == "transition" and isinstance(scores["transition"], (list, tuple)):
        scores["label"] = LABEL
    np.testing.assert_array_equal(chain.argmax(**scores), BEST)
    assert chain.solve(**scores).value == chain.solve(**right).value
    value, p = chain.infer(**scores)
    assert value == chain.infer(**right)[0]
    assert p["transition"].shape == (3, 3)
    assert chain.kbest(2, **scores)[1][0] == chain.kbest(2, **right)[1][0]
    assert chain.score(BEST, **scores) == chain.score(BEST, **right)
    assert chain.count(**scores) == 81
    np.testing.assert_array_equal(
        chain.sample(5, random_state=0, **scores), chain.sample(5, random_state=0, **right)
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, np.int8, np.uint8, bool])
def test_dtypes(dtype):
    label = (LABEL * 3).astype(dtype)
    transition = np.eye(3).astype(dtype)
    right = {"label": label.astype(np.float64), "transition": transition.astype(np.float64)}
    got = Chain().solve(label=label, transition=transition)
    assert got.value == Chain().solve(**right).value
    value, p = Chain().infer(label=label, transition=transition)
    assert value == Chain().infer(**right)[0]
    assert p["label"].dtype == np.float64
    batch = Chain().argmax(label=[label, label[:2]], transition=transition)
    np.testing.assert_array_equal(batch[0], got.output)
    assert Multiclass().argmax(label=label[0]) == int(right["label"][0].argmax())


def test_read_only_scores():
    label, transition = LABEL.copy(), TRANSITION.copy()
    label.flags.writeable = transition.flags.writeable = False
    np.testing.assert_array_equal(Chain().argmax(label=label, transition=transition), BEST)
    Chain().infer(label=label, transition=transition)


def test_scores_are_left_alone():
    label, transition = LABEL.copy(), TRANSITION.copy()
    for ask in (Chain().argmax, Chain().infer, Chain().marginals, Chain().count, Chain().entropy):
        ask(label=label, transition=transition)
    np.testing.assert_array_equal(label, LABEL)
    np.testing.assert_array_equal(transition, TRANSITION)


def test_answers_are_not_shared():
    """A later call does not overwrite what an earlier one returned."""
    y = Chain().argmax(label=LABEL)
    _, p = Chain().infer(label=LABEL)
    copy, q = y.copy(), p["label"].copy()
    Chain().argmax(label=-LABEL)
    Chain().infer(label=-LABEL)
    np.testing.assert_array_equal(y, copy)
    np.testing.assert_array_equal(p["label"], q)
    y[0] = 2  # and may be written to


def test_absent_blocks_may_be_none():
    for ask in (Chain().argmax, Chain().infer, Chain().count, Chain().marginals):
        ask(label=LABEL, transition=None, start=None)
    assert Chain().score(BEST, label=LABEL, transition=None) == Chain().score(BEST, label=LABEL)
    assert Chain().entropy(label=LABEL, transition=None) == Chain().entropy(label=LABEL)


def test_nested_lists_mean_the_same_to_every_query():
    """Multiclass: a list of lists is a batch; a chain: a list of rows is one input."""
    rows = [np.array([1.0, 2.0]), np.array([3.0, 0.0])]
    nested = [row.tolist() for row in rows]
    assert Multiclass().argmax(label=nested) == [1, 0]
    assert Multiclass().count(label=nested) == [2, 2]
    assert Multiclass().entropy(label=nested) == Multiclass().entropy(label=rows)
    assert Chain().entropy(label=rows) == Chain().entropy(label=np.array(rows))


# -- what is refused ---------------------------------------------------------------------------

ASKS = {
    "argmax": lambda s, **scores: s.argmax(**scores),
    "solve": lambda s, **scores: s.solve(**scores),
    "infer": lambda s, **scores: s.infer(**scores),
    "infer at 0": lambda s, **scores: s.infer(temperature=0, **scores),
    "log_partition": lambda s, **scores: s.log_partition(**scores),
    "marginals": lambda s, **scores: s.marginals(**scores),
    "entropy": lambda s, **scores: s.entropy(**scores),
    "kbest": lambda s, **scores: s.kbest(2, **scores),
    "sample": lambda s, **scores: s.sample(2, random_state=0, **scores),
    "batch": lambda s, **scores: s.argmax(**{k: [np.asarray(v)] for k, v in scores.items()}),
    "score": lambda s, **scores: s.score([0, 1, 2, 0], **scores),
    "count": lambda s, **scores: s.count(**scores),
    "encode": lambda s, **scores: s.encode([0, 1, 2, 0], **scores),
}


def with_value(a, value):
    changed = a.copy()
    changed.flat[4] = value
    return changed


WRONG = {
    "label of one dimension": {"label": np.zeros(3)},
    "label of three dimensions": {"label": np.zeros((2, 4, 3))},
    "no position": {"label": np.zeros((0, 3))},
    "no label": {"label": np.zeros((4, 0))},
    "square transition of other width": {"label": LABEL, "transition": np.zeros((2, 2))},
    "transition not square": {"label": LABEL, "transition": np.zeros((3, 2))},
    "transition of one dimension": {"label": LABEL, "transition": np.zeros(3)},
    "too many positions": {"label": LABEL, "transition": np.zeros((4, 3, 3))},
    "too few positions": {"label": LABEL, "transition": np.zeros((2, 3, 3))},
    "one position of three": {"label": LABEL, "transition": np.zeros((1, 3, 3))},
    "start of other width": {"label": LABEL, "start": np.zeros(4)},
    "end by position": {"label": LABEL, "end": np.zeros((4, 3))},
    "unknown block": {"label": LABEL, "edge": np.zeros(3)},
    "a higher order": {"label": LABEL, "transition2": np.zeros((3, 3, 3))},
    "NaN in label": {"label": with_value(LABEL, np.nan)},
    "+inf in label": {"label": with_value(LABEL, np.inf)},
    "NaN in transition": {"label": LABEL, "transition": with_value(TRANSITION, np.nan)},
    "+inf in transition": {"label": LABEL, "transition": with_value(TRANSITION, np.inf)},
    "no label block": {"transition": TRANSITION},
}


def refusals():
    """Pair every query with every wrong input it has to look at."""
    for query in ASKS:
        for case in WRONG:
            if query == "batch" and case == "label of one dimension":
                continue  # a list of rows is one input
            if query == "encode" and ("NaN" in case or "inf" in case):
                continue  # parts do not depend on the values
            yield query, case


@pytest.mark.parametrize(("query", "case"), list(refusals()))
def test_wrong_scores_are_refused(query, case):
    with pytest.raises(ValueError, match=r"label|transition|start|end|edge|block"):
        ASKS[query](Chain(), **WRONG[case])


@pytest.mark.parametrize(
    ("label", "message"),
    [
        (np.zeros((2, 3)), "shape"),
        (np.zeros(0), "K >= 1"),
        (np.array([0.0, np.nan]), r"NaN or \+inf"),
        (np.array([0.0, np.inf]), r"NaN or \+inf"),
        ("abc", "not an array of numbers"),
        (None, "needs label|label must"),
    ],
)
def test_wrong_labels_of_multiclass(label, message):
    with pytest.raises(ValueError, match=message):
        Multiclass().argmax(label=label)
    with pytest.raises(ValueError, match=message):
        Multiclass().infer(label=label)


def test_messages_name_the_block_the_shape_and_the_example():
    with pytest.raises(ValueError, match=r"transition has shape \(3,\), expected \(K, K\)"):
        Chain().argmax(label=LABEL, transition=np.zeros(3))
    with pytest.raises(ValueError, match="example 1: label contains NaN"):
        Chain().argmax(label=[LABEL, np.full((2, 3), np.nan)])
    with pytest.raises(ValueError, match="the blocks are label, start, end, transition"):
        Chain().argmax(label=LABEL, edge=np.zeros(3))
    with pytest.raises(ValueError, match="label has 2, transition 1"):
        Chain().argmax(label=[LABEL, LABEL], transition=[TRANSITION])
    with pytest.raises(ValueError, match="K = 4"):
        Chain().argmax(label=[LABEL, np.zeros((2, 4))], transition=TRANSITION)


@pytest.mark.parametrize("order", [-1, 1.0, "1", None, True, 14, 10**30])
def test_wrong_orders(order):
    with pytest.raises(ValueError, match="order"):
        Chain(order)


@pytest.mark.parametrize("temperature", [-1.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "make",
    [Chain, lambda: Chain(0), lambda: Exhaustive(Chain())],
    ids=["first order", "order zero", "exhaustive"],
)
def test_wrong_temperatures(make, temperature):
    structure = make()
    options = {"temperature": temperature, "label": LABEL}
    for ask in (structure.infer, structure.log_partition, structure.marginals, structure.entropy):
        with pytest.raises(ValueError, match="temperature must be a finite number >= 0"):
            ask(**options)
    with pytest.raises(ValueError, match="temperature"):
        structure.sample(2, **options)


@pytest.mark.parametrize("n", [0, -1, 1.0, "2", None, True])
@pytest.mark.parametrize("make", [Chain, lambda: Exhaustive(Chain())], ids=["chain", "exhaustive"])
def test_wrong_numbers_of_outputs(make, n):
    structure = make()
    for ask in (structure.kbest, structure.sample):
        with pytest.raises(ValueError, match="n must be a whole number >= 1"):
            ask(n, label=LABEL)


def test_numpy_integers_are_whole_numbers():
    assert len(Chain().kbest(np.int32(3), label=LABEL)) == 3
    assert len(Chain().sample(np.int64(3), label=LABEL)) == 3
    assert Chain(np.int8(2)).order == 2


@pytest.mark.parametrize("n_jobs", [0, 1.5, "2", True])
def test_wrong_numbers_of_threads(n_jobs):
    with pytest.raises(ValueError, match="n_jobs"):
        Chain().argmax(label=[LABEL], n_jobs=n_jobs)
    with pytest.raises(ValueError, match="n_jobs"):
        Chain().infer(label=[LABEL], n_jobs=n_jobs)


@pytest.mark.parametrize("random_state", [-1, "a", 1.5])
def test_wrong_random_states(random_state):
    for structure in (Chain(), Exhaustive(Chain())):
        with pytest.raises(ValueError, match="random_state"):
            structure.sample(2, label=LABEL, random_state=random_state)


def test_random_states():
    """A number repeats itself; generators go on; None differs (32 labels out of 3 agree: never)."""
    label = np.zeros((32, 3))
    chain = Chain()

    def draw(state):
        return chain.sample(1, label=label, random_state=state)[0].tolist()

    assert draw(0) == draw(0) != draw(1)
    assert draw(2**62) == draw(np.int64(2**62))
    assert draw(None) != draw(None)
    generator = np.random.default_rng(0)
    assert draw(generator) != draw(generator)
    assert draw(np.random.default_rng(5)) == draw(np.random.default_rng(5))
    assert draw(np.random.RandomState(5)) == draw(np.random.RandomState(5))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0, 1], "shape"),
        ([0, 1, 2, 3], "among 0..2"),
        ([0, -1, 2, 0], "among 0..2"),
        ([0.0, 1.0, 2.0, 0.0], "whole numbers"),
        ([[0, 1, 2, 0]], "shape"),
    ],
)
def test_wrong_outputs(y, message):
    with pytest.raises(ValueError, match=message):
        Chain().score(y, label=LABEL)
    with pytest.raises(ValueError, match=message):
        Chain().encode(y, label=LABEL)


def test_parts_that_are_no_output():
    for parts in (np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), 0.5)):
        with pytest.raises(ValueError, match="no output"):
            Chain().decode({"label": parts})
    for parts in (np.zeros(2), np.ones(2), np.full(2, 0.5)):
        with pytest.raises(ValueError, match="no output"):
            Multiclass().decode({"label": parts})
    with pytest.raises(ValueError, match="not among the 2 labels"):
        Multiclass().encode(2, label=[0.0, 0.0])


# -- structures in Python ----------------------------------------------------------------------

FORK = [(0, 1), (0, 2), (1, 2)]


def test_wrong_scores_of_a_lattice():
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=r"edge contains NaN or \+inf"):
            Lattice(FORK).argmax(edge=[0.0, bad, 0.0])


@pytest.mark.parametrize(
    "scores",
    [
        {"edge": np.zeros((3, 2))},
        {"weight": np.zeros(3)},
        {"weight": np.zeros(3), "edge": np.zeros(3)},
        {"edge": np.zeros(3), "weight": np.zeros(3)},
    ],
    ids=["two dimensions", "no edge block", "unknown block first", "unknown block last"],
)
def test_wrong_blocks_of_a_lattice(scores):
    with pytest.raises(ValueError, match=r"edge|weight"):
        Lattice(FORK).argmax(**scores)


def test_number_of_scores_in_score():
    with pytest.raises(ValueError, match="edge"):
        Lattice(FORK).score([0, 2], edge=np.zeros(5))


def test_blocks_are_known_by_name():
    """The order of keyword arguments means nothing."""
    choice, bonus = np.array([0.0, 5.0]), np.array([9.0, 3.0, -4.0])
    assert TwoBlocks().argmax(choice=choice, bonus=bonus) == 0
    assert TwoBlocks().argmax(bonus=bonus, choice=choice) == 0
    right = TwoBlocks().log_partition(choice=choice, bonus=bonus)
    assert TwoBlocks().log_partition(bonus=bonus, choice=choice) == pytest.approx(right)
    label_first = Chain().infer(label=LABEL, transition=TRANSITION)
    transition_first = Chain().infer(transition=TRANSITION, label=LABEL)
    assert label_first[0] == transition_first[0]
    np.testing.assert_array_equal(label_first[1]["label"], transition_first[1]["label"])
