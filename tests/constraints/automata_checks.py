"""Checks of automata that know nothing of how they were made."""

import itertools


def is_minimal(automaton):
    """Whether every state is reached, leads to an accepting one, and differs from all others."""
    table = automaton.next.tolist()
    states, labels = range(automaton.n_states), range(automaton.n_labels)
    reached, waiting = {automaton.start}, [automaton.start]
    while waiting:
        for target in table[waiting.pop()]:
            if target >= 0 and target not in reached:
                reached.add(target)
                waiting.append(target)
    # What a state accepts, told by ever longer rests of a sequence.
    differs = {
        (a, b)
        for a, b in itertools.product([*states, -1], repeat=2)
        if accepts_here(automaton, a) != accepts_here(automaton, b)
    }
    while True:
        more = {
            (a, b)
            for a, b in itertools.product([*states, -1], repeat=2)
            if (a, b) not in differs
            and any((onward(table, a, k), onward(table, b, k)) in differs for k in labels)
        }
        if not more:
            break
        differs |= more
    if automaton.n_states == 1 and not automaton.accepting_states[automaton.start]:
        return reached == {0} and all(target == -1 for target in table[0])  # it accepts nothing
    apart = all((a, b) in differs for a, b in itertools.combinations([*states, -1], 2))
    return reached == set(states) and apart


def accepts_here(automaton, state):
    return state >= 0 and automaton.accepting_states[state]


def onward(table, state, label):
    return -1 if state < 0 else table[state][label]
