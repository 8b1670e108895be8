"""Tables in Parquet, read and written by pyarrow."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence

from ...exceptions import LineError
from .json_lines import JsonLines

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

    from ..answers import Answer


class Parquet(JsonLines):
    """Parquet: a row for each token, or lists in a row for each sentence, as of JSON lines."""

    name = "parquet"
    called = "Parquet"
    extensions = (".parquet",)
    ends = None

    @classmethod
    def sniff(cls, head: bytes) -> bool:
        return head.startswith(b"PAR1")

    def whole(self, pieces: Iterable[tuple[bytes, int]]) -> Iterable[tuple[bytes, int]]:
        yield b"".join(text for text, _ in pieces), 0

    def _items(self, text: bytes, line: int) -> Iterator[tuple[int, Any]]:
        arrow, parquet = _pyarrow()
        try:
            rows = parquet.read_table(io.BytesIO(text)).to_pylist()
        except (arrow.ArrowException, OSError, ValueError) as error:  # or names that are not UTF-8
            raise LineError(0, f"not a Parquet file: {error!s:.200}") from None
        return enumerate(rows, 1)

    def write(self, added: list[list[Answer]], names: Sequence[str], place: int | None) -> bytes:
        arrow, parquet = _pyarrow()
        self._fill(added, names, place)
        out = io.BytesIO()
        try:
            parquet.write_table(arrow.Table.from_pylist(self._objects), out)
        except arrow.ArrowException as error:
            told = f"Parquet cannot hold the table with its labels: {error!s:.200}"
            raise LineError(0, f"{told}: make JSON lines of it first") from None
        return out.getvalue()


def _pyarrow() -> tuple[Any, Any]:
    """Return the modules of pyarrow."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Parquet is read by pyarrow, which is not installed: pip install pyarrow",
            name="pyarrow",
        ) from None
    return pyarrow, pyarrow.parquet
