"""Trees over classes: which weight columns a class adds up."""

import itertools

import numpy as np
import pytest

from structlearn.estimators import CRF
from structlearn.features.hierarchy import ClassHierarchy

CLASSES = np.array(["movies", "music", "oncology"])


def columns(hierarchy):
    bounds = hierarchy.member_ptr.tolist()
    return [
        [hierarchy.nodes[c] for c in hierarchy.member[a:b]] for a, b in itertools.pairwise(bounds)
    ]


def test_the_root_is_left_out():
    tree = ClassHierarchy((("music", "movies"), "oncology"), CLASSES)
    assert tree.n_columns == 4
    assert [row[0] for row in columns(tree)] == CLASSES.tolist()
    shared = [row[1:] for row in columns(tree)]
    assert shared[0] == shared[1]
    assert len(shared[0]) == 1
    assert shared[2] == []


def test_named_nodes():
    tree = ClassHierarchy(
        {"arts": ["music", "movies"], "science": {"medicine": ["oncology"]}}, CLASSES
    )
    assert columns(tree) == [
        ["movies", "arts"], ["music", "arts"], ["oncology", "science", "medicine"],
    ]  # fmt: skip


def test_expand_adds_the_path():
    tree = ClassHierarchy((("music", "movies"), "oncology"), CLASSES)
    weights = np.arange(8.0).reshape(4, 2)
    np.testing.assert_array_equal(
        tree.expand(weights), [weights[0] + weights[3], weights[1] + weights[3], weights[2]]
    )


def test_a_flat_tree_is_no_tree():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), CLASSES[rng.integers(0, 3, size=30)]
    flat = CRF("multiclass", hierarchy=tuple(CLASSES), tol=1e-12).fit(X, y)
    plain = CRF("multiclass", tol=1e-12).fit(X, y)
    np.testing.assert_allclose(flat.coef_, plain.coef_, atol=1e-6)


def test_on_a_chain():
    """Labels of a sequence share weights too; words known for one help its sibling."""
    X = [["dog", "runs"], ["dogs", "run"], ["cat", "runs"]]
    y = [["NN", "VBZ"], ["NNS", "VB"], ["NN", "VBZ"]]
    tree = {"noun": ["NN", "NNS"], "verb": ["VB", "VBZ"]}
    model = CRF(hierarchy=tree, C=10.0).fit(X, y)
    block = model._layout.blocks["label"]
    assert block.n_columns == 6
    assert block.size == 6 * 5
    names = model.feature_names_["label"]
    dog = model.coef_["label"][:, names.index("dog")]
    noun, verb = dog[[0, 1]], dog[[2, 3]]  # NN, NNS, VB, VBZ
    assert noun.min() > verb.max()
    assert model.score(X, y) == 1


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (("music", "movies"), r"no leaf for \['oncology'\]"),
        (("music", ("movies", "music"), "oncology"), "class 'music' appears twice"),
        ({"a": {"a": ["music", "movies"]}, "b": ["oncology"]}, "inner node 'a' appears twice"),
    ],
)
def test_bad_trees(tree, message):
    with pytest.raises(ValueError, match=message):
        ClassHierarchy(tree, CLASSES)


def test_leaves_that_are_no_classes_do_nothing():
    """A tree may know more classes than the data has."""
    tree = ClassHierarchy((("music", "movies", "opera"), "oncology"), CLASSES)
    assert tree.n_columns == 4
