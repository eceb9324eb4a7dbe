"""The first sections of backhauld(8), from `backhauld --help`."""

from __future__ import annotations

import re

from reference import roff

from . import markdown

_OPTION = re.compile(r"^  (--\w+)(?: ([A-Z]+))? +(.*(?:\n {10,}.*)*)", re.MULTILINE)


def body(help_text: str) -> str:
    usage, description, options, signals = help_text.strip().split("\n\n")
    synopsis = re.sub(r"(--\w+) (\w+)", lambda match: f"{roff.bold(match[1])} \\fI{match[2]}\\fP",
                      usage.removeprefix("Usage: backhauld "))
    terms = ""
    for name, argument, text in _OPTION.findall(options):
        value = f" \\fI{argument}\\fP" if argument else ""
        terms += f".TP\n{roff.bold(name)}{value}\n{markdown.paragraph(text)}"
    return (
        f".SH SYNOPSIS\n.B backhauld\n{synopsis}\n"
        f".SH DESCRIPTION\n{markdown.paragraph(description)}"
        f".SH OPTIONS\n{terms}"
        f".SH SIGNALS\n{markdown.paragraph(signals)}")
