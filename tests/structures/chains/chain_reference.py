"""Chains in plain NumPy, with logarithms throughout: slow, short, and independent of the core."""

from __future__ import annotations

import numpy as np


def log_sum(x, axis):
    """Return log Σ exp along an axis; −∞ where all are."""
    top = np.max(x, axis=axis, keepdims=True)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        return np.squeeze(np.log(np.exp(x - shift).sum(axis=axis, keepdims=True)) + shift, axis)


def transition_order(name, order):
    return order if name == "transition" else int(name.removeprefix("transition"))


def node_tables(scores, order):
    """Return, for each position, the scores of the window that ends there, oldest label first."""
    label = np.asarray(scores["label"], dtype=float)
    length, n_labels = label.shape
    tables = []
    for t in range(length):
        width = min(t, max(order, 1)) + 1
        table = np.zeros((n_labels,) * width) + label[t]
        if t == 0 and "start" in scores:
            table = table + scores["start"]
        if t == length - 1 and "end" in scores:
            table = table + scores["end"]
        for name, a in scores.items():
            if name.startswith("transition"):
                j = transition_order(name, order)
                if j <= t:
                    table = table + (a[t - j] if np.ndim(a) > j + 1 else a)
        tables.append(table)
    return tables


def reduce_window(x, order, reduce):
    """Drop the oldest label once the window is full."""
    return reduce(x, 0) if x.ndim > max(order, 1) else x


def best_value(scores, order):
    """Return the maximum by dynamic programming."""
    alpha = None
    for table in node_tables(scores, order):
        x = table if alpha is None else alpha[..., np.newaxis] + table
        alpha = reduce_window(x, order, np.max) if alpha is not None else x
    return float(alpha.max())


def viterbi(label, transition):
    """Return the best path of a first-order chain and its score; ties go to the first label."""
    alpha = label[0] + 0.0
    back = []
    for t in range(1, len(label)):
        table = transition[t - 1] if transition.ndim == 3 else transition
        arrive = alpha[:, np.newaxis] + table
        back.append(arrive.argmax(axis=0))
        alpha = arrive.max(axis=0) + label[t]
    path = [int(alpha.argmax())]
    for pointers in reversed(back):
        path.append(int(pointers[path[-1]]))
    return float(alpha.max()), np.array(path[::-1])


def forward_backward(scores, order, temperature):
    """Return ε log Z and the marginals, position by position."""
    tables = [t / temperature for t in node_tables(scores, order)]
    alphas = [tables[0]]
    for table in tables[1:]:
        alphas.append(reduce_window(alphas[-1][..., np.newaxis] + table, order, log_sum))
    log_z = float(log_sum(alphas[-1].ravel(), 0))
    n_labels = len(tables[0])
    marginals = {"label": np.zeros((len(tables), n_labels))}
    for name in scores:
        if name in ("start", "end"):
            marginals[name] = np.zeros(n_labels)
        elif name != "label":
            j = transition_order(name, order)
            marginals[name] = np.zeros((max(len(tables) - j, 0),) + (n_labels,) * (j + 1))
    beta = np.zeros(alphas[-1].shape)
    for t in range(len(tables) - 1, -1, -1):
        future = tables[t] + beta  # broadcasts over the label that left the window
        joint = future if t == 0 else alphas[t - 1][..., np.newaxis] + future
        p = np.exp(joint - log_z)
        own = p.sum(axis=tuple(range(p.ndim - 1)))
        marginals["label"][t] = own
        if t == 0 and "start" in scores:
            marginals["start"] = own
        if t == len(tables) - 1 and "end" in scores:
            marginals["end"] = own
        for name in scores:
            if name.startswith("transition"):
                j = transition_order(name, order)
                if j <= t:
                    marginals[name][t - j] = p.sum(axis=tuple(range(p.ndim - j - 1)))
        beta = log_sum(future, future.ndim - 1) if t else None
    return temperature * log_z, marginals


def summed(marginals, scores):
    """Sum the marginals of shared blocks over positions, as ``infer`` gives them."""
    return {
        name: p.sum(axis=0) if p.ndim > np.ndim(scores[name]) else p
        for name, p in marginals.items()
    }
