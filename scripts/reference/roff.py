"""The parts of a manual page in the language man(7)."""

from __future__ import annotations

import os
import re
import subprocess
import textwrap

_SPECIAL = {"\\": "\\e", "…": "...", "—": "\\(em", "–": "\\(en", "“": '"', "”": '"', "’": "'"}


def plain(text: str) -> str:
    """Returns a text as roff prints it unchanged. An asterisk pair marks a new word."""
    text = "".join(_SPECIAL.get(letter, letter) for letter in text)
    # A minus before a digit is no hyphen.
    text = re.sub(r"(?<![\w)])-(?=\d)", r"\\-", text)
    return re.sub(r"(?<![\w*])\*([a-z][\w -]*)\*(?![\w*])", r"\\fI\1\\fP", text)


def literal(text: str) -> str:
    """Returns code as roff prints it unchanged, with signs that can be copied."""
    text = "".join(_SPECIAL.get(letter, letter) for letter in text)
    return text.replace("-", "\\-").replace("'", "\\(aq").replace("^", "\\(ha").replace("~", "\\(ti").replace(
        "`", "\\(ga")


def bold(text: str) -> str:
    return f"\\fB{literal(text)}\\fP"


def line(text: str) -> str:
    """Returns an input line. A line that begins with a point or an apostrophe would be a request."""
    return f"\\&{text}\n" if text.startswith((".", "'")) else f"{text}\n"


def filled(text: str) -> str:
    """Returns a paragraph in input lines of at most 80 columns."""
    lines = textwrap.wrap(text, 78, break_long_words=False, break_on_hyphens=False)
    return "".join(map(line, lines))


def preformatted(text: str) -> str:
    lines = "".join(line(literal(one)) if one else ".sp\n" for one in text.split("\n"))
    return f".RS 4\n.nf\n{lines}.fi\n.RE\n"


def declarations(texts: tuple[str, ...]) -> str:
    """Returns declarations in bold, without filled lines."""
    lines = "".join(line(bold(one)) for text in texts for one in text.split("\n"))
    return f".nf\n{lines}.fi\n"


def epoch() -> int:
    """Returns the time of the sources, so that the same sources always give the same pages: SOURCE_DATE_EPOCH, or the
    time of the last commit."""
    if given := os.environ.get("SOURCE_DATE_EPOCH"):
        return int(given)
    log = subprocess.run(["git", "log", "-1", "--format=%ct"], capture_output=True, text=True, check=False)
    return int(log.stdout or 0)
