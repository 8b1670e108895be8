"""Training over shards, for every task and estimator."""

from __future__ import annotations

import os
from functools import partial
from itertools import pairwise
from typing import Any, TypeVar

from ..checks import check_whole
from ..io.image_folders import example_pairs
from ..text.corpus import Corpus
from ..text.formats import guess_format
from ..text.sources import with_labels
from .cluster import connected, make_crew
from .crew import Crew, CrewParts
from .shards import FileShard, ListShard, file_shards, find_files, list_ends, list_shards

Model = TypeVar("Model")


def fit(
    model: Model,
    X: Any,
    y: Any = None,
    *,
    dev: Any = None,
    sample_weight: Any = None,
    format: str | None = None,
    cluster: str | None = "local",
    workers: int | None = None,
    threads: int = 1,
    shard_size: int | None = None,
    n_shards: int | None = None,
    **more: Any,
) -> Model:
    """Learn from shards of a corpus, on the workers of a Ray cluster.

    The result depends on the shards, which depend on the corpus and ``shard_size`` alone: it has
    the same bits for any number of workers, and after any of them has died. Features, labels and
    the weights that exist are those of training on one machine. The convex learners ("crf", "svm")
    minimise the same objective to the same proven gap, by L-BFGS (OWL-QN) over summed gradients and
    by one-slack cutting planes. The online learners mix: each shard makes its own pass, and the
    next pass begins at the mean.

    Parameters
    ----------
    model : task, Pipeline or estimator
        What is to learn; its parameters count as in ``fit``.
    X : path, pattern, list of them, list of examples, or Ray Dataset
        Files may be compressed by gzip; every worker must be able to read them. Of a dataset each
        row is an example: ``tokens`` with ``tags`` (or what else names the columns) for tasks,
        ``X`` and ``y`` for estimators. For segmenters a folder, or a list of (image, mask).
    y : list, optional
        The outputs, where X is a list of inputs.
    dev : path or list, optional
        Of tasks: scored after each pass, by the process that calls this function.
    sample_weight : array of shape (n,), optional
        Weights of the examples, in their order.
    format : str, optional
        Of files, as in ``fit``.
    cluster : str or None, default="local"
        "local", "auto" or an address of Ray; None: this process does all the work.
    workers : int, optional
        Their number; by default as many as there are cores for.
    threads : int, default=1
        Of each worker.
    shard_size : int, optional
        Bytes of a shard of files; default 32 MB, less for a small corpus.
    n_shards : int, optional
        Number of shards of a list or a dataset.
    **more
        What else ``fit`` of the task takes: ``start`` of a tagger, ``entities`` of a pipeline.

    Returns
    -------
    model
        Itself, fitted.

    References
    ----------
    R. McDonald, K. Hall & G. Mann (2010), Distributed training strategies for the structured
    perceptron; T. Joachims, T. Finley & C.-N. Yu (2009), Cutting-plane training of structural SVMs.
    """
    from ..estimators.multilabel import MultiLabelClassifier

    threads = check_whole("threads", threads, 1)
    for name, value in (("workers", workers), ("shard_size", shard_size), ("n_shards", n_shards)):
        if value is not None:
            check_whole(name, value, 1)
    if isinstance(model, MultiLabelClassifier):  # its estimator learns there
        given: dict[str, Any] = {"dev": dev, "format": format, "shard_size": shard_size, **more}
        given.update(cluster=cluster, workers=workers, threads=threads, n_shards=n_shards)
        model._fit(X, y, sample_weight, partial(fit, **given))
        return model
    trainer = _trainer(model)
    images = hasattr(model, "superpixels")
    files = trainer is _fit_task and not images and _are_files(model, X, y)
    if files:
        X = find_files(X)  # before Ray is started, which takes seconds
    with connected(cluster, workers, threads) as n_workers:
        shards = _shards(model, X, y, files, sample_weight, format, shard_size, n_shards, cluster)
        verbose = bool(getattr(model, "verbose", 0))
        with make_crew(shards, cluster, n_workers, threads, verbose=verbose) as crew:
            options = {"dev": dev, "sample_weight": sample_weight, "format": format, **more}
            trainer(model, crew, {k: v for k, v in options.items() if v is not None})
    return model


def _trainer(model: Any) -> Any:
    """Return what trains this kind of model."""
    from ..estimators.hmm import HMM
    from ..estimators.model import StructuredModel
    from ..tasks.constituents.parser import ConstituencyParser
    from ..tasks.dependencies.parser import DependencyParser
    from ..tasks.images.segmenter import ImageSegmenter
    from ..tasks.pipeline.pipeline import Pipeline
    from ..tasks.segments.tagger import SegmentTagger
    from ..tasks.tagging.tagger import Tagger

    kinds: dict[type, Any] = {
        Tagger: _fit_task,
        SegmentTagger: _fit_task,
        DependencyParser: _fit_task,
        ConstituencyParser: _fit_task,
        ImageSegmenter: _fit_task,
        Pipeline: _fit_task,
        StructuredModel: _fit_estimator,
        HMM: _fit_estimator,
    }
    for kind, trainer in kinds.items():
        if isinstance(model, kind):
            return trainer
    raise TypeError(
        f"{type(model).__name__} does not learn over shards; those that do: "
        f"{', '.join(kind.__name__ for kind in kinds)}, MultiLabelClassifier and presets (CRF, "
        "StructuredSVM, ...)"
    )


# -- shards ---------------------------------------------------------------------------------------


def _shards(
    model: Any,
    X: Any,
    y: Any,
    files: bool,
    sample_weight: Any,
    format: str | None,
    size: int | None,
    n: int | None,
    cluster: str | None,
) -> list[Any]:
    """Return the shards that X (``files``: names of them), y and the weights stand for."""
    from ..estimators.array_model import ArrayModel

    estimator = isinstance(model, ArrayModel)
    if hasattr(X, "to_arrow_refs") or hasattr(X, "iter_batches"):
        from .datasets import dataset_shards

        if y is not None or (estimator and sample_weight is not None):
            raise ValueError("a dataset has outputs and weights in its columns y and sample_weight")
        return dataset_shards(X, estimator, n)
    if estimator:
        from .arrays import example_shards

        return example_shards(X, y, sample_weight, n)
    if hasattr(model, "superpixels"):
        return list(image_shards(X, y, size, n))
    if files:
        chosen = format or _format_of(model, X[0])
        return list(file_shards(X, chosen, size, each=_mapper(cluster)))
    if isinstance(X, Corpus):
        X = [list(sentence) for sentence in X]
    given = list(X if y is None else model._joined(X, y) if hasattr(model, "_joined") else
                 with_labels(X, y))  # fmt: skip
    return list(list_shards(given, n, name="sentences"))


def image_shards(X: Any, y: Any, size: int | None, n: int | None) -> list[ListShard]:
    """Return shards of images with their masks; files are read where the shards are.

    Parameters
    ----------
    size : int, optional
        Bytes of a shard.
    n : int, optional
        Number of shards, where no size is given.
    """
    pairs = example_pairs(X, y)
    paths = [image for image, _ in pairs if isinstance(image, (str, os.PathLike))]
    bytes_ = sum(map(os.path.getsize, paths))
    bytes_ += sum(getattr(image, "nbytes", 0) for image, _ in pairs)
    ends = list_ends(len(pairs), bytes_, n if size is None else -(-bytes_ // size))
    return [ListShard(f"images {a} to {b - 1}", pairs[a:b], b - a) for a, b in pairwise(ends)]


def _are_files(model: Any, X: Any, y: Any) -> bool:
    """Tell names of files from examples: those in a list may be strings, too."""
    from ..tasks.constituents.parser import ConstituencyParser

    if isinstance(X, (str, os.PathLike)):
        if y is not None:
            raise ValueError("y goes with a list of sentences; a file has its labels in it")
        return True
    listed = y is None and isinstance(X, (list, tuple)) and len(X) > 0
    trees = isinstance(model, ConstituencyParser)
    return listed and all(
        isinstance(one, os.PathLike)
        or (isinstance(one, str) and not (trees and one.lstrip().startswith("(")))
        for one in X
    )


def _format_of(model: Any, path: str) -> str:
    """Return the format of the files, as far as cutting them depends on it."""
    from ..tasks.constituents.parser import ConstituencyParser
    from ..tasks.dependencies.parser import DependencyParser
    from ..tasks.pipeline.pipeline import Pipeline
    from ..text.files import open_bytes

    if isinstance(model, ConstituencyParser):
        return "brackets"
    if isinstance(model, (DependencyParser, Pipeline)):
        return "conllu"
    with open_bytes(path) as file:
        return guess_format(path, file.read(1 << 16))


def _mapper(cluster: str | None) -> Any:
    """Return what calls a function for each item of a list, on the cluster if there is one."""
    if cluster is None:
        return None
    import ray

    def each(function: Any, items: list[Any]) -> list[Any]:
        remote = ray.remote(function)
        try:
            found: list[Any] = ray.get([remote.remote(*item) for item in items])
        except ray.exceptions.RayTaskError as error:
            raise error.cause from None  # without the trace of the worker in its message
        return found

    return each


# -- fitting --------------------------------------------------------------------------------------


def _fit_task(task: Any, crew: Crew, given: dict[str, Any]) -> None:
    """Fit a task: whatever it does goes by parts."""
    task.fit(CrewParts(crew.files()).then(_content), **given)


def _content(shard: Any) -> Any:
    return shard if isinstance(shard, FileShard) else shard.examples()


def _fit_estimator(estimator: Any, crew: Crew, given: dict[str, Any]) -> None:
    from ..estimators.hmm import HMM
    from .arrays import fit_counted, fit_estimator

    if set(given) - {"sample_weight"}:
        raise ValueError("dev and format are for tasks, not for estimators")
    (fit_counted if isinstance(estimator, HMM) else fit_estimator)(estimator, crew)
