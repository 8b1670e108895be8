"""python-crfsuite on addresses: usaddress' own model and features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pycrfsuite
import usaddress

__all__ = ["MODEL", "features", "tagger"]

MODEL = usaddress.MODEL_PATH


def features(address: str) -> list[dict[str, Any]]:
    """Return the tokens of an address with usaddress' features."""
    tokens: list[dict[str, Any]] = usaddress.tokens2features(usaddress.tokenize(address))
    return tokens


def tagger() -> tuple[Callable[[Any], list[str]], Callable[[Any], list[dict[str, float]]]]:
    """Return functions that label the tokens of an address, and that return all marginals."""
    opened = pycrfsuite.Tagger()
    opened.open(MODEL)
    labels = opened.labels()

    def label(tokens: Any) -> list[str]:
        opened.set(tokens)
        labels: list[str] = opened.tag()
        return labels

    def marginals(tokens: Any) -> list[dict[str, float]]:
        opened.set(tokens)
        return [{k: opened.marginal(k, t) for k in labels} for t in range(len(tokens))]

    return label, marginals
