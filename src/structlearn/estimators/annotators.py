"""Consensus labels from several annotators, and the reliability of each annotator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..array_types import Array, Integers
from ..metrics.schemes import are_chunk_labels, legal_transitions

Answers = Sequence[Mapping[str, Sequence[Any]]]
#: Keeps logarithms finite.
_SMALLEST = 1e-300


class Consensus(NamedTuple):
    """One labelling of a sentence.

    Attributes
    ----------
    labels : list of str
    confidence : list of float
        The posterior probability of each label.
    """

    labels: list[str]
    confidence: list[float]


class AnnotatorModel:
    """A model of annotators: a hidden true label for each token, and a noisy copy from each one.

        P(z, y) = P(z) · Π_t Π_j C_j[z_t, y_jt]

    C_j is the confusion matrix of annotator j. P(z) is a Markov chain over the tokens of a sentence
    (``sequence``), or independent for each token (Dawid and Skene's model). All is learned by EM
    from the shares of votes, with ``alpha`` pseudo-answers in each cell of a matrix. A round takes
    O(L·K² + answers·K) for L tokens and K labels.

    Parameters
    ----------
    sequence : bool, default=True
        Labels depend on the previous one. Chunk labels (B-, I-, O) then form legal sequences.
    max_iter : int, default=100
    tol : float, default=1e-6
        Stop when the objective grows by less than this for each token.
    alpha : float, default=0.1
        Pseudo-answers, above 0.

    Attributes
    ----------
    classes_ : list of str
        The labels.
    confusion_ : dict of str to array of shape (K, K)
        P(answer | true label) of each annotator, the true label in rows.
    accuracy_ : dict of str to float
        The probability that an answer of the annotator is right, given all answers.
    prior_, transition_ : array of shape (K,), (K, K)
        Of the first label (or of every label), and of the next label.
    objective_ : list of float
        The log likelihood plus the log prior in each round; it never falls.

    References
    ----------
    Dawid and Skene (1979), Maximum likelihood estimation of observer error-rates using the EM
    algorithm. Nguyen et al. (2017), Aggregating and predicting sequence labels from crowd
    annotations (the chain).

    Examples
    --------
    >>> from structlearn.estimators import AnnotatorModel
    >>> answers = [{"ann": ["A", "B"], "bob": ["A", "B"], "cy": ["B", "B"]}] * 5
    >>> AnnotatorModel().fit(answers).consensus(answers[:1])[0].labels
    ['A', 'B']
    """

    prior_: Array
    transition_: Array

    def __init__(
        self, sequence: bool = True, max_iter: int = 100, tol: float = 1e-6, alpha: float = 0.1
    ) -> None:
        self.sequence, self.max_iter, self.tol, self.alpha = sequence, max_iter, tol, alpha

    def fit(self, answers: Answers) -> AnnotatorModel:
        """Learn from the answers to each sentence.

        Parameters
        ----------
        answers : list of dict
            For each sentence the labels by each annotator: a string, a set of possible labels, or
            None for no answer, for each token.
        """
        if self.alpha <= 0:
            raise ValueError(f"alpha must be above 0, got {self.alpha!r}")
        names = sorted({name for sentence in answers for name in sentence})
        labels = {k for s in answers for row in s.values() for a in row for k in _members(a)}
        if not labels:
            raise ValueError("there are no answers to learn from")
        self.classes_ = sorted(labels)
        n = len(self.classes_)
        data = _Data(answers, names, self.classes_)
        self._legal_start, self._legal = np.ones(n), np.ones((n, n))
        if self.sequence and are_chunk_labels(self.classes_):
            self._keep_legal()
        # The first posterior: the shares of votes.
        votes = data.votes() + 1e-3
        posterior, pairs = votes / votes.sum(axis=1, keepdims=True), None
        confusion = {name: np.full((n, n), 1 / n) for name in names}
        self.objective_: list[float] = []
        for _ in range(self.max_iter):
            confusion = self._confusions(data, posterior, confusion)
            self.prior_, self.transition_ = self._chain(data, posterior, pairs)
            scores = data.log_answers(confusion)
            posterior, pairs, likelihood = self._posterior(data, scores)
            self.objective_.append(likelihood + self._log_prior(confusion))
            gained = self.objective_[-1] - self.objective_[-2] if len(self.objective_) > 1 else None
            if gained is not None and gained <= self.tol * data.n_tokens:
                break
        self.confusion_ = confusion
        right = {name: data.right(name, posterior, confusion[name]) for name in names}
        self.accuracy_ = {name: hits / max(n, _SMALLEST) for name, (hits, n) in right.items()}
        return self

    def consensus(self, answers: Answers) -> list[Consensus]:
        """Return the most probable labels of each sentence, and the probability of each label."""
        for sentence in answers:
            unknown = sorted(set(sentence) - set(self.confusion_))
            if unknown:
                raise ValueError(f"the model does not know the annotator {unknown[0]!r}")
        data = _Data(answers, sorted(self.confusion_), self.classes_)
        scores = data.log_answers(self.confusion_)
        posterior, _, _ = self._posterior(data, scores)
        results = []
        for begin, end in data.bounds:
            best = posterior[begin:end].argmax(axis=1)
            if self.sequence and end > begin:
                best = self._best_path(scores[begin:end])
            sure = posterior[np.arange(begin, end), best]
            results.append(Consensus([self.classes_[k] for k in best], sure.tolist()))
        return results

    # -- the chain ------------------------------------------------------------------------------

    def _keep_legal(self) -> None:
        number = {k: i for i, k in enumerate(self.classes_)}
        forbidden = legal_transitions(self.classes_, "bio")
        for k in forbidden["start"]:
            self._legal_start[number[k]] = 0
        for a, b in forbidden["transition"]:
            self._legal[number[a], number[b]] = 0

    def _chain(self, data: _Data, posterior: Array, pairs: Array | None) -> tuple[Array, Array]:
        """Return the prior and the transitions that best fit the expected counts."""
        if not self.sequence:
            prior = posterior.sum(axis=0) + self.alpha
            return prior / prior.sum(), np.ones((len(prior), len(prior)))
        if pairs is None:
            pairs = data.neighbours(posterior)
        prior = (posterior[data.firsts].sum(axis=0) + self.alpha) * self._legal_start
        table = (pairs + self.alpha) * self._legal
        return prior / prior.sum(), table / table.sum(axis=1, keepdims=True)

    def _posterior(self, data: _Data, scores: Array) -> tuple[Array, Array | None, float]:
        """Return P(z_t | answers), the expected label pairs, and the log likelihood."""
        top = scores.max(axis=1, keepdims=True)
        emitted = np.exp(scores - top)
        if not self.sequence:
            joint = emitted * self.prior_
            total = joint.sum(axis=1, keepdims=True)
            return joint / total, None, float((np.log(total) + top).sum())
        forward, backward = np.empty_like(emitted), np.ones_like(emitted)
        scale = np.empty(len(emitted))
        pairs = np.zeros_like(self.transition_)
        before: Any = None
        for at in data.steps:  # a position of all sentences that reach it
            row = self.prior_ if before is None else forward[before[: len(at)]] @ self.transition_
            row = row * emitted[at]
            scale[at] = np.maximum(row.sum(axis=1), _SMALLEST)
            forward[at] = row / scale[at, np.newaxis]
            before = at
        for at, after in zip(data.steps[-2::-1], data.steps[:0:-1], strict=True):
            here = at[: len(after)]
            message = emitted[after] * backward[after] / scale[after, np.newaxis]
            pairs += forward[here].T @ message
            backward[here] = message @ self.transition_.T
        posterior = forward * backward
        posterior /= posterior.sum(axis=1, keepdims=True)
        return posterior, pairs * self.transition_, float((np.log(scale) + top[:, 0]).sum())

    def _best_path(self, scores: Array) -> Integers:
        with np.errstate(divide="ignore"):
            prior, table = np.log(self.prior_), np.log(self.transition_)
        best, back = prior + scores[0], []
        for row in scores[1:]:
            ways = best[:, np.newaxis] + table
            back.append(ways.argmax(axis=0))
            best = ways.max(axis=0) + row
        path = [int(best.argmax())]
        for choice in reversed(back):
            path.append(int(choice[path[-1]]))
        return np.array(path[::-1])

    # -- the annotators -------------------------------------------------------------------------

    def _confusions(
        self, data: _Data, posterior: Array, confusion: Mapping[str, Array]
    ) -> dict[str, Array]:
        """Return the matrices that best fit the expected answers."""
        matrices = {}
        for name, before in confusion.items():
            counts = data.answered(name, posterior, before) + self.alpha
            matrices[name] = counts / counts.sum(axis=1, keepdims=True)
        return matrices

    def _log_prior(self, confusion: Mapping[str, Array]) -> float:
        """Return the logarithm of the Dirichlet prior, up to a constant."""
        tables = [*confusion.values(), self.prior_]
        tables += [self.transition_] if self.sequence else []
        return self.alpha * sum(float(np.log(t[t > 0]).sum()) for t in tables)


def majority_vote(answers: Answers) -> list[list[str | None]]:
    """Return the label with most votes for each token; ties go to the first in the alphabet.

    None if there is no answer. A set of possible labels splits its vote among them.
    """
    labels = sorted({k for s in answers for row in s.values() for a in row for k in _members(a)})
    data = _Data(answers, sorted({name for s in answers for name in s}), labels)
    votes = data.votes()
    best: list[str | None] = [None] * data.n_tokens
    for t in np.flatnonzero(votes.any(axis=1)):
        best[t] = labels[int(votes[t].argmax())]
    return [best[begin:end] for begin, end in data.bounds]


def _members(answer: Any) -> frozenset[Any]:
    """Return the labels that an answer allows; none if there is no answer."""
    if answer is None:
        return frozenset()
    return frozenset([answer]) if isinstance(answer, str) else frozenset(answer)


class _Data:
    """Answers as numbers: for each annotator the tokens, and the labels allowed by each answer."""

    def __init__(self, answers: Answers, names: Sequence[str], labels: Sequence[str]) -> None:
        lengths = []
        for s, rows in enumerate(answers):
            sizes = {len(row) for row in rows.values()}
            if len(sizes) != 1:
                raise ValueError(
                    f"sentence {s}: the annotators give {sorted(sizes)} labels"
                    if sizes
                    else f"sentence {s} has no answers"
                )
            lengths.append(sizes.pop())
        ends = np.cumsum([0, *lengths])
        self.bounds = list(zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True))
        self.n_tokens, n = int(ends[-1]), len(labels)
        self.firsts = np.array([a for a, b in self.bounds if b > a], dtype=np.int64)
        order = sorted((i for i, m in enumerate(lengths) if m), key=lambda i: -lengths[i])
        longest = lengths[order[0]] if order else 0
        self.steps = [
            np.array([self.bounds[i][0] + t for i in order if lengths[i] > t], dtype=np.int64)
            for t in range(longest)
        ]
        number = {k: i for i, k in enumerate(labels)}
        masks: dict[frozenset[int], int] = {}
        self.answers: dict[str, tuple[Integers, Integers]] = {}
        for name in names:
            tokens, codes = [], []
            for (begin, _), rows in zip(self.bounds, answers, strict=True):
                for t, answer in enumerate(rows.get(name, ())):
                    members = frozenset(number[k] for k in _members(answer) if k in number)
                    if 0 < len(members) < max(n, 2):
                        tokens.append(begin + t)
                        codes.append(masks.setdefault(members, len(masks)))
            self.answers[name] = np.array(tokens, np.int64), np.array(codes, np.int64)
        self.masks = np.zeros((len(masks), n))
        for members, code in masks.items():
            self.masks[code, list(members)] = 1

    def votes(self) -> Array:
        """Return the number of votes for each label of each token."""
        votes = np.zeros((self.n_tokens, self.masks.shape[1]))
        share = self.masks / self.masks.sum(axis=1, keepdims=True)
        for tokens, codes in self.answers.values():
            np.add.at(votes, tokens, share[codes])
        return votes

    def log_answers(self, confusion: Mapping[str, Array]) -> Array:
        """Return log P(answers to the token | true label)."""
        scores = np.zeros((self.n_tokens, self.masks.shape[1]))
        for name, (tokens, codes) in self.answers.items():
            logs = np.log(np.maximum(self.masks @ confusion[name].T, _SMALLEST))
            np.add.at(scores, tokens, logs[codes])
        return scores

    def answered(self, name: str, posterior: Array, confusion: Array) -> Array:
        """Return the expected number of each answer for each true label, for one annotator."""
        tokens, codes = self.answers[name]
        weight = np.zeros((len(self.masks), len(confusion)))
        np.add.at(weight, codes, posterior[tokens])
        # Each label of a set is the answer in proportion to its probability.
        weight /= np.maximum(self.masks @ confusion.T, _SMALLEST)
        counts: Array = confusion * (weight.T @ self.masks)
        return counts

    def right(self, name: str, posterior: Array, confusion: Array) -> tuple[float, float]:
        """Return the expected number of right answers of an annotator, and of all answers."""
        counts = self.answered(name, posterior, confusion)
        return float(np.trace(counts)), float(counts.sum())

    def neighbours(self, posterior: Array) -> Array:
        """Return expected label pairs as if neighbours were independent."""
        n = posterior.shape[1]
        pairs = np.zeros((n, n))
        for at, after in zip(self.steps[:-1], self.steps[1:], strict=True):
            pairs += posterior[at[: len(after)]].T @ posterior[after]
        return pairs
