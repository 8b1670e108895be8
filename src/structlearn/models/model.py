"""Everything that can be asked of a fitted model, for tasks and array estimators alike.

A model brings one hook, `_inputs`, which turns what a user gives into scored inputs, and says how
outputs and their parts are named (:mod:`~structlearn.models.hooks`). Every query is written here,
once.
"""

from __future__ import annotations

import math

from .hooks import Hooks
from .temperature import confidences, doubt, temperature_of, warn_of

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..metrics.calibration import Reliability
    from .inputs import Inputs

_PAIR = ("before", "after", "weight")
_FEATURE = ("label", "feature", "weight")


class Model(Hooks):
    """A fitted model: inputs that it scores, outputs that it names.

    A subclass gives the hooks. ``reading`` in the methods below is how X is read, where a task
    offers a choice: ``gold_tags`` of parsers, ``known`` of taggers, and the ``format`` of files
    with gold outputs.
    """

    # -- outputs --------------------------------------------------------------------------------

    def predict(self, X: Any, **reading: Any) -> Any:
        """Return the best output of each input."""
        return self._ask(X, self._best, self._no_output, reading)

    def predict_single(self, x: Any, **reading: Any) -> Any:
        """Return the best output of one input, ``predict([x])[0]``."""
        return self.predict([x], **reading)[0]

    def predict_kbest(
        self, X: Any, n: int = 5, *, forbidden: Any = None, **reading: Any
    ) -> list[list[tuple[float, Any]]]:
        """Return the n best outputs of each input as (score, output), best first.

        Fewer where there are no more. Where best outputs and sums live in different sets, these are
        the outputs that are summed over, and the first one may differ from :meth:`predict`.

        Parameters
        ----------
        forbidden : list of lists of parts, optional
            Parts that the outputs of each input must not have: (position, label) of a tagger,
            (start, end, label) of segments and constituents, (head, word) of dependency trees,
            words counted from 1. InfeasibleError is raised if no output is left. Estimators raise
            CapabilityError.
        """
        from ..checks import check_whole

        number = check_whole("n", n, 1)

        def answer(inputs: Any) -> list[Any]:
            if forbidden is not None:
                inputs = inputs.without(
                    [
                        [place for part in parts for place in self._checked_places(inputs, i, part)]
                        for i, parts in enumerate(forbidden)
                    ]
                )
            return [
                [(score, self._named(inputs, i, y)) for score, y in ranked]
                for i, ranked in enumerate(inputs.kbest(number, self.n_threads))
            ]

        return self._ask(X, answer, lambda: [(0.0, self._no_output())], reading)

    def sample(
        self,
        X: Any,
        n: int = 1,
        *,
        random_state: int | None = None,
        temperature: float | None = None,
        **reading: Any,
    ) -> list[list[Any]]:
        """Return n outputs of each input, drawn from the model's distribution.

        Parameters
        ----------
        random_state : int, optional
            The same number gives the same outputs.
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        from ..checks import check_whole

        number = check_whole("n", n, 1)
        seed = _seed(random_state)

        def answer(inputs: Inputs) -> list[Any]:
            drawn = inputs.sample(number, self._at(temperature), seed, self.n_threads)
            return [[self._named(inputs, i, y) for y in outputs] for i, outputs in enumerate(drawn)]

        return self._ask(X, answer, lambda: [self._no_output() for _ in range(number)], reading)

    # -- probabilities --------------------------------------------------------------------------

    @property
    def temperature_(self) -> float | None:
        """Of the model's distribution: the ε of the loss, else the one that a dev set gave.

        None: neither is there; scores are taken as they are, and a warning says so.
        """
        calibration = self.calibration_
        return self._loss_temperature if calibration is None else calibration.temperature

    @property
    def calibrated_(self) -> bool:
        """Whether confidence can be trusted.

        If a dev set has tried it, whether the reliability error is small on parts that were not
        fitted to; otherwise whether the probabilities are those of a log loss.
        """
        return not self._doubt()

    def predict_marginals(
        self,
        X: Any,
        *,
        least: float | None = None,
        temperature: float | None = None,
        **reading: Any,
    ) -> list[Any]:
        """Return the probabilities of the parts of each input's outputs.

        Parameters
        ----------
        least : float, optional
            Leave out parts of a smaller probability.
        temperature : float, optional
            Of the distribution P(output) ∝ exp(score / temperature). By default that of the model
            (:attr:`temperature_`), with a warning if it has none.
        """
        bound = self._least_shown if least is None else float(least)

        def answer(inputs: Inputs) -> list[Any]:
            return self._marginals(inputs, self._at(temperature), bound)

        return self._ask(X, answer, self._no_parts, reading)

    def entropy(self, X: Any, *, temperature: float | None = None, **reading: Any) -> list[float]:
        """Return the entropy of each input's distribution over outputs, in nats.

        0 where the model is certain; the log of the number of outputs where it knows nothing.

        Parameters
        ----------
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """

        def answer(inputs: Inputs) -> list[float]:
            return inputs.entropy(self._at(temperature), self.n_threads)

        return self._ask(X, answer, float, reading)

    def predict_proba(
        self, X: Any, y: Any = None, *, temperature: float | None = None, **reading: Any
    ) -> Any:
        """Return the probability of an output of each input, exp((score(y) − log Z) / T).

        Parameters
        ----------
        y : list of outputs, optional
            As ``predict`` returns them; by default those. An output that is not among those that
            are summed over has probability 0.
        temperature : float, optional
            As for :meth:`predict_marginals`.
        """
        return list(map(math.exp, self._log_probabilities(X, y, temperature, reading)))

    def log_loss(
        self, X: Any, y: Any, *, temperature: float | None = None, **reading: Any
    ) -> float:
        """Return the mean of −log P(y | x) over whole outputs; infinite if one is impossible."""
        found = self._log_probabilities(X, y, temperature, reading)
        return -math.fsum(found) / len(found) if found else 0.0

    def _log_probabilities(
        self, X: Any, y: Any, temperature: float | None, reading: dict[str, Any]
    ) -> list[float]:
        y = None if y is None else list(y)
        given = None if y is None else [one for one in y if not self._is_empty(one)]

        def answer(inputs: Inputs) -> list[float]:
            at = self._at(temperature)
            if given is not None and len(given) != len(inputs):
                raise ValueError(f"{len(given)} outputs for {len(inputs)} inputs")
            return self._log_shares(inputs, given, at)

        found = self._ask(X, answer, lambda: None, reading)
        if y is not None and list(map(self._is_empty, y)) != [one is None for one in found]:
            raise ValueError("an output without parts for an input with parts, or the reverse")
        return [one or 0.0 for one in found]

    def _log_shares(
        self, inputs: Any, outputs: list[Any] | None, temperature: float
    ) -> list[float]:
        """Return the log probability of a user's output of each input; None: of the best one."""
        sums = inputs.log_partition(temperature, self.n_threads)
        if outputs is None:
            scores = self._best_scores(inputs, temperature)
        else:
            scores = self._scores_of(inputs, outputs, temperature)
        return [
            s if s == -math.inf else min(0.0, (s - z) / temperature)
            for s, z in zip(scores, sums, strict=True)
        ]

    def _at(self, temperature: float | None) -> float:
        """Return the temperature that is asked for; warn if it is the model's and it has none."""
        if temperature is not None:
            from ..checks import check_number

            return check_number("temperature", temperature, above=True)
        warn_of(type(self).__name__, {"": self._doubt()})
        return temperature_of(self.temperature_)

    def _doubt(self) -> str:
        """Say why probabilities cannot be trusted; nothing if they can."""
        return doubt(self._loss_temperature, self.calibration_)

    # -- certainty ------------------------------------------------------------------------------

    def confidence(self, X: Any, **reading: Any) -> list[list[float]]:
        """Return the probability that each part of each predicted output is right.

        Parts are tokens, segments, arcs or labelled spans, in their order.
        """

        def answer(inputs: Inputs) -> list[list[float]]:
            outputs = inputs.solve(self.n_threads).outputs
            self._at(None)
            return self._confidences(inputs, outputs)

        return self._ask(X, answer, list, reading)

    def _confidences(self, inputs: Any, outputs: list[Any]) -> list[list[float]]:
        """Return the probability that each part of these outputs is right."""
        rows = self._certainties(inputs, outputs, temperature_of(self.temperature_))
        return confidences(self.calibration_, rows)

    def calibrate(self, X: Any, y: Any = None, **reading: Any) -> Any:
        """Learn from held-out examples how far probabilities can be trusted; return self.

        Sets :attr:`calibration_`. Predictions do not change. A learner with a log loss keeps its
        temperature; others get the one at which their own predictions surprise them least.

        Parameters
        ----------
        X, y : as ``fit`` takes them
            Examples that the model has not learned from.
        """
        from .calibration import calibrated_on

        inputs, outputs, right = self._judged(X, y, reading)
        self._keep_calibration(
            calibrated_on(
                lambda at: self._certainties(inputs, outputs, at), right, self._loss_temperature
            )
        )
        return self

    def calibration(self, X: Any, y: Any = None, **reading: Any) -> Reliability | None:
        """Compare the confidence of predicted parts with how often these are right.

        Parameters
        ----------
        X, y : as ``score`` takes them
            With gold outputs; parts that are not known are left out.

        Returns
        -------
        structlearn.metrics.calibration.Reliability or None
            None if nothing is known, or the model has no probabilities.
        """
        from ..exceptions import CapabilityError
        from ..metrics.calibration import reliability

        try:
            inputs, outputs, right = self._judged(X, y, reading)
            rows = self._confidences(inputs, outputs)
        except CapabilityError:
            return None
        pairs = [
            (p, ok)
            for row, judged in zip(rows, right, strict=True)
            for p, ok in zip(row, judged, strict=True)
            if ok is not None
        ]
        return reliability((p for p, _ in pairs), (ok for _, ok in pairs)) if pairs else None

    # -- what was learned -----------------------------------------------------------------------

    def top_features(
        self,
        label: Any = None,
        n: int = 10,
        *,
        in_words: bool = False,
        as_frame: bool = False,
    ) -> Any:
        """Return the features with the largest weights of a label.

        Parameters
        ----------
        label : label, optional
            A label, relation, category or class; by default all of them.
        n : int, default=10
            Features of each label.
        in_words : bool, default=False
            Phrases instead of the names of features: 'the word ends in "ing"'.
        as_frame : bool, default=False
            A pandas DataFrame instead of a list.

        Returns
        -------
        list of dict
            label, feature, weight; by label, the largest weight (by its absolute value) first; of
            models that count the largest probability. Where a tagger learns chunks as IOBES, the
            features of B- are those of S- and B-, the ones of I- those of I- and E-: their names
            begin with the label that is meant, "as S-NP: ...".
        """
        from ..checks import check_whole
        from .frames import as_records

        self._fitted()
        heaviest = self._heaviest(check_whole("n", n, 1))
        if label is not None:
            if label not in heaviest:
                raise ValueError(
                    f"the model has no label {label!r}; it has {', '.join(map(str, heaviest))}"
                )
            heaviest = {label: heaviest[label]}
        phrase = self._phrases() if in_words else str
        rows = [
            {"label": one, "feature": phrase(name), "weight": float(weight)}
            for one, features in heaviest.items()
            for name, weight in features
        ]
        return as_records(rows, _FEATURE, as_frame)

    def transitions(self, *, as_frame: bool = False) -> Any:
        """Return the weights of pairs of neighbouring labels.

        Parameters
        ----------
        as_frame : bool, default=False
            A pandas DataFrame instead of a list: a row for each label before, a column for each
            label after.

        Returns
        -------
        list of dict
            before, after, weight; −∞ is forbidden. Labels are those that were learned (S- and E-
            too where a tagger has the scheme IOBES). "(start)" is before the first label, "(end)"
            after the last; at order 0 these are all. Of a constituency parser: a label, what stands
            under it, and the weight of both; of counted rules their probability.
        """
        from .frames import as_records

        self._fitted()
        rows = [dict(zip(_PAIR, row, strict=True)) for row in self._pairs()]
        return as_records(rows, _PAIR, as_frame, wide=True)

    def explain(
        self, X: Any, *, in_words: bool = False, as_frame: bool = False, **reading: Any
    ) -> Any:
        """Return what decided the predictions, against their runners-up.

        Parameters
        ----------
        X : as ``predict`` takes it
        in_words : bool, default=False
            Phrases instead of the names of features: 'the word ends in "ing"'.
        as_frame : bool, default=False
            A pandas DataFrame instead of a list, with a row for each contribution.

        Returns
        -------
        list of list of dict
            By input, for each part: position, label, runner_up, margin (the difference of the
            scores of the best output and of the best one without that part), contributions: (name,
            value), the largest (by its absolute value) first, which add up to the margin. Taggers
            and parsers of dependencies have the token and the probability of the part too, with a
            warning if it is not calibrated. Parts without which there is no output have the
            runner-up None and an infinite margin. Labels of segments are (start, end, type), and
            the runner-up is a list of them; those of dependency trees are (head, relation). Where
            outputs are compared as a whole, such as trees of constituents, position is None.
        """
        from .frames import contributions_frame

        if self._tells_shares:
            self._at(None)  # warns if they cannot be trusted
        found = self._ask(X, self._decisions, list, reading)
        if in_words:
            phrase = self._phrases()
            for decision in (one for row in found for one in row):
                parts = decision["contributions"]
                decision["contributions"] = [(phrase(name), value) for name, value in parts]
        return contributions_frame(found) if as_frame else found


def _seed(random_state: int | None) -> int:
    if random_state is not None:
        from ..checks import check_whole

        return check_whole("random_state", random_state, 0)
    import os

    return int.from_bytes(os.urandom(4), "little")
