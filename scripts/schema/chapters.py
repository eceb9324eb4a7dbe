"""Finds the chapters of the header, and the topics of the comment at its beginning."""

from __future__ import annotations

import re
from collections.abc import Iterator

from .comments import lines_of
from .model import Chapter, Topic

_CHAPTER = re.compile(rb"^/\* -{20,}\n(.*?)\n \* -{20,} \*/", re.MULTILINE | re.DOTALL)
_INTRODUCTION = re.compile(rb"\A/\*(.*?)\*/", re.DOTALL)


def chapters(source: bytes) -> Iterator[Chapter]:
    for match in _CHAPTER.finditer(source):
        title, _, summary = " ".join(lines_of(match[1])).partition(": ")
        yield Chapter(title, summary, match.start())


def introduction(source: bytes) -> Iterator[Topic]:
    """Yields the topics. The title of a topic is a line without indentation, and the topic's text is indented."""
    comment = _INTRODUCTION.match(source)
    title, text = "", list[str]()
    for line in lines_of(comment[1]) if comment else ():
        if not line or line.startswith(" "):
            text.append(line.removeprefix("  "))
            continue
        yield from _topic(title, text)
        title, text = line, []
    yield from _topic(title, text)


def _topic(title: str, lines: list[str]) -> Iterator[Topic]:
    """Yields the topic, unless it has no text: the title of the header, and its licence."""
    if any(lines):
        yield Topic(title, "\n".join(lines).strip("\n"))
