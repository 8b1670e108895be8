"""Feature templates for the usual tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from .templates import FeatureTemplates

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

_CHUNK = """
ends: marked
digits(word[-2..2])
digits(word[-1]) digits(word[0])
digits(word[0]) digits(word[1])
lower(digits(word[-1..1]))
suffix(lower(digits(word)), 2..3)
pos[-2..2]
pos[-2] pos[-1]
pos[-1] pos[0]
pos[0] pos[1]
pos[1] pos[2]
pos[-2] pos[-1] pos[0]
pos[-1] pos[0] pos[1]
pos[0] pos[1] pos[2]
seen(lower(digits(word[-1..1])))
seen(lower(digits(word[-1]))) seen(lower(digits(word[0])))
seen(lower(digits(word[0]))) seen(lower(digits(word[1])))
pos[-1..1] seen(lower(digits(word[0])))
bias
"""

_POS = """
ends: marked
lower(digits(word[-2..2]))
digits(word)
lower(digits(word[-1])) lower(digits(word[0]))
lower(digits(word[0])) lower(digits(word[1]))
lower(digits(word[-1])) lower(digits(word[1]))
lower(digits(word[-2])) lower(digits(word[-1]))
lower(digits(word[1])) lower(digits(word[2]))
prefix(lower(digits(word)), 1..5)
suffix(lower(digits(word)), 1..6)
suffix(lower(digits(word[-1])), 2..3)
suffix(lower(digits(word[1])), 2..3)
shape(word)
shape(word[-1..1], short)
shape(word[-1], short) shape(word[0], short) shape(word[1], short)
seen(lower(digits(word[-2..2])))
seen(lower(digits(word[-2]))) seen(lower(digits(word[-1])))
seen(lower(digits(word[-1]))) seen(lower(digits(word[0])))
seen(lower(digits(word[0]))) seen(lower(digits(word[1])))
seen(lower(digits(word[1]))) seen(lower(digits(word[2])))
seen(lower(digits(word[-1]))) seen(lower(digits(word[1])))
seen(lower(digits(word[-1]))) seen(lower(digits(word[0]))) seen(lower(digits(word[1])))
lower(digits(word[0])) seen(lower(digits(word[1])))
lower(digits(word[0])) seen(lower(digits(word[-1])))
bias
"""

_NER = """
ends: marked
digits(word[-3..3])
lower(digits(word[-2..2]))
digits(word[-2]) digits(word[-1])
digits(word[-1]) digits(word[0])
digits(word[0]) digits(word[1])
digits(word[1]) digits(word[2])
digits(word[-1]) digits(word[1])
pos[-2..2]
pos[-2] pos[-1]
pos[-1] pos[0]
pos[0] pos[1]
pos[1] pos[2]
shape(word)
shape(word[-2..2], short)
shape(word[-1], short) shape(word[0], short)
shape(word[0], short) shape(word[1], short)
shape(word[-1], short) shape(word[0], short) shape(word[1], short)
lower(digits(word[-1])) shape(word, short)
lower(digits(word[1])) shape(word, short)
prefix(lower(digits(word)), 1..5)
suffix(lower(digits(word)), 1..5)
prefix(lower(digits(word[-1])), 3)
prefix(lower(digits(word[1])), 3)
suffix(lower(digits(word[-1])), 3)
suffix(lower(digits(word[1])), 3)
seen(lower(digits(word[-2..2])), types)
seen(lower(digits(word[-1])), types) seen(lower(digits(word[0])), types)
seen(lower(digits(word[0])), types) seen(lower(digits(word[1])), types)
seen(lower(digits(word[-1])), types) seen(lower(digits(word[0])), types) seen(lower(digits(word[1])), types)
seen(lower(digits(word[-2])), types) seen(lower(digits(word[-1])), types) seen(lower(digits(word[0])), types)
seen(lower(digits(word[0])), types) seen(lower(digits(word[1])), types) seen(lower(digits(word[2])), types)
bias
"""  # noqa: E501

_SEGMENTS = """
ends: marked
before(digits(word[-1..0]))
before(lower(digits(word[-1..0])))
before(digits(word[-1])) before(digits(word))
before(pos[-1..0])
before(pos[-1]) before(pos)
before(shape(word, short))
before(prefix(lower(digits(word)), 3))
before(suffix(lower(digits(word)), 3))
before(seen(lower(digits(word)), types))
after(digits(word[0..1]))
after(lower(digits(word[0..1])))
after(digits(word)) after(digits(word[1]))
after(pos[0..1])
after(pos) after(pos[1])
after(shape(word, short))
after(prefix(lower(digits(word)), 3))
after(suffix(lower(digits(word)), 3))
after(seen(lower(digits(word)), types))
begin(digits(word))
begin(lower(digits(word)))
begin(pos)
begin(shape(word, short))
begin(seen(lower(digits(word)), types))
begin(prefix(lower(digits(word)), 3))
begin(suffix(lower(digits(word)), 3))
begin(digits(word)) begin(digits(word[1]))
before(digits(word)) begin(digits(word))
before(pos) begin(pos)
before(lower(digits(word))) begin(shape(word, short))
before(shape(word, short)) begin(shape(word, short))
end(digits(word))
end(lower(digits(word)))
end(pos)
end(shape(word, short))
end(seen(lower(digits(word)), types))
end(suffix(lower(digits(word)), 3))
end(digits(word[-1])) end(digits(word))
end(digits(word)) after(digits(word))
end(pos) after(pos)
end(shape(word, short)) after(lower(digits(word)))
end(shape(word, short)) after(shape(word, short))
inside(digits(word))
inside(lower(digits(word)))
inside(pos)
inside(shape(word))
inside(shape(word, short))
inside(prefix(lower(digits(word)), 1..5))
inside(suffix(lower(digits(word)), 1..5))
inside(seen(lower(digits(word)), types))
inside(digits(word[-1])) inside(digits(word))
whole(lower(digits(word)))
whole(shape(word, short))
whole(pos)
whole(seen(lower(digits(word)), types))
length
length begin(shape(word, short))
before(pos) after(pos)
before(lower(digits(word))) after(lower(digits(word)))
before(lower(digits(word))) length
bias
"""

#: Templates by name, and the settings of a tagger that go best with them.
PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "chunk": (_CHUNK, {"all_possible_states": 2, "n_models": 5, "scheme": "iobes"}),
    "pos": (_POS, {"all_possible_states": 2, "n_models": 5}),
    "ner": (_NER, {"all_possible_states": True, "n_models": 5, "order": 2}),
    "none": ("bias", {}),
    "segments": (_SEGMENTS, {"all_possible_states": True, "n_models": 5}),
}


def load_templates(
    name: str | os.PathLike[str],
    functions: Mapping[str, Callable[[str], Any]] | None = None,
) -> FeatureTemplates:
    """Return the templates of a preset, or of a file.

    Parameters
    ----------
    name : {"pos", "chunk", "ner", "none", "segments"} or path
        A file holds templates of ours, or of CRF++.
    functions : dict of str to callable, optional
        What ``call(…)`` in a template names.
    """
    key = os.fspath(name)
    if key in PRESETS:
        return FeatureTemplates.parse(PRESETS[key][0], name=key, functions=functions)
    if not os.path.exists(key):
        raise ValueError(
            f"features must be one of {', '.join(PRESETS)}, or a file of templates: there is no "
            f"file {key!r}"
        )
    return FeatureTemplates.load(key, functions)
