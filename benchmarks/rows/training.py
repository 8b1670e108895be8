"""Training on text against CRFsuite: averaged perceptron and CRF, each in its own process."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from .. import rivals
from ..data import data_folder
from ..environment import affinity
from ..limits import limits
from ..registry import Context, Result, Row, benchmark
from ..timing import Timing

__all__ = ["crf_gradient", "crf_lbfgs", "perceptron_csr"]

Reports = dict[str, list[dict[str, Any]]]

ROOT = Path(__file__).resolve().parent.parent.parent


def _run(job: dict[str, Any], cores: list[int] | None = None) -> dict[str, Any]:
    job = {**job, "cores": affinity() if cores is None else cores}
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.worker", json.dumps(job)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise RuntimeError(f"the run {job['job']} on {job['data']} failed: {last}")
    report: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return report


def _interleave(
    jobs: dict[str, dict[str, Any]], repeats: int, cores: dict[str, list[int]] | None = None
) -> Reports:
    """Run the jobs in turn, ``repeats`` times over."""
    reports: Reports = {name: [] for name in jobs}
    for _ in range(repeats):
        for name, job in jobs.items():
            reports[name].append(_run(job, (cores or {}).get(name)))
    return reports


def _timing(
    reports: list[dict[str, Any]], phase: str, share: str | None = None, *, cpu: bool = False
) -> Timing:
    """Return the times of one phase.

    Parameters
    ----------
    share : str, optional
        Divide by this count of the report.
    cpu : bool
        Processor time instead of the clock: CRFsuite's log has only that for its iterations.
    """
    timing = Timing()
    for report in reports:
        wall, processor = report[phase]
        n = report[share] if share else 1
        timing.add((processor if cpu else wall) / n, processor / n)
    return timing


def _increase(reports: list[dict[str, Any]], before: str = "memory_before") -> float | None:
    """Return the smallest growth of the memory during training, in MB."""
    if any(r[before] is None or not r["peak_from_here"] for r in reports):
        return None
    return float(min(r["memory_peak"] - r[before] for r in reports))


def _corpora(result: Result) -> list[str]:
    """Return the available data sets; missing ones are noted as skipped."""
    folder = data_folder()
    if folder is not None and (folder / "conll2000").is_dir():
        return ["synthetic", "conll2000"]
    result.skipped.append("conll2000 (not in STRUCTLEARN_DATA nor in ../shared/data)")
    return ["synthetic"]


_SHOWN = {"synthetic": "synthetic CSR", "conll2000": "CoNLL-2000"}


# -- perceptron -------------------------------------------------------------------------------


@benchmark
def perceptron_csr(context: Context) -> Result:
    """Averaged perceptron, 10 passes over text of CoNLL-2000's size: time, memory, accuracy."""
    result = Result()
    passes = 10
    has_rival = rivals.load("crfsuite", result.skipped) is not None
    for data in _corpora(result):
        common = {"data": data, "share": 0.1 if context.quick else 1.0}
        jobs: dict[str, dict[str, Any]] = {
            "ours": {
                "job": "structlearn",
                "estimator": "perceptron",
                "parameters": {"max_iter": passes, "random_state": 0},
                **common,
            }
        }
        if has_rival:
            jobs["crfsuite"] = {
                "job": "crfsuite",
                "algorithm": "ap",
                "parameters": {"max_iterations": passes},
                **common,
            }
        reports = _interleave(jobs, context.times(3, 1))
        sizes = _run({"job": "sizes", **common})
        _perceptron_rows(result, _SHOWN[data], reports, sizes)
        near = _perceptron_limits(reports["ours"], sizes, passes)
        result.details[data] = {"sizes": sizes, "limits": near, "runs": reports}
        result.notes.append(
            f"{_SHOWN[data]}: the passes are at {near['share_of_limit']:.0%} of the limit "
            f"(arithmetic {near['arithmetic_limit_s']:.2g} s, memory "
            f"{near['memory_limit_s']:.2g} s)"
        )
    return result


def _perceptron_rows(result: Result, shown: str, reports: Reports, sizes: dict[str, int]) -> None:
    ours, theirs = reports["ours"], reports.get("crfsuite")
    phases = (
        ("train", "after encoding", 4.0),
        ("loop", "passes only", None),
        ("fit", "all, from X to model", None),
    )
    for phase, text, target in phases:
        timing = _timing(ours, phase, cpu=phase == "loop")
        case = f"{shown}: {text}"
        if theirs:
            rival = _timing(theirs, phase, cpu=phase == "loop")
            row = Row.times(case, "crfsuite ap", timing, rival, unit="s", at_least=target)
        else:
            row = Row.amounts(case, "", timing.best, None, unit="s")
        result.rows.append(row)
    amounts = {
        "memory, increase": [_increase(r) for r in (ours, theirs) if r],
        "memory, peak": [min(x["memory_peak"] for x in r) for r in (ours, theirs) if r],
    }
    for text, values in amounts.items():
        if values[0] is not None:
            rival_value = values[1] if len(values) > 1 else None
            name = "crfsuite ap" if theirs else ""
            result.rows.append(
                Row.amounts(
                    f"{shown}: {text}", name, values[0], rival_value, unit="MB", at_least=1.0
                )
            )
    for name, runs in reports.items():
        result.notes.append(f"{shown}: {name}: {_quality(runs, sizes)}")


def _quality(runs: list[dict[str, Any]], sizes: dict[str, int]) -> str:
    last = runs[-1]
    f1 = f"F1 {last['f1']:.2f}, " if "f1" in last else ""
    speed = sizes["test_tokens"] / min(r["predict"][0] for r in runs)
    return f"{f1}accuracy {last['accuracy']:.2f}, tags {speed / 1e3:.0f}k tokens/s"


def _perceptron_limits(
    reports: list[dict[str, Any]], sizes: dict[str, int], passes: int
) -> dict[str, Any]:
    """Return how close the passes are to their limits.

    Viterbi takes 2K² operations per token; each occurrence of a feature needs its number (4 bytes),
    the place of its weights (8) and, for each label seen with it, the label and the weight (4 + 8).
    """
    operations = sizes["tokens"] * 2 * sizes["labels"] ** 2 + sizes["weights_read"]
    moved = sizes["occurrences"] * 12 + sizes["weights_read"] * 12
    return limits(
        _timing(reports, "loop", cpu=True).best,
        operations=passes * operations,
        bytes_moved=passes * moved,
    )


# -- CRF --------------------------------------------------------------------------------------


@lru_cache(maxsize=1)
def _crf_reports(context: Context) -> tuple[str, Reports, tuple[str, ...]]:
    """Train the same CRF with both, and once with two threads; used by two benchmarks."""
    noted = Result()
    data = _corpora(noted)[-1]
    common = {"data": data, "share": 0.05 if context.quick else 1.0}
    iterations = 10 if context.quick else 30
    c2 = 1.0
    # The same weights and the same objective as CRFsuite's: its c2 is 1 / (2C).
    parameters = {
        "C": 1 / (2 * c2),
        "solver": "lbfgs",
        "max_iter": iterations,
        "tol": 0.0,
        "all_possible_transitions": False,
        "boundaries": False,
    }
    ours = {"job": "structlearn", "estimator": "crf", "parameters": parameters, **common}
    jobs: dict[str, dict[str, Any]] = {"ours": ours}
    if rivals.load("crfsuite", noted.skipped):
        jobs["crfsuite"] = {
            "job": "crfsuite",
            "algorithm": "lbfgs",
            "parameters": {"c1": 0.0, "c2": c2, "max_iterations": iterations},
            **common,
        }
    cores = {}
    if len(context.cores) >= 2:
        jobs["ours, 2 threads"] = {**ours, "parameters": {**parameters, "n_jobs": 2}}
        cores["ours, 2 threads"] = list(context.cores[-2:])
    else:
        noted.skipped.append("2 threads (one core)")
    reports = _interleave(jobs, context.times(2, 1), cores)
    return data, reports, tuple(noted.skipped)


@benchmark
def crf_gradient(context: Context) -> Result:
    """One evaluation of a CRF's objective and gradient over all of the training data."""
    data, reports, skipped = _crf_reports(context)
    result = Result(skipped=list(skipped))
    for name, timing in _ours(reports, "gradient", "evaluations").items():
        case = f"{_SHOWN[data]}: evaluation{name}"
        if "crfsuite" in reports:
            rival = _timing(reports["crfsuite"], "loop", "evaluations")
            row = Row.times(case, "crfsuite lbfgs, an evaluation", timing, rival)
        else:
            row = Row.amounts(case, "", timing.best * 1e3, None, unit="ms")
        result.rows.append(row)
    result.details = {"data": data, "runs": reports}
    return result


@benchmark
def crf_lbfgs(context: Context) -> Result:
    """CRF by L-BFGS, 30 iterations: time an iteration, and how far down it gets."""
    data, reports, skipped = _crf_reports(context)
    result = Result(skipped=list(skipped))
    for name, timing in _ours(reports, "loop", "iterations").items():
        case = f"{_SHOWN[data]}: iteration{name}"
        if "crfsuite" in reports:
            rival = _timing(reports["crfsuite"], "loop", "iterations")
            row = Row.times(case, "crfsuite lbfgs", timing, rival)
        else:
            row = Row.amounts(case, "", timing.best * 1e3, None, unit="ms")
        result.rows.append(row)
    for text, phase in (("after encoding", "train"), ("all, from X to model", "fit")):
        if "crfsuite" in reports:
            pair = _timing(reports["ours"], phase), _timing(reports["crfsuite"], phase)
            case = f"{_SHOWN[data]}: {text}"
            result.rows.append(Row.times(case, "crfsuite lbfgs", *pair, unit="s"))
    increase = _increase(reports["ours"])
    if "crfsuite" in reports and increase is not None:
        result.rows.append(
            Row.amounts(
                f"{_SHOWN[data]}: memory, increase",
                "crfsuite lbfgs",
                increase,
                _increase(reports["crfsuite"]),
                unit="MB",
            )
        )
    for name, runs in reports.items():
        last = runs[-1]
        # CRFsuite's objective is 2·c2 = 1/C times ours.
        objective = last["objective"] * (1.0 if name == "crfsuite" else 2.0)
        f1 = f"F1 {last['f1']:.2f}, " if "f1" in last else ""
        result.notes.append(
            f"{name}: {last['iterations']} iterations, {last['evaluations']} evaluations, "
            f"objective {objective:.6g} (CRFsuite's scale), {f1}accuracy {last['accuracy']:.2f}"
        )
    result.details = {"data": data, "runs": reports}
    return result


def _ours(reports: Reports, phase: str, share: str) -> dict[str, Timing]:
    """Return our timings by the suffix of the case's name; those of two threads by the clock."""
    return {
        name.removeprefix("ours"): _timing(runs, phase, share, cpu=name == "ours")
        for name, runs in reports.items()
        if name.startswith("ours")
    }
