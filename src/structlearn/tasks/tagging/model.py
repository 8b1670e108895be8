"""A trained tagger as data: what it is made of, how it is stored, and how it is asked."""

from __future__ import annotations

import itertools
import os
from array import array
from collections.abc import Callable, Mapping

from ... import _core
from ...exceptions import LineError
from ...io.container import Tensor, check_dtype, write_container
from ...text.corpus import Corpus, column_names
from ...text.templates import FeatureTemplates
from ..stored_model import StoredModel
from ..stored_templates import read_templates, stored_templates

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .learned import LearnedWeights

__all__ = ["TaggerModel"]

_MOST_ORDER = 4
_MOST_COLUMNS = 1 << 15  # of a line as long as lines may be
#: Tensor of a model -> what its items are.
_DTYPES = {"slots": "U64", "weight": "F32", "outcome": "U32"}


class TaggerModel(StoredModel):
    """All that labelling needs.

    Attributes
    ----------
    templates : FeatureTemplates
    format : {"columns", "conllu"}
        Of the files it was trained on.
    n_columns, target : int
        Columns of these files, and the number of the column with the labels, from 0.
    labels : list of str
        The model's labels, sorted.
    shown : list of str
        How each label is written (labels of IOBES in the scheme of the training file).
    order : int
        Of the chain.
    hashed : bool
        Features are known by some bits of their keys only.
    temperature : float or None
        Of calibrated probabilities; None: not calibrated.
    training : dict
        How it came about.
    arrays : dict of str to buffer
        The weights.
    names : (bytes, buffer) pairs by table
        Names of the features in the order of their keys, and where each ends; empty where they were
        left out.
    emissions : (options, tensors) or None
        Of a hidden Markov model: what scores its words.
    """

    task = "tagger"
    called = "a tagger"
    calls_functions = True

    def __init__(
        self,
        templates: FeatureTemplates,
        format: str,
        n_columns: int,
        target: int,
        labels: list[str],
        shown: list[str],
        order: int,
        hashed: bool,
        arrays: dict[str, Any],
        temperature: float | None = None,
        training: dict[str, Any] | None = None,
        names: dict[str, tuple[Any, Any]] | None = None,
        emissions: tuple[dict[str, Any], dict[str, Tensor]] | None = None,
    ) -> None:
        self.templates = templates
        self.format = format
        self.n_columns = n_columns
        self.target = target
        self.labels = labels
        self.shown = shown
        self.order = order
        self.hashed = hashed
        self.arrays = arrays
        self.temperature = temperature
        self.training = training or {}
        self.names = names or {}
        self.emissions = emissions
        self.core = _core.TaggerModel(
            templates.compile(format, n_columns), labels, shown, order, hashed, arrays
        )

    @property
    def target_name(self) -> str:
        """The name of the column with the labels."""
        return column_names(self.format, self.n_columns)[self.target]

    @staticmethod
    def pack(
        keys: Any, pair_keys: Any, learned: LearnedWeights, n_labels: int, prune: float = 0.0
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the arrays of a model, and which features they kept, by table."""
        arrays: dict[str, Any] = {}
        kept: dict[str, Any] = {}
        tables = [("state", keys, learned.row_ptr, learned.column, learned.state, n_labels)]
        if len(learned.pair_row_ptr):
            tables.append(
                (
                    "pair",
                    pair_keys,
                    learned.pair_row_ptr,
                    learned.pair_column,
                    learned.pair,
                    n_labels**2,
                )
            )
        for name, key, row_ptr, column, weights, outcomes in tables:
            packed = _core.pack_weights(key, row_ptr, column, weights, outcomes, prune)
            for part, data in zip(_DTYPES, packed[:3], strict=True):
                arrays[f"{name}.{part}"] = data
            kept[name] = packed[3]
        arrays["start"] = learned.start
        arrays["end"] = learned.end
        for order, table in enumerate(learned.transitions, 1):
            arrays[f"transition{order}"] = table
        return arrays, kept

    # -- files ----------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str], precision: str = "float32") -> None:
        """Write the model file.

        Parameters
        ----------
        precision : {"float32", "float16", "int8"}
            Of the weights of features. The smaller ones make smaller files that take a little
            longer to load.
        """
        write_container(path, *self._content(precision))

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a file holds: the description and the arrays."""
        if precision not in ("float32", "float16", "int8"):
            raise ValueError(f"precision must be float32, float16 or int8, got {precision!r}")
        tensors: dict[str, Tensor] = {}
        for name, data in self.arrays.items():
            table, _, part = name.partition(".")
            if not part:
                tensors[name] = Tensor("F64", data)
            elif precision == "float32":
                shape = (len(memoryview(data).cast("B")) // 16, 2) if part == "slots" else None
                tensors[name] = Tensor(_DTYPES[part], data, shape)
        if precision != "float32":
            from .compact import compact_tensors

            tensors.update(
                compact_tensors(self.core, precision, bool(self.arrays.get("pair.slots")))
            )
        for table, (text, end) in self.names.items():
            tensors[f"{table}.names"] = Tensor("U8", text)
            tensors[f"{table}.names_end"] = Tensor("U32", end)
        resources, resource_tensors = stored_templates(self.templates)
        tensors.update(resource_tensors)
        description = {
            "task": self.task,
            "format": self.format,
            "n_columns": self.n_columns,
            "target": self.target,
            "labels": self.labels,
            "shown": self.shown,
            "order": self.order,
            "hashed": self.hashed,
            "precision": precision,
            "temperature": self.temperature,
            "training": self.training,
            **resources,
        }
        if self.emissions is not None:
            description["emissions"] = self.emissions[0]
            tensors.update(self.emissions[1])
        return description, tensors

    def _functions(self) -> Mapping[str, Callable[[str], Any]]:
        return self.templates.functions

    @classmethod
    def _build(
        cls,
        name: str,
        d: dict[str, Any],
        tensors: dict[str, Tensor],
        functions: Mapping[str, Callable[[str], Any]] | None,
    ) -> TaggerModel:
        templates = read_templates(FeatureTemplates, d, tensors, functions)
        labels, order = list(map(str, d["labels"])), int(d["order"])
        if not 0 <= order <= _MOST_ORDER:
            raise ValueError(f"an order of {order}")
        emissions = None
        if "emissions" in d:
            from .hidden_markov import load_emissions

            templates.emission = (load_emissions(d["emissions"], tensors), len(labels))
            kept = {key: t for key, t in tensors.items() if key.startswith("emission.")}
            emissions = (dict(d["emissions"]), kept)
        arrays: dict[str, Any] = {}
        for key in ("start", "end", *(f"transition{m}" for m in range(1, order + 1))):
            check_dtype(key, tensors[key], "F64")
            arrays[key] = tensors[key].data
        has_pairs = any(key.startswith("pair.") for key in tensors)
        tables = ("state", "pair") if has_pairs else ("state",)
        if d["precision"] not in ("float32", "float16", "int8"):
            raise ValueError(f"the precision {d['precision']!r}")
        if d["precision"] == "float32":
            for key, dtype in ((f"{t}.{part}", k) for t in tables for part, k in _DTYPES.items()):
                check_dtype(key, tensors[key], dtype)
                arrays[key] = tensors[key].data
        else:
            from .compact import expand_tensors

            rounded = "F16" if d["precision"] == "float16" else "I8"
            arrays.update(expand_tensors(tensors, tables, rounded, len(labels), bool(d["hashed"])))
        names = {
            table: (tensors[f"{table}.names"].data, tensors[f"{table}.names_end"].data)
            for table in ("state", "pair")
            if f"{table}.names" in tensors
        }
        for table, (text, end) in names.items():
            check_dtype(f"{table}.names", tensors[f"{table}.names"], "U8")
            check_dtype(f"{table}.names_end", tensors[f"{table}.names_end"], "U32")
            if int.from_bytes(end[-4:], "little") != len(text):
                raise ValueError(f"the names of {table!r} do not fit together")
        temperature = None if d["temperature"] is None else float(d["temperature"])
        if temperature is not None and not 0 < temperature < float("inf"):
            raise ValueError(f"a temperature of {temperature}")
        n_columns, target = int(d["n_columns"]), int(d["target"])
        if d["format"] not in ("columns", "conllu") or not 0 <= target < n_columns <= _MOST_COLUMNS:
            raise ValueError(f"column {target + 1} of {n_columns} in the format {d['format']!r}")
        if d["format"] == "conllu" and n_columns != len(column_names("conllu", n_columns)):
            raise ValueError(f"CoNLL-U of {n_columns} columns")
        return cls(
            templates=templates,
            format=str(d["format"]),
            n_columns=n_columns,
            target=target,
            labels=labels,
            shown=list(map(str, d["shown"])),
            order=order,
            hashed=bool(d["hashed"]),
            arrays=arrays,
            temperature=temperature,
            training=dict(d["training"]),
            names=names,
            emissions=emissions,
        )

    # -- labelling ------------------------------------------------------------------------------

    def label_corpus(self, corpus: Corpus, threads: int = 1, known: Any = b"") -> list[str]:
        """Return the labels of all tokens, one after another, as they are written."""
        try:
            numbers = self.core.predict(corpus._core, known, threads)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        shown = self.shown
        return [shown[k] for k in array("i", numbers)]

    def reader(self, corpus: Corpus) -> _core.TaggerReader:
        """Return what answers questions about the sentences of a corpus, one by one."""
        return _core.TaggerReader(self.core, corpus._core)

    # -- looking at the weights -----------------------------------------------------------------

    def feature_names(self, table: str = "state") -> list[str]:
        """Return the names of the features, in the order of :meth:`unpacked`."""
        if table not in self.names:
            return []
        text, end = self.names[table]
        whole = bytes(text)
        bounds = [0, *array("I", bytes(end))]
        return [whole[a:b].decode(errors="replace") for a, b in itertools.pairwise(bounds)]

    def unpacked(self, table: str = "state") -> tuple[Any, Any, Any, Any]:
        """Return keys, row pointers, columns and weights of the features that have weights."""
        keys, row_ptr, column, weights = self.core.unpack(table == "pair")
        return (
            memoryview(keys).cast("Q"),
            memoryview(row_ptr).cast("I"),
            memoryview(column).cast("I"),
            memoryview(weights).cast("d"),
        )
