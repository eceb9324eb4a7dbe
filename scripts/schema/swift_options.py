"""Generates the structs of the Swift package that programs fill: the options of sessions and tasks. Each struct has
conversions to C and from C."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from . import names
from .model import Field, Header, Struct
from .swift_source import NOTE, WIDTH
from .swift_words import SwiftWords

#: The structs to generate. Each struct comes after the structs that it contains. bh_proxy_settings and bh_budget have
#: special initializers, so they are written by hand.
_STRUCTS = ["bh_retry_policy", "bh_transfer_rules", "bh_constraints", "bh_tls_settings", "bh_session_configuration"]


@dataclass(frozen=True)
class _Property:
    """The code for one field, which is called `{c}` in C and `{swift}` in Swift."""

    type: str
    #: The conversion from C.
    read: str
    #: The conversion to C.
    write: str
    #: The property's value in a new struct. If this text is empty, the value is nil or the argument of the initializer.
    default: str = ""


#: Fields whose conversion does not follow from their type.
_OWN = {
    "errors": _Property("RetryErrors?", "RetryErrors.of(value.{c})", "{swift}?.value ?? 0"),
    "headers": _Property(
        "[Header]", "Backhaul.headers(value.headers, value.header_count)", "try arena.headers(headers)", "[]"
    ),
    "history_limit": _Property("HistoryLimit?", "HistoryLimit.of(value.{c})", "try {swift}?.value() ?? 0"),
    "identifier": _Property("String", 'text(value.{c}) ?? ""', 'try arena.string({swift}, "the session\'s {swift}")'),
    "networks": _Property("NetworkKinds?", "NetworkKinds.of(value.{c})", "try {swift}?.value() ?? 0"),
}
_TEXT = _Property("String?", "text(value.{c})", 'try arena.optionalString({swift}, "{swift}")')
_CHOICE = _Property("Bool?", "choice(value.{c})", "choice({swift})")
_DURATION = _Property("Duration?", "duration(value.{c})", 'try positive({swift}, "{swift}")')
_NUMBER = _Property("Int?", "number(value.{c})", 'try positive({swift}, "{swift}")')
_BYTES = _Property("UInt64?", "nonzero(value.{c})", "{swift} ?? 0")


class Options:
    def __init__(self, header: Header) -> None:
        self._structs = {struct.name: struct for struct in header.structs}
        self._enumerations = {enumeration.name: enumeration for enumeration in header.enumerations}
        self._words = SwiftWords(header)

    def struct(self, struct: Struct) -> str:
        fields = [(field, self._property(field)) for field in names.options(struct)]
        body = [
            "".join(map(self._declaration, fields)),
            _initializer([field for field, _ in fields]),
            _reading(struct, [(field, kind.read) for field, kind in fields]),
            _writing(struct, [(field, kind.write) for field, kind in fields]),
        ]
        documentation = _comment(self._words.of_struct(struct), "")
        head = f"public struct {names.value(struct.name)}: Hashable, Sendable {{\n"
        return documentation + head + "\n".join(body) + "}\n"

    def _property(self, field: Field) -> _Property:
        if own := _OWN.get(field.name):
            return own
        if field.type in self._structs:
            name = names.value(field.type)
            write = "{swift}.value" if field.type == "bh_budget" else "try {swift}.value(arena)"
            return _Property(name, f"{name}(value.{{c}})", write, f"{name}()")
        if field.type == "bh_choice":
            return _CHOICE
        if "char" in field.type:
            return _TEXT
        if field.name.endswith("_ms"):
            return _DURATION
        if field.type in self._enumerations:
            name = names.swift_type(field.type)
            if self._enumerations[field.type].is_bits:
                return _Property(name, f"{name}(rawValue: value.{{c}})", "{swift}.rawValue", "[]")
            return _Property(f"{name}?", f"{name}(rawValue: value.{{c}})", "{swift}?.rawValue ?? 0")
        return {"uint32_t": _NUMBER, "uint64_t": _BYTES}[field.type]

    def _declaration(self, field_and_kind: tuple[Field, _Property]) -> str:
        field, kind = field_and_kind
        name = names.swift_property(field.name)
        text = field.documentation or names.documentation_of(field.type, self._enumerations)
        if not text and field.type in self._structs:
            text = self._structs[field.type].documentation.partition(". ")[0]
        declared = f"{name} = {kind.default}" if kind.default == f"{kind.type}()" else f"{name}: {kind.type}" + (
            f" = {kind.default}" if kind.default else "")
        return f"{_comment(self._words.of_field(field, text), '    ')}    public var {declared}\n"


def _initializer(fields: list[Field]) -> str:
    if fields[0].name != "identifier":
        return "    /// Makes a value in which all properties stand for the default.\n    public init() {}\n"
    return "    /// Makes a configuration in which all other properties stand for the default.\n" + (
        "    public init(identifier: String) { self.identifier = identifier }\n")


def _reading(struct: Struct, fields: list[tuple[Field, str]]) -> str:
    lines = "".join(f"        {names.swift_property(field.name)} = {_code(read, field)}\n" for field, read in fields)
    return (
        "    // Unsafe: the pointers are valid, because their batch is released only after its items are copied.\n"
        f"    init(_ value: {struct.name}) {{\n{lines}    }}\n"
    )


def _writing(struct: Struct, fields: list[tuple[Field, str]]) -> str:
    size = f"        value.struct_size = MemoryLayout<{struct.name}>.size\n" if struct.is_growing else ""
    lines = "".join(_statement(f"value.{field.name} = {_code(write, field)}") for field, write in fields)
    counts = "".join(
        f"        value.{field.name[:-1]}_count = {names.swift_property(field.name)}.count\n"
        for field, _ in fields if field.name == "headers"
    )
    return (
        f"    func value(_ arena: Arena) throws(BackhaulError) -> {struct.name} {{\n"
        f"        var value = {struct.name}()\n{size}{lines}{counts}        return value\n    }}\n"
    )


def _code(template: str, field: Field) -> str:
    return template.format(c=field.name, swift=names.swift_property(field.name))


def _statement(code: str) -> str:
    line = f"        {code}\n"
    if len(line) <= WIDTH + 1:
        return line
    head, _, arguments = code.partition("(")
    return f"        {head}(\n            {arguments}\n"


def _comment(text: str, indent: str) -> str:
    if not text:
        return ""
    mark = f"{indent}/// "
    return textwrap.fill(text, WIDTH, initial_indent=mark, subsequent_indent=mark, break_on_hyphens=False) + "\n"


def options(header: Header) -> str:
    written = Options(header)
    structs = "\n".join(written.struct(header.struct(name)) for name in _STRUCTS)
    return f"{NOTE}internal import CBackhaul\n\n{structs}"
