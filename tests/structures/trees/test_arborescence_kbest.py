"""The k best trees of longer sentences, and of batches."""

import numpy as np
import pytest

from structlearn.structures import Arborescence, Constituency, SpanningTree


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("kind", ["bare", "labels", "siblings", "ties"])
def test_the_best_come_first(projective, kind):
    if kind == "siblings" and not projective:
        pytest.skip("siblings need projective trees")
    rng = np.random.default_rng(1)
    n = 17
    shape = (n + 1, n + 1, 3) if kind == "labels" else (n + 1, n + 1)
    scores = {"arc": rng.integers(0, 3, shape) * 1.0 if kind == "ties" else rng.normal(size=shape)}
    if kind == "siblings":
        scores["sibling"] = rng.normal(size=(n + 1,) * 3)
    structure = Arborescence(projective)
    found = structure.kbest(60, **scores)
    values = [value for value, _ in found]
    assert values == sorted(values, reverse=True)
    assert values == pytest.approx([structure.score(y, **scores) for _, y in found])
    assert len({np.array(y).tobytes() for _, y in found}) == 60
    best = structure.solve(**scores)
    assert values[0] == pytest.approx(best.value)
    assert np.array_equal(found[0][1], best.output)


def test_projective_ones_are_those_of_the_general_search():
    """A search over all trees, of which the projective ones are kept."""
    rng = np.random.default_rng(2)
    arc = rng.normal(size=(9, 9))
    near = np.abs(np.subtract.outer(np.arange(9), np.arange(9)))
    arc -= near  # most good trees are projective
    from structlearn.structures.trees.heads import is_projective

    every = [(v, y) for v, y in Arborescence().kbest(400, arc=arc) if is_projective(y)]
    found = Arborescence(True).kbest(len(every), arc=arc)
    assert len(every) > 50
    assert [v for v, _ in found] == pytest.approx([v for v, _ in every])


@pytest.mark.parametrize(
    ("structure", "block", "shape"),
    [
        (Arborescence(True), "arc", lambda n: (n + 1, n + 1)),
        (Arborescence(), "arc", lambda n: (n + 1, n + 1, 2)),
        (SpanningTree(), "edge", lambda n: (n, n)),
        (Constituency(), "span", lambda n: (n, n + 1, 3)),
    ],
)
def test_batches_on_threads(structure, block, shape):
    rng = np.random.default_rng(3)
    batch = [rng.normal(size=shape(n)) for n in (4, 1, 6, 3, 5)]
    alone = [structure.kbest(5, **{block: one}) for one in batch]
    for jobs in (None, 3):
        together = structure.kbest(5, n_jobs=jobs, **{block: batch})
        assert len(together) == len(alone)
        for a, b in zip(alone, together, strict=True):
            assert [v for v, _ in a] == [v for v, _ in b]
            assert all(str(x) == str(y) for (_, x), (_, y) in zip(a, b, strict=True))
    assert structure.kbest(5, n_jobs=2, **{block: []}) == []


def test_the_example_without_a_tree_is_named():
    batch = [np.zeros((3, 3)), np.full((3, 3), -np.inf)]
    with pytest.raises(ValueError, match="example 1"):
        Arborescence(True).kbest(2, arc=batch, n_jobs=2)
