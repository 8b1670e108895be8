"""First-order chains: forward and backward sweeps side by side, then marginals and gradients.

A sweep carries one vector of logarithms (base 2, in units of the temperature), shifted so that its
largest entry is 0; the shifts are added up in float64. In direction 0 it holds, for each label of
position t, the sum over all beginnings that end in that label; in direction 1 the sum over all
ends that begin with it. Both include the label's own score, so that one loop serves both: the
second reads the positions from the last to the first and the transitions transposed.

A step multiplies the vector of exponentials by the table of exponentials, which stays in
registers. If a sum is so small that products may have underflowed (transitions of −∞ or thousands
apart), the sequence is computed again with logarithms, taking the largest term of each column
first. That is a separate launch, whose programs return at once if there is nothing to do: it needs
registers that would slow down the usual case.

Fully known gold labels need no sweep: their score is read off, and their parts are counted.

The second kernel turns the two vectors of a position into label marginals, by normalising their
product, and into the transitions' gradient, by matrix products over blocks of positions: nothing
of size batch × length × labels² exists. The normalised values are
accurate for scores of any size, since the shifts cancel.
"""

from __future__ import annotations

import triton

import torch

from .chain_parts import combine
from .chain_sweeps import sweep
from .common import LOG2E, accumulator, accumulator_dtype, block_of, halves, launch

MOST_LABELS = 256

#: For each block size of labels: warps of a sweep; columns, positions and warps of the second
#: kernel.
_SHAPES = {
    16: (1, 16, 64, 8),
    32: (1, 32, 32, 4),
    64: (2, 64, 16, 4),
    128: (4, 64, 32, 8),
    256: (8, 32, 16, 8),
}


def _run(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
    y: torch.Tensor | None,
    margin: float,
    cost: torch.Tensor | None,
) -> tuple[torch.Tensor, ...]:
    batch, L, K = label.shape
    dtype, acc = accumulator_dtype(label), accumulator(label)
    label, transition = label.contiguous(), transition.contiguous()
    start, end = start.contiguous(), end.contiguous()
    mode = 0 if y is None else 1 if cost is None else 2
    rows = batch if y is None else 2 * batch
    y_or_any = lengths if y is None else y.contiguous()
    cost_or_any = transition if cost is None else cost.contiguous()
    new = label.new_empty
    value = new(rows, dtype=torch.float64)
    sweeps = new((2, rows, L, K), dtype=dtype)
    block = block_of(K)
    warps, columns, tile, combine_warps = _SHAPES[block]
    wide = 2 if dtype == torch.float64 else 1
    common = (batch, L, K, batch if transition.dim() == 3 else 1,
              *halves(LOG2E / temperature), *halves(margin))  # fmt: skip
    both_ways = torch.stack((transition, transition.mT))
    states = torch.empty((3, rows, 8), dtype=torch.int32, device=label.device)
    for careful in (False, True):
        launch(
            sweep, (rows, 2),
            label, both_ways, start, end, y_or_any, cost_or_any, lengths, sweeps, states, value,
            *common, CAREFUL=careful, COST=mode, BLOCK=block, ACC=acc,
            options={"num_warps": min(16, warps * wide)},
        )  # fmt: skip
    loss = value if y is None else new(batch, dtype=dtype)
    shapes = ((batch, L, K), (batch, K, K), (batch, K), (batch, K))
    grads = [new(shape, dtype=dtype) for shape in shapes]
    for careful in (True,) if dtype == torch.float64 else (False, True):
        launch(
            combine, (batch, triton.cdiv(K, columns)),
            label, transition, y_or_any, cost_or_any, lengths, sweeps, states, states[2], value,
            loss, *grads, *common, rows, CAREFUL=careful, COST=mode, BLOCK=block,
            COLUMNS=columns, T=tile, ACC=acc,
            options={"num_warps": combine_warps * wide, "num_stages": 1},
        )  # fmt: skip
    return (loss, *grads)


def chain_infer(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    temperature: float,
) -> tuple[torch.Tensor, ...]:
    """Return ε log Σ exp(score/ε) of each sequence, and its gradient by block.

    Parameters
    ----------
    label : (B, L, K)
    transition : (K, K) or (B, K, K)
    start, end : (K,)
    lengths : (B,) int
    temperature : float
        Above 0.

    Returns
    -------
    value : (B,)
    label, transition, start, end : (B, L, K), (B, K, K), (B, K), (B, K)
    """
    return _run(label, transition, start, end, lengths, temperature, None, 0.0, None)


def chain_loss(
    label: torch.Tensor,
    transition: torch.Tensor,
    start: torch.Tensor,
    end: torch.Tensor,
    lengths: torch.Tensor,
    y: torch.Tensor,
    temperature: float,
    margin: float = 0.0,
    cost: torch.Tensor | None = None,
) -> tuple[torch.Tensor, ...]:
    """Return the loss of each sequence for the gold labels y (B, L), and its gradient.

    Labels of −100 are unknown; one that is out of range makes the loss infinite. ``cost`` is a
    (K, K) table δ(gold, predicted); None: Hamming.
    """
    return _run(label, transition, start, end, lengths, temperature, y, margin, cost)
