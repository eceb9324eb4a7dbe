"""The pages of the reference on the site."""

from __future__ import annotations

from schema.model import Header

from .c_markdown import Markdown
from .python_pages import PythonPages
from .swift_pages import SwiftPages


def texts(header: Header) -> dict[str, str]:
    """Maps the path of each page, from the folder of the reference, to its text. The pages for Swift need the symbol
    graphs of `swift_pages.extract`."""
    return sources(header) | below(swift=SwiftPages().texts())


def sources(header: Header) -> dict[str, str]:
    """Returns the pages that need nothing built."""
    return below(c=Markdown(header).texts(), python=PythonPages().texts())


def below(**folders: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for folder, texts in folders.items() for name, text in texts.items()}
