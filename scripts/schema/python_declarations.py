"""The structs and functions of the header for ctypes."""

from __future__ import annotations

import re
import textwrap

from .model import Function, Header, Struct
from .python_source import WIDTH, docstring, import_from, module
from .python_terms import PythonTerms

_TYPES = {"char": "c_char", "bool": "c_bool", "size_t": "c_size_t", "int": "c_int"} | {
    f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


class _Types:
    """C's types in the form of ctypes."""

    def __init__(self, header: Header) -> None:
        self._header = header
        self._structs = {struct.name for struct in header.structs}

    def of(self, spelling: str) -> str:
        array = re.fullmatch(r"(.*?) ?\[(\d+)\]", spelling)
        if array:
            return f"{self.of(array[1])} * {array[2]}"
        # ctypes has no `const`.
        plain = " ".join(re.sub(r"\bconst\b|\bstruct\b|\benum\b", "", spelling).split()).replace("* *", "**")
        target, is_pointer = plain.removesuffix("*").strip(), plain.endswith("*")
        if not is_pointer:
            return self._value(plain)
        if target in ("char", "void"):
            return f"c_{target}_p"
        return target if target in self._header.opaque else f"POINTER({self.of(target)})"

    def _value(self, name: str) -> str:
        if name == "void":
            return "None"
        if name in self._structs:
            return name
        return _TYPES.get(name) or self.of(self._header.types[name])


def structs(header: Header) -> str:
    types, words = _Types(header), PythonTerms(header)
    opaque = [f'class {name}(c_void_p):\n    """A ``{name} *``; opaque."""\n' for name in header.opaque]
    ordered = _ordered(header)
    declared = [_struct(struct, types, words) for struct in ordered]
    body = "\n".join([*opaque, *declared])
    return module(
        "The structs of include/backhaul.h, with the same names and fields. This module loads no library.",
        [_import(body, ["POINTER", "Structure"])],
        [
            *opaque,
            *declared,
            "#: Structs that begin with their size: a newer library may have more fields at their end.\n"
            + _table("GROWING", [struct.name for struct in ordered if struct.is_growing]),
            "#: Structs without a size of their own, whose layout never changes.\n"
            + _table("FIXED", [struct.name for struct in ordered if not struct.is_growing]),
        ],
    )


def _struct(struct: Struct, types: _Types, words: PythonTerms) -> str:
    fields = "".join(f'        ("{field.name}", {types.of(field.type)}),\n' for field in struct.fields)
    documentation = docstring(words.of(struct.documentation)) + "\n" if struct.documentation else ""
    return f"class {struct.name}(Structure):\n{documentation}    _fields_ = [\n{fields}    ]\n"


def _ordered(header: Header) -> list[Struct]:
    """Returns the structs in the order of the header, with one exception. If the fields of a struct contain other
    structs or point to them, those structs come first, because ctypes requires this order."""
    by_name = {struct.name: struct for struct in header.structs}
    ordered: dict[str, Struct] = {}

    def add(struct: Struct) -> None:
        for field in struct.fields:
            for name in re.findall(r"\bbh_\w+", field.type):
                if name in by_name and name not in ordered and name != struct.name:
                    add(by_name[name])
        ordered.setdefault(struct.name, struct)

    for struct in header.structs:
        add(struct)
    return list(ordered.values())


def _import(body: str, first: list[str]) -> str:
    used = sorted(set(re.findall(r"\bc_\w+", body)))
    return import_from("ctypes", [*first, *used])


def _table(name: str, items: list[str]) -> str:
    return f"{name}: tuple[type[Structure], ...] = (\n" + "".join(f"    {item},\n" for item in items) + ")\n"


def functions(header: Header) -> str:
    types = _Types(header)
    entries = "".join(_function(function, types) for function in header.functions)
    used = sorted(set(re.findall(r"\bbh_\w+\b(?!\":)", entries)))
    return module(
        "The functions of include/backhaul.h with their results and parameters. This module loads no library.",
        [
            _import(entries, ["POINTER"]) + "\nfrom typing import Any",
            "from ._ctypes import (\n" + "".join(f"    {name},\n" for name in used) + ")",
        ],
        [
            "#: Name -> result and parameters; a result of None is C's void.\n"
            f"FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {{\n{entries}}}\n"
        ],
    )


def _function(function: Function, types: _Types) -> str:
    parameters = [types.of(parameter.type) for parameter in function.parameters]
    result = types.of(function.result)
    line = f'    "{function.name}": ({result}, [{", ".join(parameters)}]),\n'
    if len(line) <= WIDTH + 1:
        return line
    indent = " " * 8
    filled = textwrap.fill(", ".join(parameters), WIDTH, initial_indent=indent, subsequent_indent=indent)
    return f'    "{function.name}": ({result}, [\n{filled},\n    ]),\n'
