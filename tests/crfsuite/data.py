"""Sentences with the features that python-crfsuite's users make."""

from functools import cache

from structlearn.datasets import make_treebank


def features(words):
    """Every kind of value that python-crfsuite takes."""
    return [
        {
            "bias": 1.0,
            "word": word.lower(),
            "upper": word[0].isupper(),
            "length": len(word) / 10,
            "around": {"before": words[t - 1] if t else "<s>", "first": t == 0},
            "ends": [word[-2:], word[-3:]],
            "letters": set(word[:1]),
        }
        for t, word in enumerate(words)
    ]


@cache
def sentences(n=120, seed=3):
    """Sequences of items, and their labels."""
    bank = make_treebank(n, random_state=seed)
    return [features(s.words) for s in bank], [list(s.tags) for s in bank]
