"""Agreement: published worked examples, and what holds for all data."""

import itertools
import math
import random

import pytest
from sklearn.metrics import cohen_kappa_score

from structlearn.metrics import alpha_by_label, cohen_kappa, krippendorff_alpha

#: Krippendorff (2011), section C: 4 observers, 12 units.
OBSERVERS = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def units(rows):
    return list(zip(*([None if k == "." else k for k in row.split()] for row in rows), strict=True))


def test_alpha_of_the_published_examples():
    assert round(krippendorff_alpha(units(OBSERVERS)), 3) == 0.743
    # Section A: binary, two observers; section B: five categories, two observers.
    binary = units(["0 1 0 0 0 0 0 0 1 0", "1 1 1 0 0 1 0 0 0 0"])
    assert round(krippendorff_alpha(binary), 3) == 0.095
    nominal = units(["a a b b d c c c e d d a", "b a b b b c c c e d d d"])
    assert round(krippendorff_alpha(nominal), 3) == 0.692


def by_pairs(rows):
    """Alpha as it is defined: disagreement among pairs of labels in units, and among all."""
    rows = [[k for k in row if k is not None] for row in rows]
    rows = [row for row in rows if len(row) > 1]
    labels = [k for row in rows for k in row]
    within = sum(
        sum(a != b for a, b in itertools.permutations(row, 2)) / (len(row) - 1) for row in rows
    )
    among = sum(a != b for a, b in itertools.permutations(labels, 2)) / (len(labels) - 1)
    return 1 - within / among


@pytest.mark.parametrize("seed", range(20))
def test_alpha_and_kappa_against_definitions(seed):
    draw = random.Random(seed)
    rows = [[draw.choice("abc") if draw.random() < 0.7 else None for _ in range(4)]
            for _ in range(30)]  # fmt: skip
    assert math.isclose(krippendorff_alpha(rows), by_pairs(rows))
    for label, found in alpha_by_label(rows).items():
        one = [[None if k is None else k == label for k in row] for row in rows]
        assert math.isclose(found, by_pairs(one))
    a, b = [row[0] or "a" for row in rows], [row[1] or "b" for row in rows]
    assert math.isclose(cohen_kappa(a, b), cohen_kappa_score(a, b))


def test_the_ends_of_the_scale():
    assert krippendorff_alpha(["aa", "bb"]) == cohen_kappa("ab", "ab") == 1
    assert krippendorff_alpha(["aa", "aa"]) == cohen_kappa("aa", "aa") == 1
    assert math.isnan(krippendorff_alpha(["a", "b"]))
    assert math.isnan(cohen_kappa([None], ["a"]))
    assert cohen_kappa("ab", "ba") == -1
