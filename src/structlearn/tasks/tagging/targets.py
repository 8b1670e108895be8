"""What a tagger is to learn of a corpus, and from which features."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...exceptions import FileError
from ...fitting.split_corpus import SplitCorpus
from ...metrics.schemes import are_chunk_labels
from ...text.corpus import Corpus, find_column
from ...text.presets import PRESETS, load_templates
from ...text.tables import POS_NAMES, plain_name
from ...text.templates import FeatureTemplates
from .model import TaggerModel


def check_legal(
    corpus: Corpus, target: int, forbidden: Mapping[str, Any], scheme: str | None
) -> None:
    """Refuse gold labels that the scheme forbids: no learner could ever reach them."""
    forbid = {name: set(entries) for name, entries in forbidden.items()}
    for s in range(len(corpus) if forbid else 0):
        before = None
        for t, label in enumerate(corpus.cells(s, target)):
            first = t == 0 and label in forbid["start"]
            if first or (before, label) in forbid["transition"]:
                place = "at the start" if first else f"after {before}"
                raise FileError(
                    corpus.path or "the corpus",
                    f"{label} {place} is not legal in the scheme {scheme!r}; "
                    "scheme 'iobes' converts the labels first",
                    corpus.core.line_number(s, t),
                )
            before = label


def find_targets(tagger: Any, corpus: SplitCorpus) -> list[int]:
    """Return the columns of the labels, from 0: as named, or the usual one of the format."""
    named = tagger.target
    if named is None:
        named = "upos" if corpus.format == "conllu" else "-1"
    names = named.split(",") if isinstance(named, str) else named
    if isinstance(names, int):
        names = [names]
    columns = [corpus.find_column(str(name).strip()) for name in names]
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"target must name columns, each of them once, got {named!r}")
    return columns


def usual_features(corpus: SplitCorpus, targets: Sequence[int], unknown: str) -> str:
    """Choose a preset by the labels: chunks, entities (mostly outside), or tags."""
    if len(targets) > 1:
        return "pos"
    counts = corpus.counts(targets[0])
    if not are_chunk_labels([k for k in counts if k != unknown]) or corpus.n_columns < 3:
        return "pos"
    return "ner" if counts.get("O", 0) > 0.6 * corpus.n_tokens else "chunk"


def templates_for(
    features: Any, functions: Any, corpus: SplitCorpus, targets: Sequence[int]
) -> FeatureTemplates:
    """Load templates; those of a preset that read tags are left out where no column has tags.

    A file of words and labels has two columns, and the second one, called ``pos``, is the target.
    """
    templates = load_templates(features, functions)
    tags = None
    if corpus.n_columns > 1:
        tags = find_column("pos", corpus.format, corpus.n_columns)
    # In a table the second column may be anything: its own name tells.
    others = bool(corpus.names) and plain_name(corpus.names[tags or 0]) not in POS_NAMES
    if features in PRESETS and (tags in targets or others):
        templates.templates = [
            t for t in templates.templates if all(a.column != "pos" for a, _ in t.atoms)
        ]
    return templates


def check_start(start: TaggerModel, tagger: Any) -> None:
    """Refuse to continue from a model whose weights would mean something else here."""
    if start.emissions is not None:
        raise ValueError("start: training cannot continue from a hidden Markov model")
    if start.candidates:
        raise ValueError(
            "start: training cannot continue from a model with candidates; train it with "
            "candidates=0, which considers all labels at each token"
        )
    if start.order != tagger.order:
        raise ValueError(f"start: a model of order {start.order}, not {tagger.order}")
    width = len(start.unpacked()[1]) - 1 if start.hashed else 0
    if width != (1 << tagger.hash_bits if tagger.hash_bits else 0):
        bits = width.bit_length() - 1 if width else 0
        raise ValueError(f"start: a model with hash_bits={bits}, not {tagger.hash_bits}")
    if "pair.slots" in start.arrays:
        raise ValueError("start: training cannot continue from features of label pairs")
