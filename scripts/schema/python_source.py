"""The parts that all generated Python modules have in common."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable

WIDTH = 120
_NOTE = "# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.\n"


def module(documentation: str, imports: Iterable[str], blocks: Iterable[str], separator: str = "\n\n") -> str:
    """Returns the text of a module with its groups of imports and its blocks."""
    head = f'{_NOTE}"""{documentation}"""\n\nfrom __future__ import annotations\n'
    imported = "".join(f"\n{group}\n" for group in imports)
    return head + imported + separator + separator.join(block.strip("\n") + "\n" for block in blocks)


def import_from(source: str, used: list[str]) -> str:
    """Returns an import, on one line if it fits."""
    line = f"from {source} import {', '.join(used)}"
    if len(line) <= WIDTH:
        return line
    return f"from {source} import (\n" + "".join(f"    {name},\n" for name in used) + ")"


def docstring(text: str, indent: str = "    ") -> str:
    if len(indent) + len(text) + 6 <= WIDTH:
        return f'{indent}"""{text}"""\n'
    lines = textwrap.wrap(f'"""{text}', WIDTH - len(indent), break_on_hyphens=False)
    closing = '"""' if len(lines[-1]) + len(indent) + 3 <= WIDTH else f'\n{indent}"""'
    return textwrap.indent("\n".join(lines), indent) + closing + "\n"


def remark(text: str, indent: str = "    ") -> str:
    """Returns a comment for the line below it. If there is no text, returns an empty text."""
    if not text:
        return ""
    return textwrap.fill(text, WIDTH, initial_indent=f"{indent}#: ", subsequent_indent=f"{indent}#: ",
                         break_on_hyphens=False) + "\n"


def number(value: int) -> str:
    """Returns the number in a readable form: 2**64 - 1, 65_536."""
    for bits in (32, 64):
        if value == 2**bits - 1:
            return f"2**{bits} - 1"
    return f"{value:_}"
