"""Kinds of labels: of spans, of every word, of whole texts; from tokens to a file and back.

A page, and a model, have one label for each token: B-, I- and O for spans, a tag for each word, the
class of the text at each of its words. None is a token that nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from ..exceptions import LineError
from ..text.formats.span_lines import Prodigy
from ..text.spans import UNKNOWN, Document, cut_document, found_spans
from ..text.tokenisers import tokeniser

Labels = Sequence["str | None"]
Example = list[tuple[str, str]]


@dataclass
class Text:
    """A text to label.

    Attributes
    ----------
    number : int
        In the order of the file, from 0.
    text : str
    places : list of (begin, end)
        Its tokens.
    sentences : list of range
        The tokens of each of its sentences.
    versions : list of (str, labels)
        What others say of it: who, and a label for each token.
    rank : float
        How early it is asked for in a review.
    """

    number: int
    text: str
    places: list[tuple[int, int]]
    sentences: list[range]
    versions: list[tuple[str, list[str | None]]] = field(default_factory=list)
    rank: float = 0.0

    @property
    def words(self) -> list[str]:
        """Its tokens as strings."""
        return [self.text[begin:end] for begin, end in self.places]


class Kind:
    """What is labelled."""

    name: str
    #: Parameters of taggers of such labels, beside those that were asked for.
    parameters: ClassVar[dict[str, Any]] = {}
    #: All tokens of a text have one label.
    whole = False

    def __init__(self, tokens: str | None = None) -> None:
        self.tokens = tokens or "words"
        self._cut = tokeniser(self.tokens)

    def cut(self, number: int, text: str) -> Text:
        """Return a text with its tokens."""
        document = cut_document(Document(text), self._cut)
        places, sentences = list[tuple[int, int]](), list[range]()
        for sentence in document.sentences:
            sentences.append(range(len(places), len(places) + len(sentence)))
            places += sentence
        return Text(number, text, places, self._sentences(sentences))

    def _sentences(self, lines: list[range]) -> list[range]:
        return [range(lines[0].start, lines[-1].stop)] if lines else []

    def written(self, names: Sequence[str]) -> list[str]:
        """Return the labels of tokens that stand for the labels of a page."""
        return list(names)

    def name_of(self, label: str) -> str:
        """Return the label of the page that a label of a token is of; "" for none."""
        return label

    def check(self, text: Text, labels: Labels) -> None:
        """Raise ValueError if these cannot be the labels of a text."""
        if len(labels) != len(text.places):
            raise ValueError(f"{len(labels)} labels for {len(text.places)} tokens")

    def item(self, text: Text, labels: Labels) -> dict[str, Any]:
        """Return the object of a file that has these labels."""
        tags = [UNKNOWN if label is None else label for label in labels]
        return {"text": text.text, "tokens": text.words, "tags": tags}

    def unlabelled(self, text: Text) -> dict[str, Any]:
        """Return the object of a text that was skipped or rejected: nothing is learned from it."""
        return self.item(text, [None] * len(text.places))

    def labels(self, text: Text, item: dict[str, Any]) -> list[str | None]:
        """Return the labels that an object of a file has."""
        tags = [None if tag == UNKNOWN else tag for tag in item["tags"]]
        return tags if len(tags) == len(text.places) else [None] * len(text.places)

    def check_item(self, item: Any, line: int) -> None:
        """Raise LineError if an object of a file cannot be an answer of this kind."""
        lists = [item.get("tokens"), item.get("tags")]
        if not all(isinstance(one, list) and all(type(w) is str for w in one) for one in lists):
            raise LineError(
                line, f'an answer has "tokens" and "tags", lists of strings ({self.name})'
            )
        if len(item["tokens"]) != len(item["tags"]):
            raise LineError(
                line, f"{len(item['tokens'])} tokens, and {len(item['tags'])} tags for them"
            )

    def examples(self, item: dict[str, Any]) -> list[Example]:
        """Return what is learned from an object: sentences of words and labels."""
        if all(tag == UNKNOWN for tag in item["tags"]):
            return []
        return [list(zip(item["tokens"], item["tags"], strict=True))]

    def constraint(self, names: Sequence[str]) -> str:
        """Return what all outputs keep to; "" if they are free."""
        return ""


class Tags(Kind):
    """A tag for every word."""

    name = "tags"


class Classes(Kind):
    """One class for a whole text: all of its words have the same label."""

    name = "classes"
    whole = True

    def check(self, text: Text, labels: Labels) -> None:
        super().check(text, labels)
        if len(set(labels)) > 1:
            raise ValueError("a text has one class")

    def constraint(self, names: Sequence[str]) -> str:
        return f'matches("{" | ".join(f"{_quoted(name)}*" for name in names)}")' if names else ""


class Spans(Kind):
    """Stretches of tokens with a label."""

    name = "spans"
    parameters: ClassVar[dict[str, Any]] = {"scheme": "bio"}

    def __init__(self, tokens: str | None = None) -> None:
        super().__init__(tokens)
        self._lines = Prodigy()

    def _sentences(self, lines: list[range]) -> list[range]:
        return lines

    def written(self, names: Sequence[str]) -> list[str]:
        return ["O", *(f"{mark}-{name}" for name in names for mark in "BI")]

    def name_of(self, label: str) -> str:
        return label[2:]

    def check(self, text: Text, labels: Labels) -> None:
        super().check(text, labels)
        before: str | None = None
        for label in labels:
            if label is not None and label.startswith("I-"):
                if before is None or before[:2] not in ("B-", "I-") or before[2:] != label[2:]:
                    raise ValueError(f"{label} goes on with a span that nothing has begun")
            elif label is not None and label != "O" and not label.startswith("B-"):
                raise ValueError(f"{label!r:.40} is not the label of a token of a span")
            before = label

    def item(self, text: Text, labels: Labels) -> dict[str, Any]:
        row = [UNKNOWN if label is None else label for label in labels]
        spans = found_spans([text.places], [row])
        item: dict[str, Any] = {
            "text": text.text,
            "spans": [{"start": s.start, "end": s.end, "label": s.label} for s in spans],
        }
        if None in labels:
            item["looked"] = [
                [text.places[run.start][0], text.places[run.stop - 1][1]] for run in _runs(labels)
            ]
        return item

    def unlabelled(self, text: Text) -> dict[str, Any]:
        return {"text": text.text, "spans": []}

    def labels(self, text: Text, item: dict[str, Any]) -> list[str | None]:
        document = self._lines._document(item, 0)
        rows = cut_document(document, self._cut, split=False).labels
        return [None if label == UNKNOWN else label for row in rows for label in row]

    def check_item(self, item: Any, line: int) -> None:
        document = self._lines._document(item, line)
        cut_document(document, self._cut)

    def examples(self, item: dict[str, Any]) -> list[Example]:
        document = self._lines._document(item, 0)
        if document.skipped or document.spans is None:
            return []
        cut, examples = cut_document(document, self._cut), list[Example]()
        for places, labels in zip(cut.sentences, cut.labels, strict=True):
            words = [document.text[begin:end] for begin, end in places]
            if any(label != UNKNOWN for label in labels):
                examples.append(list(zip(words, labels, strict=True)))
        return examples


#: Kinds by their names.
KINDS: dict[str, type[Kind]] = {kind.name: kind for kind in (Spans, Tags, Classes)}


def _runs(labels: Labels) -> Iterable[range]:
    """Return the stretches of tokens whose labels are known."""
    begin = None
    for t, label in enumerate([*labels, None]):
        if label is not None and begin is None:
            begin = t
        elif label is None and begin is not None:
            yield range(begin, t)
            begin = None


def _quoted(name: str) -> str:
    return f"'{name}'"
