"""Finds the comments of a C file, by the positions of the declarations that they document."""

from __future__ import annotations

import re

_TRAILING = re.compile(rb"[ \t]*[,;]?[ \t]*/\*(.*?)\*/", re.DOTALL)
# A macro on its own line may be between a comment and its declaration.
_MACRO_LINE = re.compile(rb"[A-Z][A-Z0-9_]*(\([^)]*\))?$")
# The guard around the whole header does not match: `#ifndef`.
_CONDITION = re.compile(rb"^#(if|endif)\b", re.MULTILINE)
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
        return _plain(self._above(begin))

    def whole_above(self, begin: int) -> str:
        """Returns all paragraphs of the comment above a declaration, with their lines and indentation. If a macro has
        no comment, but the `#if` around it has one, returns the comment of the `#if`."""
        comment = self._above(begin)
        while not comment and (condition := self._condition_around(begin)) is not None:
            begin = condition
            comment = self._above(begin)
        return "\n".join(lines_of(comment))

    def _above(self, begin: int) -> bytes:
        """Returns what is between `/*` and `*/` directly above a declaration."""
        start = self._line(begin)
        while start and _MACRO_LINE.match(self._text_of_line(start - 1)):
            start = self._line(start - 1)
        end = self._source.rfind(b"*/", 0, start) + 2
        gap = self._source[end:start]
        if end < 2 or gap.strip() or gap.count(b"\n") != 1:
            return b""
        opening = self._source.rfind(b"/*", 0, end)
        is_of_its_own = not self._source[self._line(opening) : opening].strip()
        return self._source[opening + 2 : end - 2] if is_of_its_own else b""

    def _condition_around(self, begin: int) -> int | None:
        """Returns the offset of the `#if` around a position, or None if there is none. The `#ifndef` of a guard is no
        such condition."""
        open_conditions: list[int] = []
        for match in _CONDITION.finditer(self._source, 0, self._line(begin)):
            if match[1] == b"if":
                open_conditions.append(match.start())
            elif match[1] == b"endif" and open_conditions:
                open_conditions.pop()
        return open_conditions[-1] if open_conditions else None

    def follows_directly(self, end: int, begin: int) -> bool:
        """Whether the next declaration, at `begin`, follows without a blank line."""
        return b"\n\n" not in self._source[end:begin]

    def _line(self, offset: int) -> int:
        """Returns the offset at which the line that contains this offset begins."""
        return self._source.rfind(b"\n", 0, offset) + 1

    def _text_of_line(self, offset: int) -> bytes:
        return self._source[self._line(offset) : offset].strip()


def lines_of(comment: bytes) -> list[str]:
    """Returns the lines of a comment, without the asterisks at their start, but with further indentation."""
    lines = [re.sub(r"^ ?\* ?", "", line).rstrip() for line in comment.decode().strip().split("\n")]
    return lines[:-1] if lines[-1] == "" else lines


def _plain(comment: bytes) -> str:
    """Returns the first paragraph of a comment as one line. Later paragraphs, such as tables, are left out."""
    lines = [line.strip() for line in lines_of(comment)]
    first = lines[: lines.index("")] if "" in lines else lines
    return " ".join(first)
