"""The pages of the reference on the site."""

from __future__ import annotations

from schema import header as schema_header
from schema.model import Header

from . import command_pages, tables
from .c_markdown import Markdown
from .command_pages import CommandPages
from .python_pages import PythonPages
from .swift_pages import SwiftPages


def texts(header: Header) -> dict[str, str]:
    """Maps the path of each page, from the folder of the reference, to its text. The pages for Swift need the symbol
    graphs of `swift_pages.extract`, and the pages of the commands need the built program."""
    return without_swift(header) | _below(swift=SwiftPages().texts())


def without_swift(header: Header) -> dict[str, str]:
    table = command_pages.described()
    return _below(
        c=Markdown(header, schema_header.read(schema_header.KIT)).texts(),
        python=PythonPages().texts(),
        commands=CommandPages(table).texts(),
        tables=tables.texts(header, table),
    )


def _below(**folders: dict[str, str]) -> dict[str, str]:
    return {f"{folder}/{name}": text for folder, texts in folders.items() for name, text in texts.items()}
