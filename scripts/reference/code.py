"""Declarations in lines that fit on a page."""

from __future__ import annotations

import textwrap

_NO_BREAK = "\N{NO-BREAK SPACE}"


def wrapped(declaration: str, width: int = 88) -> str:
    """Returns a declaration in lines that end between two parameters."""
    depth = 0
    letters = []
    for before, letter in zip(f" {declaration}", declaration):
        depth += (letter in "([") - (letter in ")]")
        is_between = before == "," and depth == 1
        letters.append(_NO_BREAK if letter == " " and not is_between else letter)
    lines = textwrap.wrap(
        "".join(letters), width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines).replace(_NO_BREAK, " ")


def block(language: str, text: str) -> str:
    """Returns a block of code in Markdown."""
    return f"```{language}\n{text}\n```\n\n"
