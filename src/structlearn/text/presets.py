"""Feature templates for the usual tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from .templates import FeatureTemplates

__all__ = ["PRESETS", "load_templates"]

#: The templates of CRFsuite's chunking tutorial.
_CHUNK = """
word[-2..2]
word[-1] word[0]
word[0] word[1]
pos[-2..2]
pos[-2] pos[-1]
pos[-1] pos[0]
pos[0] pos[1]
pos[1] pos[2]
pos[-2] pos[-1] pos[0]
pos[-1] pos[0] pos[1]
pos[0] pos[1] pos[2]
first
last
"""

_POS = """
word[-2..2]
lower(word[-1..1])
word[-1] word[0]
word[0] word[1]
prefix(word, 1..4)
suffix(word, 1..5)
suffix(word[-1], 2..3)
suffix(word[1], 2..3)
shape(word, short)
shape(word)
shape(word[-1], short)
shape(word[1], short)
first
last
bias
"""

_NER = """
word[-2..2]
lower(word[-2..2])
pos[-2..2]
pos[-1] pos[0]
pos[0] pos[1]
word[-1] word[0]
word[0] word[1]
prefix(word, 1..4)
suffix(word, 1..4)
shape(word[-2..2], short)
shape(word)
shape(word[-1], short) shape(word, short)
shape(word, short) shape(word[1], short)
first
last
bias
"""

PRESETS = {"chunk": _CHUNK, "pos": _POS, "ner": _NER, "none": "bias"}


def load_templates(
    name: str | os.PathLike[str],
    functions: Mapping[str, Callable[[str], Any]] | None = None,
) -> FeatureTemplates:
    """Return the templates of a preset, or of a file.

    Parameters
    ----------
    name : {"pos", "chunk", "ner", "none"} or path
        A file holds templates of ours, or of CRF++.
    functions : dict of str to callable, optional
        What ``call(…)`` in a template names.
    """
    key = os.fspath(name)
    if key in PRESETS:
        return FeatureTemplates.parse(PRESETS[key], name=key, functions=functions)
    if not os.path.exists(key):
        raise ValueError(
            f"features must be one of {', '.join(PRESETS)}, or a file of templates: there is no "
            f"file {key!r}"
        )
    return FeatureTemplates.load(key, functions)
