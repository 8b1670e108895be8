"""What structures accept as scores."""

import numpy as np
import pytest

from structlearn.structures import Chain, Multiclass
from tests.structures.edge_structures import TwoBlocks

RNG = np.random.default_rng(0)
LABEL = np.round(RNG.normal(size=(4, 3)), 2)
TRANSITION = np.round(RNG.normal(size=(3, 3)), 2)
BEST = Chain().argmax(label=LABEL, transition=TRANSITION)


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
