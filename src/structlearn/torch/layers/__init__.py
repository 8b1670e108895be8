"""CRF layers of neural networks, one for each structure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from ...structures import Arborescence, Chain, Constituency, SemiMarkov
from ...structures.base import Structure
from .base import CRFLayer
from .label_pairs import LabelPairLayer

__all__ = ["ChainCRF", "ConstituencyCRF", "DependencyCRF", "SemiMarkovCRF", "StructuredLayer"]


class ChainCRF(LabelPairLayer):
    """A linear-chain CRF over label scores (B, L, K), or another loss of its family.

    Parameters
    ----------
    n_labels : int
        K.
    margin, temperature : float
        γ and ε: (0, 1) is the CRF, (1, 0) the structured SVM, (0, 0) the perceptron.
    cost : str, (K, K) table or Cost, default="hamming"
        The cost of a wrong label, for γ > 0.
    forbid : (K, K) tensor of bool, or pairs of labels, optional
        Forbidden pairs of labels, in training and in prediction; (None, label) forbids a label at
        the start, (label, None) at the end.
    labels : sequence of str, optional
        The labels' names, for ``forbid`` and ``scheme``.
    scheme : {"iob", "iobes", "bilou"}, optional
        Forbid the transitions that this scheme of chunk labels does not allow.
    constraints : list of Constraint, or str, optional
        Constraints on outputs, in training and in prediction, over ``labels``, or their numbers.
        Computed by the core; on a GPU by the kernels, if the automata's states times the labels are
        at most 256.

    Attributes
    ----------
    transition : (K, K) parameter
        ``transition[i, j]`` scores label j after label i.
    start, end : (K,) parameters

    Examples
    --------
    >>> import torch
    >>> crf = ChainCRF(3)
    >>> scores = torch.zeros(2, 5, 3, requires_grad=True)
    >>> y = torch.tensor([[0, 1, 2, 1, 0], [1, 1, -100, -100, -100]])
    >>> loss = crf(scores, y, lengths=torch.tensor([5, 2]))
    >>> loss.mean().backward()
    >>> crf.argmax(scores, lengths=torch.tensor([5, 2])).shape
    torch.Size([2, 5])
    """

    def __init__(
        self,
        n_labels: int,
        *,
        margin: float = 0.0,
        temperature: float = 1.0,
        cost: Any = "hamming",
        forbid: Any = None,
        labels: Sequence[str] | None = None,
        scheme: str | None = None,
        constraints: Any = None,
    ) -> None:
        super().__init__(
            Chain(),
            n_labels,
            forbid=forbid,
            labels=labels,
            scheme=scheme,
            constraints=constraints,
            margin=margin,
            temperature=temperature,
            cost=cost,
        )


class SemiMarkovCRF(LabelPairLayer):
    """A CRF over segmentations, with scores (B, L, max_length, K).

    ``scores[b, t, d, k]`` is for the segment with label k and length d + 1 that starts at t. Gold
    outputs are lists of (start, end, label), or (B, L) tensors with the label at the start of a
    segment, −1 inside it and −100 for unknown.

    Parameters
    ----------
    n_labels, max_length : int
    margin, temperature, cost, forbid, labels, constraints
        As for :class:`ChainCRF`; pairs are labels of neighbouring segments, and constraints read
        one label for each segment.
    """

    def __init__(
        self,
        n_labels: int,
        max_length: int,
        *,
        margin: float = 0.0,
        temperature: float = 1.0,
        cost: Any = "hamming",
        forbid: Any = None,
        labels: Sequence[str] | None = None,
        constraints: Any = None,
    ) -> None:
        super().__init__(
            SemiMarkov(max_length),
            n_labels,
            forbid=forbid,
            labels=labels,
            constraints=constraints,
            margin=margin,
            temperature=temperature,
            cost=cost,
        )


class DependencyCRF(CRFLayer):
    """A CRF over dependency trees, with scores (B, n + 1, n + 1), ``scores[b, h, m]`` for h → m.

    Node 0 is the root. Gold outputs are heads (B, n) of words 1..n; with labels, scores
    (B, n + 1, n + 1, R) and pairs (heads, labels). Lengths are numbers of words.

    Parameters
    ----------
    projective : bool, default=False
        Whether arcs may not cross.
    single_root : bool, default=True
        Whether exactly one word has head 0.
    labelled : bool, default=False
        Whether scores and outputs have labels.
    margin, temperature, cost
        As for :class:`ChainCRF`; a word is wrong if its head or its label is wrong.
    """

    def __init__(
        self,
        *,
        projective: bool = False,
        single_root: bool = True,
        labelled: bool = False,
        margin: float = 0.0,
        temperature: float = 1.0,
        cost: Any = "hamming",
    ) -> None:
        structure = Arborescence(projective, single_root, labelled)
        super().__init__(structure, margin=margin, temperature=temperature, cost=cost)
        self.labelled = bool(labelled)

    def blocks(self, scores: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the scores as the block of arcs."""
        if isinstance(scores, torch.Tensor) and scores.dim() != 3 + self.labelled:
            raise ValueError(
                f"scores have {scores.dim()} axes, expected {3 + self.labelled} where labelled is "
                f"{self.labelled}"
            )
        return {"arc": scores}


class ConstituencyCRF(CRFLayer):
    """A CRF over constituent trees, with scores (B, n, n + 1, R) of labelled spans.

    ``scores[b, i, j, r]`` is for label r over the words i..j − 1; label 0 is "no label". Gold
    outputs are lists of (begin, end, label), or (B, n, n + 1) tensors as returned by ``argmax``.
    """

    def __init__(
        self, *, margin: float = 0.0, temperature: float = 1.0, cost: Any = "hamming"
    ) -> None:
        super().__init__(Constituency(), margin=margin, temperature=temperature, cost=cost)

    def blocks(self, scores: torch.Tensor) -> dict[str, torch.Tensor]:
        """Return the scores as the block of spans."""
        return {"span": scores}


class StructuredLayer(CRFLayer):
    """A layer for any structure, including your own; scores are tensors by block.

    Structures without a padded form take a list for each block, with one tensor for each example,
    and a list of gold outputs in the structure's own form.

    Parameters
    ----------
    structure : Structure
    margin, temperature, cost
        As of :class:`ChainCRF`.
    """

    structure: Structure

    def __init__(
        self,
        structure: Structure,
        *,
        margin: float = 0.0,
        temperature: float = 1.0,
        cost: Any = "hamming",
    ) -> None:
        super().__init__(structure, margin=margin, temperature=temperature, cost=cost)

    def blocks(self, scores: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the scores."""
        return scores
