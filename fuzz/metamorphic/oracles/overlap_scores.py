"""Overlap of masks, pixel by pixel in plain loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def overlap_scores(
    gold: Sequence[Any], predicted: Sequence[Any], void: int | None
) -> dict[str, float | dict[int, float]]:
    """Return accuracy, the mean IoU and the IoU of each class that gold or prediction has.

    Masks are (H, W) arrays of values; pixels whose gold value is void, or −1, count nowhere.
    """
    right = pixels = 0
    both: dict[int, int] = {}
    either: dict[int, int] = {}
    for truth, guess in zip(gold, predicted, strict=True):
        for a_row, b_row in zip(truth.tolist(), guess.tolist(), strict=True):
            for a, b in zip(a_row, b_row, strict=True):
                if a in (void, -1):
                    continue
                pixels += 1
                right += a == b
                for value in {a, b}:
                    either[value] = either.get(value, 0) + 1
                if a == b:
                    both[a] = both.get(a, 0) + 1
    iou = {value: both.get(value, 0) / n for value, n in either.items()}
    return {
        "accuracy": right / pixels if pixels else 0.0,
        "iou": sum(iou.values()) / len(iou) if iou else 0.0,
        "iou_by_class": iou,
    }
