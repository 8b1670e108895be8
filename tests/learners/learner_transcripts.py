"""The online algorithms as the books print them, in NumPy, with one weight vector and no tricks.

Weights are (label (K, d), start (K,), end (K,), transition (K, K)) for chains, (K, d) for single
labels; all flat in ``w``.
"""

from __future__ import annotations

import itertools

import numpy as np


class MulticlassModel:
    """φ(x, k): x in the k-th of K blocks (eq. 17.2)."""

    def __init__(self, n_labels, n_features):
        self.n_labels = n_labels
        self.size = n_labels * n_features

    def phi(self, x, k):
        out = np.zeros((self.n_labels, len(x)))
        out[k] = x
        return out.ravel()

    def argmax(self, w, x, y=None):
        """Return the best label; with y, the best after adding 1 to every other one."""
        scores = w.reshape(self.n_labels, -1) @ x
        if y is not None:
            scores = scores + (np.arange(self.n_labels) != y)
        return int(np.argmax(scores))

    def outputs(self, x):
        return range(self.n_labels)

    def cost(self, y, z):
        return float(y != z)

    def split(self, w):
        return w.reshape(self.n_labels, -1)


class ChainModel:
    """Unary, boundary and Markov features of a label sequence."""

    def __init__(self, n_labels, n_features, forbidden=()):
        self.n_labels, self.n_features = n_labels, n_features
        self.mask = np.zeros((n_labels, n_labels))
        for pair in forbidden:
            self.mask[pair] = -np.inf
        self.size = n_labels * (n_features + 2 + n_labels)

    def split(self, w):
        K, d = self.n_labels, self.n_features
        return {
            "label": w[: K * d].reshape(K, d),
            "start": w[K * d : K * d + K],
            "end": w[K * d + K : K * d + 2 * K],
            "transition": w[K * d + 2 * K :].reshape(K, K),
        }

    def phi(self, x, y):
        out = np.zeros(self.size)
        blocks = self.split(out)
        for t, k in enumerate(y):
            blocks["label"][k] += x[t]
            if t:
                blocks["transition"][y[t - 1], k] += 1
        blocks["start"][y[0]] += 1
        blocks["end"][y[-1]] += 1
        return out

    def argmax(self, w, x, y=None):
        """Algorithm 42 with line 12 as y_l ← ζ[l+1, y_{l+1}]; with y, eq. 17.30 for the weights."""
        blocks = self.split(w)
        label = x @ blocks["label"].T
        if y is not None:
            label = label + (np.arange(self.n_labels) != np.asarray(y)[:, np.newaxis])
        label[0] += blocks["start"]
        label[-1] += blocks["end"]
        alpha, back = label[0], []
        for t in range(1, len(x)):
            table = alpha[:, np.newaxis] + blocks["transition"] + self.mask
            back.append(table.argmax(axis=0))
            alpha = table.max(axis=0) + label[t]
        path = [int(alpha.argmax())]
        for pointers in reversed(back):
            path.append(int(pointers[path[-1]]))
        return path[::-1]

    def outputs(self, x):
        return [list(y) for y in itertools.product(range(self.n_labels), repeat=len(x))]

    def cost(self, y, z):
        return float(sum(a != b for a, b in zip(y, z, strict=True)))


def perceptron(model, X, y, max_iter, sample_weight=None):
    """Algorithms 39 and 40; return the weights after each example."""
    w, visited = np.zeros(model.size), []
    scale = np.ones(len(X)) if sample_weight is None else sample_weight
    for _ in range(max_iter):
        for x, gold, s in zip(X, y, scale, strict=True):
            guess = model.argmax(w, x)
            if guess != gold:
                w = w + s * (model.phi(x, gold) - model.phi(x, guess))
            visited.append(w)
    return visited


def algorithm_41(model, X, y, max_iter, C, sample_weight=None):
    """Stochastic subgradient as printed, λ = 1/(2C)."""
    w, visited = np.zeros(model.size), []
    shrink = 1 - 1 / (2 * C) / len(X)
    scale = np.ones(len(X)) if sample_weight is None else sample_weight
    for _ in range(max_iter):
        for x, gold, s in zip(X, y, scale, strict=True):
            guess = model.argmax(w, x, gold)
            if guess != gold:
                w = w + s * (model.phi(x, gold) - model.phi(x, guess))
            w = w * shrink
            visited.append(w)
    return visited


def decaying(model, X, y, max_iter, C, sample_weight=None):
    """w ← w − (1/t)·∇(½‖w‖² + C·N·loss of one example), the hinge."""
    w, visited, t = np.zeros(model.size), [], 0
    scale = np.ones(len(X)) if sample_weight is None else sample_weight
    for _ in range(max_iter):
        for x, gold, s in zip(X, y, scale, strict=True):
            t += 1
            guess = model.argmax(w, x, gold)
            slope = s * (model.phi(x, guess) - model.phi(x, gold))
            w = w - (w + C * len(X) * slope) / t
            visited.append(w)
    return visited


def decaying_log_loss(model, X, y, max_iter, C):
    """The same for the log loss, the expectation by enumeration."""
    w, visited, t = np.zeros(model.size), [], 0
    for _ in range(max_iter):
        for x, gold in zip(X, y, strict=True):
            t += 1
            phi = np.array([model.phi(x, z) for z in model.outputs(x)])
            scores = phi @ w
            p = np.exp(scores - scores.max())
            slope = p @ phi / p.sum() - model.phi(x, gold)
            w = w - (w + C * len(X) * slope) / t
            visited.append(w)
    return visited


def _mistakes(model, X, y, max_iter, sample_weight, w, margin=True):
    """Yield w's holder's turn at each example: the loss and φ(x, y) − φ(x, ŷ), costs added."""
    scale = np.ones(len(X)) if sample_weight is None else sample_weight
    for _ in range(max_iter):
        for x, gold, s in zip(X, y, scale, strict=True):
            guess = model.argmax(w[0], x, gold if margin else None)
            delta = model.phi(x, gold) - model.phi(x, guess)
            loss = (model.cost(gold, guess) if margin else 0.0) - w[0] @ delta
            yield loss, delta, s


def passive_aggressive(model, X, y, max_iter, C, squared=False, sample_weight=None):
    """PA-I and PA-II of Crammer et al. (2006), max-loss, with the Hamming cost."""
    w, visited = [np.zeros(model.size)], []
    for loss, delta, s in _mistakes(model, X, y, max_iter, sample_weight, w):
        norm = delta @ delta
        if loss > 0 and norm > 0 and s > 0:
            tau = loss / (norm + 1 / (2 * C * s)) if squared else min(C * s, loss / norm)
            w[0] = w[0] + tau * delta
        visited.append(w[0])
    return visited


def arow(model, X, y, max_iter, r, sample_weight=None):
    """AROW of Crammer et al. (2009) with a dense covariance matrix that is kept diagonal."""
    w, visited = [np.zeros(model.size)], []
    covariance = np.eye(model.size)
    for loss, delta, s in _mistakes(model, X, y, max_iter, sample_weight, w):
        if loss > 0 and s > 0:
            beta = 1 / (delta @ covariance @ delta + r / s)
            w[0] = w[0] + loss * beta * covariance @ delta
            precision = np.linalg.inv(covariance) + np.diag(delta**2) * s / r
            covariance = np.linalg.inv(precision)
        visited.append(w[0])
    return visited


def adagrad(model, X, y, max_iter, C, eta, sample_weight=None):
    """Composite AdaGrad of Duchi et al. (2011) on the hinge: every weight at every step."""
    w, visited = [np.zeros(model.size)], []
    squares, decay = np.zeros(model.size), eta / (C * len(X))
    for _, delta, s in _mistakes(model, X, y, max_iter, sample_weight, w):
        squares = squares + (s * delta) ** 2
        H = 1 + np.sqrt(squares)
        w[0] = (H * w[0] + eta * s * delta) / (H + decay)
        visited.append(w[0])
    return visited


def adagrad_log_loss(model, X, y, max_iter, C, eta):
    """The same for the log loss, the expectation by enumeration."""
    w, visited = np.zeros(model.size), []
    squares, decay = np.zeros(model.size), eta / (C * len(X))
    for _ in range(max_iter):
        for x, gold in zip(X, y, strict=True):
            phi = np.array([model.phi(x, z) for z in model.outputs(x)])
            p = np.exp(phi @ w - (phi @ w).max())
            slope = p @ phi / p.sum() - model.phi(x, gold)
            squares = squares + slope**2
            H = 1 + np.sqrt(squares)
            w = (H * w - eta * slope) / (H + decay)
            visited.append(w)
    return visited
