"""Finds the comments of a C file, by the positions of the declarations that they document."""

from __future__ import annotations

import re

_TRAILING = re.compile(rb"[ \t]*[,;]?[ \t]*/\*(.*?)\*/", re.DOTALL)
# A macro on its own line may be between a comment and its declaration.
_MACRO_LINE = re.compile(rb"[A-Z][A-Z0-9_]*(\([^)]*\))?$")
_STATUS_ROW = re.compile(r'\bX\((\w+), *\d+, *"(.*?)"\)')


class Comments:
    def __init__(self, source: bytes) -> None:
        self._source = source
        #: Maps the name of a constant to its meaning. Both come from the rows of tables such as BH_STATUS_TABLE.
        self.rows = {f"BH_{name}": text for name, text in _STATUS_ROW.findall(source.decode())}

    def of(self, begin: int, end: int) -> str:
        """Returns the comment that follows the declaration on its last line. If there is none, returns the comment
        above the declaration."""
        return self.behind(end) or self.above(begin)

    def of_member(self, begin: int, end: int) -> str:
        """Returns the comment of a member, which is found as in `of`. If a line has several declarations, the comment
        above the line belongs to the first declaration."""
        is_first = not self._source[self._line(begin) : begin].strip()
        return self.behind(end) or (self.above(begin) if is_first else "")

    def behind(self, end: int) -> str:
        found = _TRAILING.match(self._source, end)
        return _plain(found[1]) if found else ""

    def above(self, begin: int) -> str:
        start = self._line(begin)
        while start and _MACRO_LINE.match(self._text_of_line(start - 1)):
            start = self._line(start - 1)
        end = self._source.rfind(b"*/", 0, start) + 2
        gap = self._source[end:start]
        if end < 2 or gap.strip() or gap.count(b"\n") != 1:
            return ""
        opening = self._source.rfind(b"/*", 0, end)
        is_of_its_own = not self._source[self._line(opening) : opening].strip()
        return _plain(self._source[opening + 2 : end - 2]) if is_of_its_own else ""

    def follows_directly(self, end: int, begin: int) -> bool:
        """Whether the next declaration, at `begin`, follows without a blank line."""
        return b"\n\n" not in self._source[end:begin]

    def _line(self, offset: int) -> int:
        """Returns the offset at which the line that contains this offset begins."""
        return self._source.rfind(b"\n", 0, offset) + 1

    def _text_of_line(self, offset: int) -> bytes:
        return self._source[self._line(offset) : offset].strip()


def _plain(comment: bytes) -> str:
    """Returns the first paragraph of a comment as one line, without the asterisks at the start of the lines. Later
    paragraphs, such as tables, are left out."""
    lines = [line.strip().removeprefix("*").strip() for line in comment.decode().strip().split("\n")]
    first = lines[: lines.index("")] if "" in lines else lines
    return " ".join(first)
