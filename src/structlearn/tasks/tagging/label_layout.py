"""Where the weights of taggers are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ... import _core
from ...estimators.forbidding import put_masks
from ...scoring.layout import SeenOutcomes, WeightBlock, WeightLayout
from ...structures.base import Structure


def label_layout(
    structure: Structure,
    labels: list[str],
    seen: Mapping[str, SeenOutcomes],
    forbid: Mapping[str, Any],
) -> WeightLayout:
    """Return the layout of the weights of a tagger.

    Parameters
    ----------
    seen : mapping of str to SeenOutcomes
        Of the blocks that have features; the others have one weight for each outcome.
    forbid : mapping of str to list
        What is forbidden, as in the estimators. Gold labels must respect it; the caller checks
        that, because only the caller can name the line of the file.
    """
    blocks: dict[str, WeightBlock | None] = {}
    specs = structure.blocks(len(labels))
    for name, spec in specs.items():
        if name not in seen:
            blocks[name] = WeightBlock(spec.outcomes, 1, shared=True)
            continue
        row_ptr, column, real = seen[name].filled()
        n_features = len(row_ptr) - 1
        blocks[name] = WeightBlock(
            spec.outcomes, n_features, shared=False, row_ptr=row_ptr, column=column, real=real
        )
    inner = {name: spec.inner for name, spec in specs.items()}
    put_masks(forbid, blocks, inner, np.array(labels, dtype=object))
    return WeightLayout(blocks)


def seen_labels(vocabulary: _core.Vocabulary) -> SeenOutcomes:
    """Return the labels that each feature of a frozen vocabulary has."""
    buffers = vocabulary.row_ptr(), vocabulary.column()
    row_ptr, column = (np.frombuffer(buffer, np.uint32) for buffer in buffers)
    return SeenOutcomes(row_ptr, column, len(vocabulary.labels))
