"""Agreement between annotators: Cohen's kappa of two, Krippendorff's alpha of any number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any


def cohen_kappa(a: Sequence[Any], b: Sequence[Any]) -> float:
    """Return Cohen's kappa of the labels that two annotators give to the same items.

        κ = (p − e) / (1 − e)

    p is the share of items on which they agree, e the share expected if each drew from its own
    distribution of labels. 1: they always agree; 0: no better than chance.

    Parameters
    ----------
    a, b : sequences of labels
        None if an annotator gives no label: the item is left out.

    References
    ----------
    Cohen (1960), A coefficient of agreement for nominal scales.
    """
    pairs = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if not pairs:
        return float("nan")
    n = len(pairs)
    of_a, of_b = Counter(x for x, _ in pairs), Counter(y for _, y in pairs)
    agreed = sum(x == y for x, y in pairs) / n
    expected = sum(of_a[k] * of_b[k] for k in of_a) / n**2
    return 1.0 if expected == 1 else (agreed - expected) / (1 - expected)


def krippendorff_alpha(units: Iterable[Sequence[Any]]) -> float:
    """Return Krippendorff's alpha for labels without order.

        α = 1 − D_observed / D_expected

    over the pairs of labels given to the same unit by two annotators; a unit with m labels has
    weight m. Linear in the number of labels.

    Parameters
    ----------
    units : iterable of sequences
        The labels of each item, None if an annotator gave none. Units with fewer than two labels
        have nothing to compare and are left out.

    References
    ----------
    Krippendorff (2011), Computing Krippendorff's alpha-reliability, section C.

    Examples
    --------
    >>> from structlearn.metrics import krippendorff_alpha
    >>> round(krippendorff_alpha(["ab", "aa", "bb", "bb", "db", "cc"]), 3)
    0.532
    """
    totals: Counter[Any] = Counter()
    disagreed = 0.0
    for unit in units:
        counts = Counter(label for label in unit if label is not None)
        m = sum(counts.values())
        if m < 2:
            continue
        totals.update(counts)
        disagreed += (m * m - sum(c * c for c in counts.values())) / (m - 1)
    n = sum(totals.values())
    if not n:
        return float("nan")
    expected = (n * n - sum(c * c for c in totals.values())) / (n - 1)
    return 1.0 - disagreed / expected if expected else 1.0


def alpha_by_label(units: Iterable[Sequence[Any]]) -> dict[Any, float]:
    """Return Krippendorff's alpha of each label against all others."""
    rows = [[label for label in unit if label is not None] for unit in units]
    labels = sorted({label for row in rows for label in row})
    return {k: krippendorff_alpha([[label == k for label in row] for row in rows]) for k in labels}
