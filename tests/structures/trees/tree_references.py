"""What trees are held against: integer programs, sums of logarithms, and scores that are hard."""

import numpy as np
from scipy import optimize, sparse


def best_by_program(arc, *, single_root):
    """Return the score of the best arborescence by mixed-integer programming.

    One unit of flow leaves the root for every word, and arcs carry flow where they are used
    (single-commodity flow, Magnanti & Wolsey 1995).
    """
    size = len(arc)
    n = size - 1
    pairs = [(h, m) for h in range(size) for m in range(1, size) if h != m and arc[h, m] > -np.inf]
    k = len(pairs)
    rows, lower, upper = [], [], []

    def add(entries, low, high):
        row = np.zeros(2 * k)
        for column, value in entries:
            row[column] += value
        rows.append(row)
        lower.append(low)
        upper.append(high)

    for word in range(1, size):
        into = [a for a, (_, m) in enumerate(pairs) if m == word]
        out = [a for a, (h, _) in enumerate(pairs) if h == word]
        add([(a, 1) for a in into], 1, 1)
        add([(k + a, 1) for a in into] + [(k + a, -1) for a in out], 1, 1)
    for a in range(k):
        add([(k + a, 1), (a, -n)], -np.inf, 0)
    if single_root:
        add([(a, 1) for a, (h, _) in enumerate(pairs) if h == 0], 1, 1)
    found = optimize.milp(
        np.concatenate(([-arc[pair] for pair in pairs], np.zeros(k))),
        constraints=optimize.LinearConstraint(sparse.csr_matrix(np.array(rows)), lower, upper),
        integrality=np.concatenate((np.ones(k), np.zeros(k))),
        bounds=optimize.Bounds(0, np.concatenate((np.ones(k), np.full(k, n)))),
    )
    return -found.fun if found.success else -np.inf


def nested_cycles(n, rng):
    """Return scores whose best arcs close cycles inside cycles, worth more the deeper they are."""
    arc = rng.normal(size=(n + 1, n + 1))
    depth = np.zeros((n + 1, n + 1))
    span = 2
    while span < 2 * n:
        group = (np.arange(n) // span).astype(int)
        depth[1:, 1:] += group[:, None] == group
        span *= 2
    return arc + 10.0 * depth


def log_sum_projective(arc, *, single_root):
    """Return the log-partition of projective trees: Eisner's chart, all in logarithms."""
    size = len(arc)
    n = size - 1
    right, left, across, back, between = np.full((5, size, size), -np.inf)

    def add(x):
        top = x.max(initial=-np.inf)
        return top if np.isinf(top) else top + np.log(np.exp(x - top).sum())

    for i in range(n, -1, -1):
        right[i, i] = left[i, i] = 0.0
        for j in range(i + 1, size):
            between[i, j] = add(right[i, i:j] + left[i + 1 : j + 1, j])
            across[i, j] = between[i, j] + arc[i, j]
            right[i, j] = add(across[i, i + 1 : j + 1] + right[i + 1 : j + 1, j])
            if i:
                back[i, j] = between[i, j] + arc[j, i]
                left[i, j] = add(left[i, i:j] + back[i:j, j])
    return add(arc[0, 1:] + left[1, 1:] + right[1:, n]) if single_root else right[0, n]
