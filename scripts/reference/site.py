"""The pages of the reference on the site."""

from __future__ import annotations

from schema.model import Header

from .c_markdown import Markdown
from .python_pages import PythonPages


def texts(header: Header) -> dict[str, str]:
    """Maps the path of each page, from the folder of the reference, to its text."""
    languages = {"c": Markdown(header).texts(), "python": PythonPages().texts()}
    return {f"{language}/{name}": text for language, pages in languages.items() for name, text in pages.items()}
