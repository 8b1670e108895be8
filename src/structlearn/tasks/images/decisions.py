"""Why the pixels of an image have their classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...array_types import Array, Integers
from ...features.pixel_pairs import PAIR_NAMES
from ...models.decisions import ranked
from .model import SegmenterModel
from .sites import Sites


def explain(model: SegmenterModel, image: Any, labels: Any) -> list[dict[str, Any]]:
    """Return what decided for each class of an image.

    The pixels of a class are compared with the segmentation in which all of them have another
    class, the best such one. The margin is the difference of the scores divided by the number of
    these pixels.

    Parameters
    ----------
    model : SegmenterModel
    image : (H, W, 3) array
    labels : (H, W) array
        The classes that the model found.

    Returns
    -------
    list of dict
        position (None), label, pixels (how many have it), runner_up, margin, contributions: (name,
        value) of what is measured of pixels, and of their borders.
    """
    names = model.coding.names
    if len(names) < 2:
        return []
    flat = np.asarray(labels).ravel()
    sums = _feature_sums(model, image, flat, len(names))
    sites = model.sites(image)
    at_sites = _at_sites(sites, flat)
    measured = [*model.features.names, "always"]
    found = []
    for k in np.flatnonzero(np.bincount(flat, minlength=len(names))):
        n = int((flat == k).sum())
        rivals = {}
        for other in range(len(names)):
            if other != k:
                parts = _by_measurement(
                    model, sums[k] * (model.label[:, k] - model.label[:, other])
                )
                changed = np.where(at_sites == k, other, at_sites)
                lost = _borders(sites, changed) - _borders(sites, at_sites)
                rivals[other] = np.concatenate((parts, lost * model.pair)) / n
        runner_up = min(rivals, key=lambda other: (float(rivals[other].sum()), other))
        named = zip([*measured, *PAIR_NAMES], rivals[runner_up].tolist(), strict=True)
        found.append(
            {
                "position": None,
                "label": names[k],
                "pixels": n,
                "runner_up": names[runner_up],
                "margin": float(rivals[runner_up].sum()),
                "contributions": ranked(named),
            }
        )
    return found


def _feature_sums(model: SegmenterModel, image: Any, flat: Integers, n_classes: int) -> Array:
    """Return the (K, F) sums of the features of the pixels of each class."""
    height, width = image.shape[:2]
    sums = np.zeros((n_classes, len(model.basis)))
    for begin, end in model.features.strips(height, width):
        base = model.features.rows(image, begin, end).reshape(-1, len(model.features))
        for part, rows in model.basis.chunks(base):
            at = flat[begin * width : end * width][part]
            for k in np.unique(at):
                sums[k] += rows[at == k].sum(axis=0, dtype=np.float64)
    return sums


def _by_measurement(model: SegmenterModel, parts: Array) -> Array:
    """Return the sums over the pieces into which each measurement was bent, and the constant."""
    bent = parts[:-1].reshape(-1, len(model.features)).sum(axis=0)
    return np.append(bent, parts[-1])


def _at_sites(sites: Sites, flat: Integers) -> Integers:
    """Return the class of each site; all pixels of one have the same."""
    if sites.regions is None:
        return flat
    found = np.zeros(sites.n_sites, dtype=np.int64)
    found[sites.regions] = flat
    return found


def _borders(sites: Sites, labels: Integers) -> Array:
    """Return the sums of the features of neighbours with unequal classes."""
    first, second = sites.ends.T
    total: Array = sites.pairs[labels[first] != labels[second]].sum(axis=0, dtype=np.float64)
    return total
