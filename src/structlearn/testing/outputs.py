"""Checks of outputs and parts: encode, decode, score, count."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..array_types import Array
from ..exceptions import CapabilityError
from ..structures.canonical import canonical
from ..structures.parts import flatten
from .trial import MISSING, Trial


def check_outputs(trial: Trial) -> None:
    """Decode is the inverse of encode, and the score is ⟨θ, μ(y)⟩, for every output."""
    truth = trial.truth
    for y, counts, value in zip(truth.outputs, truth.counts, truth.values.tolist(), strict=True):
        got = trial.ask("score", y)
        if got is not MISSING:
            trial.number(f"score({y!r})", value, got, trial.value_slack())
        if "decode" not in trial.report.missing:
            _check_round_trip(trial, y, counts)


def _check_round_trip(trial: Trial, y: Any, counts: dict[str, Array]) -> None:
    try:
        back = trial.structure.decode({name: c.copy() for name, c in counts.items()})
    except CapabilityError as error:
        trial.report.missing["decode"] = str(error)
        return
    except Exception as error:
        raise AssertionError(
            f"{trial.structure!r}.decode(encode({y!r})) raises {type(error).__name__}: {error}"
        ) from error
    if canonical(back) != canonical(y):
        trial.fail("decode(encode(y))", y, back)
    trial.report.count("encode and decode")


def check_count(trial: Trial) -> None:
    """The count is that of the legal outputs, and each has one derivation."""
    right = trial.truth.n_legal
    got = trial.ask("count")
    if got is not MISSING and got != right:
        trial.fail("count", f"{right} outputs with a finite score", got)
    theta = trial.structure._scores({**trial.scores, **trial.truth.topology})
    edges = trial.structure.edges(**theta, **trial.truth.topology)
    if edges is None:
        return
    blank = trial.structure.edges(
        **{name: np.zeros(a.shape) for name, a in theta.items()}, **trial.truth.topology
    )
    if blank is None or edges._edges != blank._edges:
        trial.fail(
            "edges", "edges that depend on the shapes of the scores alone", "others for zeros"
        )
    derivations = edges.count(flatten(theta))
    if derivations != right:
        trial.fail("edges", f"one derivation for each of {right} legal outputs", f"{derivations}")
    trial.report.count("one derivation per output")
