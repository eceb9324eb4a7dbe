"""The pages of the reference on the site."""

from __future__ import annotations

from schema.model import Header

from .c_markdown import Markdown
from .python_pages import PythonPages
from .swift_pages import SwiftPages


def texts(header: Header, *, with_swift: bool = True) -> dict[str, str]:
    """Maps the path of each page, from the folder of the reference, to its text. The pages for Swift need the symbol
    graphs of `swift_pages.extract`."""
    languages = {"c": Markdown(header).texts(), "python": PythonPages().texts()}
    if with_swift:
        languages["swift"] = SwiftPages().texts()
    return {f"{language}/{name}": text for language, pages in languages.items() for name, text in pages.items()}
