"""Time until a CRF's objective is near the optimum: our solvers and CRFsuite's L-BFGS."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

from .. import rivals
from ..registry import Context, Result, Row, benchmark
from ..timing import Timing
from .training import _SHOWN, _corpora, _interleave, _run, _timing

__all__ = ["crf_fit", "crf_solvers"]

#: The relative distance above CRFsuite's final objective that counts as reached.
TOLERANCE = 1e-3


@benchmark
def crf_solvers(context: Context) -> Result:
    """CRF with CRFsuite's weights and c2 = 1: time to its final objective within 0.1 %."""
    result = Result()
    if rivals.load("crfsuite", result.skipped) is None:
        return result
    data = _corpora(result)[-1]
    common = {"data": data, "share": 0.05 if context.quick else 1.0}
    c2 = 1.0
    suite = {
        "job": "crfsuite",
        "algorithm": "lbfgs",
        "parameters": {"c1": 0.0, "c2": c2, "max_iterations": 100},
        **common,
    }
    first = _run(suite)
    # CRFsuite's objective is 2·c2 = 1/C times ours.
    C = 1 / (2 * c2)
    target = first["objective"] * C * (1 + TOLERANCE)
    parameters = {
        "C": C,
        "tol": 0.0,
        "max_iter": 500,
        "all_possible_transitions": False,
        "boundaries": False,
        "random_state": 0,
    }
    jobs: dict[str, dict[str, Any]] = {
        solver: {
            "job": "descend",
            "target": target,
            "parameters": {**parameters, "solver": solver},
            **common,
        }
        for solver in ("dual", "lbfgs")
    }
    repeats = context.times(2, 1)
    reports = _interleave(jobs, repeats)
    reports["crfsuite"] = [first, *(_run(suite) for _ in range(1, repeats))]
    theirs = _cpu(_reached(r, target / C) for r in reports["crfsuite"])
    dual = _cpu(r["curve"][-1][0] for r in reports["dual"])
    lbfgs = _cpu(r["curve"][-1][0] for r in reports["lbfgs"])
    case = f"{_SHOWN[data]}: within {TOLERANCE:.1%} of CRFsuite's final objective"
    result.rows += [
        Row.times(f"{case}, dual", "crfsuite lbfgs", dual, theirs, unit="s", at_least=20.0),
        Row.times(f"{case}, lbfgs", "crfsuite lbfgs", lbfgs, theirs, unit="s"),
        Row.times(f"{case}, dual", "ours, lbfgs", dual, lbfgs, unit="s"),
    ]
    for name in ("dual", "lbfgs"):
        last = reports[name][-1]
        f1 = f", F1 {last['f1']:.2f}" if "f1" in last else ""
        result.notes.append(
            f"{name}: {len(last['curve'])} iterations to {last['curve'][-1][1]:.6g}, "
            f"target {target:.6g}{f1}"
        )
    result.notes.append("processor time, as CRFsuite's log has it; from features ready to the goal")
    result.details = {"data": data, "target": target, "runs": reports}
    return result


@benchmark
def crf_fit(context: Context) -> Result:
    """``CRF().fit`` to a proven gap of 0.1 % and of 1 %, from lists of strings and dictionaries."""
    result = Result()
    if rivals.load("crfsuite", result.skipped) is None:
        return result
    data = _corpora(result)[-1]
    common = {"data": data, "share": 0.05 if context.quick else 1.0}
    parameters = {"C": 0.5, "all_possible_transitions": False, "boundaries": False}
    cases = {
        "lists of strings, gap 0.1 %": ({"tol": 1e-3}, 15.0),
        "dictionaries, gap 0.1 %": ({"tol": 1e-3}, 15.0),
        "lists of strings, gap 1 %": ({"tol": 1e-2}, 20.0),
    }
    jobs: dict[str, dict[str, Any]] = {
        case: {
            "job": "structlearn",
            "estimator": "crf",
            "dictionaries": case.startswith("dict"),
            "parameters": {**parameters, **own, "random_state": 0},
            **common,
        }
        for case, (own, _) in cases.items()
        if data == "conll2000" or not case.startswith("dict")
    }
    jobs["crfsuite"] = {
        "job": "crfsuite",
        "algorithm": "lbfgs",
        "parameters": {"c1": 0.0, "c2": 1.0},
        **common,
    }
    reports = _interleave(jobs, context.times(2, 1))
    theirs = reports["crfsuite"]
    for case in jobs:
        if case == "crfsuite":
            continue
        pair = _timing(reports[case], "fit"), _timing(theirs, "fit")
        title = f"{_SHOWN[data]}: {case}"
        target = cases[case][1]
        result.rows.append(
            Row.times(title, "crfsuite lbfgs, append and train", *pair, unit="s", at_least=target)
        )
        ours, suite = reports[case][-1], theirs[-1]
        f1 = f", F1 {ours['f1']:.2f} ({suite['f1']:.2f})" if "f1" in ours else ""
        result.notes.append(
            f"{case}: objective {ours['objective']:.6g} (CRFsuite's {suite['objective'] / 2:.6g}), "
            f"gap {ours['gap'] / ours['objective']:.2%}, reading X {ours['encode'][0]:.2f} s{f1}"
        )
    result.details = {"data": data, "runs": reports}
    return result


def _reached(report: dict[str, Any], target: float) -> float:
    """Return the time at which CRFsuite's objective first was at most the target."""
    seconds = accumulate(s for s, _ in report["curve"])
    return next(t for t, (_, loss) in zip(seconds, report["curve"], strict=True) if loss <= target)


def _cpu(seconds: Any) -> Timing:
    timing = Timing()
    for t in seconds:
        timing.add(t, t)
    return timing
