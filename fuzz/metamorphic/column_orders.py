"""Relations on columns: reordered and unused ones change neither the model nor its answers."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.memory_file import memory_file
from fuzz.metamorphic.answers import demand_same, plain
from fuzz.metamorphic.model_files import demand_same_file, stored
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import TASKS, Subject, odd_string
from structlearn.tasks import SegmentTagger, Tagger
from structlearn.text import Corpus, FeatureTemplates

__all__: list[str] = []

Rng = np.random.Generator
_TEMPLATES = FeatureTemplates.parse("word[-1..1]\npos[-1..1]\nsuffix(word, 2)")
_CHUNKED = TASKS["tagger, chunks"]


def _tagger(rng: Rng, **options: Any) -> Tagger:
    learner = str(rng.choice(("perceptron", "arow", "crf")))
    scheme = str(rng.choice(("none", "iobes")))
    return Tagger(_TEMPLATES, learner, scheme=scheme, max_iter=3, **options)


def _arranged(rng: Rng, sentences: list[Any], order: Any, junk: int) -> list[Any]:
    """Return tokens whose cells are in another order, with unused cells among them."""
    return [
        [(w, t, *([k, *(odd_string(rng) for _ in range(junk))][i] for i in order))
         for w, t, k in sentence]
        for sentence in sentences
    ]  # fmt: skip


@relation("unused columns in another order", {"tagger": Tagger, "segments": SegmentTagger},
          cost="fit")  # fmt: skip
def unused_columns(kind: Any, rng: Rng) -> None:
    """The place of the label and the content of unread columns do not matter."""
    sentences, X = _CHUNKED.draw(rng).X, _CHUNKED.inputs(rng, 2)
    answers = []
    for _ in range(2):
        junk = int(rng.integers(0, 4))
        order = [int(i) for i in rng.permutation(junk + 1)]
        options = {"target": 3 + order.index(0), "random_state": 2}
        answers.append((order, options))
    tagger = _tagger(rng) if kind is Tagger else SegmentTagger(max_iter=2)
    predictions = []
    for order, options in answers:
        model = clone(tagger).set_params(**options)
        model.fit(_arranged(rng, sentences, order, len(order) - 1))
        rows = [[(w, t, "_") for w, t in s] for s in X]
        whole = _arranged(rng, rows, order, len(order) - 1)
        predictions.append(plain([model.predict(whole), model.predict_kbest(whole, n=3)]))
    demand_same(f"{[o for o, _ in answers]}", *predictions)


def _table(rng: Rng, sentences: list[Any], names: list[str]) -> str:
    """Return a CSV file with its columns in random order."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    order = [names[int(i)] for i in rng.permutation(len(names))]
    writer.writerow(order)
    for number, sentence in enumerate(sentences):
        for w, t, k in sentence:
            cells = {"sentence": number, "word": w, "pos": t, "tag": k}
            writer.writerow([cells[name] for name in order])
    return out.getvalue()


def _objects(rng: Rng, sentences: list[Any]) -> str:
    """Return JSON lines with their entries in random order."""
    rows = []
    for sentence in sentences:
        columns = dict(zip(("tokens", "pos", "tags"), zip(*sentence, strict=True), strict=True))
        names = [list(columns)[int(i)] for i in rng.permutation(3)]
        rows.append(json.dumps({name: columns[name] for name in names}))
    return "\n".join(rows) + "\n"


@relation("named columns in another order", {"chunks": _CHUNKED}, cost="fit")
def named_columns(subject: Subject, rng: Rng) -> None:
    """Columns of CSV and lists of JSON lines are identified by name: the model has the same bytes.

    Except for the names, which it stores.
    """
    sentences, X = subject.draw(rng).X, subject.inputs(rng, 2)
    tagger = _tagger(rng, random_state=3)
    expected = clone(tagger).fit(sentences)
    labelled = [[(w, t, "O") for w, t in s] for s in X]
    out = io.BytesIO()
    if rng.random() < 0.5:
        names = ["sentence", "word", "pos", "tag"]
        path = memory_file(_table(rng, sentences, names).encode(), ".csv")
        model = clone(tagger).fit(path)
        model.label_file(memory_file(_table(rng, labelled, names).encode(), ".csv"), out)
        rows = list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))
        pairs = [[r["word"], r["tag"]] for r in rows]
    else:
        model = clone(tagger).fit(memory_file(_objects(rng, sentences).encode(), ".jsonl"))
        model.label_file(memory_file(_objects(rng, labelled).encode(), ".jsonl"), out)
        items = [json.loads(line) for line in out.getvalue().decode().splitlines()]
        pairs = [list(pair) for i in items for pair in zip(i["tokens"], i["tags"], strict=True)]
    model.model_.training.pop("table")
    demand_same_file("trained", stored(expected), stored(model))
    labels = [k for row in expected.predict(X) for k in row]
    words = [w for s in X for w, _ in s]
    demand_same("labelled", [list(pair) for pair in zip(words, labels, strict=True)], pairs)


PARSERS = {name: s for name, s in TASKS.items() if name.startswith("parser")}


@relation("columns of CoNLL-U that are not read", PARSERS, cost="fit")
def unread_columns(subject: Subject, rng: Rng) -> None:
    """Lemmas, enhanced graphs and notes do not change a parser that does not read them."""
    drawn, X = subject.draw(rng), subject.inputs(rng, 2)

    def row(i: int, cells: Any, junk: bool) -> tuple[str, ...]:
        word, tag, head, label = (*((cells,) if isinstance(cells, str) else cells), "_", "_", "_")[
            :4
        ]
        lemma, deps, misc = (odd_string(rng) if junk else "_" for _ in range(3))
        return (str(i), word, lemma, tag, tag, "_", str(head), label, deps, misc)

    def corpus(sentences: Any, junk: bool) -> Corpus:
        rows = [[row(i, cells, junk) for i, cells in enumerate(s, 1)] for s in sentences]
        return Corpus.from_sentences(rows, "conllu")

    examples = drawn.X[:6]
    model = clone(drawn.estimator).fit(corpus(examples, False))
    other = clone(drawn.estimator).fit(corpus(examples, True))
    demand_same_file("trained", stored(model), stored(other))
    demand_same(
        "predict", plain(model.predict(corpus(X, False))), plain(model.predict(corpus(X, True)))
    )
