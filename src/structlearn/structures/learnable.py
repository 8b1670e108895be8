"""What learners, costs and problems ask of a structure, with answers that fit most of them."""

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
    """Base of :class:`~structlearn.structures.Structure`: its answers to learners.

    Structures know no weights; here they say what their outputs are made of, how those are compared
    and which inference the core can do for them.
    """

    #: Names of arguments that say what the example looks like (edges, parents) and are not scores.
    topology: tuple[str, ...] = ()

    #: Outputs are made of labels, which a learner may know by other names (strings).
    has_labels = True

    #: The block that scores labels. An example that is not a dictionary has features for it alone.
    label_block = "label"

    #: An example is a single site, as in multiclass classification, and has no axis for sites.
    single_site = False

    #: ``infer`` at temperature 0 gives what ``solve`` finds: a learner can ask ``solve`` instead,
    #: and hear whether it was exact.
    certifies = False

    #: Outputs are wrong in other ways than by their labels (heads, edges): the structure itself
    #: says what they cost and how much of one is right.
    judges_outputs = False

    #: Whether several threads may ask at the same time, and the interpreter lock is released
    #: meanwhile. Batches, and training, run on ``n_jobs`` threads then.
    runs_on_threads = False

    def checked_blocks(self, n_labels: int) -> dict[str, Block]:
        """Return ``blocks(n_labels)``; shapes that are none are refused by name."""
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
        """Return the labels that an output is made of, in some fixed order; None is unknown."""
        return list(y)

    def relabel(self, y: Any, labels: Any) -> Any:
        """Return the output with its labels replaced, in the order of :meth:`labels_of`."""
        return np.asarray(labels)

    def agreement(self, gold: Any, predicted: Any) -> tuple[float, float] | None:
        """Return (how much of both agrees, how much there is); None: count equal labels."""
        return None

    def empty_output(self, labels: Any) -> Any:
        """Return the output of an input without positions; None: there is no such input.

        Parameters
        ----------
        labels : array
            Without entries, of the type of the labels.
        """
        return None

    @property
    def judged_block(self) -> str | None:
        """The block whose parts are right or wrong one by one; None: outputs are, as a whole."""
        return self.label_block if self.has_labels or self.judges_outputs else None

    def places(self, y: Any, **scores: Any) -> tuple[Integers, ...]:
        """Return where the parts of an output stand in :attr:`judged_block`, an array an axis.

        Labels of positions, segments, arcs: in the order in which users see them.
        """
        return np.nonzero(self.encode(y, **scores)[self.label_block])  # type: ignore[attr-defined]

    def judged(self, gold: Any, y: Any, **scores: Any) -> list[bool | None]:
        """Tell of each part of an output (:meth:`places`) whether it is right; None: not known.

        Gold labels may be None, sets, or K, which stands for those that no output has.
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
        """Return a structure for these examples, where a learner knows its name alone."""
        return cls()

    def for_examples(self, X: Any, y: Any) -> Any:
        """Return the structure as a learner needs it for these examples; default: itself."""
        return self

    def n_places(self, n_sites: int) -> int:
        """Return how many labels an output has for this number of sites of the label block."""
        return n_sites

    def n_places_of(self, sites: tuple[int, ...]) -> int:
        """Return how many labels an output has where the label block's sites have this shape."""
        return self.n_places(math.prod(sites))

    def site_shape(self, block: str, n_sites: int) -> tuple[int, ...] | None:
        """Return how the sites of a block are laid out where features do not say it, or None."""
        return None

    def output_costs(
        self, y: Any, table: Array, missed: Array, weights: Array | float, **scores: Any
    ) -> tuple[Parts, float]:
        """Return (c by block, c₀) of an output that the structure judges itself.

        Parameters
        ----------
        table : (K, K) array
            δ(gold label, label) where all else is right.
        missed : (K,) array
            The cost, by gold label, where it is not.
        weights : array or float
            Of the places of the output.
        """
        raise CapabilityError(f"{type(self).__name__} does not say what an output costs")

    def label_costs(self, costs: Array, **scores: Any) -> Parts:
        """Return the cost of each part, where label k at place t costs ``costs[t, k]``.

        Places are those of :meth:`labels_of`.
        """
        return {self.label_block: costs.reshape(np.shape(scores[self.label_block]))}

    def allowed(self, y: Any, shape: tuple[int, ...]) -> npt.NDArray[np.bool_]:
        """Return which parts of the label block an output with unknown labels may use.

        Unknown is None, or an index below 0; a set holds the indices that are possible; ``shape``
        is that of the block.
        """
        rows = [allowed_labels(k, shape[-1]) for k in self.labels_of(y)]
        return np.array(rows, dtype=bool).reshape(shape)

    # -- where sums or maxima are hard ----------------------------------------------------------

    def sums_are_exact(self, **scores: Any) -> bool:
        """Tell whether :meth:`infer` at ε > 0 is exact for these scores; default: it is."""
        return True

    def loopy_infer(self, *, temperature: float = 1.0, **scores: Any) -> tuple[float, Parts]:
        """Return approximate sums, as :meth:`infer` does, whether there are exact ones or not."""
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
        """Return what must not be negative at a site for cuts to find the best output.

        Returns
        -------
        dict of str to array or None
            Block name to rows of coefficients, (rows, ...) with the shape of a site's outcomes: no
            combination ⟨row, scores⟩ may be negative. None: the block has to be left out.
        """
        raise CapabilityError(
            f"submodular=True is for structures that are searched by cuts, Grid and Graph; "
            f"{type(self).__name__} is searched exactly whatever its weights"
        )

    # -- inference by the core ------------------------------------------------------------------

    @property
    def native(self) -> Any:
        """The core's twin of this structure, or None for one written in Python."""
        return None

    def core_inference(self, behind: Any, likelihood: str, gold: Any) -> Any:
        """Return what the core needs to do the inference of a learner, or None where it cannot.

        Parameters
        ----------
        behind : object
            Does in Python what the core does not.
        likelihood : {"exact", "pseudo", "loopy"}
            What losses above temperature 0 are made of.
        gold : (array, array) or None
            Pointers and labels of the gold outputs.
        """
        return None

    def core_topology(self, example: Mapping[str, Any], sites: tuple[int, ...]) -> Any:
        """Return what the core has to know of an example's shape: whole numbers, None: nothing.

        Parameters
        ----------
        example : dict
            What it says of its topology.
        sites : tuple of int
            Shape of the sites of the label block.
        """
        return None

    def from_core(self, row: Integers, sites: tuple[int, ...]) -> Any:
        """Return the output that a row of whole numbers of the core stands for."""
        return row
