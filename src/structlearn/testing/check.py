"""The conformance check of a structure: every query against enumeration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..structures import Structure
from .batches import check_batches, check_keyword_order
from .best import check_argmax, check_kbest, is_exact
from .draws import check_sample
from .enumeration import Outputs, enumerate_outputs
from .inputs import MakeScores, forbid_all, forbid_some, given_inputs, vary
from .learning import check_learning
from .outputs import check_count, check_outputs
from .report import Report
from .sums import check_gradient, check_infer, check_infer_best
from .trial import Trial


def check_structure(
    structure: Structure,
    scores: Mapping[str, Any] | MakeScores | None = None,
    *,
    outputs: Outputs | None = None,
    n_labels: int = 3,
    n_inputs: int = 4,
    temperatures: Sequence[float] = (0.0, 0.3, 1.0, 5.0),
    n_samples: int = 2000,
    variations: bool = True,
    max_outputs: int = 50_000,
    max_kbest: int = 40,
    tolerance: float = 1e-9,
    learning: bool = False,
    random_state: int = 0,
) -> Report:
    """Check a structure against enumeration; raise ``AssertionError`` if it is wrong.

    Every output of small inputs is listed and scored, and the structure's answers are compared with
    those of enumeration: encode and decode, score, argmax, solve, infer (value and gradient,
    the gradient by finite differences too), log_partition, marginals, entropy, kbest, sample,
    count, one derivation per output, −∞ masks, no legal output, batches. A query that raises
    ``CapabilityError`` is noted in the report and does not fail.

    Parameters
    ----------
    structure : Structure
        Native, or written in Python.
    scores : dict, callable, or None
        One input, as a dict of block → array (with the topology, where that comes with the input),
        small enough to enumerate; or a function of a ``numpy.random.Generator`` that returns one
        and is called ``n_inputs`` times; or None for normal scores in the shapes of
        ``structure.blocks(n_labels)``.
    outputs : iterable or callable, optional
        The outputs, legal or not, each once; or a function of the scores (keyword arguments) that
        returns them; default: ``structure.outputs(**scores)``.
    n_labels : int
        Number of labels if ``scores`` is None.
    n_inputs : int
        Number of inputs to draw.
    temperatures : sequence of float
        The values of ε at which sums are compared.
    n_samples : int
        Draws whose frequencies are compared; 0 skips samples.
    variations : bool
        Also try each input with tied, large and forbidden scores, and with everything forbidden.
        False for structures whose scores are restricted.
    max_outputs, max_kbest : int
        The most outputs to enumerate, and to ask of ``kbest``.
    tolerance : float
        Allowed error of answers, besides rounding that grows with the scores.
    learning : bool, default=False
        Also fit a perceptron to the best outputs, with features in the shapes of the scores, and
        check that it predicts legal ones.
    random_state : int
        Seed of all random draws. The same seed makes the same checks.

    Returns
    -------
    Report
        The number of comparisons by query, and the queries the structure does not answer.

    Raises
    ------
    AssertionError
        Names the wrong query, its temperature and scores, the expected and the actual answer.

    Examples
    --------
    >>> from structlearn.structures import Chain
    >>> report = check_structure(Chain(order=1))
    >>> report.missing
    {}
    """
    if not isinstance(structure, Structure):
        raise TypeError(f"check_structure needs a Structure, got {type(structure).__name__}")
    if outputs is not None and not callable(outputs):
        outputs = list(outputs)
    rng = np.random.default_rng(random_state)
    report = Report(repr(structure))
    structure.checked_blocks(n_labels)
    inputs = given_inputs(structure, scores, n_inputs, n_labels, rng)

    def trial(name: str, theta: Mapping[str, Any]) -> Trial:
        truth = enumerate_outputs(structure, theta, outputs=outputs, limit=max_outputs)
        report.n_inputs += 1
        report.n_outputs += len(truth.outputs)
        return Trial(structure, name, truth, report, tolerance)

    def check(name: str, theta: Mapping[str, Any], draws: int = 0) -> Trial:
        checked = trial(name, theta)
        _check_input(checked, temperatures, draws, max_kbest, rng)
        return checked

    legal: list[Trial] = []
    for i, theta in enumerate(inputs):
        checked = check(f"number {i}", theta, n_samples)
        if not checked.truth.n_legal:
            continue
        legal.append(checked)
        if variations:
            topology = checked.truth.topology
            for name, other in vary(checked.scores):
                check(f"number {i}, {name}", {**other, **topology})
            for _ in range(2):
                masked = forbid_some(checked.truth, rng)
                check(f"number {i}, some forbidden", {**masked, **topology}, n_samples // 4)
            check(f"number {i}, all forbidden", {**forbid_all(checked.scores), **topology})
    if not legal:
        return report
    for checked in legal:
        check_keyword_order(checked)
    alike = [one.arguments for one in legal if set(one.arguments) == set(legal[0].arguments)]
    check_batches(structure, [*alike, alike[0]], report, random_state)
    if learning:
        check_learning(legal, random_state)
    return report


def _check_input(
    trial: Trial,
    temperatures: Sequence[float],
    n_samples: int,
    max_kbest: int,
    rng: np.random.Generator,
) -> None:
    """Check every query on one input."""
    check_outputs(trial)
    check_count(trial)
    if not trial.truth.n_legal:
        _check_refusals(trial, temperatures)
        return
    check_argmax(trial)
    check_kbest(trial, max_kbest)
    for temperature in temperatures:
        if temperature == 0:
            check_infer_best(trial)
        else:
            check_infer(trial, temperature)
        if temperature > 0 or is_exact(trial):
            check_gradient(trial, temperature, rng)
        if n_samples:
            n = n_samples if temperature > 0 else 3
            check_sample(trial, temperature, n, seed=int(rng.integers(2**31)))


def _check_refusals(trial: Trial, temperatures: Sequence[float]) -> None:
    trial.refuses("argmax")
    trial.refuses("solve")
    trial.refuses("kbest", 2)
    for temperature in temperatures:
        for query in ("infer", "log_partition", "marginals", "entropy"):
            trial.refuses(query, temperature=temperature)
        trial.refuses("sample", 2, temperature=temperature, random_state=0)
