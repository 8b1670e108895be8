"""Random sentences in columns and as CoNLL-U, and the text that stands for them."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st

REPEATABLE = settings(derandomize=True, deadline=None, database=None)

#: What a cell may hold in any column file: no white space of ASCII, no line ends; other scripts,
#: combining marks, characters beyond the basic plane and spaces that are not ASCII's.
CHARACTERS = "ab-_#.%/'\"09ÄßéЖΣ語\u0301\u00a0\u2028\U0001f600\U00010400\0"
CELLS = st.one_of(
    st.sampled_from(["the", "fish", "#", "# no comment", "-DOCSTART-", "_", "O", "B-NP", "1-2"]),
    st.text(CHARACTERS, min_size=1, max_size=6),
).map(lambda s: s.replace(" ", ""))


@st.composite
def sentences(draw, most_columns=4, cells=CELLS, least=1):
    """Sentences: lists of tokens, each a tuple with as many cells as any other."""
    n = draw(st.integers(1, most_columns))
    token = st.tuples(*[cells] * n)
    return draw(st.lists(st.lists(token, min_size=1, max_size=4), min_size=least, max_size=4))


@st.composite
def column_files(draw):
    """Sentences, and the bytes of a column file that holds them, however untidily written."""
    made = draw(sentences())
    tabs = draw(st.booleans())
    end = draw(st.sampled_from(["\n", "\r\n"]))
    blank = st.sampled_from(["", "", " ", "\t", " \t "])
    gap = st.just("\t") if tabs else st.sampled_from([" ", "  ", "   "])
    if not tabs and len(made[0][0]) > 1:
        # Tabs are white space too, where the first line has none.
        gap = st.sampled_from([" ", "  "])
    lines: list[str] = [draw(blank) for _ in range(draw(st.integers(0, 2)))]
    for i, sentence in enumerate(made):
        for token in sentence:
            text = token[0]
            for cell in token[1:]:
                text += draw(gap) + cell
            lines.append(text + draw(st.sampled_from(["", "", " ", "  "])))
        if i + 1 < len(made):
            lines.extend(draw(blank) for _ in range(draw(st.integers(1, 3))))
    text = end.join(lines) + draw(st.sampled_from(["", end, end + end, end + " " + end]))
    mark = draw(st.sampled_from(["", "\ufeff"]))
    return made, (mark + text).encode()


WORDS = st.text("abZ09Äß語\U0001f600 -.#", min_size=1, max_size=5).map(lambda s: s.strip() or "_")


@st.composite
def conllu_sentences(draw):
    """Lines of CoNLL-U sentences: comments, tokens, multi-word tokens, empty nodes."""
    blocks = []
    for _ in range(draw(st.integers(1, 4))):
        lines = []
        for _ in range(draw(st.integers(0, 2))):
            lines.append("# " + draw(WORDS) + " = " + draw(WORDS))
        row = st.lists(WORDS, min_size=9, max_size=9)
        if draw(st.booleans()):
            lines.append("\t".join(["0.1", *draw(row)]))
        n = draw(st.integers(1, 4))
        for i in range(1, n + 1):
            if i < n and draw(st.booleans()):
                lines.append("\t".join([f"{i}-{i + 1}", *draw(row)]))
            if draw(st.integers(0, 5)) == 0:
                lines.append("# in the middle")
            lines.append("\t".join([str(i), *draw(row)]))
            for k in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
                lines.append("\t".join([f"{i}.{k + 1}", *draw(row)]))
        blocks.append(lines)
    return blocks


def conllu_text(blocks):
    return "".join("\n".join(lines) + "\n\n" for lines in blocks)


def conllu_tokens(blocks):
    """The rows of the tokens alone, sentence by sentence."""
    return [
        [tuple(line.split("\t")) for line in lines if line.split("\t")[0].isdigit()]
        for lines in blocks
    ]
