"""Approximations of the losses at a temperature above 0, and submodular weights."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ..array_types import Array
from ..exceptions import CapabilityError, InexactInferenceWarning
from ..features.rows import Examples
from ..problem.array_problem import ArrayProblem
from ..problem.gold import GoldOutputs
from ..scoring.cone import WeightCone, check_features
from ..scoring.layout import WeightLayout
from ..structures.base import Structure

#: The values of ``likelihood``.
LIKELIHOODS = ("auto", "exact", "pseudo", "loopy")
#: What ``approximate_`` reports for each.
APPROXIMATE = {
    "exact": None,
    "pseudo": "pseudo-likelihood: each label given its neighbours', in place of all together",
    "loopy": "loopy message passing: Bethe's approximation of the log-partition",
}


def without_tables(options: Any, structure: Structure, n_labels: int) -> list[str]:
    """Return the blocks that must be left out to keep the weights submodular."""
    if not getattr(options, "submodular", False):
        return []
    return [name for name, rows in structure.submodular_rows(n_labels).items() if rows is None]


def make_cone(
    options: Any,
    structure: Structure,
    examples: Examples,
    layout: WeightLayout,
    n_labels: int,
) -> WeightCone | None:
    """Return the cone of submodular weights, if requested; edge features are checked."""
    if not getattr(options, "submodular", False):
        return None
    rows: dict[str, Array] = {}
    present = layout.present()
    for name, combinations in structure.submodular_rows(n_labels).items():
        if combinations is None and name in examples.blocks:
            raise CapabilityError(
                f"submodular=True with {n_labels} labels takes no features for {name}, whose "
                "tables no linear inequality on the weights keeps submodular. What works: "
                "features of Potts terms (potts, or potts_right and potts_down), or two labels"
            )
        if combinations is not None and name in present:
            rows[name] = combinations
    if not rows and n_labels > 1:
        raise CapabilityError(
            f"submodular=True with {n_labels} labels needs Potts terms: give features >= 0 of "
            "potts (on a Grid potts_right and potts_down; a column of ones will do)"
        )
    check_features(examples, rows)
    return WeightCone(layout, rows)


def choose_likelihood(
    options: Any,
    structure: Structure,
    examples: Examples,
    layout: WeightLayout,
    gold: GoldOutputs,
) -> str:
    """Return how the losses of a problem are computed: "exact", "pseudo" or "loopy"."""
    wanted = getattr(options, "likelihood", "auto")
    if wanted not in LIKELIHOODS:
        raise ValueError(f"likelihood must be one of {LIKELIHOODS}, got {wanted!r}")
    if options.temperature == 0:
        if wanted in APPROXIMATE and wanted != "exact":
            raise ValueError(f"likelihood={wanted!r} needs a temperature > 0")
        return "exact"
    if wanted == "pseudo" and gold.partial.any():
        i = int(np.flatnonzero(gold.partial)[0])
        raise ValueError(
            f"example {i}: likelihood='pseudo' needs every label: each is scored given its "
            "neighbours"
        )
    if wanted in ("pseudo", "loopy"):
        method = f"{wanted}_infer"
        if getattr(type(structure), method) is getattr(Structure, method):
            getattr(structure, method)(*([None] if wanted == "pseudo" else []))  # says what works
        return str(wanted)
    if type(structure).sums_are_exact is Structure.sums_are_exact:
        return "exact"
    bare = ArrayProblem(structure, examples, layout)
    for i in range(examples.n):
        if structure.sums_are_exact(**bare.as_arguments(i, np.zeros(bare.native.parts(i)))):
            continue
        if wanted == "exact":
            raise CapabilityError(
                f"example {i}: the treewidth is too large for exact sums. What works: "
                "likelihood='pseudo' or 'loopy', or StructuredSVM"
            )
        warnings.warn(
            f"example {i}: the treewidth is too large for exact sums: loopy message passing gives "
            "approximate ones, without a certificate. likelihood='loopy' accepts this without a "
            "warning, 'pseudo' is quicker",
            InexactInferenceWarning,
            stacklevel=5,
        )
        return "loopy"
    return "exact"
