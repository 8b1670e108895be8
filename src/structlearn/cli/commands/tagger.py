"""Commands of taggers: a label for every token."""

from __future__ import annotations

from ...printing import note
from .shared import fit_task, make_task, output_of, show_inside, show_scores

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["evaluate", "inspect", "label_options", "predict", "train"]


def train(o: Any) -> Callable[[], None]:
    """Learn a tagger; return what saves it."""
    from ...tasks.tagging.tagger import Tagger

    # A hidden Markov model has no features: the preset of the command is not for it.
    features = o.features or ("auto" if o.learner == "hmm" else o.preset)
    tagger = make_task(Tagger, o, features=features)
    start = None if o.start is None else Tagger.load(o.start)
    if o.stream:
        if o.cluster:
            raise ValueError("--stream reads one file on one machine: without --cluster")
        tagger.fit_stream(o.train, dev=o.dev, start=start, format=o.format)
    else:
        fit_task(tagger, o, start=start, format=o.format)
    return lambda: tagger.save(o.model, o.precision)


def predict(tagger: Any, o: Any, progress: Any) -> int:
    """Write the file with its labels."""
    tagger.label_file(
        o.input,
        output_of(o),
        **label_options(o),
        progress=progress,
        notice=lambda text: note(f"structlearn: {text}"),
    )
    return 0


def label_options(o: Any) -> dict[str, Any]:
    """Return the options of ``label_file`` that the command line has."""
    names = ("format", "nbest", "confidence", "marginals", "known", "header")
    return {name: getattr(o, name) for name in names}


def evaluate(tagger: Any, o: Any) -> int:
    """Print the scores of the file's labels."""
    from . import read_rival

    other = read_rival(o.against, evaluate)
    options = {"confidence": o.confidence, "against": other}
    return show_scores(tagger, o, options, {"confusions": o.confusions})


def inspect(tagger: Any, o: Any) -> int:
    """Show what the tagger has learned, and what decided its labels."""
    from ...tasks.tagging.inspection import inspect_tagger

    return show_inside(inspect_tagger, tagger, o, _tokens)


def _tokens(words: list[str]) -> Any:
    """Return words with the columns that stand behind them: The|DT."""
    return [tuple(token.split("|")) for token in words]
