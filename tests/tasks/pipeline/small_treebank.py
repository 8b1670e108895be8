"""A small treebank with text, lemmas and multiword tokens, made from the built-in one."""

from structlearn.datasets import make_treebank
from structlearn.text.corpus import Corpus, corpus_of

_UPOS = {"D": "DET", "N": "NOUN", "V": "VERB", "P": "PRON", "I": "ADP", "J": "ADJ", "R": "ADV"}
_UPOS |= {".": "PUNCT", ",": "PUNCT"}


def conllu(n, random_state=0, paragraph=4):
    """Return n sentences as CoNLL-U: capitals, full stops, and ``don't`` as a multiword token."""
    out = []
    for number, s in enumerate(make_treebank(n, random_state=random_state)):
        words = list(s.words)
        words[0] = words[0].capitalize()
        rows = []
        for i, (word, tag, head, relation) in enumerate(
            zip(words, s.tags, s.heads, s.deprels, strict=True), 1
        ):
            lemma = word.lower().removesuffix("s")
            upos = _UPOS.get(str(tag)[:1], "X")
            feats = "Number=Plur" if word.endswith("s") and upos == "NOUN" else "_"
            rows.append([i, word, lemma, upos, tag, feats, head, relation, "_", "_"])
        rows[-2][9] = "SpaceAfter=No"
        text = " ".join(words[:-1]) + words[-1]
        if number % 5 == 0:
            text = "They don't!"
            rows = [
                [1, "They", "they", "PRON", "PRP", "_", 2, "nsubj", "_", "_"],
                [2, "do", "do", "VERB", "VB", "_", 0, "root", "_", "_"],
                [3, "n't", "not", "PART", "RB", "_", 2, "advmod", "_", "_"],
                [4, "!", "!", "PUNCT", ".", "_", 2, "punct", "_", "_"],
            ]
        if number % paragraph == 0:
            out.append(f"# newpar id = p{number}")
        out += [f"# sent_id = {number}", f"# text = {text}"]
        for row in rows:
            if number % 5 == 0 and row[0] == 2:
                out.append("2-3\tdon't" + "\t_" * 7 + "\tSpaceAfter=No")
            out.append("\t".join(map(str, row)))
        out.append("")
    return "\n".join([*out, ""])


def treebank(n, random_state=0, **options):
    """Return it as a corpus."""
    corpus = corpus_of("made.conllu", conllu(n, random_state, **options).encode(), "conllu")
    assert isinstance(corpus, Corpus)
    return corpus
