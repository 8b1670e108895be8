"""Built-in images: the same for the same seed, with masks that fit."""

import doctest

import numpy as np
import pytest

from structlearn.datasets import load_photograph, make_shapes, shapes


def test_shapes():
    data = make_shapes(3, size=(40, 30), n_classes=3, random_state=4)
    again = make_shapes(3, size=(40, 30), n_classes=3, random_state=4)
    for a, b in zip(data.images + data.masks, again.images + again.masks, strict=True):
        np.testing.assert_array_equal(a, b)
    assert data.images[0].shape == (40, 30, 3)
    assert data.images[0].dtype == data.masks[0].dtype == np.uint8
    assert set(np.unique(data.masks)) <= {0, 1, 2}
    assert data.target_names == ["ground", "disc", "box"]
    assert "3 kinds" in data.DESCR
    assert doctest.testmod(shapes).failed == 0


@pytest.mark.parametrize(
    "bad",
    [
        {"size": 8},
        {"size": "x"},
        {"n_classes": 1},
        {"n_classes": 9},
        {"noise": -1},
        {"n_images": -1},
    ],
)
def test_shapes_refuse(bad):
    with pytest.raises(ValueError, match=next(iter(bad))):
        make_shapes(**{"n_images": 1, **bad})


@pytest.mark.parametrize(("name", "n_classes"), [("china", 4), ("flower", 2)])
def test_photographs(name, n_classes):
    data = load_photograph(name)
    assert data.image.shape == (427, 640, 3)
    assert set(np.unique(data.mask)) == {*range(n_classes), 255}
    assert set(np.unique(data.scribbles)) == {*range(n_classes), 255}
    assert len(data.target_names) == n_classes
    both = (data.mask != 255) & (data.scribbles != 255)
    assert (data.mask[both] == data.scribbles[both]).all()  # strokes stay inside the outlines
    noisy = load_photograph(name, noise=0.1, random_state=0)
    assert 0.02 < np.abs(noisy.image / 255 - data.image / 255).mean() < 0.1
    with pytest.raises(ValueError, match="name"):
        load_photograph("x")
    with pytest.raises(ValueError, match="noise"):
        load_photograph(name, noise=-1)
