"""The problems: random chains, synthetic text of CoNLL-2000's size, and CoNLL-2000 if present."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = [
    "ChainProblem",
    "TaggingProblem",
    "chunk_f1",
    "conll2000",
    "data_folder",
    "random_chains",
    "synthetic_tagging",
    "token_accuracy",
]

Array = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


# -- chains of given scores -------------------------------------------------------------------


@dataclass
class ChainProblem:
    """Scores of chains of equal length, in the forms of structlearn and of an HMM library.

    The transition scores are the logarithms of a stochastic matrix and the first label is free, so
    that an HMM with a uniform start has the same best paths and the same posteriors.
    """

    label: list[Array]
    transition: Array
    probability: Array
    start: Array

    @property
    def shape(self) -> tuple[int, int, int]:
        """The numbers of chains, positions and labels."""
        return (len(self.label), *self.label[0].shape)


def random_chains(n: int, length: int, n_labels: int, seed: int = 0) -> ChainProblem:
    """Return n chains with normal label scores and a random transition matrix."""
    rng = np.random.default_rng(seed)
    probability = rng.dirichlet(np.ones(n_labels), size=n_labels)
    label = list(rng.normal(size=(n, length, n_labels)))
    start = np.full(n_labels, 1.0 / n_labels)
    return ChainProblem(label, np.log(probability), probability, start)


# -- tagging ----------------------------------------------------------------------------------


@dataclass
class TaggingProblem:
    """A tagging data set: tokens as lists of feature names, or as rows of sparse matrices.

    ``X`` and ``X_test`` hold, for each sentence, a list of tokens (lists of strings) or a CSR
    matrix whose column j is the feature named ``str(j)``.
    """

    X: list[Any]
    y: list[list[str]]
    X_test: list[Any]
    y_test: list[list[str]]
    chunks: bool

    def sizes(self) -> dict[str, int]:
        """Return the number of sentences, tokens, labels, features and their occurrences."""
        if isinstance(self.X[0], list):
            distinct = len({f for sentence in self.X for token in sentence for f in token})
            occurrences = sum(len(token) for sentence in self.X for token in sentence)
        else:
            distinct, occurrences = self.X[0].shape[1], sum(m.nnz for m in self.X)
        return {
            "sentences": len(self.X),
            "tokens": sum(map(len, self.y)),
            "labels": len({label for row in self.y for label in row}),
            "features": int(distinct),
            "occurrences": int(occurrences),
        }


#: CRFsuite's 19 templates for chunking without its two marks for the ends: offsets of words and
#: of tags; each entry makes one feature of the values at these offsets.
_WORDS = ((-2,), (-1,), (0,), (1,), (2,), (-1, 0), (0, 1))
_TAGS = (
    *((-2,), (-1,), (0,), (1,), (2,)),
    *((-2, -1), (-1, 0), (0, 1), (1, 2)),
    *((-2, -1, 0), (-1, 0, 1), (0, 1, 2)),
)
TEMPLATES = (*(("w", offsets) for offsets in _WORDS), *(("t", offsets) for offsets in _TAGS))


def data_folder() -> Path | None:
    """Return the folder of real corpora: STRUCTLEARN_DATA, or ../shared/data if it exists."""
    named = os.environ.get("STRUCTLEARN_DATA")
    root = Path(__file__).resolve().parent.parent
    folder = Path(named) if named else root.parent / "shared" / "data"
    return folder if folder.is_dir() else None


def conll2000(share: float = 1.0) -> TaggingProblem | None:
    """Return CoNLL-2000 with CRFsuite's templates, or None if the corpus is missing."""
    folder = data_folder()
    if folder is None or not (folder / "conll2000" / "train.txt.gz").exists():
        return None
    parts: list[list[Any]] = []
    for name in ("train", "test"):
        sentences = list(_read_columns(folder / "conll2000" / f"{name}.txt.gz"))
        sentences = sentences[: max(1, round(share * len(sentences)))]
        parts.append([_named_features([r[0] for r in s], [r[1] for r in s]) for s in sentences])
        parts.append([[r[2] for r in s] for s in sentences])
    return TaggingProblem(*parts, chunks=True)


def _read_columns(path: Path) -> Iterator[list[list[str]]]:
    sentence: list[list[str]] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            fields = line.split()
            if fields:
                sentence.append(fields)
            elif sentence:
                yield sentence
                sentence = []
    if sentence:
        yield sentence


def _named_features(words: Sequence[str], tags: Sequence[str]) -> list[list[str]]:
    """Return each token's features as fresh strings, as in a user's code."""
    n = len(words)
    sentence: list[list[str]] = [[] for _ in range(n)]
    for kind, offsets in TEMPLATES:
        prefix = kind + ",".join(map(str, offsets)) + "="
        values = words if kind == "w" else tags
        first, last = max(0, -offsets[0]), n - max(0, offsets[-1])
        columns = [values[first + o : max(last, first) + o] for o in offsets]
        for token, parts in zip(sentence[first:last], zip(*columns, strict=True), strict=True):
            token.append(prefix + "|".join(parts))
    sentence[0].append("__BOS__")
    sentence[-1].append("__EOS__")
    return sentence


def synthetic_tagging(
    share: float = 1.0, *, n_labels: int = 22, n_tags: int = 44, seed: int = 2
) -> TaggingProblem:
    """Return synthetic text of CoNLL-2000's size with the same templates, as CSR matrices.

    Labels follow a Markov chain, tags depend on labels, and words on tags by Zipf's law; the
    templates then behave as on real text: a few features occur everywhere, and a long tail once.
    """
    rng = np.random.default_rng(seed)
    sizes = [max(1, round(share * n)) for n in (8936, 2012)]
    lengths = np.clip(rng.gamma(4.5, 23.7 / 4.5, size=sum(sizes)).round(), 1, 80).astype(np.int64)
    ptr = np.concatenate(([0], np.cumsum(lengths)))
    labels = _markov(rng, ptr, n_labels)
    tags = _tags(rng, labels, n_labels, n_tags)
    words = _words(rng, tags, n_tags)
    columns, indptr, n_features = _coded_features(words, tags, ptr, int(ptr[sizes[0]]))
    names = np.array([f"L{k}" for k in range(n_labels)])[labels].tolist()
    X, y = [], []
    for begin, end in pairwise(ptr.tolist()):
        X.append(_matrix(columns, indptr, begin, end, n_features))
        y.append(names[begin:end])
    return TaggingProblem(X[: sizes[0]], y[: sizes[0]], X[sizes[0] :], y[sizes[0] :], chunks=False)


def _markov(rng: np.random.Generator, ptr: Integers, n_labels: int) -> Integers:
    """Return labels of all sentences; some are frequent, and each has few successors."""
    frequency = (np.arange(n_labels) + 1.0) ** -1.2
    table = rng.dirichlet(0.08 * n_labels * frequency / frequency.sum() + 0.004, size=n_labels)
    sums = np.cumsum(0.97 * table + 0.03 * frequency / frequency.sum(), axis=1)
    draws = rng.random(int(ptr[-1])).tolist()
    starts = set(ptr.tolist())
    rows = [row.tolist() for row in sums]
    labels, current = [], 0
    for i, u in enumerate(draws):
        row = rows[0 if i in starts else current]
        current = next((k for k, edge in enumerate(row) if u < edge), n_labels - 1)
        labels.append(current)
    return np.array(labels, dtype=np.int64)


def _tags(rng: np.random.Generator, labels: Integers, n_labels: int, n_tags: int) -> Integers:
    """Return a tag for each token, drawn from the few likely tags of its label."""
    table = np.cumsum(rng.dirichlet(np.full(n_tags, 0.03), size=n_labels), axis=1)
    picked = (rng.random(len(labels))[:, np.newaxis] > table[labels]).sum(axis=1)
    return np.minimum(picked, n_tags - 1)


def _words(rng: np.random.Generator, tags: Integers, n_tags: int) -> Integers:
    """Return a word for each token, by Zipf's law from its tag's list, or another's (6 in 100).

    Lists have 3 words (like articles) to 40,000 (like names).
    """
    lists = np.where(rng.random(len(tags)) < 0.06, rng.permutation(tags), tags)
    lengths = rng.permutation(np.geomspace(3, 40_000, n_tags).astype(np.int64))
    law = np.cumsum(1.0 / (np.arange(int(lengths.max())) + 2.0))
    rank = np.searchsorted(law, rng.random(len(tags)) * law[lengths[lists] - 1])
    return np.asarray(rank * n_tags + lists)


def _coded_features(
    words: Integers, tags: Integers, ptr: Integers, n_train: int
) -> tuple[npt.NDArray[np.int32], Integers, int]:
    """Return the columns of all tokens (−1: unknown), row pointers, and the number of columns.

    Columns are the features of the first ``n_train`` tokens; other features have none.
    """
    n = len(words)
    position = np.arange(n) - np.repeat(ptr[:-1], np.diff(ptr))
    left = np.repeat(np.diff(ptr), np.diff(ptr)) - 1 - position
    _, dense_words = np.unique(words, return_inverse=True)
    coded = np.full((n, len(TEMPLATES) + 2), -1, dtype=np.int64)
    n_features = 0
    for j, (kind, offsets) in enumerate(TEMPLATES):
        values = dense_words if kind == "w" else tags
        inside = np.flatnonzero((position + offsets[0] >= 0) & (left - offsets[-1] >= 0))
        key = np.zeros(len(inside), dtype=np.int64)
        for offset in offsets:
            key = key * (int(values.max()) + 1) + values[inside + offset]
        seen = np.unique(key[inside < n_train])
        at = np.minimum(np.searchsorted(seen, key), len(seen) - 1)
        coded[inside, j] = np.where(seen[at] == key, n_features + at, -1)
        n_features += len(seen)
    coded[position == 0, -2] = n_features
    coded[left == 0, -1] = n_features + 1
    n_features += 2
    used = coded >= 0
    indptr = np.concatenate(([0], np.cumsum(used.sum(axis=1))))
    return coded[used].astype(np.int32), indptr, n_features


def _matrix(
    columns: npt.NDArray[np.int32], indptr: Integers, begin: int, end: int, n_features: int
) -> Any:
    from scipy.sparse import csr_matrix

    part = columns[indptr[begin] : indptr[end]]
    rows = (indptr[begin : end + 1] - indptr[begin]).astype(np.int32)
    return csr_matrix((np.ones(len(part)), part, rows), shape=(end - begin, n_features))


# -- measures ---------------------------------------------------------------------------------


def token_accuracy(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> float:
    """Return the share of labels that are right, in percent."""
    right = sum(a == b for g, f in zip(gold, found, strict=True) for a, b in zip(g, f, strict=True))
    return 100.0 * right / sum(map(len, gold))


def chunk_f1(gold: Sequence[Sequence[str]], found: Sequence[Sequence[str]]) -> float:
    """Return the F1 of chunks in B/I/O labels, in percent, by conlleval's rules."""
    n_gold = n_found = right = 0
    for g, f in zip(gold, found, strict=True):
        a, b = set(_chunks(g)), set(_chunks(f))
        n_gold, n_found, right = n_gold + len(a), n_found + len(b), right + len(a & b)
    return 200.0 * right / (n_gold + n_found)


def _chunks(labels: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Yield (begin, end, type); an I of another type begins a chunk too."""
    begin, kind = -1, ""
    for i, label in enumerate([*labels, "O"]):
        prefix, _, name = str(label).partition("-")
        if begin >= 0 and (prefix != "I" or name != kind):
            yield begin, i, kind
            begin = -1
        if begin < 0 and prefix != "O":
            begin, kind = i, name
