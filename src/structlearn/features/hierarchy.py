"""A tree over classes, which share weights along their paths (Daumé, eq. 17.9-11).

With the tree ((music, movies), oncology), φ(x, music) = ⟨x, 0, 0, x⟩, φ(x, movies) = ⟨0, x, 0, x⟩
and φ(x, oncology) = ⟨0, 0, x, 0⟩: each class has its own weights and adds those of the inner nodes
above it, except the root (weights shared by all classes have no effect).
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ..array_types import Array


class ClassHierarchy:
    """A tree over classes.

    Parameters
    ----------
    tree : nested sequence or mapping
        Leaves are classes. ``(("music", "movies"), "oncology")``, or with named inner nodes
        ``{"arts": ["music", "movies"], "science": ["oncology"]}``.
    classes : array of classes
        In the order of the model's ``classes_``; every one must be a leaf, exactly once.

    Attributes
    ----------
    nodes : list of str
        Name of each weight column: the classes, then the inner nodes.
    member_ptr, member : uint32 arrays
        Class k has the columns ``member[member_ptr[k]:member_ptr[k + 1]]``.
    """

    def __init__(self, tree: Any, classes: npt.NDArray[Any]) -> None:
        names = list(classes.tolist())
        paths: dict[Any, list[str]] = {}
        inner: dict[str, int] = {}

        def walk(node: Any, path: list[str], name: str | None) -> None:
            if isinstance(node, Mapping):
                children = sorted(node.items(), key=lambda item: str(item[0]))
            elif isinstance(node, (list, tuple)):
                children = [(None, child) for child in node]
            else:
                if node in paths:
                    raise ValueError(f"class {node!r} appears twice in the hierarchy")
                paths[node] = path
                return
            if name is not None:
                if name in inner:
                    raise ValueError(f"inner node {name!r} appears twice in the hierarchy")
                inner[name] = len(names) + len(inner)
                path = [*path, name]
            for i, (key, child) in enumerate(children):
                label = str(key) if key is not None else f"{name or 'node'}.{i}"
                walk(child, path, label)

        walk(tree, [], None)
        missing = [name for name in names if name not in paths]
        if missing:
            raise ValueError(f"the hierarchy has no leaf for {missing}")
        self.nodes = [str(name) for name in names] + list(inner)
        rows = [[k, *(inner[node] for node in paths[name])] for k, name in enumerate(names)]
        self.member_ptr = np.zeros(len(rows) + 1, dtype=np.uint32)
        np.cumsum([len(row) for row in rows], out=self.member_ptr[1:])
        self.member = np.array([c for row in rows for c in row], dtype=np.uint32)

    @property
    def n_columns(self) -> int:
        """Number of weight columns: classes and inner nodes."""
        return len(self.nodes)

    def expand(self, weights: Array) -> Array:
        """Return the (K, d) weights of the classes from the (columns, d) weights of the nodes."""
        bounds: Sequence[int] = self.member_ptr.tolist()
        return np.stack(
            [weights[self.member[a:b]].sum(axis=0) for a, b in itertools.pairwise(bounds)]
        )
