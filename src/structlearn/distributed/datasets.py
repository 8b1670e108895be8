"""Ray Datasets: as shards to learn from, and to be labelled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

from ..exceptions import FileError
from .cluster import import_ray
from .shards import list_ends


@dataclass(frozen=True)
class BlockShard:
    """Rows of a dataset.

    Attributes
    ----------
    name : str
    parts : tuple of (reference, int, int)
        Data frames in the object store, each with the first of its rows and the one after the last.
    size : int
        Number of rows.
    convert : callable
        Makes examples of a data frame.
    """

    name: str
    parts: tuple[tuple[Any, int, int], ...]
    size: int
    convert: Callable[[Any], Any]

    def examples(self) -> Any:
        """Return the examples."""
        import pandas
        import ray

        return self.convert(pandas.concat([ray.get(ref).iloc[a:b] for ref, a, b in self.parts]))

    def in_file(self, error: FileError) -> FileError:
        """Return the error: there is no file."""
        return error


def dataset_shards(dataset: Any, estimator: bool, n: int | None = None) -> list[BlockShard]:
    """Return the shards of a dataset, in the order of its rows.

    How many blocks it has may depend on the cluster: shards are cut by the number of rows.

    Parameters
    ----------
    estimator : bool
        Rows have ``X``, ``y`` and perhaps ``sample_weight``; otherwise ``tokens``, and the columns
        that come after them.
    n : int, optional
        Number of shards; by default by the size of the dataset.
    """
    import ray

    ray.data.DataContext.get_current().execution_options.preserve_order = True
    whole = dataset.materialize()
    if whole.count():
        _check_columns(whole.columns(), ("X", "y") if estimator else ("tokens",))
    blocks = whole.to_pandas_refs()
    n_rows = ray.remote(_n_rows)
    begins = [0, *accumulate(ray.get([n_rows.remote(ref) for ref in blocks]))]
    ends = list_ends(begins[-1], whole.size_bytes(), n)
    convert = _examples if estimator else _sentences
    shards = []
    for a, b in pairwise(ends):
        parts = tuple(
            (ref, max(a, low) - low, min(b, high) - low)
            for ref, (low, high) in zip(blocks, pairwise(begins), strict=True)
            if max(a, low) < min(b, high)
        )
        shards.append(BlockShard(f"rows {a} to {b - 1} of the dataset", parts, b - a, convert))
    return shards


def _n_rows(frame: Any) -> int:
    return len(frame)


def _plain(value: Any) -> Any:
    """Return lists in the place of arrays."""
    return value.tolist() if hasattr(value, "tolist") else value


def _check_columns(names: Any, needed: tuple[str, ...]) -> None:
    for name in needed:
        if name not in names:
            raise ValueError(
                f"the dataset has no column {name!r}, only {', '.join(map(repr, names))}: tasks "
                "need 'tokens', estimators 'X' and, to learn, 'y'"
            )


def _sentences(frame: Any, left_out: tuple[str, ...] = ()) -> list[Any]:
    """Return the cells of tokens, of all columns with lists: others say something of the row."""
    if not len(frame):
        return []
    columns = ["tokens"]
    for name in frame.columns:
        if name not in ("tokens", *left_out) and isinstance(_plain(frame[name].iloc[0]), list):
            columns.append(name)
    rows = zip(*(frame[name] for name in columns), strict=True)
    return [list(zip(*map(_plain, row), strict=True)) for row in rows]


def _examples(frame: Any) -> tuple[Any, Any, Any]:
    X = [_plain(x) for x in frame["X"]]
    y = [_plain(one) for one in frame["y"]]
    weight = frame["sample_weight"].to_numpy() if "sample_weight" in frame.columns else None
    return X, y, weight


class _LabelRows:
    """Labels batches of rows; the model is read once."""

    def __init__(self, content: Any, threads: int) -> None:
        import ray

        from .labelling import loaded

        self._model = loaded(ray.get(content), threads)

    def __call__(self, frame: Any) -> Any:
        if "X" in frame.columns:
            found = self._model.predict([_plain(x) for x in frame["X"]])
        else:
            _check_columns(frame.columns, ("tokens",))
            found = self._model.predict(_sentences(frame, ("tags", "labels")))
        frame = frame.copy()
        frame["labels"] = [_plain(labels) for labels in found]
        return frame


def label_dataset(content: bytes, dataset: Any, workers: int | None, threads: int) -> Any:
    """Return the dataset with one more column, ``labels``."""
    ray = import_ray()
    most = max(1, int(ray.cluster_resources()["CPU"]) // threads)
    return dataset.map_batches(
        _LabelRows,
        fn_constructor_args=(ray.put(content), threads),
        compute=ray.data.ActorPoolStrategy(min_size=workers or 1, max_size=workers or most),
        num_cpus=threads,
        batch_format="pandas",
    )
