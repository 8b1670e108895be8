"""python-crfsuite's tagger, which needs only Python and the core."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable

from ..io.crfsuite import parse_crfsuite
from ..printing import put
from .items import ItemSequence, as_integer, as_text, decoded_items, readable
from .model_dump import ParsedDump, dumped, parsed

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..models.string_chain import StringChain


class Tagger:
    """Labels sequences with a CRFsuite model.

    A tagger remembers the last sequence set or labelled: :meth:`marginal` and
    :meth:`probability` refer to it.
    """

    def __init__(self) -> None:
        self._chain: StringChain | None = None
        self._data = b""
        self._forget()

    def _forget(self) -> None:
        self._x: Any = []
        self._marginals: list[dict[str, float]] | None = None

    # -- models ---------------------------------------------------------------------------------

    def open(self, name: str | os.PathLike[str]) -> contextlib.closing[Tagger]:
        """Read a model file; ``with tagger.open(name):`` closes it at the end."""
        with open(name, "rb") as file:
            data = file.read()
        return self._open(data, os.fspath(name))

    def open_inmemory(self, value: bytes) -> contextlib.closing[Tagger]:
        """Read a model from the bytes of its file."""
        if not isinstance(value, bytes):
            raise TypeError(f"a model is bytes, not {type(value).__name__}")
        return self._open(value, "the model")

    def _open(self, data: bytes, name: str) -> contextlib.closing[Tagger]:
        self._chain, self._data = parse_crfsuite(data, name), data
        self._forget()
        return contextlib.closing(self)

    def close(self) -> None:
        """Forget the model."""
        self._chain, self._data = None, b""
        self._forget()

    def _opened(self) -> StringChain:
        if self._chain is None:
            raise ValueError("The tagger is not opened")
        return self._chain

    def labels(self) -> list[str]:
        """Return the labels of the model."""
        return list(self._opened().labels)

    # -- sequences ------------------------------------------------------------------------------

    def set(self, xseq: Any) -> None:
        """Set the sequence for later queries.

        Parameters
        ----------
        xseq : ItemSequence or iterable of items
            See :class:`ItemSequence`.
        """
        self._opened()
        # A copy, in case the caller changes it.
        self._x, self._marginals = ItemSequence(xseq)._tokens, None

    def tag(self, xseq: Any = None) -> list[str]:
        """Return the best labels of a sequence, by default the last one."""
        chain = self._opened()
        x = self._x if xseq is None else readable(xseq)
        try:
            labels: list[str] = chain.predict_single(x)
        except ValueError:
            x = decoded_items(x)
            if x is None:
                raise
            labels = chain.predict_single(x)
        self._x, self._marginals = x, None
        return labels

    def probability(self, yseq: Iterable[str | bytes]) -> float:
        """Return the probability of labels for the last sequence; 0 if it has no items."""
        chain, labels = self._opened(), [as_text(label, "a label") for label in yseq]
        n = len(self._x)
        if n == 0:
            return 0.0
        if len(labels) != n:
            raise ValueError(
                f"The numbers of items and labels differ: |x| = {n}, |y| = {len(labels)}"
            )
        for label in labels:
            self._check_label(label)
        return float(chain.predict_proba([self._x], [labels], temperature=1.0)[0])

    def marginal(self, y: str | bytes, pos: int) -> float:
        """Return the probability of a label at a position of the last sequence."""
        chain = self._opened()
        label, pos = as_text(y, "a label"), as_integer(pos, "a position")
        n = len(self._x)
        if n == 0:
            return 0.0
        if not 0 <= pos < n:
            raise ValueError(f"The position, {pos}, is out of range of {n}")
        if self._marginals is None:
            self._marginals = chain.predict_marginals([self._x], temperature=1.0)[0]
        try:
            return self._marginals[pos][label]
        except KeyError:
            self._check_label(label)
            raise

    def _check_label(self, label: str) -> None:
        if label not in self._opened().labels:
            raise RuntimeError(f"Failed to convert into label identifier: {label}")

    # -- the content of the model ---------------------------------------------------------------

    def info(self) -> ParsedDump:
        """Return the content of the model: labels, attributes and weights."""
        if self._chain is None:
            raise RuntimeError("Tagger is closed")
        return parsed(self._data, self._chain)

    def dump(self, filename: str | os.PathLike[str] | None = None) -> None:
        """Write the content of the model as text; by default to standard output."""
        lines = dumped(self.info())
        if filename is None:
            put("".join(lines), end="")
            return
        with open(filename, "w", encoding="utf-8") as file:
            file.writelines(lines)
