"""Images tinted by their classes, with borders."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

#: The opacity of the class's colour over the image.
_SHARE = 0.45
_WRONG = (200, 50, 30)


def overlay(
    image: npt.NDArray[np.float32],
    labels: npt.NDArray[np.int64],
    colours: npt.NDArray[np.uint8],
) -> npt.NDArray[np.uint8]:
    """Return (H, W, 3) colours: the image tinted by class, borders between classes in white.

    Parameters
    ----------
    image : (H, W, 3) array
        Colours from 0 to 1.
    labels : (H, W) array of int
        Class numbers; −1 (void) leaves the image as it is.
    colours : (K, 3) array
    """
    pixels = image * np.float32(255)
    labelled = labels >= 0
    tint = colours[labels[labelled]].astype(np.float32)
    pixels[labelled] = (1 - _SHARE) * pixels[labelled] + _SHARE * tint
    border = np.zeros(labels.shape, dtype=bool)
    border[:, 1:] |= labels[:, 1:] != labels[:, :-1]
    border[1:] |= labels[1:] != labels[:-1]
    pixels[border] = 255.0
    tinted: npt.NDArray[np.uint8] = (pixels + 0.5).clip(0, 255).astype(np.uint8)
    return tinted


def mark_errors(
    image: npt.NDArray[np.float32], wrong: npt.NDArray[np.bool_]
) -> npt.NDArray[np.uint8]:
    """Return (H, W, 3) colours: the image in pale grey, wrong pixels in red."""
    grey = 0.5 + 0.5 * image.mean(axis=2, keepdims=True)
    pixels = np.repeat(grey, 3, axis=2) * np.float32(255)
    pixels[wrong] = _WRONG
    marked: npt.NDArray[np.uint8] = (pixels + 0.5).clip(0, 255).astype(np.uint8)
    return marked
