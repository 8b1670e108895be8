"""Arborescences and spanning trees as integer programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..programs.rows import RowBuilder


def arborescence_rows(shapes: Mapping[str, tuple[int, ...]], *, single_root: bool) -> RowBuilder:
    """Return the rows of the arborescences with these blocks.

    Every word has one head and is reachable: for each word one unit flows from the root to it, over
    used arcs (the multi-commodity flow of T. L. Magnanti & L. A. Wolsey 1995, Optimal trees; A. F.
    T. Martins et al. 2009 for parsing). O(n³) helper columns. The relaxation is tight if any number
    of words may hang from the root.
    """
    build = RowBuilder(shapes)
    arc = build.parts["arc"]
    size = len(arc)
    build.forbid(arc[:, 0])
    build.forbid(arc[np.arange(size), np.arange(size)])
    labelled = arc.reshape(size, size, -1)
    _flow_from_node_0(build, labelled, "word")
    if single_root:
        build.add((labelled[0, 1:], 1), rows=0, equal=1, name="one word hangs from the root")
    return build


def spanning_rows(shape: tuple[int, ...], n_nodes: int, listed: Any = None) -> RowBuilder:
    """Return the rows of spanning trees: arborescences below node 0, ignoring directions.

    Parameters
    ----------
    shape : tuple of int
        The shape of the scores of edges: a matrix, or a list.
    listed : (E, 2) array, optional
        The edges of a list, the smaller node first.
    """
    build = RowBuilder({"edge": shape})
    edge = build.parts["edge"]
    if listed is None:
        build.forbid(edge[np.tril_indices(n_nodes)])
    if n_nodes == 1:
        return build
    arc = build.helpers(n_nodes, n_nodes)
    build.forbid(arc[:, 0])
    i, j = np.triu_indices(n_nodes, 1) if listed is None else listed.T
    exists = np.zeros((n_nodes, n_nodes), dtype=bool)
    exists[i, j] = exists[j, i] = True
    build.forbid(arc[~exists])
    _flow_from_node_0(build, arc[:, :, np.newaxis], "node")
    build.add(
        (np.stack((arc[i, j], arc[j, i]), axis=1), 1),
        (edge[i, j] if listed is None else edge, -1),
        equal=0,
        name="edge {0} in one direction",
    )
    return build


def _flow_from_node_0(build: RowBuilder, arc: Any, what: str) -> None:
    """Add the rows that make arcs, (nodes, nodes, labels) columns, lead from node 0 everywhere."""
    size = len(arc)
    n = size - 1
    build.add((arc[:, 1:].transpose(1, 0, 2), 1), equal=1, name=f"one arc into the {{0}}-th {what}")
    flow = build.helpers(n, size, size)
    build.forbid(flow[:, :, 0])
    build.forbid(flow[:, np.arange(size), np.arange(size)])
    build.add(
        (flow[:, :, 1:].transpose(0, 2, 1), 1),
        (flow[:, 1:, :], -1),
        rows=2,
        equal=np.eye(n),
        name=f"what flows for the {{0}}-th {what} through the {{1}}-th",
    )
    build.add(
        (flow, 1),
        (np.broadcast_to(arc, (n, *arc.shape)), -1),
        rows=3,
        upper=0,
        name="no flow without an arc: {0}, {1} to {2}",
    )
