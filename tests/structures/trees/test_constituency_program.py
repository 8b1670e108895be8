"""Integer programs find the trees that CKY finds."""

import numpy as np
import pytest

from structlearn.structures import Constituency, Grammar, Structure

pytestmark = pytest.mark.skipif(
    not hasattr(Structure, "as_program"), reason="structures have no integer programs"
)


@pytest.mark.parametrize("seed", range(6))
def test_spans(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 8))
    span = rng.normal(size=(n, n + 1, 4))
    span[rng.random(span.shape) < 0.2] = -np.inf
    span[..., 1] = np.where(np.isneginf(span[..., 1]), -9.0, span[..., 1])
    best = Constituency().solve(span=span)
    found = Constituency().as_program(span=span).solve()
    assert found.value == pytest.approx(best.value)
    assert Constituency().score(best.output, span=span) == pytest.approx(found.value)


@pytest.mark.parametrize("seed", range(4))
def test_grammars(seed):
    rng = np.random.default_rng(seed)
    grammar = Grammar(3, [(0, 1, 2), (1, 0, 0), (2, 2, 1), (0, 0, 1)], [(0, 1), (1, 2)])
    n = int(rng.integers(1, 6))
    scores = {
        "word": rng.normal(size=(n, 3)),
        "span": rng.normal(size=(n, n + 1, 3)),
        "binary": rng.normal(size=4),
        "unary": rng.normal(size=2),
        "root": rng.normal(size=3),
    }
    structure = Constituency(grammar)
    found = structure.as_program(**scores).solve()
    assert found.value == pytest.approx(structure.solve(**scores).value)
