"""Noisy images of shapes, with masks of the kind of shape at each pixel."""

from __future__ import annotations

from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from structlearn.datasets.randomness import RandomStateLike, as_generator

if TYPE_CHECKING:
    from sklearn.utils import Bunch

SHAPE_NAMES = ("ground", "disc", "box", "blob")

#: Mean colour of each kind, so close that the noise hides the kind of a single pixel.
_COLOURS = np.array(
    [[0.45, 0.47, 0.44], [0.58, 0.44, 0.40], [0.42, 0.46, 0.60], [0.50, 0.60, 0.40]]
)
#: Stripes across each kind: how strong, how many pixels apart, and their direction in radians.
_STRIPES = ((0.0, 1.0, 0.0), (0.06, 7.0, 0.6), (0.06, 5.0, 2.2), (0.08, 11.0, 1.4))

_DESCRIPTION = """\
Images of shapes under noise
----------------------------
Discs, rotated boxes and smooth blobs lie on a ground, later ones over earlier ones. A kind has a
mean colour and faint stripes of its own; every image has another brightness, which also changes
across it, every shape is a little off its colour, and every pixel has Gaussian colour noise of
standard deviation {noise:g} (where white is 1). One pixel therefore tells little about its kind,
and a neighbourhood tells most of it, except at borders.

This selection: {n_images} images of {height} x {width} pixels, {n_classes} kinds.
"""


def make_shapes(
    n_images: int = 20,
    *,
    size: int | tuple[int, int] = 128,
    n_classes: int = 4,
    n_shapes: int = 6,
    noise: float = 0.4,
    random_state: RandomStateLike = None,
) -> Bunch:
    """Make noisy images of shapes with their masks, for models of images.

    Parameters
    ----------
    n_images : int, default=20
        How many.
    size : int or (int, int), default=128
        Height and width in pixels, at least 16.
    n_classes : int, default=4
        Kinds of pixels, 2 to 4: the ground, then discs, boxes, blobs.
    n_shapes : int, default=6
        Number of shapes per image; some are hidden by others.
    noise : float, default=0.4
        Standard deviation of the noise of each colour of each pixel, on the scale where white is 1.
    random_state : None, int, numpy.random.Generator or numpy.random.RandomState, default=None
        Same seed, same images.

    Returns
    -------
    sklearn.utils.Bunch
        - ``images`` : list of (H, W, 3) uint8 arrays
        - ``masks`` : list of (H, W) uint8 arrays, the kind of each pixel
        - ``target_names`` : list of str
        - ``DESCR`` : str

    Examples
    --------
    >>> from structlearn.datasets import make_shapes
    >>> data = make_shapes(2, size=(32, 48), random_state=0)
    >>> data.images[0].shape, data.masks[0].shape
    ((32, 48, 3), (32, 48))
    """
    n_images, n_classes, n_shapes = index(n_images), index(n_classes), index(n_shapes)
    height, width = _size(size)
    if n_images < 0 or n_shapes < 0:
        raise ValueError(f"n_images and n_shapes must be >= 0, got {n_images} and {n_shapes}")
    if not 2 <= n_classes <= len(SHAPE_NAMES):
        raise ValueError(f"n_classes must be from 2 to {len(SHAPE_NAMES)}, got {n_classes}")
    if not 0.0 <= noise < float("inf"):
        raise ValueError(f"noise must be a finite number >= 0, got {noise!r}")
    from sklearn.utils import Bunch  # here, so that importing the datasets stays light

    rng = as_generator(random_state)
    images, masks = [], []
    for _ in range(n_images):
        image, mask = _draw(rng, height, width, n_classes, n_shapes, noise)
        images.append(image)
        masks.append(mask)
    return Bunch(
        images=images,
        masks=masks,
        target_names=list(SHAPE_NAMES[:n_classes]),
        DESCR=_DESCRIPTION.format(
            noise=noise, n_images=n_images, height=height, width=width, n_classes=n_classes
        ),
    )


def _size(size: Any) -> tuple[int, int]:
    try:
        height, width = size if isinstance(size, tuple | list) else (size, size)
        height, width = index(height), index(width)
    except (TypeError, ValueError) as error:
        raise ValueError(f"size must be an int or a pair of ints, got {size!r}") from error
    if min(height, width) < 16:
        raise ValueError(f"size must be at least 16 pixels each way, got {size!r}")
    return height, width


def _draw(
    rng: np.random.Generator, height: int, width: int, n_classes: int, n_shapes: int, noise: float
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """Return one image and its mask."""
    mask = np.zeros((height, width), dtype=np.uint8)
    y, x = np.mgrid[:height, :width].astype(np.float64)
    clean = _texture(rng, 0, y, x)
    for _ in range(n_shapes):
        kind = int(rng.integers(1, n_classes))
        radius = min(height, width) * rng.uniform(0.08, 0.24)
        v, u = y - rng.uniform(0, height), x - rng.uniform(0, width)
        inside = _SHAPES[kind](rng, v / radius, u / radius)
        mask[inside] = kind
        clean[inside] = _texture(rng, kind, y, x)[inside]
    slope = rng.uniform(-0.12, 0.12, size=2)
    light = rng.uniform(0.85, 1.15) + slope[0] * (y / height - 0.5) + slope[1] * (x / width - 0.5)
    noisy = clean * light[..., np.newaxis] + noise * rng.standard_normal(clean.shape)
    return (np.clip(noisy, 0.0, 1.0) * 255.0 + 0.5).astype(np.uint8), mask


def _texture(
    rng: np.random.Generator, kind: int, y: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return an image full of one kind, a little off its colour."""
    strength, period, angle = _STRIPES[kind]
    angle += rng.normal(scale=0.2)
    wave = np.sin((x * np.cos(angle) + y * np.sin(angle)) * (2 * np.pi / period))
    colour = _COLOURS[kind] + rng.normal(scale=0.02, size=3)
    return np.asarray(colour + strength * wave[..., np.newaxis], dtype=np.float64)


def _disc(
    rng: np.random.Generator, v: NDArray[np.float64], u: NDArray[np.float64]
) -> NDArray[np.bool_]:
    return np.asarray(v * v + u * u <= 1.0)


def _box(
    rng: np.random.Generator, v: NDArray[np.float64], u: NDArray[np.float64]
) -> NDArray[np.bool_]:
    angle, side = rng.uniform(0, np.pi), rng.uniform(0.5, 1.2)
    across, along = u * np.cos(angle) + v * np.sin(angle), v * np.cos(angle) - u * np.sin(angle)
    return np.asarray((np.abs(across) <= 1.0) & (np.abs(along) <= side))


def _blob(
    rng: np.random.Generator, v: NDArray[np.float64], u: NDArray[np.float64]
) -> NDArray[np.bool_]:
    phase, depth = rng.uniform(0, 2 * np.pi), rng.uniform(0.2, 0.4)
    angle = np.arctan2(v, u)
    return np.asarray(np.hypot(v, u) <= 1.0 + depth * np.sin(3 * angle + phase))


_SHAPES = {1: _disc, 2: _box, 3: _blob}
