"""Folders of small images with masks, for tests of segmenters."""

import numpy as np
from PIL import Image

from structlearn.datasets import make_shapes


def shapes(n=4, n_classes=3, size=(24, 32), seed=0, noise=0.2):
    """Return pairs of small images and masks."""
    data = make_shapes(
        n, size=size, n_classes=n_classes, n_shapes=8, noise=noise, random_state=seed
    )
    return list(zip(data.images, data.masks, strict=True))


def save(path, array, palette=None):
    """Write an array as PNG (or what the name says)."""
    picture = Image.fromarray(np.asarray(array))
    if palette is not None:
        picture.putpalette(palette)
    picture.save(path)


def folder(path, pairs, palette=None):
    """Write pairs to images/ and masks/."""
    (path / "images").mkdir(parents=True)
    (path / "masks").mkdir()
    for number, (image, mask) in enumerate(pairs):
        save(path / "images" / f"{number:02}.png", image)
        save(path / "masks" / f"{number:02}.png", mask, palette)
    return path
