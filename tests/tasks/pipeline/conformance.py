"""Is a text legal CoNLL-U of Universal Dependencies? Our own reading of the rules.

Levels 1 and 2 of the validator of UD: ten columns, ids in order, ranges that cover what follows,
``# text`` that the tokens make up, one root, no cycle, legal characters in every column.
"""

import re

UPOS = {
    "ADJ",
    "ADP",
    "ADV",
    "AUX",
    "CCONJ",
    "DET",
    "INTJ",
    "NOUN",
    "NUM",
    "PART",
    "PRON",
    "PROPN",
    "PUNCT",
    "SCONJ",
    "SYM",
    "VERB",
    "X",
}
FEATURE = re.compile(
    r"[A-Z][A-Za-z0-9]*(\[[a-z0-9]+\])?=[A-Z0-9][a-zA-Z0-9]*(,[A-Z0-9][a-zA-Z0-9]*)*"
)
RELATION = re.compile(r"[a-z]+(:[a-z]+)*")


def check_conllu(text, *, upos=UPOS, relations=True):
    """Raise an AssertionError that says what is wrong with a text in CoNLL-U; count sentences."""
    if not text:
        return 0
    assert text.endswith("\n\n"), "the last sentence does not end with a blank line"
    blocks = text[:-2].split("\n\n")
    seen = set()
    for block in blocks:
        lines = block.split("\n")
        assert all(lines), "a blank line too much"
        comments = [line for line in lines if line.startswith("#")]
        rows = [line.split("\t") for line in lines[len(comments) :]]
        (sent_id,) = [c[11:] for c in comments if c.startswith("# sent_id =")]
        assert sent_id not in seen, f"sent_id {sent_id} twice"
        seen.add(sent_id)
        (said,) = [c.removeprefix("# text = ") for c in comments if c.startswith("# text =")]
        assert said == said.strip()
        _check_rows(rows, said, upos, relations)
    return len(blocks)


def _check_rows(rows, said, upos, relations):
    words, tokens, end, covered = [], [], 0, 0
    for row in rows:
        assert len(row) == 10, row
        assert all(row), f"an empty cell in {row}"
        for cell in row:
            assert cell == cell.strip(), row
            assert "  " not in cell, row
            assert not re.search(r"[\n\r\t\0]", cell), row
        if "-" in row[0]:
            first, last = map(int, row[0].split("-"))
            assert first == len(words) + 1, row
            assert first > covered, "ranges overlap"
            assert last > first, row
            assert row[2:9] == ["_"] * 7, row
            covered = end = last
            tokens.append(row)
        else:
            words.append(row)
            assert row[0] == str(len(words)), row
            if len(words) > end:
                tokens.append(row)
            assert row[3] == "_" or row[3] in upos, row
            _check_features(row[5])
            if relations:
                assert RELATION.fullmatch(row[7]), row
    assert covered <= len(words), "a range goes beyond the sentence"
    rebuilt = "".join(
        row[1] if "SpaceAfter=No" in row[9].split("|") else row[1] + " " for row in tokens
    )
    assert rebuilt.rstrip(" ") == said, (rebuilt, said)
    if relations:
        _check_tree([int(row[6]) for row in words], [row[7] for row in words])


def _check_features(cell):
    if cell == "_":
        return
    features = cell.split("|")
    names = [feature.split("=")[0] for feature in features]
    assert all(FEATURE.fullmatch(feature) for feature in features), cell
    assert len(set(names)) == len(names), f"a feature twice in {cell}"
    assert names == sorted(names, key=str.lower), f"{cell} is not in order"


def _check_tree(heads, relations):
    n = len(heads)
    assert [h for h in heads if not 0 <= h <= n] == []
    assert heads.count(0) == 1, f"{heads.count(0)} roots"
    for word, (head, relation) in enumerate(zip(heads, relations, strict=True), 1):
        assert (head == 0) == (relation.split(":")[0] == "root"), (word, head, relation)
        seen, at = set(), word
        while at:
            assert at not in seen, f"a cycle through {at}"
            seen.add(at)
            at = heads[at - 1]
