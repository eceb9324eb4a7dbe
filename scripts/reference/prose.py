"""The text of a comment as paragraphs and preformatted blocks, and the words in it that are names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: The folder of the documents, as seen from a page of the reference.
DOCUMENTS = "../../"

# A piece of code in backquotes, or a word that is code without them: a name of the header (perhaps with a field or the
# stars of a pointer), a family of names (`BH_STORE_…`), a path of fields (`error->ticket`), a name with an underscore,
# a path of a document, or an initializer.
_CODE = re.compile(
    r"`(?P<marked>[^`]+)`"
    r"|(?P<document>\bdocs/[\w-]+\.md)"
    r"|(?P<plain>\b(?:bht?|BHT?)_\w+(?:\.\w+)?…?(?: \*+)?|…_[A-Z_]+|\b\w+->\w+(?:\.\w+)?"
    r"|\b(?:[a-z]+\.)?[a-z0-9]+_[a-z_]*[a-z]\b|\{0\})"
)


@dataclass(frozen=True)
class Paragraph:
    text: str


@dataclass(frozen=True)
class Preformatted:
    text: str


def blocks(text: str) -> Iterator[Paragraph | Preformatted]:
    """Divides a text at its empty lines. A block whose lines are all indented is preformatted; its own empty lines
    belong to it."""
    pending: list[str] = []
    for block in text.split("\n\n"):
        if not block.strip():
            continue
        lines = block.split("\n")
        if all(line.startswith("  ") for line in lines if line):
            pending.append(block)
            continue
        yield from _preformatted(pending)
        pending = []
        is_list = lines[0].startswith("- ")
        yield Paragraph(block if is_list else " ".join(line.strip() for line in lines))
    yield from _preformatted(pending)


def _preformatted(parts: list[str]) -> Iterator[Preformatted]:
    if parts:
        lines = "\n\n".join(parts).split("\n")
        margin = min(len(line) - len(line.lstrip()) for line in lines if line.strip())
        yield Preformatted("\n".join(line[margin:] for line in lines))


def convert(
    text: str, plain: Callable[[str], str], code: Callable[[str], str], document: Callable[[str], str]
) -> str:
    """Returns the text with its words, its code and its paths of documents converted by three functions."""
    parts, end = [], 0
    for match in _CODE.finditer(text):
        parts.append(plain(text[end : match.start()]))
        parts.append(document(match[0]) if match["document"] else code(match["marked"] or match["plain"]))
        end = match.end()
    return "".join([*parts, plain(text[end:])])


def escaped(text: str) -> str:
    """Escapes what Markdown would take for HTML or for a table. Asterisks stay, because comments mark new words with
    them."""
    return re.sub(r"([<|~])", r"\\\1", text)


def link(text: str, target: str | None) -> str:
    """Returns code as a link. Brackets in the text of a link would end it, so such code is no link."""
    return f"[`{text}`]({target})" if target and "[" not in text else f"`{text}`"


def document_link(path: str) -> str:
    """Returns a link to a document, for the path of the document in the source tree."""
    page = path.removeprefix("docs/")
    return f"[{page.removesuffix('.md')}]({DOCUMENTS}{page})"


def sentence(text: str) -> str:
    """Returns a remark of the header, such as `default 6; at most 256`, with a capital letter and a full stop."""
    if not text:
        return ""
    if re.match(r"[a-z]+\b(?![_(./-])", text):
        text = text[0].upper() + text[1:]
    return text if text.endswith((".", ":", '."', ".)")) else f"{text}."
