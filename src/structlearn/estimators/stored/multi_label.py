"""The file contents of a :class:`~structlearn.estimators.MultiLabelClassifier`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...array_types import Integers
from ...fitting.values import Reader, Writer
from ...io.arrays import checked_array
from ...models.storage import put_inside, taken_out
from ...structures.graphs.graph import Graph
from ...structures.trees.tree import Tree
from ..label_graph import as_tree, label_edges
from .files import StoredEstimator, library_name
from .frames import checked_columns, whole_number


def write_classifier(classifier: Any, writer: Writer) -> dict[str, Any]:
    """Return the graph over the labels and the fitted learner."""
    library_name(classifier.estimator_)
    inner = Writer(writer.kinds)
    content = classifier.estimator_._described(inner), inner.tensors
    writer.left_out += [f"estimator__{name}" for name in inner.left_out]
    names = getattr(classifier, "feature_names_in_", None)
    learned = {
        "n_labels": len(classifier.classes_),
        "n_features": classifier.n_features_in_,
        "names": {} if names is None else {"X": names},
        "edges": classifier.edges_,
    }
    return {**writer.value(learned), "learner": put_inside(writer.tensors, "learner", content)}


def read_classifier(classifier: Any, d: dict[str, Any], reader: Reader) -> None:
    """Restore a stored classifier; graph, features and learner must belong together."""
    n_labels = whole_number(d["n_labels"], "the number of labels")
    n_features = whole_number(d["n_features"], "the number of features")
    edges = checked_array(reader.value(d["edges"]), "edges", np.int64, (-1, 2))
    label_edges(edges, np.empty((0, n_labels), dtype=np.int64))  # refuses an invalid graph
    learner: Any = taken_out(reader.tensors, "learner", reader.name, d["learner"], StoredEstimator)
    width = n_features + bool(classifier.intercept)
    if not n_labels or not n_features or _columns(learner, "label") != n_labels * width:
        raise ValueError(f"a learner whose features are not {n_labels} labels with {width} each")
    _check_graph(learner, edges, n_labels)
    names = checked_columns(reader.value(d["names"]), {"X": n_features})
    if names:
        classifier.feature_names_in_ = names["X"]
    classifier.edges_ = edges
    classifier.classes_ = np.arange(n_labels)
    classifier.n_features_in_ = n_features
    classifier.estimator_ = learner


def _columns(learner: Any, block: str) -> int | None:
    encoder = learner._encoder.encoders.get(block)
    return None if encoder is None else int(encoder.n_features)


def _check_graph(learner: Any, edges: Integers, n_labels: int) -> None:
    """Refuse a learner whose structure is not built from the edges."""
    tree, kind = as_tree(edges, n_labels), type(learner.structure_)
    if tree is None:
        expected = len(edges)
        same = kind is Graph and np.array_equal(learner.structure_._ends, edges)
    else:
        expected = max(len(edges), 1)
        same = kind is Tree and np.array_equal(learner.structure_.parents, tree.parents)
    if not same or _columns(learner, "edge") != (None if n_labels == 1 else expected):
        raise ValueError("a learner of another graph over the labels")
    if not set(learner.classes_.tolist()) <= {0, 1}:
        raise ValueError("labels other than 0 and 1")
