"""What the features of spans and splits look at, with their values: "first word = 'the'"."""

from __future__ import annotations

from collections.abc import Sequence


def _templates(text: str) -> list[str]:
    return text.split("|")


#: The templates of native/tasks/constituents/span_features.cpp, in their order. A letter for what
#: is looked at (w: word, t: tag, s: shape), and where (_PLACES).
_NODE = _templates(
    "bias|length|wf|wl|wb|wn|tf length|tl length|tb length|tn length|wb wf|wl wn|tf tl|tb tn|tb tf|"
    "tl tn|tb tf tl tn|tf tl tn|tb tf tl|wf tl|tf wl|wf wl|wb wn|tb wf|wl tn|wf length|wb tf|tl wn|"
    "tf tl length|tf tF|tL tl|tB tb|tn tN|tb tf tF|tL tl tn|inside|inside tf|inside tl tn|"
    "tf wb tl tn|wf tl tn|wf tb tn|tb tf tn|tb tl tn|tl tn tN|tB tb tf|wb wf wn|"
    "tags|tags tb tn|shapes|tags wf|tags wl"
)
_WORD = _templates(
    "bias|wf|tf|tf tb|tf tn|tf tb tn|wf tb|wf tn|tf wb|tf wn|tf wb tn|tf tb wn|tf tn tN|tf tb tB|"
    "tf tb tn tN|tf tb tn tB|wf tb tn|tf sf|wf wb|wf wn|tf wb wn"
)
_REST = _templates(
    "length|wf|wl|wb|wn|tf tl|tb tf|tl tn|tb tf tl tn|tb wf|wb tf|wb wf|tf length|tb tf tF|"
    "inside tf|tf tl tn|wf tl tn|tb tn"
)
_CHILD = _templates("length|wf|wl|tf tl|wn|tb tf|tl tn|tf length|tf tl tn|tb tf tl")
_LAST_CHILD = ["wb" if name == "wn" else name for name in _CHILD]
_SPLIT = _templates("lengths|tf tk tK tl|tf wK tn|tb tK tn")

#: Place -> offset from where, and how it is said.
_PLACES = {
    "f": ("i", 0, "first {}"),
    "F": ("i", 1, "second {}"),
    "b": ("i", -1, "{} before"),
    "B": ("i", -2, "second {} before"),
    "l": ("j", -1, "last {}"),
    "L": ("j", -2, "last {} but one"),
    "n": ("j", 0, "{} after"),
    "N": ("j", 1, "second {} after"),
    "k": ("k", -1, "{} before the split"),
    "K": ("k", 0, "{} after the split"),
}
_COLUMNS = {"w": "word", "t": "tag", "s": "shape"}
_MARKS = (":", "``", "''", "-LRB-", "-RRB-")


class SpanNames:
    """The words of a sentence with their tags, and what features say of its spans.

    Parameters
    ----------
    labels : list of str
        What the labels are called.
    """

    def __init__(self, words: Sequence[str], tags: Sequence[str], labels: Sequence[str]) -> None:
        self._words, self._labels = words, labels
        self._cells = {
            "w": [repr(word) for word in words],
            "t": list(tags),
            "s": [_shape(word) for word in words],
        }

    def named(self, block: int, i: int, k: int, j: int, label: int) -> list[str]:
        """Return the names of the features of a part, in the order of the core's templates.

        Parameters
        ----------
        block : int
            0: a node, 1: the rest of a row of children, 2 to 4: a child, the first, one in the
            middle, the last, 5: a split at k.
        label : int
            Of the node, or of what stands above.
        """
        node = _WORD if j == i + 1 else _NODE if j - i <= 6 else _NODE[:46]
        templates = (node, _REST, _CHILD, _CHILD, _LAST_CHILD, _SPLIT)[block]
        said = ("{}", "rest of {}", "first child of {}", "middle child of {}", "last child of {}")
        what = (*said, "split of {}")[block].format(self._labels[label] or "no label")
        ends = self._text(i, j) if block != 5 else f"{self._text(i, k)} | {self._text(k, j)}"
        where = {"i": i, "k": k, "j": j}
        single = block == 0 and j == i + 1
        return [
            f"{what} over '{ends}': "
            + ", ".join(self._part(part, where, single) for part in template.split(" "))
            for template in templates
        ]

    def _text(self, i: int, j: int) -> str:
        words = self._words[i:j]
        return " ".join(words) if len(words) <= 4 else f"{words[0]} … {words[-1]}"

    def _part(self, part: str, where: dict[str, int], single: bool) -> str:
        i, k, j = where["i"], where["k"], where["j"]
        if part == "bias":
            return part
        if part == "length":
            return f"length = {_length(j - i)}"
        if part == "lengths":
            return f"lengths = {_length(k - i)} and {_length(j - k)}"
        if part == "inside":
            return f"inside = {self._contents(i, j)}"
        if part in ("tags", "shapes"):
            return f"{part} = {' '.join(self._cells[part[0]][i:j])}"
        column, place = part[0], part[1]
        mark, offset, said = _PLACES[place]
        name = _COLUMNS[column] if single and place == "f" else said.format(_COLUMNS[column])
        at = where[mark] + offset
        if not 0 <= at < len(self._words):
            return f"{name} = {'(start)' if at < 0 else '(end)'}"
        return f"{name} = {self._cells[column][at]}"

    def _contents(self, i: int, j: int) -> str:
        tags = self._cells["t"][i:j]
        counts = (
            ("verbs", sum(t.startswith("VB") or t == "MD" for t in tags), 3),
            ("conjunctions", tags.count("CC"), 2),
            ("commas", tags.count(","), 2),
            ("other marks", sum(t in _MARKS for t in tags), 2),
        )
        found = [f"{min(n, most)}{'+' * (n >= most)} {name}" for name, n, most in counts if n]
        return ", ".join(found) or "no verbs or marks"


def _length(n: int) -> str:
    """Return a length as the core groups them."""
    groups = ((8, "7–8"), (12, "9–12"), (20, "13–20"))
    return str(n) if n <= 6 else next((said for most, said in groups if n <= most), "over 20")


def _shape(word: str) -> str:
    """Return X for capitals, x for other letters, d for digits; runs are cut to two."""
    found = ""
    for c in word.encode():
        byte = chr(c)
        letter = "x" if "a" <= byte <= "z" or c >= 0x80 else byte
        kind = "X" if "A" <= byte <= "Z" else "d" if "0" <= byte <= "9" else letter
        if found[-2:] != 2 * kind and len(found) < 12:
            found += kind
    return found
