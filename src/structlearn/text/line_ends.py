"""Line ends of running text, however they are spelled.

LF, CRLF, CR, VT, NEL (U+0085) and LS (U+2028) all end a line and mean the same. A blank line ends a
paragraph, and so does PS (U+2029). FF is a blank like others: pages end in the middle of sentences,
mostly after a line end, which would make a blank line of it.
"""

from __future__ import annotations

import re

#: Characters that end lines, LF last.
ENDS = "\r\v\x85\u2028\n"
_END = rf"(?:\r\n|\r(?!\n)|[{ENDS[1:]}])"
_BLANKS = rf"[^\S{ENDS}\u2029]*"

#: What stands between two paragraphs.
PARAGRAPH_END = re.compile(rf"(?:{_END}{_BLANKS}{_END}|\u2029)\s*")
#: The end of a line that a blank one follows, whose end is the group; or of a paragraph.
_BLANK_LINE = re.compile(rf"{_END}(?={_BLANKS}({_END}))|(\u2029)")


def last_paragraph_end(text: str, begin: int, end: int) -> int:
    """Return where the last paragraph ends that is complete, after a blank line; 0: nowhere.

    Parameters
    ----------
    begin, end : int
        The part of the text that is looked at.
    """
    found = 0
    for match in _BLANK_LINE.finditer(text, begin, end):
        found = match.end(match.lastindex or 0)
    return found
