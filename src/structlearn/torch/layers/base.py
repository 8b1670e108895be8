"""The base of the layers: margin, temperature and cost, and the queries."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import torch

from ...losses.costs import as_cost
from ...structures.base import Structure
from ...structures.checks import check_temperature
from .. import functions
from ..losses import structured_loss


class CRFLayer(torch.nn.Module):
    """A structure as a layer; called with scores and gold outputs, it returns losses.

    Parameters
    ----------
    structure : Structure
    margin : float, default=0
        γ of the loss.
    temperature : float, default=1
        ε of the loss, and the default of the queries that take a temperature.
    cost : str, table or Cost, default="hamming"
        The cost of a wrong output, for γ > 0.
    """

    def __init__(
        self,
        structure: Structure,
        *,
        margin: float = 0.0,
        temperature: float = 1.0,
        cost: Any = "hamming",
    ) -> None:
        super().__init__()
        check_temperature(temperature)
        if not 0 <= margin < math.inf:
            raise ValueError(f"margin must be a finite number >= 0, got {margin!r}")
        if isinstance(cost, str):
            as_cost(cost)  # refuses unknown names
        self.structure = structure
        self.margin = float(margin)
        self.temperature = float(temperature)
        if isinstance(cost, torch.Tensor):
            self.register_buffer("cost", cost, persistent=False)
        else:
            self.cost = cost

    def blocks(self, scores: Any) -> Mapping[str, Any]:
        """Return the blocks of scores: the call's and the layer's own."""
        raise NotImplementedError

    def forward(
        self,
        scores: Any,
        y: Any,
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Return the loss of each example: (B,)."""
        return structured_loss(
            self.structure,
            self.blocks(scores),
            y,
            lengths=lengths,
            mask=mask,
            margin=self.margin,
            temperature=self.temperature,
            cost=self.cost,
        )

    def argmax(
        self, scores: Any, lengths: torch.Tensor | None = None, mask: torch.Tensor | None = None
    ) -> Any:
        """Return the best outputs, as :func:`structlearn.torch.argmax` does."""
        return functions.argmax(self.structure, self.blocks(scores), lengths=lengths, mask=mask)

    def log_partition(
        self,
        scores: Any,
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        temperature: float | None = None,
    ) -> torch.Tensor:
        """Return ε log Σ_y exp(score(y)/ε) of each example: (B,)."""
        return functions.log_partition(
            self.structure,
            self.blocks(scores),
            lengths=lengths,
            mask=mask,
            temperature=self._warm(temperature),
        )

    def marginals(
        self,
        scores: Any,
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        temperature: float | None = None,
    ) -> Any:
        """Return the probability of each part of the scores, in their shape."""
        _, parts = functions.infer(
            self.structure,
            self.blocks(scores),
            lengths=lengths,
            mask=mask,
            temperature=self._warm(temperature),
        )
        return parts[self.structure.label_block]

    def kbest(
        self,
        n: int,
        scores: Any,
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
    ) -> tuple[torch.Tensor, Any]:
        """Return the n best outputs, as :func:`structlearn.torch.kbest` does."""
        return functions.kbest(self.structure, n, self.blocks(scores), lengths=lengths, mask=mask)

    def sample(
        self,
        n: int,
        scores: Any,
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        temperature: float | None = None,
        generator: torch.Generator | None = None,
    ) -> Any:
        """Draw n outputs of each example, as :func:`structlearn.torch.sample` does."""
        return functions.sample(
            self.structure,
            n,
            self.blocks(scores),
            lengths=lengths,
            mask=mask,
            temperature=self._warm(temperature),
            generator=generator,
        )

    def entropy(
        self,
        scores: Any,
        lengths: torch.Tensor | None = None,
        mask: torch.Tensor | None = None,
        temperature: float | None = None,
    ) -> torch.Tensor:
        """Return the entropy of each example in nats: (B,)."""
        return functions.entropy(
            self.structure,
            self.blocks(scores),
            lengths=lengths,
            mask=mask,
            temperature=self._warm(temperature),
        )

    def _warm(self, temperature: float | None) -> float:
        """Return the temperature of a query: the layer's, or 1 if that is 0."""
        return (self.temperature or 1.0) if temperature is None else float(temperature)

    def extra_repr(self) -> str:
        """Return the loss's parameters."""
        return f"{self.structure!r}, margin={self.margin}, temperature={self.temperature}"
