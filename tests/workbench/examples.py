"""What the page asks for: the state of each lab's examples, as its own modules define them."""

FISH = {
    "words": ["Fish", "Sleep"], "labels": ["N", "V"], "label": [[2, 1], [1, 0]],
    "transition": [[-2, 1], [2, -2]], "start": [1, -1], "gold": [0, 1],
}  # fmt: skip
MONSTERS = {
    "words": ["monsters", "eat", "tasty", "bunnies"], "labels": ["noun", "verb", "adj"],
    "label": [[3, -1, 0], [0, 2.5, -3.2], [-1, 0, 1.2], [3.5, 0.5, 0]],
    "transition": [[-1, 3.5, -5], [1.5, -3, 2.5], [2, -2, 2.2]], "gold": [0, 1, 2, 0],
}  # fmt: skip
JOHN = {
    "kind": "dependencies", "algorithm": "edmonds", "words": ["John", "saw", "Mary"],
    "gold": [2, 0, 2], "arc": [[0, 9, 10, 9], [0, 0, 20, 3], [0, 30, 0, 30], [0, 11, 0, 0]],
}  # fmt: skip
GRAMMAR = """S -> NP VP
NP -> Pronoun
NP -> Det Nominal
NP -> ProperNoun
Nominal -> Noun
Nominal -> Nominal Noun 0.5
Nominal -> Nominal PP
VP -> Verb
VP -> Verb NP 1
VP -> VP PP 0.2
PP -> Preposition NP
Pronoun -> I
Verb -> book
Noun -> book -1
Det -> a
Noun -> flight
Preposition -> from
ProperNoun -> Boston"""
FLIGHT = {
    "kind": "constituents", "grammar": GRAMMAR,
    "words": ["I", "book", "a", "flight", "from", "Boston"],
}  # fmt: skip
ATTACHED = (
    "(S (NP (Pronoun I)) (VP (VP (Verb book) (NP (Det a) (Nominal (Noun flight)))) "
    "(PP (Preposition from) (NP (ProperNoun Boston)))))"
)
POSTS = {
    "nodes": ["post", "reply", "doubt", "proof", "thanks"], "labels": ["for", "against"],
    "edges": [[0, 1], [2, 0], [2, 3], [2, 4]], "gold": [0, 0, 1, 1, 0],
    "label": [[0.4, 0], [1, 0], [0, 1.1], [0, 1.1], [1.2, 0]], "edge": [[1, 0], [0.3, 1]],
}  # fmt: skip
RING = {
    **POSTS, "nodes": ["A", "B", "C", "D"], "edges": [[0, 1], [1, 2], [2, 3], [3, 0]],
    "gold": [0, 0, 0, 0], "label": [[0.5, 0], [0.3, 0], [0, 0.9], [0.2, 0]],
}  # fmt: skip
PICTURE = {
    "height": 3, "width": 3, "strength": 0.7, "gold": [0, 1, 0, 0, 1, 0, 0, 1, 0],
    "paint": [[-1, 0.8, -0.3], [0.2, 1.4, -1.2], [-0.7, -0.1, -0.9]],
}  # fmt: skip
POINTS = {
    "topic": "plane",
    "points": [[-1.5, 1, 0], [-0.6, 1.7, 0], [1.2, -0.4, 1], [0.4, -1.2, 1], [-1.6, -1.5, 2]],
    "passes": 4,
}  # fmt: skip

EXAMPLES = [
    ("sequence", FISH),
    ("sequence", MONSTERS),
    ("sequence", {**MONSTERS, "augmented": True}),
    ("sequence", {**MONSTERS, "mode": "sum", "temperature": 0.5}),
    ("sequence", {**FISH, "mode": "kbest", "n": 3}),
    ("sequence", {**MONSTERS, "mode": "beam", "width": 2}),
    ("parse", JOHN),
    ("parse", {**JOHN, "augmented": True, "mode": "sum"}),
    ("parse", {**JOHN, "algorithm": "eisner"}),
    ("parse", {**JOHN, "algorithm": "eisner", "mode": "sum"}),
    ("parse", FLIGHT),
    ("parse", {**FLIGHT, "mode": "sum"}),
    ("parse", {**FLIGHT, "gold": ATTACHED, "augmented": True}),
    ("messages", POSTS),
    ("messages", {**POSTS, "augmented": True, "root": 3}),
    ("messages", {**POSTS, "mode": "sum"}),
    ("messages", RING),
    ("messages", {**RING, "mode": "sum"}),
    ("image", PICTURE),
    ("image", {**PICTURE, "augmented": True}),
    ("image", {**PICTURE, "algorithm": "messages"}),
    ("image", {**PICTURE, "algorithm": "branching"}),
    ("image", {**PICTURE, "mode": "sum"}),
    ("learning", POINTS),
    ("learning", {**POINTS, "algorithm": "subgradient", "C": 2.0}),
    ("learning", {**POINTS, "algorithm": "crf", "C": 2.0}),
    ("learning", {"topic": "planes"}),
    ("learning", {"topic": "family", "margin": 1, "temperature": 0.5, **FISH}),
    ("learning", {"topic": "dual", "passes": 5}),
    ("constraints", {**MONSTERS, "constraints": "at most 1 noun"}),
    ("constraints", {**MONSTERS, "constraints": "forbid noun then verb", "mode": "sum"}),
    ("constraints", FISH),
]
