"""Labels on the pixels of an image, or on any grid with four neighbours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...array_types import Array, Integers
from ..parts import Block, Parts
from ..programs.program import Program
from ..programs.rows import RowBuilder
from .pair_model import PairGroup, PairModel, checked_strength, unequal_counts
from .pairwise import SUBMODULAR, PairwiseStructure


class Grid(PairwiseStructure):
    """Labels out of K on an H × W grid, with scores of horizontal and vertical neighbours.

    The score of y is Σ label[i, j, y_ij] + Σ right[i, j, y_ij, y_i,j+1] + Σ down[i, j, y_ij,
    y_i+1,j] − Σ potts_right[i, j]·[y_ij ≠ y_i,j+1] − Σ potts_down[i, j]·[y_ij ≠ y_i+1,j]. For two
    labels and submodular pairs (s[0,0] + s[1,1] ≥ s[0,1] + s[1,0]; Potts with strengths ≥ 0) one
    minimum cut finds the best; ties go to the output that has the first label wherever any of them
    has it. More labels: α-expansion, within a factor of two of the best for Potts energies ≥ 0,
    with a bound by tree-reweighted messages in ``solve``. A narrow grid is solved exactly by
    elimination, O(H·W·K^(min(H, W)+1)).

    Score blocks
    ------------
    label : (H, W, K)
    right : (K, K), shared, or (H, W−1, K, K)
        Reads [label, label of the right neighbour]. May be left out, like all that follow.
    down : (K, K), shared, or (H−1, W, K, K)
        Reads [label, label of the neighbour below].
    potts_right : a number, or (H, W−1)
        The loss of unequal horizontal neighbours. Its parts count −1 for each such pair.
    potts_down : a number, or (H−1, W)
        The loss of unequal vertical neighbours.

    Parameters
    ----------
    method : str
        The search method, see :meth:`solve`.
    damping : float
        The share of its old value that a message keeps in loopy sums.

    References
    ----------
    D. Greig, B. Porteous & A. Seheult (1989), Exact maximum a posteriori estimation for binary
    images; Y. Boykov & V. Kolmogorov (2004), An experimental comparison of min-cut/max-flow
    algorithms.

    Examples
    --------
    A wrong pixel among nine is corrected by its neighbours:

    >>> import numpy as np
    >>> label = np.zeros((3, 3, 2))
    >>> label[..., 1] = 1.0
    >>> label[1, 1] = [1.0, 0.0]
    >>> Grid().argmax(label=label, potts_right=0.5, potts_down=0.5)
    array([[1, 1, 1],
           [1, 1, 1],
           [1, 1, 1]])
    """

    _label_axes = ("H", "W", "K")
    _label_rank = 3
    _is_grid = True

    def __init__(self, method: str = "auto", damping: float = 0.0) -> None:
        super().__init__(method, damping)

    def blocks(self, n_labels: int) -> dict[str, Block]:
        """Return the blocks."""
        return {
            "label": Block((n_labels,)),
            "right": Block((n_labels, n_labels), shared=True, optional=True),
            "down": Block((n_labels, n_labels), shared=True, optional=True),
            "potts_right": Block((), optional=True),
            "potts_down": Block((), optional=True),
        }

    def submodular_rows(self, n_labels: int) -> dict[str, Array | None]:
        """Return the conditions for exact cuts: Potts strengths ≥ 0, submodular pairs.

        With more labels, pairs are Potts terms alone, for which α-expansion needs no truncation.
        """
        pair = SUBMODULAR[np.newaxis] if n_labels == 2 else None
        strength = np.ones(1)
        return {"right": pair, "down": pair, "potts_right": strength, "potts_down": strength}

    def _model(self, theta: Mapping[str, Any]) -> PairModel:
        label = theta["label"]
        height, width, n_labels = label.shape
        groups = []
        for table, potts, sites in (
            ("right", "potts_right", (height, width - 1)),
            ("down", "potts_down", (height - 1, width)),
        ):
            groups.append(_group(theta, table, potts, sites, n_labels))
        return PairModel(label.reshape(-1, n_labels), groups, shape=(height, width))

    def _shaped(self, labels: Integers, model: PairModel) -> Integers:
        assert model.shape is not None
        return labels.reshape(model.shape)

    def _spread(self, node: Array, pair: Array, theta: Mapping[str, Any]) -> Parts:
        height, width, n_labels = theta["label"].shape
        across = height * (width - 1)
        tables = {
            "right": pair[:across].reshape(height, width - 1, n_labels, n_labels),
            "down": pair[across:].reshape(height - 1, width, n_labels, n_labels),
        }
        parts: Parts = {"label": node.reshape(height, width, n_labels)}
        for name in theta:
            if name in tables:
                parts[name] = tables[name]
            elif name.startswith("potts_"):
                parts[name] = unequal_counts(tables[name.removeprefix("potts_")])
        return {name: parts[name] for name in theta}

    def position_shapes(self, theta: Parts) -> dict[str, tuple[int, ...]]:
        """Return the shapes of :meth:`encode_by_position` for scores of these shapes."""
        height, width, n_labels = theta["label"].shape
        pair = (n_labels, n_labels)
        shapes: dict[str, tuple[int, ...]] = {
            "label": (height, width, n_labels),
            "right": (height, width - 1, *pair),
            "down": (height - 1, width, *pair),
            "potts_right": (height, width - 1),
            "potts_down": (height - 1, width),
        }
        return {name: shapes[name] for name in theta}

    # -- the integer program --------------------------------------------------------------------

    def as_program(self, **scores: Any) -> Program:
        """Return the integer program whose solutions are the outputs; Potts terms as tables."""
        if not self._is_batch(scores):  # otherwise the base refuses it
            scores = self.program_scores(self._read(scores))
        return super().as_program(**scores)

    def program_scores(self, theta: Parts, **topology: Any) -> Parts:
        """Return the scores with Potts terms as tables."""
        height, width, n_labels = theta["label"].shape
        tables = self._model(theta).tables
        across = height * (width - 1)
        pair = (n_labels, n_labels)
        return {
            "label": theta["label"],
            "right": tables[:across].reshape(height, width - 1, *pair),
            "down": tables[across:].reshape(height - 1, width, *pair),
        }

    def program_rows(self, theta: Parts, **topology: Any) -> RowBuilder:
        """Return the rows of the local polytope: the labels of a pair equal those of its nodes."""
        build = RowBuilder({name: a.shape for name, a in theta.items()})
        label = build.parts["label"]
        build.add((label, 1), rows=2, equal=1, name="one label at pixel {0}, {1}")
        for name, ends in (
            ("right", (label[:, :-1], label[:, 1:])),
            ("down", (label[:-1], label[1:])),
        ):
            if name not in theta or not theta[name].size:
                continue
            build.continuous(name)
            pair = build.parts[name]
            for nodes, table in zip(ends, (pair, pair.transpose(0, 1, 3, 2)), strict=True):
                build.add(
                    (table, 1),
                    (nodes, -1),
                    rows=3,
                    equal=0,
                    name=name + " of {0}, {1} has label {2} where its pixel has",
                )
        return build

    # -- for learners ---------------------------------------------------------------------------

    def core_topology(self, example: Mapping[str, Any], sites: tuple[int, ...]) -> Integers:
        """Return (height, width)."""
        return np.array(sites if len(sites) == 2 else (), dtype=np.int64)

    def from_core(self, row: Integers, sites: tuple[int, ...]) -> Integers:
        """Return the labels, row by row."""
        return row.reshape(sites)

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels row by row; None is unknown."""
        if isinstance(y, np.ndarray):
            if y.ndim != 2:
                raise ValueError(f"an output is an (H, W) array of labels, got shape {y.shape}")
            labels: list[Any] = y.ravel().tolist()
            return labels
        return [k for row in y for k in row]

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with its labels replaced."""
        width = y.shape[1] if isinstance(y, np.ndarray) else len(y[0])
        if isinstance(labels, np.ndarray):
            return labels.reshape(-1, width)
        flat = list(labels)
        array = np.empty(len(flat), dtype=object)
        array[:] = flat
        if not any(isinstance(k, (set, frozenset)) or k is None for k in flat):
            array = np.array(flat)
        return array.reshape(-1, width)


def _group(
    theta: Mapping[str, Any], table: str, potts: str, sites: tuple[int, int], n_labels: int
) -> PairGroup:
    """Return the scores of the horizontal or the vertical edges."""
    pair = (n_labels, n_labels)
    count = sites[0] * sites[1]
    scores, strength = theta.get(table), theta.get(potts)
    if scores is not None:
        if scores.shape not in (pair, (*sites, *pair)):
            raise ValueError(
                f"{table} has shape {scores.shape}, expected {pair} or {(*sites, *pair)}"
            )
        if scores.ndim == 4:
            scores = scores.reshape(count, *pair)
    strength = checked_strength(potts, strength, sites)
    return PairGroup(count, scores, strength)
