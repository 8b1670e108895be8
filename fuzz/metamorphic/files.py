"""Relations on files and lists: a task's answers do not depend on the form of its input."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from fuzz.memory_file import memory_file
from fuzz.metamorphic.answers import ask, demand_same, plain
from fuzz.metamorphic.file_subjects import FILES, TAGGERS, FileSubject, tokens
from fuzz.metamorphic.formats import (
    Spelling,
    conllu_rows,
    read_added,
    read_brackets,
    spell,
)
from fuzz.metamorphic.queries import QUERIES, draw_query
from fuzz.metamorphic.relation import relation
from structlearn.tasks import SegmentTagger
from structlearn.text import read_corpus

__all__: list[str] = []

Rng = np.random.Generator
#: The least probability that is listed.
LEAST = 0.0005


@relation("lists = files", FILES)
def lists_and_files(it: FileSubject, rng: Rng) -> None:
    """Sentences in a list have the answers of a file, in every format and spelling.

    The format of a file is passed, or guessed from its name.
    """
    model, X, spelling = it.draw(rng)
    name = draw_query(rng, it.subject.queries)
    path = memory_file(spell([tokens(s) for s in X], spelling), spelling.suffix)
    named = spelling.format in ("conllu", "csv", "jsonl")
    source: Any = path
    if it.subject.name in TAGGERS and not (named and rng.random() < 0.5):
        source = read_corpus(path, spelling.format)
    elif spelling.format == "text":
        return  # parsers read only paths, which may not be recognised as text
    demand_same(
        f"{spelling.format}, {name}",
        ask(lambda: QUERIES[name](model, X)),
        ask(lambda: QUERIES[name](model, source)),
    )


# -- labelled files -------------------------------------------------------------------------------


def _labels_in_file(it: FileSubject, rng: Rng, model: Any, X: Any) -> list[Any]:
    """Return the sentences with the model's labels, to be replaced."""
    labels = [k for k in model.classes_ if k not in ("O",)]
    return [[(*cells, str(rng.choice(labels))) for cells in tokens(sentence)] for sentence in X]


def _written(model: Any, X: Any, options: dict[str, Any]) -> Any:
    """Return the expected cells of each token, from Python answers: word, label, and more."""
    nbest = options.get("nbest", 1)
    ranked = model.predict_kbest(X, n=nbest) if nbest > 1 else None
    labels = [row[0][1] for row in ranked] if ranked else model.predict(X)
    shares: Any = [[{}] * len(row) for row in labels]
    if options.get("confidence") or options.get("marginals"):
        shares = _shares(model, X, labels)
    sentences = []
    for s, sentence in enumerate(X):
        rows = []
        for t, cells in enumerate(tokens(sentence)):
            row = [cells[0], labels[s][t]]
            for n in range(1, nbest):
                row.append(ranked[s][n][1][t] if n < len(ranked[s]) else "-")
            if options.get("confidence"):
                row.append(f"{shares[s][t][labels[s][t]]:.4f}")
            if options.get("marginals"):
                listed = [(-p, i, k) for i, (k, p) in enumerate(shares[s][t].items()) if p >= LEAST]
                row.append(",".join(f"{k}:{-p:.4f}" for p, _, k in sorted(listed)))
            rows.append(row)
        sentences.append(rows)
    return sentences


def _shares(model: Any, X: Any, labels: Any) -> Any:
    """Return P(label) of each token; for a segment tagger, that of its whole segment."""
    if not isinstance(model, SegmentTagger):
        return model.predict_marginals(X)
    sentences = []
    for row, p in zip(labels, model.predict_marginals(X, least=0.0), strict=True):
        shares: list[Any] = []
        t = 0
        while t < len(row):
            end = t + 1
            while row[t] != "O" and end < len(row) and row[end].startswith("I-"):
                end += 1
            kind = "O" if row[t] == "O" else row[t][2:]
            shares += [{label: p[t, end, kind]} for label in row[t:end]]
            t = end
        sentences.append(shares)
    return sentences


def _options(it: FileSubject, rng: Rng, spelling: Spelling) -> dict[str, Any]:
    """Return options of ``label_file``, those that the task has."""
    options: dict[str, Any] = {"confidence": bool(rng.random() < 0.4)}
    if it.subject.name == "segments":
        return options
    options["nbest"] = int(rng.integers(1, 4))
    options["marginals"] = bool(rng.random() < 0.4)
    if len(it.targets) > 1 and it.native == "conllu":
        options.update(nbest=1, marginals=False)  # refused: "|" separates entries there, too
    return options


@relation("labelled file = predict", TAGGERS, claim="bit for bit, of what is printed")
def labelled_file(it: FileSubject, rng: Rng) -> None:
    """``label_file`` writes the answers of the Python methods: labels, k-best, probabilities."""
    model, X, spelling = it.draw(rng)
    options = _options(it, rng, spelling)
    has_labels = spelling.format != "text" and len(it.targets) == 1 and rng.random() < 0.5
    sentences = _labels_in_file(it, rng, model, X) if has_labels else [tokens(s) for s in X]
    path = memory_file(spell(sentences, spelling), spelling.suffix)
    out = io.BytesIO()
    n_tokens = model.label_file(path, out, format=spelling.format, **options)
    demand_same("tokens", n_tokens, sum(map(len, X)))
    n_added = sum(options.get(name, False) for name in ("confidence", "marginals"))
    n_added += options.get("nbest", 1)
    place = it.place(spelling, has_labels)
    title = f"{spelling.format}, {'with' if has_labels else 'without'} labels"
    written = read_added(out.getvalue(), spelling, place, n_added)
    demand_same(title, _written(model, X, options), written)


PARSERS = {name: s for name, s in FILES.items() if name not in TAGGERS}


@relation("parsed file = predict", PARSERS)
def parsed_file(it: FileSubject, rng: Rng) -> None:
    """The trees that ``label_file`` writes are those of ``predict``."""
    model, X, spelling = it.draw(rng)
    path = memory_file(spell([tokens(s) for s in X], spelling), spelling.suffix)
    out = io.BytesIO()
    n_words = model.label_file(path, out, format=spelling.format)
    demand_same("words", n_words, sum(map(len, X)))
    trees = model.predict(X)
    if it.subject.name.startswith("parser"):
        rows = conllu_rows(out.getvalue())
        parsed = [[[c[1], int(c[6]), c[7]] for c in row] for row in rows]
        wanted = [
            [[word[0], head, label] for word, (head, label) in zip(tokens(s), tree, strict=True)]
            for s, tree in zip(X, trees, strict=True)
        ]
        demand_same(spelling.format, wanted, parsed)
        return
    root = model.model_.root
    wanted = [read_brackets(str(tree))[0] for tree in trees]
    wanted = [tree if tree[0] == root else [root, tree] for tree in wanted]
    demand_same(spelling.format, plain(wanted), read_brackets(out.getvalue().decode()))
