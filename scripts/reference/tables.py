"""The tables of statuses and of the members of JSON."""

from __future__ import annotations

import ast
import re

from schema import json_fields
from schema.header import PROJECT
from schema.model import Field, Header, Struct

from . import c_model, prose
from .c_markdown import Markdown
from .command_pages import Description

_ERRORS = PROJECT / "bindings" / "python" / "src" / "backhaul" / "_errors.py"

_INDEX = """# Tables

- [Statuses](statuses.md), with the exit codes of the command line and the exceptions of Python.
- [The members of JSON](json.md), which `backhaul --json` prints.
- [Environment variables](environment.md).
"""


def texts(header: Header, table: Description) -> dict[str, str]:
    """Maps the name of each file to its text."""
    return {
        "index.md": _INDEX,
        "statuses.md": _statuses(header, table),
        "json.md": _json(header),
        "environment.md": f"# Environment variables\n\n{_section('command-line.md', 'Environment variables')}\n",
    }


def _section(document: str, title: str) -> str:
    """Returns a section of a document, without its title, and with links that lead from a page of the reference."""
    whole = (PROJECT / "docs" / document).read_text(encoding="utf-8")
    text = whole.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    if not text:
        raise SystemExit(f"docs/{document} has no section '{title}'")
    text = text.replace("](../include/backhaul.h)", "](../c/index.md)")
    text = re.sub(r"\]\((#[\w-]+)\)", rf"]({document}\1)", text)
    return re.sub(r"\]\(([\w-]+\.md)", rf"]({prose.DOCUMENTS}\1", text).strip()


def _statuses(header: Header, table: Description) -> str:
    exits = {status: exit_code["code"] for exit_code in table["exit_codes"] for status in exit_code["statuses"]}
    exceptions = _exceptions()
    statuses = next(enumeration for enumeration in header.enumerations if enumeration.name == "bh_status")
    rows = "".join(
        f"| [`{status.name}`](../c/status-and-errors.md#{status.name}) | {status.value} | {status.documentation} "
        f"| {exits.get(status.name, '')} | {_exception(exceptions.get(status.name))} |\n"
        for status in statuses.constants
    )
    return (
        "# Statuses\n\nA status is the result of a call, or the reason why a task failed. The exit code is that of the "
        "command `backhaul` if the status ends the command. The last column is the exception in Python.\n\n"
        f"| status | value | meaning | exit code | Python |\n| --- | --- | --- | --- | --- |\n{rows}"
    )


def _exceptions() -> dict[str, str]:
    """Maps the name of a status to the class of its exception in Python."""
    for node in ast.parse(_ERRORS.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.value, ast.Dict):
            return {ast.literal_eval(key): ast.unparse(value) for key, value in zip(node.value.keys, node.value.values)
                    if key is not None}
    raise SystemExit(f"{_ERRORS} has no table of statuses")


def _exception(name: str | None) -> str:
    return f"[`{name}`](../python/errors.md#{name})" if name else ""


def _json(header: Header) -> str:
    """Returns the page with the table of the commands, which is in the document of the command line, and with the
    members of each struct in this table."""
    document = _section("command-line.md", "JSON")
    printed = dict.fromkeys(re.findall(r"`(bh_\w+)`", document))
    structs = {struct.name: struct for struct in header.structs}
    found = [name for name in printed if name in structs]
    # A struct inside another one is described, too.
    for name in found:
        found += [inner for inner in json_fields.fields(name).values() if inner and inner not in found]
    writer = _Members(header)
    sections = "".join(writer.struct(structs[name]) for name in found)
    return f"# The members of JSON\n\n{document}\n\n{sections}"


class _Members:
    """Describes the members of objects that correspond to structs."""

    def __init__(self, header: Header) -> None:
        self._writer = Markdown(header, folder="../c/")
        self._enumerations = {enumeration.name: enumeration for enumeration in header.enumerations}

    def struct(self, struct: Struct) -> str:
        printed = json_fields.fields(struct.name)
        members = "".join(self._member(field, struct) for field in struct.fields if field.name in printed)
        added = "".join(f"- `{name}` – {text}\n" for name, text in json_fields.added(struct.name).items())
        return f"## {struct.name}\n\n{self._prose(struct.documentation)}\n\n{members}{added}\n"

    def _member(self, field: Field, struct: Struct) -> str:
        text = self._prose(c_model.text_of(field, self._enumerations))
        return f"- `{field.name}` ({self._kind(field, struct)}){' – ' if text else ''}{text}\n"

    def _kind(self, field: Field, struct: Struct) -> str:
        """Returns the type of a member."""
        base = field.type.removeprefix("const ").rstrip(" *")
        if base in json_fields.structs():
            is_array = f"{field.name.removesuffix('s')}_count" in {other.name for other in struct.fields}
            return f"{'array of objects' if is_array else 'object'}, {self._writer.link(base)}"
        if base == "bh_status":
            return f"name, {self._writer.link(base)}"
        if base in ("bool", "bh_choice"):
            return "true or false"
        if base in self._enumerations:
            words = "array of words" if self._enumerations[base].is_bits else "word"
            return f"{words}, {self._writer.link(base)}"
        if "const *" in field.type:
            return "array of strings"
        return {"char": "string", "void": "base64"}.get(base, "number")

    def _prose(self, text: str) -> str:
        return self._writer.prose(prose.sentence(text))
