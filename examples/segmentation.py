"""
Chunks found as whole segments
==============================

A segment has features of its own — here all of its tags at once, and its length — which a chain of
tags cannot see. Run me: ``python examples/segmentation.py``.
"""

from structlearn import CRF
from structlearn.datasets import make_treebank
from structlearn.structures import SemiMarkov

LONGEST = 8


def chunks(sentence):
    """Return (start, end, label) segments that cover the sentence; words outside stand alone."""
    segments = []
    for t, chunk in enumerate(sentence.chunks):
        start = segments.pop()[0] if chunk.startswith("I-") else t
        segments.append((start, t + 1, chunk[2:] or "O"))
    return segments


def features(sentence):
    """Return a list of names for each start and length, start by start; none beyond the end."""
    around = ("<", *sentence.tags, ">")
    rows = []
    for i in range(len(sentence)):
        for j in range(i + 1, i + LONGEST + 1):
            tags = "_".join(sentence.tags[i:j])
            named = [f"length={j - i}", f"tags={tags}", f"before={around[i]}"]
            rows.append([*named, f"after={around[j + 1]}"] if j <= len(sentence) else [])
    return rows


def main():
    """Train a semi-Markov CRF on made sentences and show what it finds in a new one."""
    sentences = make_treebank(300, random_state=0)
    X, y = [features(s) for s in sentences], [chunks(s) for s in sentences]
    model = CRF(structure=SemiMarkov(max_length=LONGEST), C=10.0).fit(X[:250], y[:250])
    print(f"{model.score(X[250:], y[250:]):.3f} of the words are in a segment of the right label")
    words = sentences[250].words
    for start, end, label in model.predict(X[250:251])[0]:
        print(f"{label:5} {' '.join(words[start:end])}")
    best, second = model.predict_kbest(X[250:251], 2)[0]
    print(f"the second best segmentation scores {best[0] - second[0]:.2f} less")


if __name__ == "__main__":
    main()
