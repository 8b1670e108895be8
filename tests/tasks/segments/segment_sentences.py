"""Made sentences with chunks, and what tests of segment taggers do with them."""

from structlearn.datasets import make_treebank


def chunked(n, seed=0):
    """Sentences of (word, tag, chunk label)."""
    bank = make_treebank(n, random_state=seed)
    return [list(zip(s.words, s.tags, s.chunks, strict=True)) for s in bank]


def write(path, sentences, columns=3):
    """Write a column file."""
    text = "\n\n".join("\n".join(" ".join(t[:columns]) for t in s) for s in sentences)
    path.write_text(text + "\n", encoding="utf-8")
    return path
