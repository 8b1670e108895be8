"""Subjects in two variants: with calibrated models, and with models as fitted."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.metamorphic.distributions import POOL, at_temperature
from fuzz.metamorphic.few_labels import FEW_LABELS
from fuzz.metamorphic.subjects import TEXT_TASKS, Subject

Rng = np.random.Generator


@dataclass(frozen=True)
class Variant:
    """A subject whose models are calibrated, or left as fitted."""

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


def named(*beginnings: str) -> list[Subject]:
    """Return the text tasks whose names begin with a prefix."""
    everything = {**TEXT_TASKS, **FEW_LABELS}
    return [s for name, s in everything.items() if name.startswith(beginnings)]
