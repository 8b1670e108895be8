"""Models that are calibrated, and models as they were fitted, as subjects of their own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.metamorphic.distributions import POOL, at_temperature
from fuzz.metamorphic.few_labels import FEW_LABELS
from fuzz.metamorphic.subjects import TEXT_TASKS, Subject

__all__ = ["NOT_YET", "ONE_TEMPERATURE", "Variant", "both", "calibrated", "named"]

Rng = np.random.Generator

#: Set this once models that were not calibrated have one temperature on every surface, too: the
#: relations then ask them everywhere.
ONE_TEMPERATURE = False
NOT_YET = "uncalibrated models have one temperature per surface until models share one"


@dataclass(frozen=True)
class Variant:
    """A subject whose models are calibrated, or are as they were fitted."""

    subject: Subject
    calibrated: bool

    def model(self, rng: Rng) -> Any:
        """Return a model of the pool."""
        if self.calibrated:
            return at_temperature(self.subject, rng, calibrated=True)
        return self.subject.fitted(rng, POOL)


def _variants(subjects: Iterable[Subject], calibrated: bool) -> dict[str, Variant]:
    kind = "calibrated" if calibrated else "as fitted"
    return {f"{s.name}, {kind}": Variant(s, calibrated) for s in subjects}


def both(subjects: Iterable[Subject]) -> dict[str, Variant]:
    """Return both variants of each subject."""
    subjects = list(subjects)
    return {**_variants(subjects, True), **_variants(subjects, False)}


def calibrated(subjects: Iterable[Subject]) -> tuple[dict[str, Variant], dict[str, str]]:
    """Return the variants that share a temperature today, and why the others are left out."""
    subjects = list(subjects)
    if ONE_TEMPERATURE:
        return both(subjects), {}
    return _variants(subjects, True), dict.fromkeys(_variants(subjects, False), NOT_YET)


def named(*beginnings: str) -> list[Subject]:
    """Return the tasks over text whose names begin so."""
    everything = {**TEXT_TASKS, **FEW_LABELS}
    return [s for name, s in everything.items() if name.startswith(beginnings)]
