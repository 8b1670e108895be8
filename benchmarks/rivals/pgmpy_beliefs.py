"""pgmpy: exact belief propagation over a junction tree of a small grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from pgmpy.factors.discrete import DiscreteFactor
from pgmpy.inference import BeliefPropagation
from pgmpy.models import DiscreteMarkovNetwork

__all__ = ["beliefs", "prepare"]

Array = npt.NDArray[np.float64]


def prepare(label: Array, table: Array) -> Any:
    """Return the model of a grid."""
    height, width, n_labels = label.shape
    model = DiscreteMarkovNetwork()
    names = {(i, j): f"{i},{j}" for i in range(height) for j in range(width)}
    model.add_nodes_from(names.values())
    for (i, j), name in names.items():
        model.add_factors(DiscreteFactor([name], [n_labels], np.exp(label[i, j])))
        for near in ((i, j + 1), (i + 1, j)):
            if near in names:
                model.add_edge(name, names[near])
                pair = [name, names[near]]
                model.add_factors(DiscreteFactor(pair, [n_labels] * 2, np.exp(table)))
    return model


def beliefs(model: Any) -> list[Any]:
    """Return the marginals of the nodes."""
    search = BeliefPropagation(model)
    search.calibrate()
    return [search.query([name], show_progress=False).values for name in model.nodes()]
