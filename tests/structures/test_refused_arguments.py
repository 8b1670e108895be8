"""How structures refuse scores, outputs and options that are wrong."""

import numpy as np
import pytest

from structlearn.structures import Arborescence, Chain, Exhaustive, Lattice, Multiclass

RNG = np.random.default_rng(0)
LABEL = np.round(RNG.normal(size=(4, 3)), 2)
TRANSITION = np.round(RNG.normal(size=(3, 3)), 2)

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
    with pytest.raises(ValueError, match="label has 2, transition has 1"):
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
        with pytest.raises(ValueError, match="not an output"):
            Chain().decode({"label": parts})
    for parts in (np.zeros(2), np.ones(2), np.full(2, 0.5)):
        with pytest.raises(ValueError, match="not an output"):
            Multiclass().decode({"label": parts})
    with pytest.raises(ValueError, match="not among the 2 labels"):
        Multiclass().encode(2, label=[0.0, 0.0])


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


@pytest.mark.parametrize("structure", [Arborescence(), Arborescence(projective=True)])
def test_sums_that_overflow_are_refused(structure):
    with pytest.raises(ValueError, match="the scores are too large"):
        structure.marginals(arc=np.full((4, 4), 1e308))
