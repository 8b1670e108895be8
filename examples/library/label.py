"""The C library from Python's ctypes, as from any language that can call C.

echo "Fish sleep" | python label.py libstructlearn.so tags.model
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Sequence
from ctypes import POINTER, byref, c_char_p, c_double, c_int, c_size_t, c_uint, c_void_p

CONFIDENCE, PROBABILITY = 1, 2

#: Name of a call -> what it returns, and what it takes.
_CALLS = {
    "version": (c_char_p, ()),
    "message": (c_char_p, ()),
    "open": (c_int, (c_char_p, POINTER(c_void_p))),
    "open_bytes": (c_int, (c_char_p, c_size_t, POINTER(c_void_p))),
    "close": (None, (c_void_p,)),
    "kind": (c_char_p, (c_void_p,)),
    "labels": (c_size_t, (c_void_p,)),
    "label_name": (c_char_p, (c_void_p, c_size_t)),
    "label": (
        c_int,
        (c_void_p, POINTER(c_char_p), POINTER(c_double), POINTER(c_size_t), c_size_t, c_size_t,
         c_uint, POINTER(c_void_p)),
    ),
    "tokens": (c_size_t, (c_void_p,)),
    "labellings": (c_size_t, (c_void_p,)),
    "token_label": (c_char_p, (c_void_p, c_size_t, c_size_t)),
    "token_confidence": (c_double, (c_void_p, c_size_t)),
    "labelling_probability": (c_double, (c_void_p, c_size_t)),
    "free": (None, (c_void_p,)),
}  # fmt: skip


class LibraryError(Exception):
    """A call that failed, with its code."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Answer:
    """Labellings, best first, with the confidence of the best one and the probability of each."""

    def __init__(
        self, labels: list[list[str]], confidence: list[float], probability: list[float]
    ) -> None:
        self.labels, self.confidence, self.probability = labels, confidence, probability


class Library:
    """The calls of a shared library."""

    def __init__(self, path: str) -> None:
        library = ctypes.CDLL(path)
        for name, (result, arguments) in _CALLS.items():
            call = getattr(library, f"structlearn_{name}")
            call.restype, call.argtypes = result, arguments
            setattr(self, name, call)

    def check(self, status: int) -> None:
        """Raise what a call says is wrong."""
        if status:
            raise LibraryError(status, self.message().decode())


class Model:
    """A model of a file, or of its bytes."""

    def __init__(self, library: Library, source: str | bytes) -> None:
        self._library, self._handle = library, c_void_p()
        if isinstance(source, bytes):
            library.check(library.open_bytes(source, len(source), byref(self._handle)))
        else:
            library.check(library.open(source.encode(), byref(self._handle)))
        self.kind = library.kind(self._handle).decode()
        n = library.labels(self._handle)
        self.labels = [library.label_name(self._handle, k).decode() for k in range(n)]

    def __del__(self) -> None:
        self._library.close(self._handle)

    def label(
        self,
        tokens: Sequence[Sequence[str]],
        nbest: int = 1,
        wanted: int = 0,
        values: Sequence[float] | None = None,
    ) -> Answer:
        """Return what is found for a sentence, a list of tokens that are lists of strings."""
        calls = self._library
        strings = [s.encode() for token in tokens for s in token]
        ends, end = (c_size_t * len(tokens))(), 0
        for t, token in enumerate(tokens):
            ends[t] = end = end + len(token)
        numbers = None if values is None else (c_double * len(values))(*values)
        handle = c_void_p()
        status = calls.label(
            self._handle, (c_char_p * len(strings))(*strings), numbers, ends, len(tokens),
            nbest, wanted, byref(handle),
        )  # fmt: skip
        calls.check(status)
        try:
            found = range(calls.labellings(handle))
            places = range(calls.tokens(handle))
            return Answer(
                [[calls.token_label(handle, n, t).decode() for t in places] for n in found],
                [calls.token_confidence(handle, t) for t in places],
                [calls.labelling_probability(handle, n) for n in found],
            )
        finally:
            calls.free(handle)


def main() -> int:
    """Label the sentences of standard input, one on each line."""
    _, library, path = sys.argv
    try:
        model = Model(Library(library), path)
        for line in sys.stdin:
            words = line.split()
            answer = model.label([[word] for word in words], wanted=CONFIDENCE)
            for row in zip(words, answer.labels[0], answer.confidence, strict=True):
                print("{}\t{}\t{:.4f}".format(*row))
            print()
    except LibraryError as error:
        print(f"label: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
