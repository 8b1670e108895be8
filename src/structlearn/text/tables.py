"""Tables of tokens with names for their columns: headings, and what the columns hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

__all__ = ["TableColumns", "is_heading", "plain_name", "table_separator"]

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
_OTHER_NAMES = frozenset(
    {"pos", "postag", "postags", "upos", "xpos", "lemma", "chunk", "chunks", "chunktag",
     "chunktags", "id", "index", "feats", "head", "deprel", "misc", "shape"}
)  # fmt: skip
_NAMES = SENTENCE_NAMES | WORD_NAMES | LABEL_NAMES | _OTHER_NAMES
#: Columns that labelling adds beside the label.
_FURTHER = re.compile(r"label\d+|confidence|marginals")


def plain_name(name: object) -> str:
    """Return a name in lower case, letters and digits only: "Sentence #" is "sentence"."""
    return "".join(c for c in str(name).lower() if c.isalnum())


def is_heading(cells: Sequence[object]) -> bool:
    """Tell names of columns, such as (word, pos, label), from a token and its labels."""
    names = [plain_name(cell) for cell in cells]
    known = len(names) > 1 and all(name in _NAMES or _FURTHER.fullmatch(name) for name in names)
    return known and not WORD_NAMES.isdisjoint(names)


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

    The words come first, labels last, and the others in between in their own order.

    Parameters
    ----------
    names : sequence of str
    sentence, word : str, optional
        The columns of these names; by default the first whose name is a usual one. Without a
        usual name the words are the first column.
    """

    def __init__(
        self, names: Sequence[str], sentence: str | None = None, word: str | None = None
    ) -> None:
        self.names = list(names)
        self.sentence = self._find(sentence, SENTENCE_NAMES)
        rest = [i for i in range(len(self.names)) if i != self.sentence]
        first = self._find(word, WORD_NAMES - ({"text"} if len(rest) > 2 else set()))
        if first is None:
            first = self._find(None, WORD_NAMES)
        rest = [i for i in rest if i != first]
        if first is None:
            first, rest = rest[0], rest[1:]
        labels = [i for i in rest if plain_name(self.names[i]) in LABEL_NAMES]
        #: Numbers of the columns that are cells of tokens, in the order of the cells.
        self.cells = [first, *(i for i in rest if i not in labels), *labels]

    def _find(self, name: str | None, usual: Iterable[str]) -> int | None:
        if name is not None:
            if name not in self.names:
                raise ValueError(f"there is no column {name!r}: the columns are {self.names}")
            return self.names.index(name)
        return next((i for i, n in enumerate(self.names) if plain_name(n) in usual), None)
