"""Relations on `evaluate`, `score` and `calibration` of fitted models, recounted."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np

from fuzz.metamorphic.answers import demand_same
from fuzz.metamorphic.distributions import node_spans, outside_segments
from fuzz.metamorphic.few_labels import FEW_LABELS
from fuzz.metamorphic.oracles import chunk_scores as chunking
from fuzz.metamorphic.oracles import token_scores
from fuzz.metamorphic.oracles.attachment_scores import attachment_scores
from fuzz.metamorphic.oracles.bracket_scores import bracket_scores
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, TEXT_TASKS, Subject
from structlearn.exceptions import CapabilityError
from structlearn.tasks import ConstituencyParser, DependencyParser, SegmentTagger, Tagger
from structlearn.text.trees import parse_brackets

Rng = np.random.Generator
ROUNDING = 1e-9
TASKS = {**TEXT_TASKS, **FEW_LABELS}
#: Models of each subject.
POOL = 10


def examples_of(subject: Subject, rng: Rng) -> list[Any]:
    """Return labelled examples, with a few labels replaced, some by unknown ones."""
    examples = subject.draw(rng).X[: int(rng.integers(1, 5))]
    if not isinstance(examples[0][0], tuple) or len(examples[0][0]) > 3:
        return examples
    labels = sorted({token[-1] for x in examples for token in x})
    if not any("-" in label for label in labels):
        labels.append("unseen")
    return [
        [(*token[:-1], str(rng.choice(labels)) if rng.random() < 0.1 else token[-1]) for token in x]
        for x in examples
    ]


def _predictions(model: Any, examples: list[Any]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return inputs, gold outputs and predicted ones."""
    if isinstance(model, ConstituencyParser):
        gold = [parse_brackets(text)[0] for text in examples]
        X: list[Any] = [tree.words for tree in gold]
    elif isinstance(model, DependencyParser):
        width = 2 if model.gold_tags else 1
        X = [[token[:width] for token in x] for x in examples]
        gold = [[token[2:] for token in x] for x in examples]
    else:
        X = [[token[:-1] for token in x] for x in examples]
        gold = [[token[-1] for token in x] for x in examples]
    return X, gold, model.predict(X)


def _expected(model: Any, gold: list[Any], predicted: list[Any]) -> dict[str, Any]:
    """Return the figures of `evaluate` by independent scorers."""
    if isinstance(model, ConstituencyParser):
        return bracket_scores(gold, predicted)
    if isinstance(model, DependencyParser):
        return attachment_scores(gold, predicted)
    written = gold
    if isinstance(model, SegmentTagger):
        written = [chunking.written_in(chunking.chunks(y), len(y), "bio") for y in gold]
    figures: dict[str, Any] = {
        "accuracy": token_scores.accuracy(written, predicted),
        "sentence_accuracy": token_scores.whole_accuracy(written, predicted),
        "tokens": sum(map(len, gold)),
        "sentences": len(gold),
    }
    if isinstance(model, SegmentTagger) or any(k.startswith("B-") for k in model.classes_):
        rows = chunking.chunk_scores(gold, predicted)
        right, proposed, wanted = (sum(row[i] for row in rows.values()) for i in range(3))
        figures |= {
            "precision": right / proposed if proposed else 0.0,
            "recall": right / wanted if wanted else 0.0,
            "f1": 2 * right / (proposed + wanted) if proposed + wanted else 0.0,
        }
    return figures


def _certainties(model: Any, X: list[Any], gold: list[Any], predicted: list[Any]) -> Any:
    """Return the probability of each predicted part, and whether it is right."""
    p: list[float] = []
    right: list[bool] = []
    options = {} if isinstance(model, Tagger) else {"least": 0.0}
    for shares, truth, guess in zip(
        model.predict_marginals(X, **options), gold, predicted, strict=True
    ):
        if isinstance(model, Tagger):
            p += [row[label] for row, label in zip(shares, guess, strict=True)]
            right += [a == b for a, b in zip(truth, guess, strict=True)]
            continue
        if isinstance(model, DependencyParser):
            p += [row.get(tuple(arc), 0.0) for row, arc in zip(shares, guess, strict=True)]
            right += [tuple(a) == tuple(b) for a, b in zip(truth, guess, strict=True)]
            continue
        if isinstance(model, SegmentTagger):
            parts: Any = [s for s in outside_segments(guess) if s[2] != "O"]
            true_chunks: Any = chunking.chunks(truth)
        else:
            root = model.model_.root
            parts, true_chunks = (
                # A node and a parent with the same span and label are one part.
                list(dict.fromkeys(s for s in node_spans(t)[0] if s[2] not in ("", root)))
                for t in (guess, truth)
            )
        p += [shares.get(part, 0.0) for part in parts]
        right += [part in true_chunks for part in parts]
    return [min(1.0, x) for x in p], right


@relation("evaluate", TASKS, claim="to 1e-9")
def evaluate(subject: Subject, rng: Rng) -> None:
    """`evaluate`, `score` and `calibration` are those of independent scorers on `predict`."""
    model, examples = subject.fitted(rng, POOL), examples_of(subject, rng)
    X, gold, predicted = _predictions(model, examples)
    expected, figures = _expected(model, gold, predicted), model.evaluate(examples)
    demand_same("evaluate", expected, {name: figures[name] for name in expected}, ROUNDING)
    if (question := int(rng.integers(3))) == 0:
        metric = {Tagger: "accuracy", DependencyParser: "las"}.get(type(model), "f1")
        demand_same("score", expected[metric], model.score(examples), ROUNDING)
        return
    if question == 1:
        order = rng.permutation(len(examples)).tolist()
        moved = model.evaluate([examples[i] for i in order])
        demand_same("another order", expected, {name: moved[name] for name in expected}, ROUNDING)
        return
    with contextlib.suppress(CapabilityError):
        p, right = _certainties(model, X, gold, predicted)
        if p:
            error = token_scores.expected_calibration_error(p, right, 10)
            demand_same("calibration error", error, model.calibration(examples).error, ROUNDING)


_TAGGERS = {
    name: s for name, s in TASKS.items() if name.startswith("tagger") and "chunk" not in name
}


@relation("evaluate: unknown labels", _TAGGERS, claim="to 1e-9")
def unknown_labels(subject: Subject, rng: Rng) -> None:
    """Tokens with unknown gold labels do not count."""
    model, examples = subject.fitted(rng, POOL), examples_of(subject, rng)
    X, gold, predicted = _predictions(model, examples)
    hidden = [[None if rng.random() < 0.3 else k for k in row] for row in gold]
    hidden[0][0] = gold[0][0]
    open_ones = [
        [(*token[:-1], "_" if k is None else k) for token, k in zip(x, row, strict=True)]
        for x, row in zip(examples, hidden, strict=True)
    ]
    figures = model.evaluate(open_ones)
    demand_same("accuracy", token_scores.accuracy(hidden, predicted), figures["accuracy"], ROUNDING)
    whole = token_scores.whole_accuracy(hidden, predicted)
    demand_same("sentence accuracy", whole, figures["sentence_accuracy"], ROUNDING)
    p, right = _certainties(model, X, gold, predicted)
    places = [i for i, k in enumerate(k for row in hidden for k in row) if k is not None]
    error = token_scores.expected_calibration_error(
        [p[i] for i in places], [right[i] for i in places], 10
    )
    demand_same("calibration error", error, model.calibration(open_ones).error, ROUNDING)


# -- estimators ---------------------------------------------------------------------------------


#: Estimators whose outputs are not labels of sites.
_OTHER_OUTPUTS = {
    f"estimator, {name}": "its outputs are not labels of sites"
    for name in ("semimarkov", "semimarkov given", "segment masks", "constrained segments",
                 "arborescence", "labelled arcs",
                 "spanning tree", "matching", "constituency", "lattice", "program")
}  # fmt: skip
_LABELLED = {
    name: s for name, s in ESTIMATORS.items() if "kbest" in s.queries and name not in _OTHER_OUTPUTS
}


@relation("score of estimators", _LABELLED, claim="to 1e-9", not_claimed=_OTHER_OUTPUTS)
def score_of_estimators(subject: Subject, rng: Rng) -> None:
    """The share of known labels that are right, each weighted as its example is."""
    model, drawn = subject.fitted(rng, POOL), subject.draw(rng)
    n = min(int(rng.integers(1, 4)), len(drawn.y))
    X, y = drawn.X[:n], [np.asarray(output, dtype=object) for output in drawn.y[:n]]
    names = model.classes_.tolist()
    gold = []
    for output in y:
        other = output.copy().reshape(-1)
        for i in range(other.size):
            if rng.random() < 0.3:
                other[i] = names[int(rng.integers(len(names)))]
        gold.append(other.reshape(output.shape))
    weights = rng.integers(0, 3, size=n).astype(float)
    if weights.sum() == 0:
        weights[:] = 1.0
    right = total = 0.0
    for w, truth, guess in zip(weights, gold, list(model.predict(X)), strict=True):
        a = truth.reshape(-1).tolist()
        for t, g in zip(a, np.asarray(guess, dtype=object).reshape(-1).tolist(), strict=True):
            right += w * (t is not None and t == g)
            total += w * (t is not None)
    if total:
        outputs = [output.tolist() if output.ndim else output.item() for output in gold]
        demand_same(
            "score", right / total, model.score(X, outputs, sample_weight=weights), ROUNDING
        )
