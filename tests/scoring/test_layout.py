"""Where each weight lives, and how layouts grow."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from structlearn.features.rows import FeatureRows
from structlearn.scoring.layout import WeightBlock, WeightLayout, observed_outcomes

REPEATABLE = settings(derandomize=True, deadline=None, database=None)


def sparse_block(exists):
    """A block whose weights are the true entries of a (features, outcomes) table."""
    exists = np.asarray(exists, dtype=bool)
    rows, columns = np.nonzero(exists)
    pointers = np.searchsorted(rows, np.arange(len(exists) + 1))
    return WeightBlock(
        (exists.shape[1],), len(exists), False, row_ptr=pointers.astype(np.uint32),
        column=columns.astype(np.uint32),
    )  # fmt: skip


def small():
    return WeightLayout(
        {
            "label": sparse_block([[1, 0, 1], [0, 1, 0]]),
            "start": None,
            "end": WeightBlock((3,), 1, True),
            "transition": WeightBlock((3, 3), 2, False),
        }
    )


def test_places():
    layout = small()
    assert layout.n_weights == 3 + 3 + 18
    assert [b.offset for b in layout.present().values()] == [0, 3, 6]
    w = np.arange(1.0, 25)
    coef = layout.coef(w)
    np.testing.assert_array_equal(coef["label"], [[1, 0], [0, 3], [2, 0]])
    np.testing.assert_array_equal(coef["end"], [4, 5, 6])
    assert coef["transition"].shape == (3, 3, 2)
    # Stored feature by feature: outcome (j, k) of feature f at 9 f + 3 j + k.
    for f, j, k in np.ndindex(2, 3, 3):
        assert coef["transition"][j, k, f] == 7 + 9 * f + 3 * j + k


def test_pack_is_the_inverse():
    layout = small()
    w = np.random.default_rng(0).normal(size=layout.n_weights)
    np.testing.assert_array_equal(layout.pack(layout.coef(w)), w)
    coef = layout.coef(w)
    coef["label"][0, 0] = 7.0
    assert layout.pack(coef)[0] == 7.0


def test_pack_of_the_wrong_blocks():
    layout = small()
    coef = layout.coef(np.zeros(layout.n_weights))
    with pytest.raises(ValueError, match=r"expected the blocks \['end', 'label', 'transition'\]"):
        layout.pack({"label": coef["label"]})
    with pytest.raises(ValueError, match=r"expected weights of shape \(3, 2\), got \(2, 3\)"):
        layout.pack({**coef, "label": coef["label"].T})


@settings(REPEATABLE, max_examples=100)
@given(seed=st.integers(0, 10_000))
def test_growing_keeps_every_weight_in_its_place(seed):
    """More features and more pairs: the union, with the old values where they were."""
    rng = np.random.default_rng(seed)
    n_labels, before, more = rng.integers(1, 5), rng.integers(0, 5), rng.integers(0, 4)
    old = rng.random((before, n_labels)) < 0.5
    new = rng.random((before + more, n_labels)) < 0.5
    first = WeightLayout({"label": sparse_block(old), "end": WeightBlock((3,), 1, True)})
    second = WeightLayout({"label": sparse_block(new), "end": WeightBlock((3,), 1, True)})
    grown = first.grown(second)
    union = new.copy()
    union[:before] |= old
    exists = grown.coef(np.ones(grown.n_weights))["label"].T
    np.testing.assert_array_equal(exists, union)
    assert grown.blocks["label"].n_weights == union.sum()
    w = rng.normal(size=first.n_weights)
    moved = first.move(w, grown)
    coef, expected = grown.coef(moved), first.coef(w)
    np.testing.assert_array_equal(coef["label"][:, :before], expected["label"])
    assert not coef["label"][:, before:].any()
    np.testing.assert_array_equal(coef["end"], expected["end"])


def test_growing_dense_rows():
    first = WeightLayout({"label": WeightBlock((3,), 2, False), "end": WeightBlock((3,), 1, True)})
    second = WeightLayout({"label": WeightBlock((3,), 4, False), "end": WeightBlock((3,), 1, True)})
    grown = first.grown(second)
    w = np.arange(1.0, 10)
    coef = grown.coef(first.move(w, grown))
    np.testing.assert_array_equal(coef["label"][:, :2], first.coef(w)["label"])
    assert not coef["label"][:, 2:].any()
    np.testing.assert_array_equal(coef["end"], [7, 8, 9])


@settings(REPEATABLE, max_examples=100)
@given(seed=st.integers(0, 10_000), n_outcomes=st.sampled_from([1, 2, 3, 5, 17, 64, 65, 130]))
def test_observed_outcomes(seed, n_outcomes):
    """Against a set of pairs; rows that are stored full say which entries are real."""
    rng = np.random.default_rng(seed)
    n_sites, n_features = rng.integers(1, 40), 4
    lists = [rng.integers(0, n_features, size=rng.integers(0, 4)) for _ in range(n_sites)]
    indptr = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    indices = np.concatenate([*lists, []]).astype(np.int32)
    rows = FeatureRows(np.array([0, n_sites]), n_features, None, indptr, indices)
    sites = rng.integers(0, n_sites, size=n_sites)
    outcomes = rng.integers(0, n_outcomes, size=n_sites)
    row_ptr, column, real = observed_outcomes(rows, n_outcomes, sites, outcomes)
    expected = {(int(f), int(k)) for s, k in zip(sites, outcomes, strict=True) for f in lists[s]}
    found = set()
    for f in range(n_features):
        row = column[row_ptr[f] : row_ptr[f + 1]].tolist()
        assert row == sorted(set(row))
        kept = [True] * len(row) if real is None else real[row_ptr[f] : row_ptr[f + 1]]
        found |= {(f, k) for k, is_real in zip(row, kept, strict=True) if is_real}
    assert found == expected


def test_observed_outcomes_of_a_shared_table():
    row_ptr, column, _ = observed_outcomes(None, 9, np.zeros(4), np.array([5, 2, 5, 8]))
    assert row_ptr.tolist() == [0, 3]
    assert column.tolist() == [2, 5, 8]
