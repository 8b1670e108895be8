"""Tables with names for their columns: headings, and what the columns hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

#: Names of columns, in lower case and without what is neither letter nor digit.
SENTENCE_NAMES = frozenset({"sentence", "sentences", "sentenceid", "sentid", "sent", "sid"})
WORD_NAMES = frozenset({"word", "words", "token", "tokens", "form", "forms", "text"})
LABEL_NAMES = frozenset(
    {
        "label",
        "labels",
        "tag",
        "tags",
        "ner",
        "nertag",
        "nertags",
        "entity",
        "entities",
        "iob",
        "bio",
    }
)
POS_NAMES = frozenset({"pos", "postag", "postags", "upos", "xpos"})
CHUNK_NAMES = frozenset({"chunk", "chunks", "chunktag", "chunktags"})
_OTHER_NAMES = frozenset({"lemma", "id", "index", "feats", "head", "deprel", "misc", "shape"})
_NAMES = SENTENCE_NAMES | WORD_NAMES | LABEL_NAMES | POS_NAMES | CHUNK_NAMES | _OTHER_NAMES
#: Columns that labelling adds beside the label.
_FURTHER = re.compile(r"label\d+|score\d*|confidence|marginals|predicted")
#: How names of columns end that number something: address_id, "doc no", tweet_key.
_NUMBERS = re.compile(r"(id|no|nr|num|number|index|key)$")
#: A longer sentence of a table is probably a whole file of sentences.
LONGEST_SENTENCE = 1000
#: An id column has at least this many rows a sentence on average, and this many sentences if its
#: name does not tell what it is.
_ROWS, _SENTENCES = 1.5, 5


class Naming:
    """Which columns of a table hold what, by the table's own names.

    Parameters
    ----------
    sentence : str, optional
        Rows with equal values in this column, one after another, are a sentence.
    word : str, optional
        The words: a row for each token.
    text : str, optional
        Whole texts: a row for each sentence, its words separated by blanks.
    target : str, optional
        The labels; names of several columns are separated by commas.
    trained : mapping, optional
        The same as a model was trained with: heeded where the table has such columns.
    """

    def __init__(
        self,
        sentence: str | None = None,
        word: str | None = None,
        text: str | None = None,
        target: Any = None,
        trained: Mapping[str, Any] | None = None,
    ) -> None:
        if word is not None and text is not None:
            raise ValueError(
                "a table has a row for each word (word) or for each sentence (text), not both"
            )
        self.sentence, self.word, self.text = sentence, word, text
        self.targets = [] if target is None else [n.strip() for n in str(target).split(",")]
        self.trained = dict(trained or {})
        if self.trained and not self.trained.get("text"):
            self.trained["word"] = self.trained["names"][0]

    @property
    def given(self) -> list[str]:
        """The names of columns that somebody gave, but for targets, which may be numbers."""
        return [n for n in (self.sentence, self.word, self.text) if n is not None]

    def meets(self, names: Sequence[str]) -> bool:
        """Tell whether names of columns have those that were given, or that a model knows."""
        targets = [n for n in self.targets if not n.removeprefix("-").isdecimal()]
        known = [self.trained[k] for k in ("word", "text") if self.trained.get(k)]
        asked = [*self.given, *targets]
        return bool(asked and set(asked) <= set(names)) or not set(known).isdisjoint(names)

    def heads(self, text: bytes) -> bool:
        """Tell whether a file begins with the names that a model knows from its training."""
        line = text[:65536].removeprefix(b"\xef\xbb\xbf").lstrip().split(b"\n", 1)[0]
        heading = line.decode(errors="replace").strip()
        cells = heading.split(table_separator(heading)) if heading else []
        known, sentence = self.trained.get("names", ()), self.trained.get("sentence")
        own = self.trained.get("text") or self.trained.get("word")
        whole = sentence in cells if sentence else set(cells) <= set(known)
        return own in cells and len(cells) > 1 and whole


def plain_name(name: object) -> str:
    """Return a name in lower case, letters and digits only: "Sentence #" is "sentence"."""
    return "".join(c for c in str(name).lower() if c.isalnum())


def is_heading(cells: Sequence[object]) -> bool:
    """Tell names of columns, such as (word, pos, label), from a token and its labels."""
    names = [plain_name(cell) for cell in cells]
    known = len(names) > 1 and all(name in _NAMES or _FURTHER.fullmatch(name) for name in names)
    if known and not WORD_NAMES.isdisjoint(names):
        return True
    # Names of one's own beside those of a sentence and of its words.
    distinct = len(set(names)) == len(names) and all(names)
    both = not SENTENCE_NAMES.isdisjoint(names) and not WORD_NAMES.isdisjoint(names)
    return len(names) > 2 and distinct and both


def looks_like_heading(cells: Sequence[str]) -> bool:
    """Tell names of one's own, such as (address_id, token, part), from cells of a CSV file.

    One of them is a usual name for words, and all are different words of letters and digits.
    """
    names = [plain_name(cell) for cell in cells]
    words = all(re.fullmatch(r"[^\W\d][\w #.()/-]*", cell.strip()) for cell in cells)
    some = any(name in WORD_NAMES for name in names)
    return len(names) > 1 and len(set(names)) == len(names) and words and some


def table_separator(heading: str) -> str:
    """Return what separates the columns of a CSV file, given its first line."""
    import csv

    try:
        cells = {s: next(csv.reader([heading], delimiter=s), []) for s in _SEPARATORS}
    except csv.Error:
        return _SEPARATORS[0]  # reading it will say why
    known = [s for s in _SEPARATORS if is_heading(cells[s])]
    return known[0] if known else max(_SEPARATORS, key=lambda s: len(cells[s]))


#: In European spreadsheets the comma is in numbers, and a semicolon separates the cells.
_SEPARATORS = (",", ";", "\t")


class TableColumns:
    """The columns of a table by their names: which one tells sentences apart, which are cells.

    The words come first, then tags, chunks and the others in their own order, and the labels last.

    Parameters
    ----------
    names : sequence of str
    naming : Naming, optional
        The names of some columns; for the others the first column counts whose name is a usual
        one. Without a usual name the words are the first column, the labels the last.

    Attributes
    ----------
    sentence, text : int or None
        The number of the column that tells sentences apart, and of that with whole texts.
    cells : list of int
        The numbers of the columns that are cells of tokens, in the order of the cells.
    labels : int
        How many of them are labels, at least: the last ones.
    """

    def __init__(self, names: Sequence[str], naming: Naming | None = None) -> None:
        self.names = list(names)
        self._naming = naming = naming or Naming()
        trained = naming.trained
        self.sentence = self._find(naming.sentence, trained.get("sentence"), SENTENCE_NAMES)
        self.text = self._find(naming.text, None if naming.word else trained.get("text"), ())
        self._arrange()

    def _find(self, name: str | None, known: str | None, usual: Iterable[str]) -> int | None:
        if name is not None:
            if name not in self.names:
                raise ValueError(
                    f"there is no column {name!r}: the columns are {', '.join(self.names)}"
                )
            return self.names.index(name)
        if known is not None and known in self.names:
            return self.names.index(known)
        return next((i for i, n in enumerate(self.names) if plain_name(n) in usual), None)

    def _arrange(self) -> None:
        naming, plain = self._naming, [plain_name(name) for name in self.names]
        rest = [i for i in range(len(self.names)) if i != self.sentence]
        first = self.text
        if first is None:
            usual = WORD_NAMES - ({"text"} if len(rest) > 2 else set())
            first = self._find(naming.word, naming.trained.get("word"), usual)
        if first is None or (first == self.sentence and naming.word is None):
            first = next((i for i in rest if plain[i] in WORD_NAMES), rest[0] if rest else 0)
        rest = [i for i in rest if i != first]
        named = [n for n in naming.targets if n in self.names]
        if not named:
            named = [n for n in naming.trained.get("targets", ()) if n in self.names]
        labels = [self.names.index(n) for n in named if self.names.index(n) in rest]
        labels = labels or [i for i in rest if plain[i] in LABEL_NAMES]
        rest = [i for i in rest if i not in labels]
        if not labels and rest and not naming.trained:
            labels, rest = [rest[-1]], rest[:-1]
        order = [i for i in rest if plain[i] in POS_NAMES]
        order += [i for i in rest if plain[i] in CHUNK_NAMES]
        order += [i for i in rest if i not in order]
        self.cells = [first, *(() if self.text is not None else order), *labels]
        self.labels = len(labels)

    @property
    def cell_names(self) -> tuple[str, ...]:
        """The names of the cells."""
        return tuple(self.names[i] for i in self.cells)

    def find_sentences(self, columns: Sequence[Sequence[Any]]) -> str:
        """Look for an id column where none is known; return what to say of it, or nothing.

        Parameters
        ----------
        columns : sequence of sequences
            The rows of each column.
        """
        if self.sentence is not None or self.text is not None:
            return ""
        naming, plain = self._naming, [plain_name(name) for name in self.names]
        known = _NAMES - {"id", "index"}
        named = {naming.word, *naming.targets}
        free = [
            i
            for i, n in enumerate(plain)
            if n not in known and self.names[i] not in named and not _FURTHER.fullmatch(n)
        ]
        found = find_id_column(self.names, columns, free)
        if found is None:
            return ""
        self.sentence = found
        self._arrange()
        name = self.names[found]
        return f"a sentence ends where the column {name!r} changes (--sentence names another)"


def find_id_column(
    names: Sequence[str], columns: Sequence[Sequence[Any]], among: Iterable[int]
) -> int | None:
    """Return the column that changes with the sentence; None: no column does.

    Each of its values stands in rows one after another and nowhere else, in several rows on
    average. Of several such columns it is one that is called an id, then the one with most values.
    """
    found = []
    for i in among:
        runs = [value for value, _ in groupby(columns[i])]
        called = _NUMBERS.search(plain_name(names[i])) is not None
        if len(runs) < (2 if called else _SENTENCES) or len(set(runs)) < len(runs):
            continue
        if len(columns[i]) >= _ROWS * len(runs):
            found.append((called, len(runs), -i))
    return -max(found)[2] if found else None


def long_sentence(length: int) -> str:
    """Return a doubt about a sentence of so many tokens."""
    return (
        f"a sentence of {length:,} tokens: is the column missing that tells sentences apart? Name "
        "it (--sentence COLUMN; in Python sentence=...), or put a blank line after each sentence"
    )
