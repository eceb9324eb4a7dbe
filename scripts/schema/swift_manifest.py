"""Generates the library's text for bh_abi_json: the layouts of the structs, and the constants."""

from __future__ import annotations

from .model import Header, Struct
from .swift_source import NOTE, WIDTH

_KEYWORDS = {
    "as", "break", "case", "catch", "class", "continue", "default", "defer", "do", "else", "enum", "extension",
    "false", "for", "func", "guard", "if", "import", "in", "init", "inout", "internal", "is", "let", "nil", "operator",
    "private", "protocol", "public", "repeat", "return", "self", "static", "struct", "subscript", "super", "switch",
    "throw", "throws", "true", "try", "typealias", "var", "where", "while",
}  # fmt: skip


def layouts(header: Header) -> str:
    return (
        NOTE
        + """internal import CBackhaul

extension StructLayout {
    /// All structs of include/backhaul.h with all their fields.
    static let all = [
"""
        + "".join(map(_layout, header.structs))
        + "    ]\n}\n"
    )


def _layout(struct: Struct) -> str:
    fields = [f'("{field.name}", \\.{_identifier(field.name)})' for field in struct.fields]
    return (
        f'        StructLayout(\n            "{struct.name}", {struct.name}.self,\n            fields: [\n'
        + _filled(fields, " " * 16)
        + "            ]),\n"
    )


def _identifier(name: str) -> str:
    return f"`{name}`" if name in _KEYWORDS else name


def constants(header: Header) -> str:
    groups = [*(enumeration.constants for enumeration in header.enumerations), header.numbers]
    return (
        NOTE
        + """
/// The constants of include/backhaul.h with their values as decimal digits.
enum HeaderConstants {
    static let all: [(name: String, value: String)] = [
"""
        + "\n".join(
            "".join(f'        ("{constant.name}", "{constant.value}"),\n' for constant in group) for group in groups
        )
        + "    ]\n}\n"
    )


def _filled(items: list[str], indent: str) -> str:
    """Returns lines with as many items as fit on each."""
    lines: list[str] = []
    for item in items:
        if lines and len(lines[-1]) + len(item) + 2 <= WIDTH:
            lines[-1] += f" {item},"
        else:
            lines.append(f"{indent}{item},")
    return "\n".join(lines) + "\n"
