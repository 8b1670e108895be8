"""Ray Datasets: as shards to learn from, and to be labelled."""

from __future__ import annotations

from typing import Any

from .shards import ListShard

__all__ = ["dataset_shards", "label_dataset"]


def dataset_shards(dataset: Any, estimator: bool) -> list[ListShard]:
    """Return a shard for each block of a dataset, in the order of its rows.

    Parameters
    ----------
    estimator : bool
        Rows have ``X``, ``y`` and perhaps ``sample_weight``; otherwise ``tokens``, and the columns
        that come after them.
    """
    import ray

    ray.data.DataContext.get_current().execution_options.preserve_order = True
    refs = dataset.materialize().to_pandas_refs()
    convert = _examples if estimator else _sentences
    n_rows = ray.remote(len)
    sizes = ray.get([n_rows.remote(ref) for ref in refs])
    return [
        ListShard(f"block {k} of the dataset", ref, n, convert)
        for k, (ref, n) in enumerate(zip(refs, sizes, strict=True))
        if n
    ]


def _plain(value: Any) -> Any:
    """Return lists in the place of arrays."""
    return value.tolist() if hasattr(value, "tolist") else value


def _sentences(frame: Any) -> list[Any]:
    columns = [name for name in frame.columns if name != "tokens"]
    rows = zip(*(frame[name] for name in ("tokens", *columns)), strict=True)
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
            others = [name for name in frame.columns if name not in ("tokens", "tags", "labels")]
            rows = zip(*(frame[name] for name in ("tokens", *others)), strict=True)
            found = self._model.predict([list(zip(*map(_plain, row), strict=True)) for row in rows])
        frame = frame.copy()
        frame["labels"] = [_plain(labels) for labels in found]
        return frame


def label_dataset(content: bytes, dataset: Any, workers: int, threads: int) -> Any:
    """Return the dataset with one more column, ``labels``."""
    import ray

    return dataset.map_batches(
        _LabelRows,
        fn_constructor_args=(ray.put(content), threads),
        concurrency=workers,
        num_cpus=threads,
        batch_format="pandas",
    )
