"""The fuzzer of constraints as users write them finds bugs that are planted for it."""

import dataclasses
import itertools

import numpy as np
import pytest
from fuzz.structures import fuzz
from fuzz.written import draw_names, draw_written

from structlearn.constraints import Automaton, compilation, parse
from structlearn.constraints.counting import Count
from structlearn.constraints.events import Events
from structlearn.constraints.ordering import Contiguous, NotAdjacent
from structlearn.constraints.pattern import _Machine
from structlearn.structures import ConstrainedChain
from structlearn.structures.chains import constrained

CHAINS, SEGMENTS = "written constraints", "written constraints on segments"

pytestmark = pytest.mark.filterwarnings("ignore")


def one_more(right):
    def wrong(self, sequences):
        return right(dataclasses.replace(self, upper=self.upper + 1), sequences)

    return wrong


def place_after(right):
    return lambda self, selection, memory: tuple({n + 1 for n in side} for side in
                                                 right(self, selection, memory))  # fmt: skip


def later(automaton):
    """Return the automaton that does not read the first label: the product is off by one."""
    table, states = np.asarray(automaton.next), len(automaton.accepting)
    if table.ndim == 3:
        first = np.full((1, *table.shape[1:]), automaton.start)
        return Automaton(np.concatenate([first, table[1:]]), automaton.start, automaton.accepting)
    # A state more, in which nothing has been read.
    first = np.full((1, table.shape[1]), automaton.start)
    return Automaton(
        np.concatenate([table, first]), states, [*automaton.accepting, automaton.accepting[0]]
    )


def of_automata(change):
    """Make a bug of the native product: it has other automata."""

    def plant(right):
        return lambda size, automata, *rest: right(size, list(map(change, automata)), *rest)

    return plant


def all_accept(automaton):
    return Automaton(automaton.next, automaton.start, [True] * len(automaton.accepting))


def without_best(ranked):
    batch = isinstance(ranked[0], list)
    return [one[1:] or one for one in ranked] if batch else ranked[1:] or ranked


BUGS = {
    "counts one more": (CHAINS, Count, "automaton", one_more),
    "places one further": (CHAINS, Events, "_places", place_after),
    "product begins one later": (CHAINS, constrained._core, "constrained_chain",
                                 of_automata(later)),
    "product ends anywhere": (CHAINS, constrained._core, "constrained_chain",
                              of_automata(all_accept)),
    "segments begin one later": (SEGMENTS, constrained._core, "constrained_semimarkov",
                                 of_automata(later)),
    "best but one": (CHAINS, ConstrainedChain, "kbest",
                     lambda right: lambda self, n, **s: without_best(right(self, n + 1, **s))),
    "flow one position later": (CHAINS, compilation, "flow_rows",
                                lambda right: lambda automaton, parts, first: right(
                                    automaton, np.roll(parts, 1, axis=0), first)),
    "repeats once more": (CHAINS, _Machine, "_repeat",
                          lambda right: lambda self, node, begin: right(
                              self, node._replace(least=node.least + (node.least > 1)), begin)),
    "two runs": (CHAINS, Contiguous, "automaton",
                 lambda right: lambda self, sequences: Automaton(
                     [[0] * len(sequences.alphabet)], 0, [True])),
    "neighbours in one order": (CHAINS, NotAdjacent, "pairs",
                                lambda right: lambda self, alphabet: right(self, alphabet)[:1]),
}  # fmt: skip


@pytest.mark.parametrize("bug", BUGS)
def test_a_planted_bug_is_found(bug, monkeypatch):
    name, owner, attribute, plant = BUGS[bug]
    monkeypatch.setattr(owner, attribute, plant(getattr(owner, attribute)))
    for seed in itertools.count():
        if fuzz(name, 250, seed=seed).findings:
            break
        assert seed < 7, "nothing was found"


def test_what_is_drawn_is_read_and_varied():
    rng = np.random.default_rng(0)
    verbs, drawn = set(), 0
    while drawn < 300:
        names = draw_names(rng, int(rng.integers(1, 4)))
        for rule in draw_written(rng, names, 4, ["start", "end", "transition"]):
            (one,) = parse(rule.text)
            assert parse(repr(one)) == [one]
            verbs.add(rule.text.partition("(")[0])
            drawn += 1
    assert len(verbs) == 11, "every constraint that there is"
