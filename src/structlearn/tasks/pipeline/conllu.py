"""Documents as CoNLL-U."""

from __future__ import annotations

from ...text.answers import BLANKS, cell_fault
from ...text.line_ends import PARAGRAPH_END

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from .doc import Doc
    from .token import Token

_ESCAPES = {" ": "\\s", "\t": "\\t", "\n": "\\n", "\r": "\\r", "|": "\\p", "\\": "\\\\"}


def conllu_of(doc: Doc, first_id: int, confidence: bool, begins: bool, ends: bool) -> str:
    """Return what :meth:`Doc.to_conllu` does."""
    out: list[str] = []
    text = doc.text
    starts = [surface.begin for surface in doc.surfaces]
    starts.append(len(text))
    paragraph, k = begins, 0
    for number, sentence in enumerate(filter(len, doc.sentences), first_id):
        if paragraph:
            out.append("# newpar" if number > 1 else "# newdoc\n# newpar")
        at = len(out)
        line = []
        for surface in sentence.surfaces:
            k += 1
            behind = text[surface.end : starts[k]]
            line.append(surface.text + " " if behind else surface.text)
            misc = "_"
            if behind != " " or k + 1 == len(starts):
                misc = _space_after(behind, ends and k + 1 == len(starts))
            if k == 1 and surface.begin > 0:
                misc = _joined(misc, f"SpacesBefore={_escaped(text[: surface.begin])}")
            tokens = surface.tokens
            if len(tokens) > 1:
                span = f"{tokens[0].id}-{tokens[-1].id}"
                out.append(_row(span, surface.text, "_", "_", "_", "_", "_", "_", "_", misc))
                misc = "_"
            for token in tokens:
                told = _told(misc, token)
                if confidence:
                    for name, p in token.confidence.items():
                        told = _joined(told, f"{name.capitalize()}Confidence={p:.4f}")
                head = "_" if token.head_id is None else str(token.head_id)
                out.append(
                    _row(
                        str(token.id), token.text, token.lemma, token.upos, token.xpos, token.feats,
                        head, token.relation, "_", told,
                    )
                )  # fmt: skip
        out.insert(at, f"# sent_id = {number}\n# text = {''.join(line).rstrip(' ')}")
        paragraph = PARAGRAPH_END.search(behind) is not None
        out.append("")
    return "\n".join([*out, ""]) if out else ""


def _told(misc: str, token: Token) -> str:
    """Return the last column with the labels of a token: its entity as ``NE``."""
    for name, label in (("NE", token.entity), *token.labels.items()):
        if label in ("_", "O"):
            continue
        if "|" in label:
            what = "entity" if name == "NE" else "label"
            raise ValueError(
                f"CoNLL-U cannot hold the {what} {label!r}: '|' separates the entries of its last "
                "column; JSON can (to_json)"
            )
        misc = _joined(misc, f"{name}={label}")
    return misc


def _row(*cells: str) -> str:
    """Return a line of CoNLL-U; refuse cells that a reader would not find again."""
    row = "\t".join(cells)
    whole = row.count("\t") == 9 and "\t\t" not in row and "\n" not in row and "\r" not in row
    if not whole or row[-1] in BLANKS:
        for number, cell in enumerate(cells, 1):
            if fault := cell_fault(cell, False, last=number == 10):
                raise ValueError(
                    f"CoNLL-U cannot hold {cell!r:.60}: {fault}; JSON can (to_json, --format json)"
                )
    return row


def _space_after(behind: str, last: bool) -> str:
    if behind in ("", " "):
        return "_" if behind or last else "SpaceAfter=No"
    return f"SpacesAfter={_escaped(behind)}"


def _escaped(blanks: str) -> str:
    return "".join(
        _ESCAPES.get(c) or (c if c.isprintable() else f"\\u{ord(c):04x}") for c in blanks
    )


def _joined(misc: str, more: str) -> str:
    return more if misc == "_" else f"{misc}|{more}"
