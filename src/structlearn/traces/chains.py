"""Chains: Viterbi, forward–backward, k-best and beam search (eq. 17.37-49 of the chapter)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from ..exceptions import CapabilityError
from ..structures.beam import BeamSearch, Search
from ..structures.chains.chain import Chain
from ..structures.checks import nothing_legal
from ..structures.hypergraph import Hyperedges
from .charts import Chart
from .trace import Trace


def viterbi(**scores: Any) -> Trace:
    """Return the trace of Viterbi on a first-order chain.

    Written by the hyperedge engine of the core; its answer is that of :meth:`Chain.argmax`, except
    that ties may be broken differently.

    Parameters
    ----------
    **scores : arrays
        The blocks of ``Chain(order=1)``.

    Returns
    -------
    Trace
        Steps of kind "fill": ``node`` ("alpha", t, k), its ``value`` α, the ``options`` of the max
        with their numbers, and which is ``best``, the back-pointer ζ; the last is ("goal",). Then
        steps of kind "follow", back from the goal.

    Examples
    --------
    >>> import numpy as np
    >>> trace = viterbi(label=np.array([[2., 9., -1.], [0., 0., 1.2]]),
    ...                 transition=np.array([[0., 0., -5.], [0., 0., 2.5], [0., 0., 2.2]]))
    >>> step = trace.steps[5]
    >>> step["node"], round(step["value"], 6), step["best"]
    (['alpha', 1, 2], 12.7, 1)
    """
    return _chart(scores).best("Viterbi", **_sizes(scores))


def forward_backward(*, temperature: float = 1.0, **scores: Any) -> Trace:
    """Return the trace of forward–backward: α, then β, then the marginals in ``about``.

    Written by the hyperedge engine of the core; log Z and marginals are those of
    :meth:`Chain.infer`.

    Parameters
    ----------
    temperature : float, default=1.0
        ε > 0.
    """
    if not temperature > 0:
        raise ValueError(f"sums need a temperature > 0, got {temperature!r}; use viterbi for 0")
    return _chart(scores).sum("forward–backward", temperature, **_sizes(scores))


def chain_kbest(n: int, **scores: Any) -> Trace:
    """Return the trace of the n best sequences: the lazy k-best search of the core."""
    return _chart(scores).kbest("k-best", n, **_sizes(scores))


def beam_search(width: int, **scores: Any) -> Trace:
    """Return the trace of a beam search: after each word, the prefixes kept and dropped.

    Written by the beam search for structures in Python; its answer is that of :meth:`Chain.beam`.
    Unlike there, a beam that reaches no complete output is not widened.
    """
    theta = _theta(scores)
    search = Search(_Prefixes("transition" in theta), width, theta)
    steps = []
    while search.step():
        survivors = [{"prefix": list(i.prefix), "value": i.score} for i in search.beam]
        gone = [{"prefix": list(i.prefix), "value": i.score} for i in search.dropped]
        steps.append({"kind": "extend", "kept": survivors, "dropped": gone})
    if not search.beam or not steps:
        raise nothing_legal()
    best = search.beam[0]
    about = {"width": width, "exact": not search.pruned, **_sizes(scores)}
    return Trace("beam search", steps, list(best.prefix), best.score, about)


class _Prefixes(BeamSearch):
    """Prefixes of a chain; those with the same last label, if it matters, share their future."""

    def __init__(self, remembers: bool) -> None:
        self.remembers = remembers

    def beam_steps(self, prefix: Any, **theta: Any) -> Iterable[tuple[Any, float]] | None:
        t = len(prefix)
        length, n_labels = theta["label"].shape
        if t == length:
            return None
        added = theta["label"][t] + _extra(theta, t, length)
        if t and "transition" in theta:
            table = theta["transition"]
            added = added + (table if table.ndim == 2 else table[t - 1])[prefix[-1]]
        return [((*prefix, k), float(added[k])) for k in range(n_labels)]

    def beam_state(self, prefix: Any) -> Any:
        return len(prefix), prefix[-1] if self.remembers else None


def _extra(theta: dict[str, Any], t: int, length: int) -> Any:
    start = theta.get("start", 0.0) if t == 0 else 0.0
    return start + (theta.get("end", 0.0) if t == length - 1 else 0.0)


def _theta(scores: dict[str, Any]) -> dict[str, Any]:
    unknown = set(scores) - set(Chain(1).blocks(1))
    if unknown:
        raise CapabilityError(
            f"traces are for first-order chains, which have no blocks {sorted(unknown)}"
        )
    return dict(Chain(1)._one({k: v for k, v in scores.items() if v is not None}))


def _sizes(scores: dict[str, Any]) -> dict[str, Any]:
    length, n_labels = np.shape(scores["label"])
    return {"length": length, "n_labels": n_labels}


def _chart(scores: dict[str, Any]) -> Chart:
    theta = _theta(scores)
    length, K = theta["label"].shape
    first, at = {}, 0
    for name, a in theta.items():
        first[name] = at
        at += a.size
    edges = Hyperedges(length * K + 1)
    for k in range(K):
        start = [first["start"] + k] if "start" in first else []
        edges.add(k, parts=[first["label"] + k, *start])
    for t in range(1, length):
        shared = "transition" in first and theta["transition"].ndim == 2
        for k in range(K):
            for j in range(K):
                parts = [first["label"] + t * K + k]
                if "transition" in first:
                    pair = j * K + k + (0 if shared else (t - 1) * K * K)
                    parts.append(first["transition"] + pair)
                edges.add(t * K + k, [(t - 1) * K + j], parts)
    for k in range(K):
        end = [first["end"] + k] if "end" in first else []
        edges.add(length * K, [(length - 1) * K + k], end)
    names = [("alpha", t, k) for t in range(length) for k in range(K)]

    def read(derivation: Any) -> list[int]:
        labels = {head[1]: head[2] for head, _, _ in derivation if head[0] == "alpha"}
        return [labels[t] for t in range(length)]

    return Chart(edges, theta, [*names, ("goal",)], read)
