"""The features of taggers: counted in the parts of a corpus, added up, frozen, read by them."""

from __future__ import annotations

from array import array

from ... import _core
from ...exceptions import LineError
from ...text.templates import FeatureTemplates
from .model import joined_names, split_names

TYPE_CHECKING = False  # importing NumPy costs more than many a training
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from ...text.corpus import Corpus


class FeatureCounts:
    """How often features are there in a part of a corpus, and with which labels.

    Counts are added in the order of the parts: features have the numbers that one file with all
    sentences would have given them.

    Parameters
    ----------
    vocabulary : _core.Vocabulary
    width : int
        Of hashed features; 0: others.
    extractor : _core.Extractor, optional
        What has read the part: with it names can be found again.
    rows : _core.TokenRows, optional
        Its tokens, if it is the only part.
    """

    def __init__(
        self,
        vocabulary: _core.Vocabulary,
        width: int,
        extractor: _core.Extractor | None = None,
        rows: _core.TokenRows | None = None,
    ) -> None:
        self.vocabulary, self.width = vocabulary, width
        self.extractor, self.rows = extractor, rows

    def __add__(self, other: FeatureCounts) -> FeatureCounts:
        self.vocabulary.add_counts(*other.vocabulary.counts())
        self.extractor = self.rows = None
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"counts": self.vocabulary.counts(), "width": self.width}

    def __setstate__(self, state: dict[str, Any]) -> None:
        empty = _core.Vocabulary(FeatureTemplates([]).compile("columns", 1), 0, state["width"], "")
        self.__init__(empty, state["width"])  # type: ignore[misc]
        empty.add_counts(*state["counts"])


class Names:
    """Names of features by their keys; where parts know several of one, the first counts.

    Parameters
    ----------
    keys : buffer of uint64
        Ascending.
    text : bytes
    ends : buffer of uint32
        Where each name ends in the text.
    """

    def __init__(self, keys: Any, text: Any, ends: Any) -> None:
        self.keys, self.text, self.ends = keys, text, ends

    def __getstate__(self) -> dict[str, bytes]:
        return {name: bytes(value) for name, value in vars(self).items()}

    def by_key(self) -> dict[int, bytes]:
        """Return the names by key."""
        return dict(zip(_numbers(self.keys), split_names(self.text, self.ends), strict=True))

    def __add__(self, other: Names) -> Names:
        return Names.of({**other.by_key(), **self.by_key()})

    @staticmethod
    def of(names: Mapping[int, bytes]) -> Names:
        """Return names given by key."""
        keys = sorted(names)
        return Names(array("Q", keys), *joined_names([names[key] for key in keys]))


class Inventory:
    """Features with their numbers, and labels: what parts of a corpus are read by. Can be sent.

    Parameters
    ----------
    templates : FeatureTemplates
    corpus : Corpus or SplitCorpus
        Its format and number of columns.
    target : int
        The column of the labels.
    unknown : str
        A label that is not known.
    width : int
        Of hashed features; 0: features have names.
    trains : bool
        Lexica are those of these sentences: what they say of a sentence leaves out its fold.
    """

    _features: _core.FeatureSet | None = None
    _vocabulary: _core.Vocabulary | None = None
    _counts: FeatureCounts | None = None
    _rows: _core.TokenRows | None = None
    #: Keys, row pointers, columns, labels and keys of pairs, as they are sent.
    _frozen: tuple[Any, ...] | None = None

    def __init__(
        self,
        templates: FeatureTemplates,
        corpus: Any,
        target: int,
        *,
        unknown: str = "",
        width: int = 0,
        trains: bool = True,
    ) -> None:
        self.templates, self.target, self.unknown = templates, target, unknown
        self.format, self.n_columns = corpus.format, corpus.n_columns
        self.width, self.trains = width, trains

    def __getstate__(self) -> dict[str, Any]:
        state = {name: value for name, value in vars(self).items() if name[0] != "_"}
        state["_frozen"] = self._frozen
        if (vocabulary := self._vocabulary) is not None:
            state["_frozen"] = (
                vocabulary.keys() if not self.width else array("Q", range(self.width)),
                vocabulary.row_ptr(),
                vocabulary.column(),
                list(vocabulary.labels),
                vocabulary.pair_keys(),
            )
        return state

    @property
    def features(self) -> _core.FeatureSet:
        """The templates, compiled."""
        if self._features is None:
            self._features = self.templates.compile(self.format, self.n_columns)
        return self._features

    @property
    def vocabulary(self) -> _core.Vocabulary:
        """The features and the labels of all parts."""
        if self._vocabulary is None:
            assert self._frozen is not None
            keys, row_ptr, column, labels, pairs = self._frozen
            vocabulary = self.new_vocabulary()
            once = [array("I", [1]) * n for n in (len(row_ptr) // 4 - 1, len(pairs) // 8)]
            vocabulary.add_counts(keys, once[0], row_ptr, column, labels, pairs, once[1])
            vocabulary.freeze(0, 0, None)
            self._vocabulary = vocabulary
        return self._vocabulary

    @property
    def keys(self) -> bytes:
        """The keys of the features; empty of hashed ones."""
        return b"" if self.width else self.vocabulary.keys()

    def new_vocabulary(self) -> _core.Vocabulary:
        """Return a vocabulary with nothing in it."""
        return _core.Vocabulary(self.features, self.target, self.width, self.unknown)

    def extractor(self, corpus: Corpus) -> _core.Extractor:
        """Return what finds the features of a corpus."""
        if self._counts is not None and self._counts.extractor is not None:
            return self._counts.extractor
        return _core.Extractor(self.features, corpus.core, self.trains)

    # -- counting -------------------------------------------------------------------------------

    def take_in(
        self, vocabulary: _core.Vocabulary, extractor: _core.Extractor, corpus: Corpus, rows: Any
    ) -> None:
        """Count the features of a corpus, and the labels that they go with."""
        vocabulary.add(extractor, corpus.core, rows)

    def count(self, corpus: Corpus, rows: _core.TokenRows | None = None) -> FeatureCounts:
        """Return the counts of a part; its tokens go to ``rows``, if it is the only one."""
        vocabulary = self.new_vocabulary()
        try:
            extractor = self.extractor(corpus)
            self.take_in(vocabulary, extractor, corpus, rows)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None
        return FeatureCounts(vocabulary, self.width, extractor, rows)

    def freeze(self, counts: FeatureCounts, min_count: int, fill: int) -> None:
        """End the counting: features seen less often go, labels are sorted.

        A feature seen with at least ``fill`` labels gets weights for all of them; 0: never.
        """
        counts.vocabulary.freeze(min_count, fill, counts.rows)
        self._vocabulary = counts.vocabulary
        if counts.rows is not None:
            self._counts, self._rows = counts, counts.rows

    # -- reading --------------------------------------------------------------------------------

    def rows(self, corpus: Corpus, *, last: bool = False) -> _core.TokenRows:
        """Return the tokens of a part in terms of the features.

        ``last``: nobody is expected to ask once more, and they need not be kept.
        """
        if (rows := self._rows) is not None:
            if last and self._counts is not None:
                self._rows = self._counts.rows = None
            return rows
        try:
            return self.vocabulary.rows(self.extractor(corpus), corpus.core)
        except LineError as error:
            raise error.in_file(corpus.path or "the corpus") from None

    def names(self, corpus: Corpus, kept: Mapping[str, Any]) -> dict[str, Names]:
        """Return the names of some features, those that a part has, by table.

        Parameters
        ----------
        kept : dict of str to buffer of uint32
            The numbers of features, and of those of label pairs ("pair").
        """
        counts = self._counts or self.count(corpus)
        found = {}
        for table, numbers in kept.items():
            pairs = table == "pair"
            if counts is not self._counts:
                numbers = _numbers_of(_keys(self.vocabulary, pairs), numbers, counts, pairs)
            extractor = counts.extractor or self.extractor(corpus)
            told = counts.vocabulary.names(extractor, pairs, numbers, 0, len(corpus))
            found[table] = Names(*told)
        return found


def _keys(vocabulary: _core.Vocabulary, pairs: bool) -> bytes:
    return vocabulary.pair_keys() if pairs else vocabulary.keys()


def _numbers(keys: Any) -> list[int]:
    return memoryview(keys).cast("B").cast("Q").tolist()


def _numbers_of(keys: bytes, wanted: Any, counts: FeatureCounts, pairs: bool) -> Any:
    """Return the numbers that a part's own counts have for some features of all parts."""
    import numpy as np

    own = np.frombuffer(_keys(counts.vocabulary, pairs), np.uint64)
    of_these = np.frombuffer(keys, np.uint64)[np.frombuffer(wanted, np.uint32)]
    return np.flatnonzero(np.isin(own, of_these)).astype(np.uint32)


def count_features(corpus: Corpus, inventory: Inventory, whole: bool) -> FeatureCounts:
    """Return the counts of a part; ``whole``: there is no other."""
    return inventory.count(corpus, _core.TokenRows() if whole else None)


def name_features(
    corpus: Corpus, inventory: Inventory, kept: Mapping[str, Any]
) -> dict[str, Names]:
    """Return the names of features that a part has."""
    return inventory.names(corpus, kept)
