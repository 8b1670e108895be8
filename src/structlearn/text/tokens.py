"""Tokens from Python on their way to the core: checked, so that errors say which one is wrong."""

from __future__ import annotations

from collections.abc import Sequence

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from .. import _core


def add_tokens(
    core: _core.Corpus, tokens: list[tuple[Any, ...]], number: int, lines: Sequence[int] = ()
) -> None:
    """Add a sentence from Python to a corpus of the core, or say what is wrong with it.

    ``lines``: where the tokens come from.
    """
    if not tokens:
        raise ValueError(f"sentence {number} has no tokens")
    try:
        core.add_sentence([list(cells) for cells in zip(*tokens, strict=True)], lines)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sentence {number}: {_fault(tokens) or error}") from None


def _fault(tokens: list[tuple[Any, ...]]) -> str:
    """Return which token of a sentence has other cells than it should, and how to mend it."""
    for t, cells in enumerate(tokens):
        if len(cells) != len(tokens[0]):
            return (
                f"token {t} has {len(cells)} cells, token 0 has {len(tokens[0])}; every token has "
                "the same columns"
            )
        for cell in cells:
            if not isinstance(cell, str):
                kind = type(cell).__name__
                return f"its cells must be strings, and token {t} has {cell!r:.60}, a {kind}"
            if not is_text(cell):
                return f"token {t} has {cell!r:.60}: {NO_TEXT}"
    return ""


#: What a string is that :func:`is_text` refuses.
NO_TEXT = (
    "it holds half a character (a lone surrogate) and cannot be written to a file: decode the "
    "text with the encoding that it was written in"
)


def is_text(cell: str) -> bool:
    """Tell whether a string can be written as UTF-8: Python's may hold halves of characters."""
    try:
        cell.encode()
    except UnicodeEncodeError:
        return False
    return True


def split_sentence(sentence: Any) -> list[Any]:
    """Return the tokens of a sentence; those of a string are what white space separates."""
    return sentence.split() if isinstance(sentence, str) else list(sentence)


def cells_of(sentence: Any, number: int) -> list[tuple[Any, ...]]:
    """Return the tokens of a sentence from Python, each a tuple of cells."""
    try:
        tokens = split_sentence(sentence)
        kinds = set(map(type, tokens))
        if kinds == {tuple}:
            return tokens
        if kinds == {str}:
            return [(token,) for token in tokens]
        for t, token in enumerate(tokens):
            if isinstance(token, (dict, set, frozenset)):  # its keys would be taken as cells
                raise ValueError(
                    f"sentence {number}: token {t} is {token!r:.60}, a {type(token).__name__}; a "
                    "token is a string or a tuple of strings, such as (word, tag). The "
                    "estimators, such as CRF, take dictionaries of features"
                )
        return [(t,) if isinstance(t, str) else tuple(t) for t in tokens]
    except TypeError:
        raise ValueError(
            f"sentence {number} is not a list of tokens, each a string or a tuple of strings: "
            f"{sentence!r:.60}"
        ) from None
