"""check_structure finds structures that answer every query and cannot be learned."""

import numpy as np
import pytest

from structlearn import CRF, StructuredPerceptron
from structlearn.structures import Block, Chain, Structure
from structlearn.testing import check_structure


class Chosen(Structure):
    """One of the sites: an output that is no label. Score block: ``site`` (n,)."""

    has_labels = False

    def blocks(self, n_labels):
        return {"site": Block(())}

    def encode(self, y, site):
        counts = np.zeros_like(site)
        counts[y[0]] = 1
        return {"site": counts}

    def decode(self, parts):
        return [int(np.argmax(parts["site"]))]

    def argmax(self, site):
        from structlearn.exceptions import InfeasibleError

        if np.isneginf(site).all():
            raise InfeasibleError("no site is left")
        return [int(np.argmax(site))]

    def outputs(self, site):
        return ([k] for k in range(len(site)))


class NamedLabels(Chosen):
    has_labels = True


class NoShape(Chosen):
    def blocks(self, n_labels):
        return {"site": Block((None,))}


def scores(rng):
    return {"site": rng.normal(size=4)}


def test_what_can_be_learned_is_counted():
    assert check_structure(Chosen(), scores, learning=True).checked["learning"] == 4
    assert check_structure(Chain(), n_labels=2, learning=True).checked["learning"] > 0
    assert "learning" not in check_structure(Chosen(), scores).checked


def test_labels_that_are_none_are_found():
    with pytest.raises(AssertionError, match="set has_labels = False in the class"):
        check_structure(NamedLabels(), scores, learning=True)


def test_shapes_that_are_none_are_refused_by_name():
    told = r"NoShape.blocks\(\) gives the block 'site' the outcomes \(None,\)"
    with pytest.raises(ValueError, match=told):
        check_structure(NoShape(), scores)
    with pytest.raises(ValueError, match=told):
        CRF(NoShape()).fit([{"site": np.ones((3, 1))}], [[0]])


def test_the_error_says_what_may_be_missing():
    X = [{"site": np.ones((3, 1))}] * 2
    for y in ([[(0, 1)], [(1, 0)]], [[0, 1], [0]]):
        with pytest.raises(ValueError, match="outputs of NamedLabels are not labels"):
            StructuredPerceptron(NamedLabels()).fit(X, y)


def test_an_output_is_learned():
    rng = np.random.default_rng(0)
    X = [{"site": rng.normal(size=(5, 2))} for _ in range(40)]
    y = [[int(np.argmax(x["site"] @ [1.0, -2.0]))] for x in X]
    model = StructuredPerceptron(Chosen(), random_state=0).fit(X[:30], y[:30])
    assert model.score(X[30:], y[30:]) >= 0.8
