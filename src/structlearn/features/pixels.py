"""Features of pixels: colour, surroundings at several scales, and place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..array_types import Floats

#: Gaussian filters are cut off at this many standard deviations.
_REACH = 3.0
#: The most values computed at once, for a strip of the image; bounds the memory.
_STRIP = 1 << 22
#: The number of pixels whose expanded features fit in the cache.
_CHUNK = 2048


def opponent_colours(image: Floats) -> Floats:
    """Return brightness, red against green, and yellow against blue of (..., 3) colours."""
    red, green, blue = image[..., 0], image[..., 1], image[..., 2]
    return np.stack(
        ((red + green + blue) / np.float32(3), red - green, (red + green) / np.float32(2) - blue),
        axis=-1,
    )


class PixelFeatures:
    """Features of each pixel that depend only on its surroundings.

    Opponent colours, unblurred and blurred at each scale; at each scale from 2 on the deviation of
    brightness and the structure tensor (energy of gradients across, down and between, which
    distinguishes textures); and the place in the image. All filters are Gaussian, O(pixels · σ).

    Parameters
    ----------
    scales : sequence of float
        Standard deviations of the blurs, in pixels, ascending.
    place : bool
        Whether to include the place in the image.
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
        #: The distance, in pixels, that a pixel's features reach.
        self.halo = 2 + _radius(1.0) + _radius(widest)

    @property
    def wide(self) -> tuple[float, ...]:
        """The scales at which texture is computed."""
        return tuple(s for s in self.scales if s >= 2)

    def __len__(self) -> int:
        return len(self.names)

    def strips(self, height: int, width: int) -> list[tuple[int, int]]:
        """Return ranges of rows to compute one at a time; they depend only on the size."""
        rows = max(16, _STRIP // max(1, width * len(self)))
        return [(at, min(height, at + rows)) for at in range(0, height, rows)]

    def compute(self, image: Floats) -> Floats:
        """Return the (H, W, B) features of an (H, W, 3) image with colours in [0, 1]."""
        height, width = image.shape[:2]
        features = np.empty((height, width, len(self)), dtype=np.float32)
        for begin, end in self.strips(height, width):
            features[begin:end] = self.rows(image, begin, end)
        return features

    def rows(self, image: Floats, begin: int, end: int) -> Floats:
        """Return the features of some rows, equal to those computed on the whole image."""
        height, width = image.shape[:2]
        top, bottom = max(0, begin - self.halo), min(height, end + self.halo)
        inner = slice(begin - top, end - top)
        colours = opponent_colours(image[top:bottom])
        features = np.empty((end - begin, width, len(self)), dtype=np.float32)
        features[..., :3] = colours[inner]
        at = 3
        for scale in self.scales:
            features[..., at : at + 3] = _blur(colours, scale)[inner]
            at += 3
        if self.wide:
            bright = colours[..., 0]
            smooth = _blur(bright, 1.0)
            down, across = _gradient(smooth)
            products = np.stack((across * across, down * down, across * down), axis=-1)
            for scale in self.wide:
                mean, square = _blur(bright, scale), _blur(bright * bright, scale)
                features[..., at] = np.sqrt(np.maximum(square - mean * mean, 0))[inner]
                tensor = _blur(products, scale)[inner]
                features[..., at + 1] = np.sqrt(tensor[..., 0])
                features[..., at + 2] = np.sqrt(tensor[..., 1])
                features[..., at + 3] = tensor[..., 2] / (tensor[..., 0] + tensor[..., 1] + 1e-6)
                at += 4
        if self.place:
            features[..., at] = ((np.arange(begin, end) + 0.5) / height)[:, np.newaxis]
            features[..., at + 1] = np.abs((np.arange(width) + 0.5) / width - 0.5)
        return features


_COLOURS = ("brightness", "red against green", "yellow against blue")
_TEXTURES = ("contrast", "gradient across", "gradient down", "slant of gradients")


def _radius(scale: float) -> int:
    return int(_REACH * scale + 0.5)


def _blur(values: Floats, scale: float) -> Floats:
    for axis in (0, 1):
        values = gaussian_filter1d(values, scale, axis=axis, mode="nearest", truncate=_REACH)
    return values


def _gradient(values: Floats) -> tuple[Floats, Floats]:
    """Return half the difference of the neighbours below and above, and of right and left."""
    wide = np.pad(values, 1, mode="edge")
    half = np.float32(0.5)
    return (wide[2:, 1:-1] - wide[:-2, 1:-1]) * half, (wide[1:-1, 2:] - wide[1:-1, :-2]) * half


class Basis:
    """A piecewise linear basis: each feature becomes itself and its excess over some quantiles.

    b → (z, max(0, z − q₁), ..., max(0, z − q_m)) with z = (b − mean)/deviation clipped to ±4; a
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
        expansion = np.empty((n, len(self)), dtype=np.float32)
        z = expansion[:, :width]
        np.subtract(base, self.mean, out=z)
        z /= self.deviation
        np.clip(z, np.float32(-4), np.float32(4), out=z)
        for j, knot in enumerate(self.knots, 1):
            bent = expansion[:, j * width : (j + 1) * width]
            np.subtract(z, knot, out=bent)
            np.maximum(bent, np.float32(0), out=bent)
        expansion[:, -1] = 1.0
        return expansion

    def chunks(self, base: Floats) -> Iterator[tuple[slice, Floats]]:
        """Iterate over the expansion of (n, B) features, in chunks that fit in the cache."""
        for begin in range(0, len(base), _CHUNK):
            part = slice(begin, min(begin + _CHUNK, len(base)))
            yield part, self.expand(base[part])

    def names(self, features: Sequence[str]) -> list[str]:
        """Return the names of the expanded features."""
        share = len(self.knots) + 1
        bent = [
            f"{name} above its {100 * j // share} % point"
            for j in range(1, share)
            for name in features
        ]
        return [*features, *bent, "always"]
