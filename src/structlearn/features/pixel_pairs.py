"""Similarity of neighbouring pixels, and regions of similar pixels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.ndimage import gaussian_filter1d

from ..array_types import Array, Floats, Integers
from ..exceptions import CapabilityError

PAIR_NAMES = ("any border", "border in one colour", "border in one blurred colour")
N_PAIR = len(PAIR_NAMES)
#: Standard deviation of the blur for the blurred contrast.
_BLUR = 2.0


class Contrast:
    """Similarity of neighbours: non-negative features that weights ≥ 0 turn into strengths.

    Three for each pair: 1, exp(−|Δ|²/2s²) of the colours, and the same of blurred colours; s² is
    the mean of |Δ|² in training (Boykov & Jolly 2001). Unequal labels cost weights · features,
    which is a submodular (Potts) term.

    Parameters
    ----------
    spread : (2,) array
        s² of the colours, and of the blurred ones.
    """

    def __init__(self, spread: Array) -> None:
        self.spread = np.asarray(spread, dtype=np.float64)

    @classmethod
    def fit(cls, images: Sequence[Floats]) -> Contrast:
        """Return the contrast of training images."""
        return cls.of_sums(*contrast_sums(images))

    @classmethod
    def of_sums(cls, sums: Array, count: int) -> Contrast:
        """Return the contrast for images with these sums."""
        return cls(np.maximum(sums / max(count, 1), 1e-6))

    def pairs(self, image: Floats) -> Floats:
        """Return the (E, 3) features of the pairs: horizontal ones row by row, then vertical."""
        height, width = image.shape[:2]
        across = height * (width - 1)
        features = np.ones((across + (height - 1) * width, N_PAIR), dtype=np.float32)
        for k, colours in enumerate(_colours(image)):
            right, down = _squares(colours)
            factor = np.float32(-0.5 / self.spread[k])
            features[:across, k + 1] = np.exp(factor * right).ravel()
            features[across:, k + 1] = np.exp(factor * down).ravel()
        return features


def contrast_sums(
    images: Sequence[Floats], copies: Sequence[int] | None = None
) -> tuple[Array, int]:
    """Return the sums of |Δ|² of the colours and of the blurred ones, and the number of pairs.

    Parameters
    ----------
    copies : sequence of int, optional
        The number of times that each image counts.
    """
    sums = np.zeros(2)
    count = 0
    for image, times in zip(images, copies or [1] * len(images), strict=True):
        for k, colours in enumerate(_colours(image)):
            across, down = _squares(colours)
            sums[k] += times * float(across.sum(dtype=np.float64) + down.sum(dtype=np.float64))
        count += times * (across.size + down.size)
    return sums, count


def _colours(image: Floats) -> tuple[Floats, Floats]:
    blurred = image
    for axis in (0, 1):
        blurred = gaussian_filter1d(blurred, _BLUR, axis=axis, mode="nearest", truncate=3.0)
    return image, blurred


def _squares(colours: Floats) -> tuple[Floats, Floats]:
    """Return squared colour distances of horizontal and of vertical neighbours."""
    right, down = np.diff(colours, axis=1), np.diff(colours, axis=0)
    return np.einsum("ijc,ijc->ij", right, right), np.einsum("ijc,ijc->ij", down, down)


def superpixels(image: Floats, n_regions: int) -> Integers:
    """Return about n_regions compact regions of similar colour, numbered from 0 (SLIC).

    References
    ----------
    R. Achanta et al. (2012), SLIC superpixels compared to state-of-the-art superpixel methods.
    """
    try:
        from skimage.segmentation import slic
    except ImportError:
        raise CapabilityError(
            "superpixels need scikit-image: pip install 'structlearn[images]', or go without them"
        ) from None
    segments = slic(
        image.astype(np.float64), n_segments=n_regions, compactness=10.0, start_label=0, sigma=1.0
    )
    _, numbered = np.unique(segments, return_inverse=True)
    regions: Integers = numbered.reshape(image.shape[:2]).astype(np.int64)
    return regions
