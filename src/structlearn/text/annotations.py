"""Files with the answers of several annotators to the same texts."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence

from ..exceptions import FileError
from .corpus import corpus_of
from .files import parsed_json, read_bytes
from .formats import guess_format
from .tables import LABEL_NAMES, WORD_NAMES, Naming, plain_name

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Cells that are no answer, and what separates the labels of a set.
UNKNOWN = frozenset({"?", "_", ""})
_OR = "|"


class Annotations:
    """The texts of a file, and what each annotator says of them.

    Attributes
    ----------
    words : list of lists of str
    answers : list of dict
        For each text the labels of each annotator who has seen it: a label, a frozenset of those
        that are possible, or None.
    target : str
        What the file calls the labels.
    """

    def __init__(self, target: str) -> None:
        self.target = target
        self.words: list[list[str]] = []
        self.answers: list[dict[str, list[Any]]] = []
        self._place: dict[tuple[tuple[str, ...], int], int] = {}
        self._seen: Counter[tuple[tuple[str, ...], str]] = Counter()

    def add(self, words: Sequence[str], annotator: str, labels: Sequence[str]) -> None:
        """Add an answer; a text that an annotator gets twice is two texts."""
        key = tuple(words), annotator
        place = tuple(words), self._seen[key]
        self._seen[key] += 1
        number = self._place.setdefault(place, len(self.words))
        if number == len(self.words):
            self.words.append(list(words))
            self.answers.append({})
        self.answers[number][annotator] = list(map(_answer, labels))

    @property
    def annotators(self) -> list[str]:
        """Their names."""
        return sorted({name for one in self.answers for name in one})


def _answer(cell: str) -> Any:
    """Return the label of a cell: ``PER``, the set of ``PER|ORG``, or None for ``?``."""
    if cell in UNKNOWN:
        return None
    members = frozenset(cell.split(_OR)) - UNKNOWN
    if not members:
        return None
    return cell if len(members) == 1 and _OR not in cell else members


def read_annotations(
    path: str | os.PathLike[str],
    annotator: str = "annotator",
    *,
    target: str | None = None,
    sentence: str | None = None,
    word: str | None = None,
    format: str | None = None,
) -> Annotations:
    """Read a file in which several annotators have labelled the same texts.

    Texts with the same words are one text.

    Parameters
    ----------
    path : path
        A table with a row for each token, or JSON lines with an object for each text.
    annotator : str
        The column, or the key, with the name of the annotator. Several, separated by commas: each
        of these columns, or lists, has the labels of one annotator. In JSON the value may also be
        an object with the labels of each annotator, ``{"ann": [...], "bob": [...]}``.
    target, sentence, word, format
        As for :func:`read_corpus`. A cell such as ``PER|ORG`` is a set of possible labels; ``?``
        and ``_`` are no answer.
    """
    text = read_bytes(path)
    names = [name.strip() for name in annotator.split(",")]
    if (format or guess_format(path, text)) == "jsonl" and len(names) == 1:
        return _from_objects(os.fspath(path), text, annotator, target, word)
    wide = len(names) > 1
    naming = Naming(sentence, word, target=",".join(names) if wide else target)
    corpus = corpus_of(path, text, format, header=True, naming=naming)
    missing = [name for name in names if name not in corpus.names]
    if missing:
        told = f"the columns are {', '.join(corpus.names)}"
        if not corpus.names:
            told = (
                "its columns have no names. Answers are read from a table with a row for each "
                'word, or from JSON lines with words, {"tokens": [...], "tags": [...], '
                '"annotator": "ann"}, not from texts with spans'
            )
        raise FileError(os.fspath(path), f"there is no column {missing[0]!r}: {told}")
    columns = [corpus.find_column(name) for name in names]
    found = Annotations(target or (corpus.names[-1] if not wide else "tags"))
    place = corpus.n_columns - 1 if wide or target is None else corpus.find_column(target)
    for one in corpus:
        rows = list(one)
        words = [row[0] for row in rows]
        if wide:
            for name, column in zip(names, columns, strict=True):
                found.add(words, name, [row[column] for row in rows])
            continue
        begin = 0
        for end in range(1, len(rows) + 1):
            if end == len(rows) or rows[end][columns[0]] != rows[begin][columns[0]]:
                labels = [row[place] for row in rows[begin:end]]
                found.add(words[begin:end], rows[begin][columns[0]], labels)
                begin = end
    return found


def _from_objects(
    path: str, text: bytes, annotator: str, target: str | None, word: str | None
) -> Annotations:
    found: Annotations | None = None
    for line, row in enumerate(text.decode(errors="replace").split("\n"), 1):
        if not row.strip():
            continue
        item = parsed_json(row)
        lists = [k for k, v in item.items() if isinstance(v, list)] if type(item) is dict else []
        key = word or next((k for k in lists if plain_name(k) in WORD_NAMES), None)
        if key not in lists or annotator not in item:
            raise FileError(
                path,
                f"an object has a list of words and the key {annotator!r}: "
                '{"tokens": [...], "tags": [...], "annotator": "ann"}',
                line,
            )
        words, told = list(map(str, item[key])), item[annotator]
        name = target or next((k for k in lists if plain_name(k) in LABEL_NAMES), "tags")
        found = found or Annotations(name)
        answers = told if isinstance(told, dict) else {str(told): item.get(name)}
        for who, labels in answers.items():
            if not isinstance(labels, list) or len(labels) != len(words):
                raise FileError(path, f"{who!r} has no label for each of {len(words)} words", line)
            cells = [_OR.join(map(str, k)) if isinstance(k, list) else _text(k) for k in labels]
            found.add(words, who, cells)
    if found is None:
        raise FileError(path, "there are no texts in it")
    return found


def _text(label: Any) -> str:
    return "?" if label is None else str(label)
