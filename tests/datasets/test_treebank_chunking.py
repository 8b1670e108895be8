"""Chunks of trees that were chunked by hand."""

from __future__ import annotations

import pytest

from structlearn.datasets.chunking import chunks_of


def read(text):
    """Read a bracket string into nested tuples."""
    tokens = text.replace("(", " ( ").replace(")", " ) ").split()

    def node(position):
        parts = [tokens[position + 1]]
        position += 2
        while tokens[position] != ")":
            if tokens[position] == "(":
                part, position = node(position)
            else:
                part, position = tokens[position], position + 1
            parts.append(part)
        return tuple(parts), position + 1

    return node(0)[0]


@pytest.mark.parametrize(
    ("brackets", "chunks"),
    [
        ("(S (NP (NNS Fish)) (VP (VBP sleep)) (. .))", "B-NP B-VP O"),
        (
            "(S (NP (DT The) (ADJP (RB very) (JJ old)) (NN dog)) (VP (MD will) (RB not)"
            " (VP (VB sleep))) (. .))",
            "B-NP I-NP I-NP I-NP B-VP I-VP I-VP O",
        ),
        (
            "(S (NP (PRP She)) (VP (VBZ wants) (VP (TO to) (VP (VB go) (PP (IN to)"
            " (NP (DT the) (NN lake)))))) (. .))",
            "B-NP B-VP I-VP I-VP B-PP B-NP I-NP O",
        ),
        (
            "(S (NP (NP (DT the) (NN fish)) (SBAR (NP (WH that)) (VP (VBD slept)))) (VP (VP"
            " (VBD ate)) (CC and) (VP (VBD left))) (. .))",
            "B-NP I-NP B-NP B-VP B-VP O B-VP O",
        ),
        (
            "(S (VBZ Does) (NP (NNP Rose)) (VP (VB get) (PRT (RB up))) (. ?))",
            "O B-NP B-VP B-PRT O",
        ),
        (
            "(S (NP (PRP He)) (VP (VBD had) (ADVP (RB often)) (VP (VBN slept) (ADVP (RB well))))"
            " (. .))",
            "B-NP B-VP I-VP I-VP B-ADVP O",
        ),
        (
            "(S (NP (NP (NN bread)) (CC and) (NP (NN milk))) (VP (VBP are) (ADJP (JJ good)"
            " (CC and) (JJ cold))) (. .))",
            "B-NP O B-NP B-VP B-ADJP I-ADJP I-ADJP O",
        ),
        (
            "(S (NP (PRP We)) (VP (VBP know) (SBAR (IN that) (S (NP (PRP it)) (VP (VBZ rains)))))"
            " (. .))",
            "B-NP B-VP B-SBAR B-NP B-VP O",
        ),
    ],
)
def test_chunks(brackets, chunks):
    assert chunks_of(read(brackets)) == chunks.split()
