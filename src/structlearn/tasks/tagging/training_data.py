"""What a training run says about its data, so that a file that was misread is noticed at once."""

from __future__ import annotations

import warnings
from typing import Any

from ...exceptions import FileError
from ...fitting.split_corpus import SplitCorpus
from ...metrics.schemes import are_chunk_labels

#: Labels that the line names, and how many labels a file must have to be judged by them.
_NAMED = 5
_FEWEST = 6
#: What joins words with their labels in running text.
_MARKS = "/|_"
#: How files write a label that nobody knows, and one of several.
_UNSURE, _OR = ("?", "_"), "|"


def refuse_joined(corpus: SplitCorpus, target: int) -> None:
    """Refuse words that have their labels attached, as in Fish/N, in a column file."""
    if corpus.format != "columns":
        return
    for mark in _MARKS:
        # Labels first: they are few.
        if all(_are_joined(cell, mark) for c in (target, 0) for cell in corpus.counts(c)):
            first = next(iter(corpus.counts(0)), "")
            word, _, label = first.rpartition(mark)
            raise FileError(
                corpus.path or "the corpus",
                f"words and labels are joined by {mark!r}, as in {first!r:.40}: write one word "
                f"and its label on each line, separated by a blank or a tab ({word} {label}), and "
                "a blank line after each sentence",
            )


def _are_joined(cell: str, mark: str) -> bool:
    word, _, label = cell.rpartition(mark)
    return bool(word and label)


def warn_of_rare_labels(corpus: SplitCorpus, target: int) -> None:
    """Warn where a file has many labels, most of which occur once: words of running text do.

    Tags of a few sentences may occur once too, but they are mostly written in capitals.
    """
    if corpus.path is None:
        return
    counts = corpus.counts(target)
    rare = [k for k, n in counts.items() if n == 1]
    if len(counts) < max(_FEWEST, corpus.n_tokens / 4) or 2 * len(rare) <= len(counts):
        return
    if are_chunk_labels(list(counts)) or 2 * sum(map(str.isupper, rare)) >= len(rare):
        return
    warnings.warn(
        f"{corpus.path}: {len(rare)} of {len(counts)} labels in column {target + 1} occur once "
        f"({', '.join(rare[:_NAMED])}, ...). Is this running text? Training "
        "reads one token with its label on each line, separated by a blank or a tab, and a blank "
        "line after each sentence; if the labels are in another column, name it (target, "
        "--target)",
        stacklevel=2,
    )


def warn_of_partial_labels(corpus: SplitCorpus, target: int, unknown: str, sets: str) -> None:
    """Warn where labels look as if nobody knew them: ``?``, and PER|ORG beside PER and ORG."""
    if corpus.format != "columns":
        return  # UD's features have "|" in them
    counts, where = corpus.counts(target), corpus.path or "the corpus"
    doubt = "is taken for a label like others. If"
    for mark in _UNSURE if unknown in _UNSURE else ():  # another sign was chosen with care
        if mark in counts and mark != unknown and corpus.parts.sum(_odd_words, target, mark):
            warnings.warn(
                f"{where}: {mark!r}, at {counts[mark]} tokens, {doubt} it means that nobody knows "
                f'the label, say so: unknown="{mark}", --unknown {mark}',
                stacklevel=2,
            )
    if sets:
        return
    for joined in (k for k in counts if _OR in k and {*k.split(_OR)} <= {*counts, *_UNSURE}):
        warnings.warn(
            f"{where}: {joined} {doubt} one of its parts is right, and nobody knows which, say so: "
            f'sets="{_OR}", --sets "{_OR}"',
            stacklevel=2,
        )
        break


def _odd_words(corpus: Any, target: int, mark: str) -> int:
    """Return how many words have a mark for their label and are not made of signs."""
    pairs = zip(corpus.column(0), corpus.column(target), strict=True)
    return sum(
        label == mark and any(map(str.isalnum, word))
        for words, labels in pairs
        for word, label in zip(words, labels, strict=True)
    )


def data_notes(run: Any) -> list[str]:
    """Return lines about the data of a training run: sizes, labels, what may be unexpected.

    Parameters
    ----------
    run : Fitting
        Its labels are known.
    """
    corpus, target = run.corpus, run.target
    facts = {"sentences": len(corpus), "tokens": corpus.n_tokens, **run.more()}
    labels = list(dict.fromkeys(run.shown()))
    some = ", ".join(labels[:_NAMED]) + (", ..." if len(labels) > _NAMED else "")
    shown = corpus.columns if corpus.format == "conllu" else corpus.names
    names = [shown[c] if shown else str(c + 1) for c in run.targets]
    column = ",".join(names)
    sizes = [(facts["sentences"], "sentence"), (facts["tokens"], "token"), (len(labels), "label")]
    told = ", ".join(f"{n:,} {what}{'' if n == 1 else 's'}" for n, what in sizes)
    notes = [f"{told} in column {column} ({some})", *corpus.remarks]
    if run.leaves_out_tags:
        notes.append("no column has tags, so the features of tags are left out")
    chosen = run.tagger.target is not None
    if run.tagger.features == "pos" and not chosen and target > 1 and are_chunk_labels(labels):
        notes.append(
            f"column {target + 1} has chunks, not parts of speech: if these are in column 2, name "
            "it (--target 2)"
        )
    return notes
