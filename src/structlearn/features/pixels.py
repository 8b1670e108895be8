"""What a pixel looks like: numbers from its colour, its surroundings at some scales, its place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..array_types import Floats

#: Gaussian filters end at this many standard deviations.
_REACH = 3.0
#: Numbers of a strip of the image that are worked out at once; bounds the memory.
_STRIP = 1 << 22
#: Pixels whose expanded features fit into the cache.
_CHUNK = 2048


def opponent_colours(image: Floats) -> Floats:
    """Return brightness, red against green, and yellow against blue of (..., 3) colours."""
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return np.stack(
        ((red + green + blue) / np.float32(3), red - green, (red + green) / np.float32(2) - blue),
        axis=-1,
    )


class PixelFeatures:
    """Numbers of each pixel that depend on its surroundings only.

    Opponent colours as they are and blurred at each scale; at each scale from 2 on the deviation
    of brightness and the structure tensor (energy of gradients across, down and between, which
    tells textures apart); and the place in the image. All filters are Gaussian, O(pixels · σ).

    Parameters
    ----------
    scales : sequence of float
        Standard deviations of the blurs, in pixels, ascending.
    place : bool
        Whether the place in the image counts.
    """

    def __init__(self, scales: Sequence[float], place: bool = True) -> None:
        self.scales = tuple(float(s) for s in scales)
        self.place = place
        self.names = [f"{c} of the pixel" for c in _COLOURS]
        for scale in self.scales:
            self.names += [f"{c}, blur {scale:g}" for c in _COLOURS]
        for scale in self.wide:
            self.names += [f"{t}, within {scale:g}" for t in _TEXTURES]
        if place:
            self.names += ["height in the image", "distance from the middle column"]
        widest = max(self.scales, default=1.0)
        #: Pixels around a pixel that its features look at.
        self.halo = 2 + _radius(1.0) + _radius(widest)

    @property
    def wide(self) -> tuple[float, ...]:
        """The scales at which texture is looked at."""
        return tuple(s for s in self.scales if s >= 2)

    def __len__(self) -> int:
        return len(self.names)

    def strips(self, height: int, width: int) -> list[tuple[int, int]]:
        """Return ranges of rows to be worked out one at a time; they depend on the size only."""
        rows = max(16, _STRIP // max(1, width * len(self)))
        return [(at, min(height, at + rows)) for at in range(0, height, rows)]

    def compute(self, image: Floats) -> Floats:
        """Return the (H, W, B) features of an (H, W, 3) image with colours in [0, 1]."""
        height, width = image.shape[:2]
        found = np.empty((height, width, len(self)), dtype=np.float32)
        for begin, end in self.strips(height, width):
            found[begin:end] = self.rows(image, begin, end)
        return found

    def rows(self, image: Floats, begin: int, end: int) -> Floats:
        """Return the features of some rows: the same numbers as those of the whole image."""
        height, width = image.shape[:2]
        top, bottom = max(0, begin - self.halo), min(height, end + self.halo)
        inner = slice(begin - top, end - top)
        colours = opponent_colours(image[top:bottom])
        found = np.empty((end - begin, width, len(self)), dtype=np.float32)
        found[..., :3] = colours[inner]
        at = 3
        for scale in self.scales:
            found[..., at : at + 3] = _blur(colours, scale)[inner]
            at += 3
        if self.wide:
            bright = colours[..., 0]
            smooth = _blur(bright, 1.0)
            down, across = _gradient(smooth)
            products = np.stack((across * across, down * down, across * down), axis=-1)
            for scale in self.wide:
                mean, square = _blur(bright, scale), _blur(bright * bright, scale)
                found[..., at] = np.sqrt(np.maximum(square - mean * mean, 0))[inner]
                tensor = _blur(products, scale)[inner]
                found[..., at + 1] = np.sqrt(tensor[..., 0])
                found[..., at + 2] = np.sqrt(tensor[..., 1])
                found[..., at + 3] = tensor[..., 2] / (tensor[..., 0] + tensor[..., 1] + 1e-6)
                at += 4
        if self.place:
            found[..., at] = ((np.arange(begin, end) + 0.5) / height)[:, np.newaxis]
            found[..., at + 1] = np.abs((np.arange(width) + 0.5) / width - 0.5)
        return found


_COLOURS = ("brightness", "red against green", "yellow against blue")
_TEXTURES = ("contrast", "gradient across", "gradient down", "slant of gradients")


def _radius(scale: float) -> int:
    return int(_REACH * scale + 0.5)


def _blur(values: Floats, scale: float) -> Floats:
    for axis in (0, 1):
        values = gaussian_filter1d(values, scale, axis=axis, mode="nearest", truncate=_REACH)
    return values


def _gradient(values: Floats) -> tuple[Floats, Floats]:
    """Return half the differences of the neighbours below and above, and right and left."""
    wide = np.pad(values, 1, mode="edge")
    half = np.float32(0.5)
    return (wide[2:, 1:-1] - wide[:-2, 1:-1]) * half, (wide[1:-1, 2:] - wide[1:-1, :-2]) * half


class Basis:
    """Bends features: each becomes itself and its excess over some of its quantiles.

    b → (z, max(0, z − q₁), ..., max(0, z − q_m)) with z = (b − mean)/deviation kept within ±4; a
    constant comes last. A linear score of these is any sum of piecewise linear functions, one for
    each feature, with m + 1 pieces.

    Parameters
    ----------
    mean, deviation : (B,) arrays
    knots : (m, B) array
        Quantiles of z in training.
    """

    def __init__(self, mean: Floats, deviation: Floats, knots: Floats) -> None:
        self.mean, self.deviation, self.knots = mean, deviation, knots

    @classmethod
    def fit(cls, sample: Floats, n_knots: int = 3) -> Basis:
        """Return the basis for features of (n, B) pixels."""
        mean = sample.mean(axis=0, dtype=np.float64)
        deviation = sample.std(axis=0, dtype=np.float64)
        deviation[deviation < 1e-6] = 1.0
        z = np.clip((sample - mean) / deviation, -4.0, 4.0)
        knots = np.quantile(z, np.arange(1, n_knots + 1) / (n_knots + 1), axis=0)
        single = np.float32
        return cls(mean.astype(single), deviation.astype(single), knots.astype(single))

    def __len__(self) -> int:
        return self.mean.size * (len(self.knots) + 1) + 1

    def expand(self, base: Floats) -> Floats:
        """Return the (n, len(self)) expansion of (n, B) features."""
        n, width = len(base), self.mean.size
        found = np.empty((n, len(self)), dtype=np.float32)
        z = found[:, :width]
        np.subtract(base, self.mean, out=z)
        z /= self.deviation
        np.clip(z, np.float32(-4), np.float32(4), out=z)
        for j, knot in enumerate(self.knots, 1):
            bent = found[:, j * width : (j + 1) * width]
            np.subtract(z, knot, out=bent)
            np.maximum(bent, np.float32(0), out=bent)
        found[:, -1] = 1.0
        return found

    def chunks(self, base: Floats) -> Iterator[tuple[slice, Floats]]:
        """Iterate over the expansion of (n, B) features, as many pixels as fit into the cache."""
        for begin in range(0, len(base), _CHUNK):
            part = slice(begin, min(begin + _CHUNK, len(base)))
            yield part, self.expand(base[part])

    def names(self, features: Sequence[str]) -> list[str]:
        """Return a name for each number of the expansion."""
        share = len(self.knots) + 1
        bent = [
            f"{name} above its {100 * j // share} % point"
            for j in range(1, share)
            for name in features
        ]
        return [*features, *bent, "always"]
