"""The interface of structures to learners, costs and problems, with defaults for most of them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array, Integers
from ..exceptions import CapabilityError
from .open_labels import allowed_labels
from .parts import Block, Parts


class Learnable:
    """Base of :class:`~structlearn.structures.Structure`: its interface to learners.

    Structures have no weights; here they define the parts of their outputs, how outputs are
    compared and which inference the core does for them.
    """

    #: Names of arguments that describe the example (edges, parents) and are not scores.
    topology: tuple[str, ...] = ()

    #: Whether outputs are made of labels, for which a learner may have other names (strings).
    has_labels = True

    #: The block that scores labels. An example that is not a dictionary is its features.
    label_block = "label"

    #: Whether an example is a single site, as in multiclass classification, without an axis for
    #: sites.
    single_site = False

    #: Whether ``infer`` at temperature 0 agrees with ``solve``: a learner can then call ``solve``,
    #: which also reports whether it was exact.
    certifies = False

    #: Whether outputs can be wrong in other ways than by their labels (heads, edges): the structure
    #: then defines their costs and their agreement.
    judges_outputs = False

    #: Whether several threads may call at the same time, with the interpreter lock released.
    #: Batches and training then run on ``n_jobs`` threads.
    runs_on_threads = False

    def checked_blocks(self, n_labels: int) -> dict[str, Block]:
        """Return ``blocks(n_labels)``; the error for an invalid shape names the block."""
        blocks: dict[str, Block] = self.blocks(n_labels)  # type: ignore[attr-defined]
        for name, block in blocks.items():
            for field in ("outcomes", "inner"):
                shape = getattr(block, field, None)
                if not isinstance(shape, tuple) or not all(
                    isinstance(n, (int, np.integer)) and n >= 0 for n in shape
                ):
                    raise ValueError(
                        f"{type(self).__name__}.blocks() gives the block {name!r} the {field} "
                        f"{shape!r}: a tuple of whole numbers is needed, (n_labels,) for a label, "
                        "() if each site has a single score"
                    )
        return blocks

    # -- labels and outputs ---------------------------------------------------------------------

    def labels_of(self, y: Any) -> list[Any]:
        """Return the labels of an output, in a fixed order; None is unknown."""
        return list(y)

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with its labels replaced, in the order of :meth:`labels_of`."""
        return np.asarray(labels)

    def agreement(self, gold: Any, predicted: Any) -> tuple[float, float] | None:
        """Return (agreement, total) of two outputs; None: count equal labels."""
        return None

    def empty_output(self, labels: Any) -> Any:
        """Return the output for an input without positions; None: inputs are never empty.

        Parameters
        ----------
        labels : array
            An empty array of the labels' type.
        """
        return None

    @property
    def judged_block(self) -> str | None:
        """The block whose parts are right or wrong one by one; None: only whole outputs are."""
        return self.label_block if self.has_labels or self.judges_outputs else None

    def places(self, y: Any, **scores: Any) -> tuple[Integers, ...]:
        """Return the places of an output's parts in :attr:`judged_block`, one array per axis.

        Labels of positions, segments, arcs: in the order in which users see them.
        """
        return np.nonzero(self.encode(y, **scores)[self.label_block])  # type: ignore[attr-defined]

    def judged(self, gold: Any, y: Any, **scores: Any) -> list[bool | None]:
        """Tell for each part of an output (:meth:`places`) whether it is right; None: unknown.

        Gold labels may be None, sets, or K, which stands for labels unseen in training.
        """
        block = self.judged_block
        if block is None:
            return [bool(np.array_equal(gold, y))]
        places = self.places(y, **scores)
        counts = self.encode(y, **scores)[block]  # type: ignore[attr-defined]
        if not self.has_labels:
            right = self.encode(gold, **scores)[block][places] > 0  # type: ignore[attr-defined]
            return [bool(ok) for ok in right]
        *sites, n_labels = counts.shape
        table = self.allowed(gold, (*sites, n_labels + 1))
        rows = table[places[:-1]].reshape(-1, n_labels + 1)
        return [
            None if row.all() else bool(row[k]) for row, k in zip(rows, places[-1], strict=True)
        ]

    @classmethod
    def from_examples(cls, X: Any, y: Any) -> Any:
        """Return a structure for these examples, for a learner that only knows its name."""
        return cls()

    def for_examples(self, X: Any, y: Any) -> Any:
        """Return the structure adapted to these examples; default: itself."""
        return self

    def n_places(self, n_sites: int) -> int:
        """Return the number of labels in an output with this many sites of the label block."""
        return n_sites

    def n_places_of(self, sites: tuple[int, ...]) -> int:
        """Return the number of labels in an output whose label-block sites have this shape."""
        return self.n_places(math.prod(sites))

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...] | None:
        """Return the layout of a block's sites if features do not determine it, or None."""
        return None

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return (c by block, c₀) for an output that the structure judges itself.

        Parameters
        ----------
        table : (K, K) array
            δ(gold label, label) if everything else is right.
        missed : (K,) array
            The cost, by gold label, if it is not.
        weights : array or float
            The weights of the places of the output.
        """
        raise CapabilityError(f"{type(self).__name__} does not say what an output costs")

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each part, if label k at place t costs ``costs[t, k]``.

        Places are those of :meth:`labels_of`.
        """
        return {self.label_block: costs.reshape(np.shape(scores[self.label_block]))}

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return which parts of the label block an output with unknown labels may use.

        Unknown is None, or an index below 0; a set contains the possible indices; ``shape`` is that
        of the block.
        """
        rows = [allowed_labels(k, shape[-1]) for k in self.labels_of(y)]
        return np.array(rows, dtype=bool).reshape(shape)

    # -- hard sums and maxima ----------------------------------------------------------------

    def sums_are_exact(self, **scores: Any) -> bool:
        """Tell whether :meth:`infer` at ε > 0 is exact for these scores; by default it is."""
        return True

    def loopy_infer(self, *, temperature: float = 1.0, **scores: Any) -> tuple[float, Parts]:
        """Return approximate sums in the form of :meth:`infer`, even if exact ones exist."""
        raise CapabilityError(
            f"{type(self).__name__} has no loopy message passing; Grid and Graph have. What works: "
            "exact sums"
        )

    def pseudo_infer(
        self, y: Any, *, temperature: float = 1.0, **scores: Any
    ) -> tuple[float, Parts]:
        """Return score(y) − ε · log pseudo-likelihood of y, and its gradient by block."""
        raise CapabilityError(
            f"{type(self).__name__} has no pseudo-likelihood; Grid and Graph have. What works: "
            "exact sums, the likelihood itself"
        )

    def submodular_rows(self, n_labels: int) -> dict[str, Array | None]:
        """Return the conditions on a site's scores under which cuts find the best output.

        Returns
        -------
        dict of str to array or None
            Block name to rows of coefficients, (rows, ...) with the shape of a site's outcomes: no
            combination ⟨row, scores⟩ may be negative. None: the block must be left out.
        """
        raise CapabilityError(
            f"submodular=True is for structures that are searched by cuts, Grid and Graph; "
            f"{type(self).__name__} is searched exactly for any weights"
        )

    # -- inference by the core ------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The core's counterpart of this structure, or None for one written in Python."""
        return None

    def core_inference(self, behind: Any, likelihood: str, gold: Any) -> Any:
        """Return the core's inference for a learner, or None if it has none.

        Parameters
        ----------
        behind : object
            The Python fallback for queries that the core cannot answer.
        likelihood : {"exact", "pseudo", "loopy"}
            How losses above temperature 0 are computed.
        gold : (array, array) or None
            Pointers and labels of the gold outputs.
        """
        return None

    def core_topology(self, example: Mapping[str, Any], sites: tuple[int, ...]) -> Any:
        """Return an example's shape for the core: integers, or None for nothing.

        Parameters
        ----------
        example : dict
            The topology of the example.
        sites : tuple of int
            Shape of the sites of the label block.
        """
        return None

    def from_core(self, row: Integers, sites: tuple[int, ...]) -> Any:
        """Return the output for a row of integers from the core."""
        return row
