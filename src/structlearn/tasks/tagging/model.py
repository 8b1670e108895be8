"""A trained tagger as data: what it is made of, how it is stored, and how it is asked."""

from __future__ import annotations

import itertools
from array import array
from collections.abc import Sequence
from functools import cached_property

from ... import _core
from ...io.container import Tensor, checked_arrays
from ...io.packed_weights import check_precision
from ...io.stored_templates import read_templates, stored_templates
from ...models.inputs import NativeInputs
from ...models.label_constraints import ConstraintMemory, token_sequences
from ...models.storage import StoredModel, put_inside, taken_out
from ...models.temperature import Tempered, stored_calibration
from ...text.corpus import Corpus, column_names
from ...text.layouts import Layout
from ...text.tokenisers import keep, kept_words, tokeniser, words_of

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ...models.calibration import Calibration

_MOST_ORDER = 4
_MOST_COLUMNS = 1 << 15  # of a line as long as lines may be
#: Columns of a token in one call; with more it goes the general way.
_MOST_GIVEN = 64
#: Tensor of a model -> what its items are.
_DTYPES = {"slots": "U64", "weight": "F32", "outcome": "U32"}


class LabelModel(Tempered, StoredModel):
    """What models of tokens and of segments have in common: a text's labels and what scores them.

    Attributes
    ----------
    templates : FeatureTemplates
    format : {"columns", "conllu"}
        Of the files it was trained on.
    n_columns, target : int
        Columns of these files, and the number of the column with the labels, from 0.
    labels : list of str
        The model's labels.
    arrays : dict of str to buffer
        The weights.
    training : dict
        How it came about.
    constraints : list of str
        What every answer keeps to, as text.
    """

    takes = ("functions",)
    #: The array of the scores of label pairs.
    pair_table: str
    #: The model of the core, and how many columns its features reach.
    core: Any
    columns_needed: int
    #: Columns with further parts of the labels.
    further: Sequence[int] = ()

    def __init__(
        self,
        templates: Any,
        format: str,
        n_columns: int,
        target: int,
        labels: list[str],
        arrays: dict[str, Any],
        training: dict[str, Any] | None = None,
        constraints: Sequence[str] = (),
    ) -> None:
        self.templates = templates
        self.format = format
        self.n_columns = n_columns
        self.target = target
        self.labels = labels
        self.arrays = arrays
        self.training = training or {}
        self.constraints = list(constraints)
        self._memory: ConstraintMemory | None = None
        if format not in ("columns", "conllu") or not 0 <= target < n_columns <= _MOST_COLUMNS:
            raise ValueError(f"column {target + 1} of {n_columns} in the format {format!r}")
        if format == "conllu" and n_columns != len(column_names("conllu", n_columns)):
            raise ValueError(f"CoNLL-U of {n_columns} columns")
        _ = self.loss_temperature, self.calibration  # refuse a record that makes no sense
        if self.tokens is not None:
            tokeniser(self.tokens)
        _check_table(self.table_names, n_columns)

    @property
    def table_names(self) -> dict[str, Any]:
        """The names of the columns of the table that it was trained on; empty: of other files.

        Those of the cells ("names"), of the labels ("targets"), of the columns that tell sentences
        apart ("sentence") or have whole texts ("text"); and whether the labels are "numbers".
        """
        table: dict[str, Any] = self.training.get("table", {})
        return table

    @property
    def targets(self) -> list[int]:
        """The columns of the labels: mostly one, or one for each of their parts."""
        return [self.target, *self.further]

    @property
    def target_numbers(self) -> str:
        """The numbers of these columns, from 1."""
        return ", ".join(str(c + 1) for c in self.targets)

    @property
    def target_name(self) -> str:
        """The name of the column with the labels."""
        names = column_names(self.format, self.n_columns)
        return ",".join(names[c] for c in self.targets)

    @property
    def unknown(self) -> str:
        """The label of files that means unknown; "" if none does."""
        return str(self.training.get("unknown", ""))

    @property
    def span_calibration(self) -> Calibration | None:
        """What a dev set said of the probabilities of spans: here they are parts themselves."""
        return self.calibration

    @property
    def tokens(self) -> str | None:
        """The tokeniser of texts; None: they are cut at blanks, and texts with spans into words."""
        return self.training.get("tokeniser")

    def cut(self, source: Any) -> Any:
        """Return a list of sentences in which those that are strings are cut into tokens."""
        if not self.tokens or not isinstance(source, (list, tuple)):
            return source
        name = self.tokens
        return [words_of(one, name) if isinstance(one, str) else one for one in source]

    @property
    def written_as(self) -> list[str]:
        """How the labels of tokens are written, by number."""
        raise AssertionError

    @cached_property
    def calls(self) -> _core.SentenceCalls:
        """What labels one sentence of plain tokens in one call."""
        layouts = {}
        for n in range(1, min(self.n_columns, _MOST_GIVEN) + 1):
            try:
                sources = Layout(self, "columns", n).sources
            except ValueError:
                continue  # a column is missing: the general way says which
            layouts[n] = [-1 if c is None else c for c in sources]
        return _core.SentenceCalls(self.core, layouts, self.written_as)

    def gold(self, corpus: Corpus, *, some: bool = False) -> list[list[str | None]]:
        """Return the labels that sentences come with, as the model writes them; None: unknown.

        This is where every score learns what is known. With ``some`` at least one label must be.
        """
        if self.further:
            corpus = corpus.joined(self.targets, self.unknown)
        if mark := self.training.get("sets"):
            corpus = corpus.with_sets(self.target, mark, self.unknown)
        read = corpus.known_labels if some else corpus.labels
        return read(self.target, self.unknown)

    @property
    def sequences(self) -> Any:
        """The sequences of labels that constraints speak of, as :class:`Sequences`."""
        raise AssertionError

    def under(self, constraints: Any = None) -> Any:
        """Return the core's automata of the model's constraints and of more; None without any.

        Of constraints that were asked for before they are the same object, which keeps what was
        worked out.
        """
        if constraints is None and not self.constraints:
            return None
        if self._memory is None:
            self._memory = ConstraintMemory(len(self.labels), getattr(self, "max_length", 0))
        return self._memory.automata(self.constraints, constraints, self.sequences)

    def _asked(self, core: Any, corpus: Corpus, constraints: Any) -> NativeInputs:
        """Return inputs of the core under constraints, to be asked about."""
        under = self.under(constraints)
        if under is not None:
            core = under.inputs(core)
        return NativeInputs(core, corpus, str(corpus.path or ""), constraints)

    def pair_scores(self) -> Sequence[float]:
        """Return the scores of label pairs, by the label before, then by the one after."""
        return array("d", bytes(self.arrays[self.pair_table]))

    def _given(self) -> dict[str, Any]:
        return {"functions": self.templates.functions}

    def _common_content(self) -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what files of both kinds hold besides the weights."""
        resources, tensors = stored_templates(self.templates)
        names = ["task", "format", "n_columns", "target", "labels", "training"]
        names += ["constraints"] if self.constraints else []
        described = {**{name: getattr(self, name) for name in names}, **resources}
        if (words := kept_words(self.tokens)) is not None:
            described["words"] = put_inside(tensors, "words", words.model_._content())
        return described, tensors

    @classmethod
    def _common(
        cls, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> dict[str, Any]:
        """Return the arguments that a file of either kind has."""
        if "words" in d:
            _keep_words(d, tensors)
        return {
            "templates": read_templates(d, tensors, given.get("functions")),
            "format": str(d["format"]),
            "n_columns": int(d["n_columns"]),
            "target": int(d["target"]),
            "labels": list(map(str, d["labels"])),
            "training": dict(d["training"]),
            "constraints": list(map(str, d.get("constraints", ()))),
        }


def _keep_words(d: dict[str, Any], tensors: dict[str, Tensor]) -> None:
    """Keep the model of words that a file has: the tokeniser of its texts."""
    from ..words.lattice import LatticeSegmenter
    from ..words.segmenter import WordSegmenter

    described = d["words"]
    kind: type[Any] = (
        LatticeSegmenter if described["task"] == LatticeSegmenter.task else WordSegmenter
    )
    name = str(d["training"]["tokeniser"])
    words = taken_out(tensors, "words", name, described, kind._model_kind)
    if keep(name, kind.from_model(words)) != name:
        raise ValueError("its model of words is another one than its texts were cut by")


class TaggerModel(LabelModel):
    """All that labelling tokens needs.

    Attributes
    ----------
    shown : list of str
        How each label is written (labels of IOBES in the scheme of the training file).
    order : int
        Of the chain.
    hashed : bool
        Features are known by some bits of their keys only.
    names : (bytes, buffer) pairs by table
        Names of the features in the order of their keys, and where each ends; empty where they were
        left out.
    emissions : (options, tensors) or None
        Of a hidden Markov model: what scores its words.
    candidates : int
        How many labels are considered at each token, chosen by a first pass; 0: all.
    further : list of int
        Columns of the second, third, ... part of labels that are joined by "|"; mostly empty.
    """

    task = "tagger"
    called = "a tagger"
    precision = "float32"
    pair_table = "transition1"

    def __init__(
        self,
        *,
        shown: list[str],
        order: int,
        hashed: bool = False,
        names: dict[str, tuple[Any, Any]] | None = None,
        emissions: tuple[dict[str, Any], dict[str, Tensor]] | None = None,
        candidates: int = 0,
        further: Sequence[int] = (),
        **common: Any,
    ) -> None:
        super().__init__(**common)
        self.further = list(further)
        columns = set(self.targets)
        if len(columns) != len(self.targets) or not columns <= set(range(self.n_columns)):
            raise ValueError(f"labels in the columns {self.targets} of {self.n_columns}")
        if any(label.count("|") < len(self.further) for label in self.labels):
            raise ValueError(f"a label has fewer parts than the columns {self.targets}")
        self.candidates = candidates
        self.shown = shown
        self.order = order
        self.hashed = hashed
        self.names = names or {}
        self.emissions = emissions
        features = self.templates.compile(self.format, self.n_columns)
        self.columns_needed = int(features.columns_needed)
        self.core = _core.TaggerModel(
            features, self.labels, shown, order, hashed, self.arrays, candidates
        )
        self.under()  # refuse constraints that mean nothing
        _ = self.span_calibration  # refuse a record that makes no sense

    @property
    def span_calibration(self) -> Calibration | None:
        """What a dev set said of the probabilities of spans; if nothing, what it said of labels."""
        return stored_calibration(self.training, "span_calibration") or self.calibration

    @property
    def unknown(self) -> str:
        """The label of files that means unknown; "" if none does."""
        return str(self.training.get("unknown", "_"))

    @property
    def sequences(self) -> Any:
        """The labels as they are written, one for each token."""
        return token_sequences(self.shown)

    @property
    def written_as(self) -> list[str]:
        """How the labels of tokens are written, by number."""
        return self.shown

    @property
    def kind(self) -> str:
        """What it scores."""
        return f"chain of order {self.order}"

    @property
    def n_weights(self) -> int:
        """How many of its weights are not 0."""
        return len(self.unpacked()[3])

    # -- files ----------------------------------------------------------------------------------

    def _content(self, precision: str = "float32") -> tuple[dict[str, Any], dict[str, Tensor]]:
        """Return what a file holds: the description and the arrays."""
        check_precision(precision)
        tensors: dict[str, Tensor] = {}
        for name, data in self.arrays.items():
            table, _, part = name.partition(".")
            if not part:
                tensors[name] = Tensor("U8" if name == "forbidden" else "F64", data)
            elif precision == "float32":
                shape = (len(memoryview(data).cast("B")) // 16, 2) if part == "slots" else None
                tensors[name] = Tensor(_DTYPES[part], data, shape)
        names = self.names
        if precision != "float32":
            from ...io.weight_tables import compact_scores, compact_tensors

            rounded, kept = compact_tensors(self.core, precision, self._tables(), self.hashed)
            tensors.update(rounded)
            for name in [name for name in tensors if name in self._windows()]:
                tensors |= compact_scores(name, tensors.pop(name).data)
            names = {t: _some_names(*names[t], kept[t]) for t in names}
        for table, (text, end) in names.items():
            tensors[f"{table}.names"] = Tensor("U8", text)
            tensors[f"{table}.names_end"] = Tensor("U32", end)
        description, resources = self._common_content()
        tensors.update(resources)
        for name in ("shown", "order", "hashed"):
            description[name] = getattr(self, name)
        description["precision"] = precision
        if self.candidates:
            description["candidates"] = self.candidates
        if self.further:
            description["further"] = self.further
        if self.emissions is not None:
            description["emissions"] = self.emissions[0]
            tensors.update(self.emissions[1])
        return description, tensors

    @classmethod
    def _build(
        cls, name: str, d: dict[str, Any], tensors: dict[str, Tensor], given: dict[str, Any]
    ) -> TaggerModel:
        common, order = cls._common(d, tensors, given), int(d["order"])
        labels, templates = common["labels"], common["templates"]
        if not 0 <= order <= _MOST_ORDER:
            raise ValueError(f"an order of {order}")
        emissions = None
        if "emissions" in d:
            from ...estimators.stored.word_emissions import load_emissions

            n = len(labels)
            templates.emission = (load_emissions(d["emissions"], tensors, n), n)
            kept = {key: t for key, t in tensors.items() if key.startswith("emission.")}
            emissions = (dict(d["emissions"]), kept)
        candidates = int(d.get("candidates", 0))
        shape = (len(labels), order, candidates, bool(d["hashed"]))
        arrays, rounded = _core.tagger_arrays(tensors, *shape, d["precision"])
        # The features that have weights.
        weighted = {table: memoryview(numbers).cast("I") for table, numbers in rounded.items()}
        names = {}
        for table in ("state", "pair"):
            if f"{table}.names" not in tensors:
                continue
            parts = {f"{table}.names": "U8", f"{table}.names_end": "U32"}
            text, ends = checked_arrays(tensors, parts).values()
            end = memoryview(ends).cast("B")
            if int.from_bytes(end[-4:], "little") != len(text):
                raise ValueError(f"the names of {table!r} do not fit together")
            if table in weighted and len(memoryview(weighted[table]).cast("B")) != len(end):
                raise ValueError(f"the names of {table!r} do not fit its weights")
            names[table] = (text, end)
        model = cls(
            **common,
            arrays=arrays,
            shown=list(map(str, d["shown"])),
            order=order,
            hashed=bool(d["hashed"]),
            names=names,
            emissions=emissions,
            candidates=candidates,
            further=list(map(int, d.get("further", ()))),
        )
        model.precision = d["precision"]
        return model

    # -- labelling ------------------------------------------------------------------------------

    def inputs(
        self, corpus: Corpus, known: Any = b"", chooses: bool = True, constraints: Any = None
    ) -> NativeInputs:
        """Return the sentences of a corpus, to be asked about.

        Parameters
        ----------
        known : buffer of int32
            The name of the label of each token where it is known, −1 elsewhere; −2 for a label that
            the model does not have.
        chooses : bool
            Whether a known label is a candidate in any case, or only if the model has chosen it.
        constraints : list of Constraint, or str, optional
            Beside those of the model.
        """
        return self._asked(self.core.inputs(corpus.core, known, chooses), corpus, constraints)

    def label_corpus(self, corpus: Corpus, threads: int = 1) -> list[list[str]]:
        """Return the labels of the tokens of each sentence, as they are written."""
        outputs = self.inputs(corpus).solve(threads).outputs
        return [[self.shown[k] for k in row] for row in outputs]

    # -- looking at the weights -----------------------------------------------------------------

    def feature_names(self, table: str = "state") -> list[str]:
        """Return the names of the features, in the order of :meth:`unpacked`."""
        if table not in self.names:
            return []
        return [name.decode(errors="replace") for name in split_names(*self.names[table])]

    def _tables(self) -> tuple[str, ...]:
        """Return the names of the tables that features or histories of labels have."""
        tables = ("state", "pair") if self.arrays.get("pair.slots") else ("state",)
        if not self.candidates:
            return tables
        return (*tables, "first", *self._windows())

    def _windows(self) -> tuple[str, ...]:
        """Return the names of the scores of label windows."""
        return tuple(f"transition{m}" for m in range(1, self.order + 1))

    def pair_scores(self) -> Sequence[float]:
        """Return the scores of label pairs; none at order 0."""
        if not self.order:
            return ()
        scores = self.window_scores(1)
        if isinstance(scores, dict):
            return [scores.get(i, 0.0) for i in range(len(self.labels) ** 2)]
        return scores

    def window_scores(self, order: int) -> dict[int, float] | array[float]:
        """Return the scores of label windows by the number that their labels make in base K.

        As a dictionary where few have one; the others are 0.
        """
        if not self.candidates:
            return array("d", bytes(self.arrays[f"transition{order}"]))
        n = len(self.labels)
        keys, row_ptr, column, weights = self.unpacked(f"transition{order}")
        return {
            (keys[h] - 1) * n + column[q]: weights[q]
            for h in range(len(keys))
            for q in range(row_ptr[h], row_ptr[h + 1])
        }

    def unpacked(self, table: str = "state") -> tuple[Any, Any, Any, Any]:
        """Return keys, row pointers, columns and weights of the features that have weights."""
        keys, row_ptr, column, weights = self.core.unpack(table)
        return (
            memoryview(keys).cast("Q"),
            memoryview(row_ptr).cast("I"),
            memoryview(column).cast("I"),
            memoryview(weights).cast("d"),
        )


def _check_table(table: Any, n_columns: int) -> None:
    """Refuse names of a table's columns that make no sense."""
    if not table:
        return
    lists = [table.get("names"), table.get("targets")]
    strings = [table.get(name, "") for name in ("sentence", "text")]
    if not all(isinstance(one, list) and all(isinstance(n, str) for n in one) for one in lists):
        raise ValueError("the names of the table's columns are not strings")
    if len(lists[0]) != n_columns or not all(isinstance(one, str) for one in strings):
        raise ValueError(f"the table has {len(lists[0])} columns of {n_columns}")


def split_names(text: Any, ends: Any) -> list[bytes]:
    """Return the names of features that a model has as one text and where each ends."""
    whole, bounds = bytes(text), [0, *array("I", bytes(ends))]
    return [whole[a:b] for a, b in itertools.pairwise(bounds)]


def _some_names(text: Any, ends: Any, numbers: Any) -> tuple[Any, Any]:
    """Return the names of the features with these numbers, in the order of features."""
    if len(numbers) == len(memoryview(ends).cast("B")) // 4:
        return text, ends
    names = split_names(text, ends)
    return joined_names([names[i] for i in sorted(numbers)])


def joined_names(names: list[bytes]) -> tuple[bytes, array[int]]:
    """Return names as a model has them: the reverse of :func:`split_names`."""
    return b"".join(names), array("I", itertools.accumulate(map(len, names)))
