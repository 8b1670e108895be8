"""The recorded labs of the guide, with the states to choose from."""

from __future__ import annotations

from typing import Any

__all__ = ["RECORDED"]

_CHAIN = {"augmented": False, "mode": "max", "temperature": 1, "n": 5, "width": 1}
_FISH = {
    **_CHAIN, "words": ["Fish", "Sleep"], "labels": ["N", "V"], "label": [[2, 1], [1, 0]],
    "transition": [[-2, 1], [2, -2]], "start": [1, -1], "gold": [0, 1],
}  # fmt: skip
_MONSTERS = {
    **_CHAIN, "words": ["monsters", "eat", "tasty", "bunnies"], "labels": ["noun", "verb", "adj"],
    "label": [[3, -1, 0], [0, 2.5, -3.2], [-1, 0, 1.2], [3.5, 0.5, 0]],
    "transition": [[-1, 3.5, -5], [1.5, -3, 2.5], [2, -2, 2.2]], "gold": [0, 1, 2, 0],
}  # fmt: skip
_CLOSE = {
    **_FISH, "label": [[1, 0.5], [0.5, 0.5]], "transition": [[-0.5, 0.5], [0.5, -0.5]],
    "start": [0.2, 0],
}  # fmt: skip
_JOHN = {
    "kind": "dependencies", "mode": "max", "augmented": False, "algorithm": "edmonds",
    "words": ["John", "saw", "Mary"], "gold": [2, 0, 2],
    "arc": [[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]],
}  # fmt: skip
_GRAMMAR = """S -> NP VP
NP -> Pronoun
NP -> Det Nominal
Nominal -> Noun
Nominal -> Nominal Noun 0.5
VP -> Verb
VP -> Verb NP 1
Pronoun -> I
Verb -> want
Det -> a
Noun -> morning
Noun -> flight"""
_FLIGHT = {
    "kind": "constituents", "mode": "max", "augmented": False, "gold": None, "grammar": _GRAMMAR,
    "words": ["I", "want", "a", "morning", "flight"],
}  # fmt: skip
_POSTS = {
    "nodes": ["post", "reply", "doubt", "proof", "thanks"], "labels": ["for", "against"],
    "edges": [[0, 1], [0, 2], [2, 3], [2, 4]], "gold": [0, 0, 1, 1, 0], "root": 0, "mode": "max",
    "label": [[0.4, 0], [1, 0], [0, 1.1], [0, 1.1], [1.2, 0]], "edge": [[1, 0], [0, 1]],
    "augmented": False,
}  # fmt: skip
_RING = {
    **_POSTS, "nodes": ["A", "B", "C", "D"], "edges": [[0, 1], [1, 2], [2, 3], [3, 0]],
    "label": [[0.5, 0], [0.3, 0], [0, 0.9], [0.2, 0]], "gold": [0, 0, 0, 0],
}  # fmt: skip
_PICTURE = {
    "height": 4, "width": 5, "strength": 0.5, "augmented": False, "mode": "max", "algorithm": "cut",
    "brush": 2, "gold": None,
    "paint": [[-1.2, -0.4, 0.3, -0.9, -1.1], [-0.8, 1.5, -0.2, 1.1, -0.6],
              [-0.3, 1.2, 1.8, 0.4, -1.0], [-1.4, -0.7, 0.6, -1.1, -0.5]],
}  # fmt: skip
_POINTS = {
    "topic": "plane", "algorithm": "perceptron", "passes": 2, "C": 1, "average": False, "brush": 0,
    "points": [[-1.5, 1, 0], [-0.6, 1.7, 0], [0.3, 1.6, 0], [-1.2, 0.1, 0],
               [1.2, -0.4, 1], [0.4, -1.2, 1], [1.7, 0.5, 1], [-0.2, -0.7, 1]],
}  # fmt: skip
_FAMILY = {"topic": "family", **_FISH}

#: Name to (lab, [(title, state), ...]); the first state is shown first.
RECORDED: dict[str, tuple[str, list[tuple[str, dict[str, Any]]]]] = {
    "viterbi": (
        "sequence",
        [
            ("monsters eat tasty bunnies, max", _MONSTERS),
            ("monsters eat tasty bunnies, sum", {**_MONSTERS, "mode": "sum"}),
            ("Fish Sleep, max", _FISH),
            ("Fish Sleep, the k best", {**_FISH, "mode": "kbest", "n": 4}),
            ("monsters eat tasty bunnies, a beam of 2", {**_MONSTERS, "mode": "beam", "width": 2}),
        ],
    ),
    "loss_augmentation": (
        "sequence",
        [
            ("gold leads by a little: without costs", _CLOSE),
            ("the same with costs", {**_CLOSE, "augmented": True}),
            ("gold leads by enough, with costs", {**_MONSTERS, "augmented": True}),
        ],
    ),
    "cutting_planes": (
        "learning",
        [
            ("C = 1, ε = 0.1", {"topic": "planes", "C": 1, "tolerance": 0.1, "gold": [0, 1]}),
            ("C = 0.1", {"topic": "planes", "C": 0.1, "tolerance": 0.1, "gold": [0, 1]}),
        ],
    ),
    "family": (
        "learning",
        [
            ("perceptron: γ = 0, ε = 0", {**_FAMILY, "margin": 0, "temperature": 0}),
            ("SVM: γ = 1, ε = 0", {**_FAMILY, "margin": 1, "temperature": 0}),
            ("between: γ = 1, ε = 0.3", {**_FAMILY, "margin": 1, "temperature": 0.3}),
            ("softmax-margin: γ = 1, ε = 1", {**_FAMILY, "margin": 1, "temperature": 1}),
            ("CRF: γ = 0, ε = 1", {**_FAMILY, "margin": 0, "temperature": 1}),
        ],
    ),
    "plane": (
        "learning",
        [
            ("perceptron", _POINTS),
            ("SVM by subgradient steps", {**_POINTS, "algorithm": "subgradient"}),
        ],
    ),
    "trees": (
        "parse",
        [
            ("Chu-Liu/Edmonds", _JOHN),
            ("Eisner", {**_JOHN, "algorithm": "eisner"}),
            ("CKY", _FLIGHT),
        ],
    ),
    "messages": (
        "messages",
        [
            ("a tree, max", _POSTS),
            ("a tree, sum", {**_POSTS, "mode": "sum"}),
            ("a ring, max: messages meet again", _RING),
            ("a ring, sum: nearly right", {**_RING, "mode": "sum"}),
        ],
    ),
    "constraints": (
        "constraints",
        [
            ("at most 1 noun", {**_MONSTERS, "constraints": "at most 1 noun"}),
            (
                "at least 2 verbs, none of them first",
                {**_MONSTERS, "constraints": "at least 2 verb\nforbid verb at 1"},
            ),
            ("Fish Sleep: no noun before a verb", {**_FISH, "constraints": "forbid N then V"}),
        ],
    ),
    "cut": (
        "image",
        [
            ("minimum cut", _PICTURE),
            ("stronger neighbours: nothing is left", {**_PICTURE, "strength": 0.7}),
        ],
    ),
}
