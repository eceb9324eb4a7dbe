"""Writes the schema of a new database: the tables, indexes and rows that all migrations make in an empty database."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator

from .header import PROJECT
from .swift_source import WIDTH

FOLDER = PROJECT / "Sources" / "BackhaulStore" / "Schema"
PATH = FOLDER / "CurrentSchema.swift"

_NOTE = "// Generated from the migrations by scripts/generate-database-schema. Do not edit; add a migration.\n"
_TEXT = """
extension Schema {
    /// The result of `migrations` in an empty database. A new database gets this schema at once, because the migrations
    /// take longer. The texts of the statements are the texts that SQLite stores after all migrations.
    static let current = \"""
%s        \"""
}
"""
_INDENT = " " * 8

_LIST = re.compile(r"^    static let migrations = \[([^]]*)\]$", re.MULTILINE)
_LITERAL = r'^ *static let %s = """\n(.*?)^( *)"""$'
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
#: The escape sequences of Swift that a migration may contain, and their values.
_ESCAPES = {"\\": "\\", '"': '"', "\n": ""}


def migrations() -> list[str]:
    """Returns the SQL of all migrations, in their order."""
    (found,) = _LIST.findall((FOLDER / "Schema.swift").read_text(encoding="utf-8"))
    source = "".join(path.read_text(encoding="utf-8") for path in sorted(FOLDER.glob("*.swift")) if path != PATH)
    return [literal(name, source) for name in re.split(r",\s*", found.strip(" \n,"))]


def literal(name: str, source: str) -> str:
    """Returns the value of a constant whose initial value is one multi-line string literal."""
    match = re.search(_LITERAL % re.escape(name), source, re.DOTALL | re.MULTILINE)
    if not match:
        raise ValueError(f"{FOLDER} has no constant {name} with a multi-line string literal")
    lines, indent = match.groups()
    text = re.sub(f"^{indent}", "", lines, flags=re.MULTILINE).removesuffix("\n")
    unknown = {escape for escape in _ESCAPE.findall(text) if escape not in _ESCAPES}
    if unknown:
        raise ValueError(f"{name}: the generator does not know these characters after a backslash: {sorted(unknown)}")
    return _ESCAPE.sub(lambda escape: _ESCAPES[escape[1]], text)


def _database(steps: list[str]) -> sqlite3.Connection:
    """Returns a database in memory in which the steps have run, in one transaction as in the library."""
    connection = sqlite3.connect(":memory:")
    connection.execute("PRAGMA foreign_keys = ON")
    connection.executescript(";\n".join(["BEGIN IMMEDIATE", *steps, "COMMIT"]))
    return connection


def contents(steps: list[str]) -> tuple[list[str], list[str]]:
    """Runs the steps in an empty database. Returns the statements that make the tables and indexes of the result, in
    the order in which these were made, and the statements that insert the rows. The table `sqlite_sequence`, which has
    the greatest ids of tables, may also have rows."""
    connection = _database(steps)
    made = "SELECT sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_*' ORDER BY rowid"
    tables = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    rows = [row for (table,) in tables for row in _rows(connection, table)]
    return [sql for (sql,) in connection.execute(made)], rows


def _rows(connection: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = [name for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", [table])]
    names = ", ".join(map(_quoted, columns))
    values = " || ', ' || ".join(f"quote({_quoted(column)})" for column in columns)
    for (row,) in connection.execute(f"SELECT {values} FROM {_quoted(table)}"):
        yield f"INSERT INTO {_quoted(table)} ({names}) VALUES ({row})"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def schema(steps: list[str]) -> str:
    """Returns the statements of `Schema.current`. Checks that they make the same database as the steps."""
    made, rows = migrated = contents(steps)
    text = "".join(f"\n{sql};\n" if sql.startswith("CREATE TABLE ") else f"{sql};\n" for sql in made + rows).lstrip()
    if contents([text]) != migrated:
        raise ValueError("the statements of the schema make another database than the steps")
    return text


def _lines(line: str) -> Iterator[str]:
    """Yields the lines of Swift's source for one line of a literal. A backslash at the end of a line of the source
    continues the line of the literal."""
    rest, room = line.replace("\\", "\\\\").replace('"""', '\\"""'), WIDTH - len(_INDENT)
    while len(rest) > room:
        blank = rest.rfind(", ", 0, room - 1) + 1 or rest.rfind(" ", 0, room - 1)
        if blank < 0:
            raise ValueError(f"this line of the schema cannot be divided: {rest}")
        yield rest[: blank + 1] + "\\"
        rest = rest[blank + 1 :]
    yield rest


def source(steps: list[str]) -> str:
    """Returns the text of the generated file."""
    lines = [part for line in schema(steps).split("\n")[:-1] for part in _lines(line)]
    return _NOTE + _TEXT % "".join(f"{_INDENT}{line}\n" if line else "\n" for line in lines)


if __name__ == "__main__":
    PATH.write_text(source(migrations()), encoding="utf-8")
