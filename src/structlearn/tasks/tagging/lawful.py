"""Constraints in training: their automata, and gold labels that break one, named or left out."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ...array_types import Array, Integers
from ...constraints.automata import NamedAutomaton, automata_of
from ...constraints.automaton import Automaton
from ...constraints.events import Sequences
from ...constraints.text import read_constraints
from ...exceptions import FileError, InfeasibleError
from ...fitting.split_corpus import SplitCorpus, joined
from ...models.label_constraints import segment_sequences, token_sequences
from ...structures.chains.chain import Chain
from ...structures.chains.constrained import ConstrainedChain, ConstrainedSemiMarkov
from ...structures.chains.semimarkov import SemiMarkov
from ...text.corpus import Corpus

#: Sentences that a message names one by one.
_NAMED = 5

#: From a corpus to the numbers that automata read: those of each sentence, −1 for unknown ones, and
#: at which token each of them is.
Reads = Callable[[Corpus], Sequence[tuple[Sequence[int], Sequence[int]]]]


class _Broken(NamedTuple):
    """A sentence that breaks a constraint."""

    line: int
    constraint: str


def chain_under(order: int, constraints: Sequence[str], written: Sequence[str]) -> Chain:
    """Return a chain under constraints on its labels, as they are written."""
    chain = Chain(order=order)
    if not constraints:
        return chain
    return ConstrainedChain(_automata(constraints, token_sequences(written)), order)


def segmentation_under(
    max_length: int, constraints: Sequence[str], labels: Sequence[str]
) -> SemiMarkov:
    """Return segmentations under constraints on the labels of their segments."""
    if not constraints:
        return SemiMarkov(max_length)
    return ConstrainedSemiMarkov(_automata(constraints, segment_sequences(labels)), max_length)


def _automata(constraints: Sequence[str], sequences: Sequences) -> list[Automaton]:
    return [one.automaton for one in automata_of(read_constraints(constraints), sequences)]


def lawful(
    corpus: SplitCorpus, constraints: Sequence[str], sequences: Sequences, reads: Reads, drop: bool
) -> tuple[SplitCorpus, int]:
    """Return the sentences that break no constraint, and how many do.

    Parameters
    ----------
    sequences : Sequences
        What the constraints speak of.
    reads : callable
        From a corpus to its sentences as automata read them.
    drop : bool
        Leave out the sentences that break a constraint. Else they are an error, which names their
        lines.
    """
    if not constraints:
        return corpus, 0
    named = automata_of(read_constraints(constraints), sequences)
    if not named:  # contiguous() where all labels are O
        return corpus, 0
    found = corpus.parts.each(_broken, reads, named)
    broken = [one for part in found for one in (part or {}).values()]
    if not broken:
        return corpus, 0
    shown = [
        f"{'line ' if one.line else 'sentence '}{one.line or i} ({one.constraint})"
        for i, one in zip(joined([list(part or {}) for part in found]), broken, strict=True)
    ]
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    told = f"{len(broken)} of {len(corpus)} sentences"
    where, places = corpus.path or "the corpus", ", ".join(shown[:_NAMED]) + more
    if not drop:
        raise FileError(
            where,
            f"{told} break a constraint: {places}; correct them, or leave them out with "
            "illegal='drop' (--illegal drop)",
            broken[0].line or None,
        )
    if len(broken) == len(corpus):
        raise FileError(where, f"illegal='drop' would leave out all sentences: {places}")
    warnings.warn(f"{where}: {told} break a constraint and are left out: {places}", stacklevel=6)
    return corpus.then(_without, own=[list(part or {}) for part in found]), len(broken)


def _without(corpus: Corpus, broken: list[int]) -> Corpus | None:
    """Return the other sentences of a part; None if there are none."""
    kept = sorted(set(range(len(corpus))) - set(broken))
    return corpus.subset(kept) if kept else None


def _broken(corpus: Corpus, reads: Reads, named: list[NamedAutomaton]) -> dict[int, _Broken]:
    """Return the sentences of a part that break a constraint, by number."""
    rows = list(reads(corpus))
    first = np.full(len(rows), -1)  # of the constraints that a sentence breaks
    place = np.zeros(len(rows), dtype=np.int64)
    whole = [i for i, (symbols, _) in enumerate(rows) if min(symbols, default=0) >= 0]
    table, lengths = _padded([rows[i][0] for i in whole])
    for c, (_, automaton) in enumerate(named):
        rejected = _rejected_at(automaton, table, lengths)
        for n in np.flatnonzero(rejected >= 0).tolist():
            if first[whole[n]] < 0:
                first[whole[n]], place[whole[n]] = c, rejected[n]
    found: dict[int, _Broken] = {}
    known = set(whole)
    chain = ConstrainedChain([one.automaton for one in named])
    for i, (symbols, tokens) in enumerate(rows):
        reason = ""
        if first[i] >= 0:
            reason = str(named[first[i]].constraint)
        elif i not in known and not _completes(chain, symbols, named[0].automaton.n_labels):
            reason = "no labels for the unknown ones keep to all constraints"
        if reason:
            at = tokens[place[i]] if len(tokens) else 0
            found[i] = _Broken(corpus.core.line_number(i, at), reason)
    return found


def _padded(
    rows: list[Sequence[int]],
) -> tuple[Integers, Integers]:
    """Return rows of numbers as one table, and their lengths."""
    lengths = np.array([len(row) for row in rows], dtype=np.int64)
    table = np.zeros((len(rows), max(lengths.tolist(), default=0)), dtype=np.int64)
    for n, row in enumerate(rows):
        table[n, : len(row)] = row
    return table, lengths


def _rejected_at(automaton: Any, table: Integers, lengths: Integers) -> Integers:
    """Return where an automaton rejects each row, at the latest at its last label; −1: nowhere."""
    after = np.asarray(automaton.next)
    state = np.full(len(table), automaton.start, dtype=np.int64)
    rejected = np.full(len(table), -1, dtype=np.int64)
    for t in range(table.shape[1]):
        going = np.flatnonzero((lengths > t) & (rejected < 0))
        state[going] = after[state[going], table[going, t]]
        rejected[going[state[going] < 0]] = t
    ended = np.flatnonzero(rejected < 0)
    refused = ended[~np.asarray(automaton.accepting)[state[ended]]]
    rejected[refused] = np.maximum(lengths[refused] - 1, 0)
    return rejected


@lru_cache(maxsize=1)
def _row_masks(n_labels: int) -> Array:
    """Return the scores of a label that is known, by its number, and last those of an unknown."""
    masks = np.full((n_labels + 1, n_labels), -np.inf)
    np.fill_diagonal(masks, 0.0)
    masks[n_labels] = 0.0
    return masks


def _completes(chain: Chain, symbols: Sequence[int], n_labels: int) -> bool:
    """Tell whether some labels for unknown ones are accepted."""
    try:
        chain.argmax(label=_row_masks(n_labels)[np.asarray(symbols)])
    except InfeasibleError:
        return False
    return True
