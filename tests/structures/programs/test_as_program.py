"""Every structure as an integer program: the same argmax, by rows instead of recursion."""

import numpy as np
import pytest

from structlearn.exceptions import InfeasibleError
from structlearn.structures import Chain, Lattice, Multiclass, SemiMarkov


def scores_of(rng, structure, first, positions, forbid=0.0):
    """Random scores: some blocks left out, tables shared or by position, some parts forbidden."""
    n_labels = first.shape[-1]
    scores = {structure.label_block: first}
    for name, block in structure.blocks(n_labels).items():
        if name == structure.label_block or rng.random() < 0.3:
            continue
        shape = block.outcomes
        if len(shape) > 1 and rng.random() < 0.5:
            shape = (max(positions - len(shape) + 1, 0), *shape)
        scores[name] = rng.normal(size=shape)
        scores[name][rng.random(shape) < forbid] = -np.inf
    return scores


def assert_same_best(structure, scores):
    program = structure.as_program(**scores)
    try:
        expected = structure.solve(**scores)
    except InfeasibleError:
        with pytest.raises(InfeasibleError, match="contradict"):
            program.solve()
        return
    found = program.solve()
    assert found.exact
    assert found.value == pytest.approx(expected.value)
    assert structure.score(found.output, **scores) == pytest.approx(expected.value)
    assert program.relax().integral, "the rows of a dynamic program are tight"


@pytest.mark.parametrize("order", [0, 1, 2, 3])
@pytest.mark.parametrize("length", [1, 2, 3, 5])
@pytest.mark.parametrize("n_labels", [1, 2, 3])
def test_chains_of_every_order(order, length, n_labels):
    rng = np.random.default_rng([order, length, n_labels])
    chain = Chain(order)
    for forbid in (0.0, 0.2):
        label = rng.normal(size=(length, n_labels))
        assert_same_best(chain, scores_of(rng, chain, label, length, forbid))


@pytest.mark.parametrize("length", [1, 2, 5])
@pytest.mark.parametrize("max_length", [1, 2, 7])
def test_segmentations(length, max_length):
    rng = np.random.default_rng([length, max_length])
    structure = SemiMarkov(max_length)
    for forbid in (0.0, 0.2, 0.2):
        segment = rng.normal(size=(length, max_length, 2))
        assert_same_best(structure, scores_of(rng, structure, segment, length, forbid))


def test_multiclass():
    assert Multiclass().as_program(label=[1.0, 3.0, -np.inf, 2.0]).argmax() == 1


def test_dynamic_programs_of_users_by_their_edges():
    lattice = Lattice([(0, 1), (0, 2), (1, 2), (1, 3), (2, 3)])
    rng = np.random.default_rng(0)
    for _ in range(5):
        assert_same_best(lattice, {"edge": rng.normal(size=5)})


def test_parts_come_first_in_the_order_of_the_blocks():
    rng = np.random.default_rng(1)
    scores = {"label": rng.normal(size=(3, 2)), "transition": rng.normal(size=(2, 2))}
    program = Chain().as_program(**scores)
    assert program.shapes == {"label": (3, 2), "transition": (2, 2, 2)}
    parts = Chain().encode_by_position(program.argmax(), **scores)
    flat = np.concatenate([a.ravel() for a in parts.values()])
    assert program.rows.hold(flat)
    assert program.score(program.argmax()) == pytest.approx(Chain().solve(**scores).value)


def test_other_scores_of_the_same_shapes():
    rng = np.random.default_rng(2)
    chain = Chain()
    program = chain.as_program(label=np.zeros((4, 3)), transition=np.zeros((3, 3)))
    for _ in range(5):
        scores = {"label": rng.normal(size=(4, 3)), "transition": rng.normal(size=(3, 3))}
        scores["label"][1, rng.integers(3)] = -np.inf
        np.testing.assert_array_equal(program.argmax(**scores), chain.argmax(**scores))


def test_constraints_on_a_chain():
    """Exactly two positions with label 1: what no Viterbi knows."""
    rng = np.random.default_rng(3)
    scores = {"label": rng.normal(size=(5, 2)), "transition": rng.normal(size=(2, 2))}
    program = Chain().as_program(**scores)
    row = np.zeros((1, program.n_parts))
    row[0, 1:10:2] = 1
    found = program.with_rows(row, 2, 2, names=["two of label 1"]).solve()
    every = [y for y in Chain().outputs(**scores) if y.sum() == 2]
    best = max(every, key=lambda y: Chain().score(y, **scores))
    np.testing.assert_array_equal(found.output, best)


def test_k_best_of_a_chain():
    rng = np.random.default_rng(4)
    scores = {"label": rng.normal(size=(3, 2)), "transition": rng.normal(size=(2, 2))}
    found = Chain().as_program(**scores).kbest(10)
    expected = Chain().kbest(10, **scores)
    assert [value for value, _ in found] == pytest.approx([value for value, _ in expected])


def test_no_program_without_rows():
    class Own(Multiclass.__mro__[2]):  # the base class alone
        def blocks(self, n_labels):
            return Multiclass().blocks(n_labels)

    with pytest.raises(ValueError, match="program_rows"):
        Own().as_program(label=np.zeros(3))


def test_a_batch_is_refused():
    with pytest.raises(ValueError, match="one example"):
        Chain().as_program(label=[np.zeros((2, 2))])
