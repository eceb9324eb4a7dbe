"""Documents in Markdown as text in the language man(7).

The documents use few constructs, which this module reads itself: the build has no library for Markdown, pandoc needs
170 MB, and the pages of lowdown fail `mandoc -T lint`. Constructs that this module does not know are errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from reference import roff

from . import documents

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`|\*\*(?P<strong>[^*]+)\*\*|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*"
    r"|\[(?P<document>[\w-]+\.md)\]\([^)]*\)|\[(?P<label>(?:`[^`]*`|[^\]`])+)\]\([^)]*\)")
_BULLET = re.compile(r"(?:[-*]|(?P<number>\d+)\.) +")


def sections(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Yields the level, the title and the blocks of each section."""
    level, title, blocks = 0, "", list[str]()
    for block in _blocks(text):
        if match := re.fullmatch(r"(#+) (.*)", block):
            yield level, title, blocks
            level, title, blocks = len(match[1]), match[2], []
        else:
            blocks.append(block)
    yield level, title, blocks


def _blocks(text: str) -> list[str]:
    """The blocks of a document, which empty lines separate. Code is one block, also if it has empty lines."""
    blocks, is_fenced = list[str](), False
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        continues = blocks and block.startswith("    ") and blocks[-1].startswith("    ")
        if is_fenced or continues:
            blocks[-1] += f"\n\n{block}"
        else:
            blocks.append(block)
        is_fenced ^= len(re.findall(r"^ *```", block, re.MULTILINE)) % 2 == 1
    return blocks


def converted(block: str) -> str:
    """A block that is no title."""
    if block.startswith("```mermaid"):
        raise ValueError(f"no page of the manual can have this diagram: {block}")
    if block.startswith("```"):
        return f".PP\n{roff.preformatted(chr(10).join(block.splitlines()[1:-1]))}"
    if block.startswith("    "):
        return f".PP\n{roff.preformatted(chr(10).join(line[4:] for line in block.splitlines()))}"
    if block.startswith("|"):
        return _table(block)
    if _BULLET.match(block):
        return _list(block)
    if block.startswith(("<", "!", ">", "#", ":")):
        raise ValueError(f"no page of the manual can have this block: {block}")
    return f".PP\n{paragraph(block)}"


def paragraph(text: str) -> str:
    """The words of a paragraph stay in its lines, which have at most 80 columns."""
    return roff.filled(inline(" ".join(text.split())))


def inline(text: str) -> str:
    """Code is bold. The text of a link stays, and its address does not. If the text is the name of a document's file,
    the title of the document or a page of the manual replaces it."""
    result, position = "", 0
    for match in _INLINE.finditer(text):
        result += roff.plain(text[position:match.start()])
        if match["code"]:
            result += roff.bold(match["code"])
        elif match["document"]:
            result += documents.named(match["document"])
        elif match["label"]:
            result += inline(match["label"])
        else:
            result += f"\\fI{roff.plain(match['strong'] or match['emphasis'])}\\fP"
        position = match.end()
    return result + roff.plain(text[position:])


def _list(block: str) -> str:
    result = ""
    for item in re.split(r"\n(?=(?:[-*]|\d+\.) )", block):
        match = _BULLET.match(item)
        assert match, item
        mark = f"{match['number']}. 4" if match["number"] else "\\(bu 2"
        result += f".IP {mark}\n{paragraph(item[match.end():])}"
    return result


def _cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row.strip().strip("|"))]


def _table(block: str) -> str:
    """A table as a list, because columns of sentences do not fit into 80 columns."""
    titles, _, *rows = [_cells(row) for row in block.splitlines()]
    result = ""
    for term, text, *others in rows:
        named = [f"{title}: {cell}" for title, cell in zip(titles[2:], others, strict=True) if cell]
        result += f".TP\n{roff.line(inline(term))}{paragraph('; '.join(filter(None, [text, *named])) or '-')}"
    return result
