"""Feature templates for segments."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping

from .presets import PRESETS
from .segment_templates import SegmentTemplates

TYPE_CHECKING = False  # importing typing costs more than labelling a sentence
if TYPE_CHECKING:
    from typing import Any

__all__ = ["SEGMENT_PRESETS", "load_segment_templates"]

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
SEGMENT_PRESETS: dict[str, tuple[str, dict[str, Any]]] = {
    "segments": (_SEGMENTS, {"all_possible_states": True, "n_models": 5}),
}


def load_segment_templates(
    name: str | os.PathLike[str],
    functions: Mapping[str, Callable[[str], Any]] | None = None,
) -> SegmentTemplates:
    """Return the templates of a preset, or of a file.

    Parameters
    ----------
    name : {"segments"} or path
        A file holds templates of segments.
    functions : dict of str to callable, optional
        What ``call(…)`` in a template names.
    """
    key = os.fspath(name)
    if key in SEGMENT_PRESETS:
        return SegmentTemplates.parse(SEGMENT_PRESETS[key][0], name=key, functions=functions)
    if not os.path.exists(key):
        about = f"the preset {key!r} is for a Tagger" if key in PRESETS else f"no file {key!r}"
        raise ValueError(
            f"features must be {', '.join(SEGMENT_PRESETS)}, or a file of templates of segments: "
            f"{about}"
        )
    made = SegmentTemplates.load(key, functions)
    assert isinstance(made, SegmentTemplates)
    return made
