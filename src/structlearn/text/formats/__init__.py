"""Formats of text files: one file each, the registry, and which one a file has."""

from .format import Format, Sentences
from .guessing import check_format, guess_format, sure_format
from .lines import lines_are, split_heading
from .registry import (
    FORMATS,
    FormatNames,
    is_spans,
    register,
    rewriting,
    span_formats,
    token_formats,
)

__all__ = [
    "FORMATS",
    "Format",
    "FormatNames",
    "Sentences",
    "check_format",
    "guess_format",
    "is_spans",
    "lines_are",
    "register",
    "rewriting",
    "span_formats",
    "split_heading",
    "sure_format",
    "token_formats",
]
