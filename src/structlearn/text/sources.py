"""What stands for a corpus: a file, a list of sentences, sentences and their labels apart."""

from __future__ import annotations

import itertools
import os
from collections.abc import Sequence

from ..exceptions import FileError
from .corpus import Corpus, corpus_of
from .files import read_bytes
from .tables import Naming
from .tokens import split_sentence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any


class TextPart:
    """A part of a corpus that is in files.

    Attributes
    ----------
    name : str
        For messages.
    format : str or None
        That of the file: a part of it may not show.
    """

    name: str
    format: str | None

    def text(self) -> bytes:
        """Return the text."""
        raise NotImplementedError


def read_source(
    source: Any,
    format: str | None = None,
    tokens: str | None = None,
    naming: Naming | None = None,
) -> Corpus:
    """Return the corpus that a path, a corpus, a list, a data frame or a part stands for.

    ``tokens`` names the tokeniser of texts, ``naming`` the columns of a table in a file.
    """
    if isinstance(source, Corpus):
        return source
    if isinstance(source, TextPart):
        chosen = format or source.format
        advice = f"{LABELLED}."
        return corpus_of(source.name, source.text(), chosen, advice=advice, tokens=tokens)
    if isinstance(source, (str, os.PathLike)):
        return read_labelled(named_file(source), format, tokens=tokens, naming=naming)
    if is_frame(source):
        from .frames import read_frame

        return read_frame(source)
    if (documents := as_documents(source)) is not None:
        return document_corpus(documents, tokens)
    return Corpus.from_sentences(check_source(source))


def is_frame(source: Any) -> bool:
    """Tell a data frame, whose columns have names."""
    return hasattr(source, "columns") and hasattr(source, "__getitem__")


#: What is read of files in columns to learn from, or to be judged by.
LABELLED = (
    "Training and evaluation read one token with its label on each line, separated by a blank or "
    "a tab, and a blank line after each sentence"
)


def read_labelled(
    path: str,
    format: str | None = None,
    *,
    header: bool = False,
    tokens: str | None = None,
    naming: Naming | None = None,
) -> Corpus:
    """Read sentences with their labels; as :func:`read_corpus`."""
    return corpus_of(
        path,
        read_bytes(path),
        format,
        header=header,
        naming=naming,
        advice=f"{LABELLED}.",
        tokens=tokens,
    )


def labelled_texts(corpus: Corpus) -> Corpus:
    """Return a corpus without the texts that nobody has labelled, and say how many there are.

    Only texts with spans tell them from others; a corpus that came in tokens stays as it is.
    """
    if not corpus.cut_by:
        return corpus
    column = corpus.n_columns - 1
    kept = [i for i in range(len(corpus)) if set(corpus.cells(i, column)) != {"_"}]
    if len(kept) == len(corpus):
        return corpus
    name = corpus.path or "the texts"
    if not kept:
        raise FileError(name, "none of its texts has a list of spans: nobody has labelled them")
    import warnings

    left_out = len(corpus) - len(kept)
    warnings.warn(
        f"{name}: {left_out:,} of {len(corpus):,} sentences are left out: nobody has labelled "
        "their texts (an empty list of spans says that there is nothing in a text)",
        stacklevel=3,
    )
    labelled = corpus.subset(kept)
    labelled.cut_by = corpus.cut_by
    return labelled


def as_documents(source: Any) -> list[Any] | None:
    """Return the documents of a list of texts with spans; None: it is another list.

    A document is ``{"text": ..., "spans": [...]}``, in any of the spellings of JSON lines.
    """
    if not isinstance(source, (list, tuple)) or not source:
        return None
    if not all(isinstance(one, dict) and isinstance(one.get("text"), str) for one in source):
        return None
    from .formats.span_lines import Prodigy

    lines = Prodigy()
    return [lines._document(item, number) for number, item in enumerate(source, 1)]


def document_corpus(documents: Sequence[Any], tokens: str | None = None) -> Corpus:
    """Return the sentences of documents, with the labels of their spans."""
    from .formats.span_lines import Prodigy

    lines = Prodigy()
    return corpus_of("the documents", lines.render(documents), "prodigy", tokens=tokens)


def named_file(source: str | os.PathLike[str]) -> str:
    """Return the name of a file; a sentence in its place is refused as such."""
    name = os.fspath(source)
    if isinstance(source, str) and len(name.split()) > 1 and not os.path.exists(name):
        raise FileError(
            f"{name[:60]!r}",
            "no such file. A string is the name of a file: to read a sentence, pass a list of "
            f"sentences, [{name[:30] + ('…' if len(name) > 30 else '')!r}]",
        )
    return name


def without_empty(source: Any) -> tuple[Any, list[int]]:
    """Return sentences without those of a list that have no tokens, and the places of these."""
    if hasattr(source, "__next__") or hasattr(source, "tolist"):  # an iterator, an array
        source = list(source)
    if not isinstance(source, (list, tuple)):
        return source, []
    gaps = [i for i, sentence in enumerate(source) if _has_no_tokens(sentence)]
    left_out = set(gaps)
    rest = [one for i, one in enumerate(source) if i not in left_out] if gaps else source
    return rest, gaps


def _has_no_tokens(sentence: Any) -> bool:
    if isinstance(sentence, str):
        return not sentence.split()
    sequence = isinstance(sentence, Sequence) or hasattr(sentence, "tolist")
    return sequence and len(sentence) == 0


def not_empty(corpus: Corpus, name: str = "the corpus") -> Corpus:
    """Return a corpus to learn from or to be judged by, which must have sentences."""
    if not len(corpus):
        raise FileError(corpus.path or name, "there are no sentences in it")
    return corpus


#: Sentences of an iterator that are looked at before they are read.
_LOOKED_AT = 100
#: What the cells of a token are; sentences have tokens instead, but for those of words alone.
_CELLS = (str, int, float, type(None))


def check_source(source: Any) -> Any:
    """Refuse what is neither a path nor a list of sentences, such as None or one sentence.

    An iterator is returned as another one: the first of its sentences have been looked at.
    """
    source = _check_kind(source)
    if isinstance(source, (list, tuple)):
        _refuse_one_sentence(source)
    elif hasattr(source, "__next__"):
        first = list(itertools.islice(source, _LOOKED_AT))
        _refuse_one_sentence(first)
        source = itertools.chain(first, source)
    return source


def _refuse_one_sentence(given: Sequence[Any]) -> None:
    """Refuse tokens where sentences belong: all are dictionaries, or tuples of as many cells."""
    first = given[0] if given else None
    if hasattr(first, "columns") and hasattr(first, "shape"):
        raise ValueError(
            f"sentence 0 is a {type(first).__name__}: structlearn.text.read_frame makes sentences "
            "of one table with a row for each token; a table for each sentence is "
            "list(frame.itertuples(index=False, name=None)). Estimators such as CRF take "
            'dictionaries of features, frame.to_dict("records")'
        )
    tokens = bool(given) and all(isinstance(one, dict) for one in given)
    if len(given) > 1 and isinstance(first, tuple) and first:
        tokens = all(
            isinstance(one, tuple)
            and len(one) == len(first)
            and all(isinstance(cell, _CELLS) for cell in one)
            for one in given
        )
    if tokens:
        raise ValueError(
            f"{first!r:.60} is one token: pass a list of sentences, each a list of tokens, "
            "[sentence] if there is only one. (Sentences that are tuples of words: make lists of "
            "them)"
        )


def _check_kind(source: Any) -> Any:
    """Refuse what is neither a path nor a list."""
    named = isinstance(source, (str, os.PathLike))
    if not named and (isinstance(source, (bytes, dict)) or not hasattr(source, "__iter__")):
        kind = "None" if source is None else f"{type(source).__name__} {source!r:.40}"
        raise ValueError(
            f"sentences are a file's name, a Corpus or a list of sentences, got {kind}"
        )
    if not named and hasattr(source, "columns") and hasattr(source, "shape"):
        # A data frame would be iterated by the names of its columns.
        raise ValueError(
            f"sentences are a file's name, a Corpus or a list of sentences, got a "
            f"{type(source).__name__}: structlearn.text.read_frame makes sentences of its rows"
        )
    return source


def paired(X: Any, y: Any) -> list[tuple[Any, Any]]:
    """Return sentences with what scikit-learn keeps apart from them; a dev set is refused."""
    if isinstance(X, (str, os.PathLike)):
        raise ValueError("y goes with a list of sentences; a file has its labels in it")
    if isinstance(y, (str, os.PathLike, Corpus)):
        raise ValueError("y is a list with the labels of each sentence; a dev set is given as dev=")
    sentences, labels = list(check_source(X)), list(_check_kind(y))
    if len(sentences) != len(labels):
        raise ValueError(
            f"X has {len(sentences)} sentences, y has {len(labels)} (a dev set is given as dev=)"
        )
    return list(zip(sentences, labels, strict=True))


def with_labels(X: Any, y: Any) -> list[list[tuple[Any, ...]]]:
    """Return sentences whose tokens have their labels, given apart, as their last column."""
    found = []
    for number, (sentence, labels) in enumerate(paired(X, y)):
        tokens = split_sentence(sentence)
        if isinstance(labels, str) or not hasattr(labels, "__iter__"):
            raise ValueError(
                f"sentence {number}: y is {labels!r:.40}, where it has a label, a string, for each "
                "token: pass a list of sentences, and a list of labels for each (a dev set is "
                "given as dev=)"
            )
        for label in labels:
            if not isinstance(label, str):
                raise ValueError(
                    f"sentence {number}: the label {label!r:.40} is not a string. Taggers read and "
                    "write text: make strings of numbers first, str(label), and write unknown "
                    'labels as "_"; the estimators, such as CRF, take numbers (a dev set is given '
                    "as dev=)"
                )
        if len(tokens) != len(labels):
            raise ValueError(f"sentence {number} has {len(tokens)} tokens, y has {len(labels)}")
        cells = [(t,) if isinstance(t, str) else tuple(t) for t in tokens]
        found.append([(*t, label) for t, label in zip(cells, labels, strict=True)])
    return found
