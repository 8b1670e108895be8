"""Constrained search: automata join the product when an answer violates them."""

from __future__ import annotations

from typing import Any

from ..constraints.constrained import Constrained
from ..constraints.readings import product_of, symbols_of
from ..exceptions import CapabilityError
from .trace import Trace


def constrained_search(structure: Constrained, **scores: Any) -> Trace:
    """Return the trace of a search for the best output that satisfies constraints.

    The search begins without automata. Those that reject its answer join the product, until an
    answer is accepted. It is then the best: it is the best of a larger set of outputs.

    Parameters
    ----------
    structure : Constrained
        A chain or a segmentation whose constraints are masks and automata.
    **scores : arrays
        One example.

    Returns
    -------
    Trace
        Steps of kind "search": the numbers of the ``automata`` in the product, its ``states``, the
        best ``output`` in it with its ``value``, and the automata ``rejecting`` it. ``about`` has
        the constraints of the automata.

    Examples
    --------
    >>> import numpy as np
    >>> from structlearn.constraints import each_at_most_once, with_constraints
    >>> from structlearn.structures import Chain
    >>> once = with_constraints(Chain(), [each_at_most_once()])
    >>> trace = constrained_search(once, label=np.array([[3., 1., 0.], [2., 1., 0.], [4., 0., 2.]]))
    >>> for step in trace.steps:
    ...     print(step["output"], step["states"], step["rejecting"])
    [0, 0, 0] 1 [0]
    [1, 1, 0] 2 [1]
    [2, 1, 0] 4 []
    """
    theta, topology, compiled = structure._compiled(scores)
    if compiled.report.needs_program:
        raise CapabilityError(
            "a search without automata has no trace: these constraints need an integer program. "
            "What works: constraints on labels of chains and segmentations"
        )
    masked = {**compiled.mask(theta), **topology}
    automata, members = compiled.automata, set[int]()
    steps: list[dict[str, Any]] = []
    while True:
        joined = [automata[c] for c in sorted(members)]
        inner = product_of(structure.structure, joined) if joined else structure.structure
        solution = inner.solve(**masked)
        symbols = symbols_of(structure.structure, solution.output)
        rejecting = [c for c, automaton in enumerate(automata) if not automaton.accepts(symbols)]
        output = getattr(solution.output, "tolist", lambda y=solution.output: y)()
        steps.append({
            "kind": "search",
            "automata": sorted(members),
            "states": solution.states or 1,
            "output": output,
            "value": solution.value,
            "rejecting": rejecting,
        })  # fmt: skip
        if not rejecting:
            about = {"constraints": [str(constraint) for constraint, _ in compiled.every_automaton]}
            return Trace("constrained search", steps, output, solution.value, about)
        members.update(rejecting)
