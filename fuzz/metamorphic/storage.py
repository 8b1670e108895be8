"""Relations on storage: saved, loaded, copied and refitted models are the same."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
from sklearn.base import clone

from fuzz.metamorphic.answers import Different, ask, demand_same, plain
from fuzz.metamorphic.model_files import (
    demand_same_file,
    loaded,
    precisions,
    stored,
    tables,
)
from fuzz.metamorphic.queries import QUERIES
from fuzz.metamorphic.relation import relation
from fuzz.metamorphic.subjects import ESTIMATORS, PIPELINES, TASKS, Subject

Rng = np.random.Generator
ALL = {**TASKS, **ESTIMATORS}
ROUNDED = {name: s for name, s in TASKS.items() if name.startswith(("tagger", "parser"))}


def fit_relation(name: str, subjects: Any = ALL, pipelines: Any = PIPELINES, **options: Any) -> Any:
    """Register a relation over fits, and over those of pipelines by the name "pipeline: …"."""

    def register(check: Any) -> Any:
        if pipelines:
            relation(f"pipeline: {name}", pipelines, cost="pipeline", **options)(check)
        return relation(name, subjects, cost="fit", **options)(check)

    return register


def _answers(subject: Subject, rng: Rng) -> Any:
    """Return a function from a model to its answers to fixed random queries."""
    X = subject.inputs(rng, int(rng.integers(1, 4)))
    names = rng.choice(subject.queries, size=min(2, len(subject.queries)), replace=False)
    return lambda model: {str(name): ask(lambda q=name: QUERIES[q](model, X)) for name in names}


#: Parameters that affect only the process of training: files do not contain them.
_PASSING = ("n_jobs", "verbose", "checkpoint", "callbacks", "functions")


def _parameters(model: Any) -> dict[str, Any]:
    """Return the parameters with plain values."""
    kinds = (bool, int, float, str, type(None))
    parameters = model.get_params().items()
    return {k: v for k, v in parameters if k not in _PASSING and isinstance(v, kinds)}


def _facts(model: Any) -> dict[str, Any]:
    """Return the training record of an estimator from its file, without times."""
    history = getattr(model, "history_", ())
    facts = {"history": [{k: v for k, v in r.items() if k != "seconds"} for r in history]}
    names = (
        "objective_",
        "duality_gap_",
        "classes_",
        "n_iter_",
        "solver_",
        "temperature_",
        "calibrated_",
    )
    return plain({**facts, **{name: getattr(model, name, None) for name in names}})


@fit_relation("load, then save = the file")
def saved_again(subject: Subject, rng: Rng) -> None:
    """Saving a loaded model gives the same bytes, in every precision, repeatedly."""
    model = subject.draw(rng).fit()
    for precision in precisions(model):
        content = stored(model, precision)
        demand_same_file(f"{precision} again", content, stored(loaded(content), precision))
        demand_same_file(f"{precision} as it came", content, stored(loaded(content)))


@fit_relation("loaded = saved")
def loaded_is_saved(subject: Subject, rng: Rng) -> None:
    """A loaded model answers like the saved one; a rounded one like itself after further saves."""
    model, answers = subject.draw(rng).fit(), _answers(subject, rng)
    exact = precisions(model)[0]
    content = stored(model, exact)
    again = loaded(content)
    expected = answers(model)
    demand_same("loaded", expected, answers(again))
    demand_same("parameters", _parameters(model), _parameters(again))
    if subject.name in ESTIMATORS:
        demand_same("training", _facts(model), _facts(again))
    for precision in precisions(model)[1:]:
        rounded = loaded(stored(model, precision))
        demand_same_file(f"{precision} of the loaded one", stored(model, precision),
                         stored(again, precision))  # fmt: skip
        expected = answers(rounded)
        exactly = loaded(stored(rounded, exact))
        demand_same(f"{precision}, then {exact}", expected, answers(exactly))
        demand_same(f"{precision} twice", expected, answers(loaded(stored(rounded, precision))))


def _bounds(name: str, precision: str, w: Any) -> tuple[Any, Any]:
    """Return the least and the largest value that each weight may have after rounding.

    float16 has only one value; int8 has 255, for taggers in steps of 1/127 of the largest weight,
    for parsers in steps of 1/127 of its root.
    """
    if precision == "float16":
        values = np.clip(w, -65504.0, 65504.0).astype(np.float16).astype(np.float64)
        return values, values
    size = np.abs(w)
    largest = size.max(initial=0.0) or 1.0
    slack = 1e-5 * largest  # codes and scales are stored in 32 bits
    if not name.endswith(("weights", "pruner")):
        return w - largest / 254 - slack, w + largest / 254 + slack
    root, half = np.sqrt(size / largest), 0.5 / 127
    near = np.where(root > half, (root - half) ** 2, 0.0) * largest - slack
    outer = (root + half) ** 2 * largest + slack
    return np.where(w > 0, near, -outer), np.where(w > 0, outer, -near)


@fit_relation("weights are rounded once", ROUNDED, claim="to the rounding")
def rounded_once(subject: Subject, rng: Rng) -> None:
    """Each weight of a rounded model is the exact one's, rounded as the precision says."""
    model = subject.draw(rng).fit()
    exact = tables(model)
    for precision in ("float16", "int8"):
        rounded = tables(loaded(stored(model, precision)))
        demand_same(f"{precision}, tables", sorted(exact), sorted(rounded))
        for name, weights in exact.items():
            before = np.array(list(weights.values()))
            after = np.array([rounded[name].get(place, 0.0) for place in weights])
            least, most = _bounds(name, precision, before)
            for k in np.flatnonzero((after < least) | (after > most))[:1]:
                mismatch = f"{before[k]} became {after[k]}, not {least[k]} to {most[k]}"
                raise Different(f"{precision} of {'an arc' if 'weights' in name else 'a feature'} "
                                f"in {name}: {mismatch}")  # fmt: skip


@fit_relation("copied = original")
def copied(subject: Subject, rng: Rng) -> None:
    """Pickled, deeply and shallowly copied models answer and are saved like the original."""
    model, answers = subject.draw(rng).fit(), _answers(subject, rng)
    exact = precisions(model)[0]
    expected, content = answers(model), stored(model, exact)
    copies = {
        "pickle": pickle.loads(pickle.dumps(model)),
        "deepcopy": copy.deepcopy(model),
        "copy": copy.copy(model),
        "pickle of the loaded one": pickle.loads(pickle.dumps(loaded(content))),
    }
    for name, other in copies.items():
        demand_same_file(name, content, stored(other, exact))
        demand_same(name, expected, answers(other))
        demand_same(f"{name}, parameters", _parameters(model), _parameters(other))


@fit_relation("fitted again = fitted")
def fitted_again(subject: Subject, rng: Rng) -> None:
    """A clone, the fitted model itself and the loaded one learn the same from the same data."""
    drawn = subject.draw(rng)
    model = drawn.fit()
    content = stored(model)
    data = (drawn.X,) if drawn.y is None else (drawn.X, drawn.y)
    demand_same_file("clone", content, stored(clone(model).fit(*data)))
    again = loaded(content)
    demand_same_file("loaded", content, stored(clone(again).fit(*data)))
    if not model.get_params().get("warm_start"):
        demand_same_file("itself", content, stored(copy.deepcopy(model).fit(*data)))
