"""Formats of sentences by their names."""

from .codec import Codec
from .line_codecs import ConlluCodec, LinesCodec, TextCodec
from .table_codecs import CsvCodec, JsonCodec

__all__ = ["CODECS", "Codec"]

CODECS: dict[str, type[Codec]] = {
    "columns": LinesCodec,
    "conllu": ConlluCodec,
    "csv": CsvCodec,
    "jsonl": JsonCodec,
    "text": TextCodec,
}
