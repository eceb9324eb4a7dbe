"""Reads a header. clang's syntax tree has the declarations, and the text near them has the comments."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

from . import chapters
from .comments import Comments
from .model import Constant, Enumeration, Field, Function, Header, Item, Macro, Struct

PROJECT = Path(__file__).resolve().parents[2]
PATH = PROJECT / "include" / "backhaul.h"
#: The header of the test kit. Its names begin with bht_ and BHT_, and it includes the other header.
KIT = PROJECT / "include" / "backhaul_testing.h"

_MACRO = re.compile(rb"^#define ((?:BH|BHT)_\w+)[ \t]+(\S.*)$", re.MULTILINE)
_ANY_MACRO = re.compile(rb"^#define ((?:BH|BHT)_\w+)(\([^)]*\))?", re.MULTILINE)
_REMOVED_MACRO = re.compile(rb"^#undef ((?:BH|BHT)_\w+)", re.MULTILINE)
_ITEM_ROW = re.compile(rb"\bX\((\w+), (\w+), (bh_\w+), \d+\)")
_WORD = re.compile(r"[A-Za-z_]\w*")
_NUMBER = re.compile(r"[\w\s()|&<>~+*/-]+")
# The prefix of the enumerators with which the compiler computes the values of macros.
_VALUE = "value_of_"

_Node = dict[str, Any]


def read(path: Path = PATH) -> Header:
    source = path.read_bytes()
    macros = _number_macros(source)
    prefix = "bht_" if path == KIT else "bh_"
    return _Reader(path.name, prefix, source, macros, _syntax_tree(path, macros)).header()


def _number_macros(source: bytes) -> dict[str, int]:
    """Maps each macro that is a number to the end of its definition. The body of such a macro has only numbers,
    operators and other such macros."""
    found: dict[str, int] = {}
    for match in _MACRO.finditer(source):
        name, body = (group.decode() for group in match.groups())
        code = body.split("/*")[0].strip()
        known = all(word in found or word.endswith("_MAX") for word in _WORD.findall(re.sub(r"\b\d\w*", "", code)))
        if _NUMBER.fullmatch(code) and known:
            found[name] = match.start(2) + len(code.encode())
    return found


def _syntax_tree(path: Path, macros: dict[str, int]) -> list[_Node]:
    """Returns the declarations of the header, and an added enumerator for each macro. Each enumerator has the value of
    its macro, because clang reports no values of macros."""
    toolchain = os.environ.get("BACKHAUL_TOOLCHAIN")
    if not toolchain:
        raise SystemExit("BACKHAUL_TOOLCHAIN is not set; run this with scripts/in-venv.")
    program = f'#include "{path}"\n' + "".join(f"enum {{ {_VALUE}{name} = {name} }};\n" for name in macros)
    command = [f"{toolchain}/bin/clang", "-x", "c", "-std=c11", "-w", "-fsyntax-only", "-Xclang", "-ast-dump=json", "-"]
    tree = subprocess.run(command, input=program, capture_output=True, text=True, check=False)
    if tree.returncode:
        raise SystemExit(f"{path} is no C: {tree.stderr.strip()}")
    return json.loads(tree.stdout)["inner"]


def _begin(node: _Node) -> int:
    return _offset(node["range"]["begin"])


def _end(node: _Node) -> int:
    last = node["range"]["end"]
    return _offset(last) + last.get("expansionLoc", last)["tokLen"]


def _offset(location: _Node) -> int:
    """Returns the offset in the file, in bytes. If the code comes from a macro, returns the offset at which the macro
    is used."""
    return location.get("expansionLoc", location)["offset"]


def _children(node: _Node, kind: str) -> list[_Node]:
    return [child for child in node.get("inner", []) if child["kind"] == kind]


class _Reader:
    def __init__(self, name: str, prefix: str, source: bytes, macros: dict[str, int], tree: list[_Node]) -> None:
        self._name = name
        #: The first letters of the header's names. The tree also has the names of included headers.
        self._prefix = prefix
        self._source = source
        self._comments = Comments(source)
        self._macros = macros
        self._tree = tree
        # If one macro declares an enumeration and a type, the two declarations have the same offset.
        self._type_at = {_begin(node): node["name"] for node in self._of("TypedefDecl")}

    def header(self) -> Header:
        structs = [node for node in self._of("RecordDecl") if node.get("completeDefinition")]
        defined = {node["name"] for node in structs}
        opaque = dict.fromkeys(node["name"] for node in self._of("RecordDecl") if node["name"] not in defined)
        places = self._places()
        texts = {name: self._comments.whole_above(place) for name, place in places.items()}
        # The handles have their comments on the line of the declaration.
        remarks = {node["name"]: self._comments.behind(_end(node)) for node in self._of("TypedefDecl")}
        return Header(
            name=self._name,
            structs=tuple(map(self._struct, structs)),
            enumerations=tuple(self._enumerations()),
            numbers=tuple(self._numbers()),
            functions=tuple(self._functions()),
            opaque=tuple(opaque),
            types=self._types(),
            inline_functions=tuple(self._functions(are_inline=True)),
            macros=self._other_macros(),
            items=tuple(
                Item(f"BH_ITEM_{constant}", struct, f"bh_batch_{name}_at")
                for constant, name, struct in (
                    (group.decode() for group in row) for row in _ITEM_ROW.findall(self._source)
                )
            ),
            chapters=tuple(chapters.chapters(self._source)),
            introduction=tuple(chapters.introduction(self._source)),
            places=places,
            texts={name: text or remarks.get(name, "") for name, text in texts.items()},
        )

    def _of(self, kind: str) -> list[_Node]:
        return [node for node in self._tree if node["kind"] == kind and node.get("name", "").startswith(self._prefix)]

    def _enums(self) -> list[_Node]:
        return [node for node in self._tree if node["kind"] == "EnumDecl" and _children(node, "EnumConstantDecl")]

    def _struct(self, node: _Node) -> Struct:
        fields = tuple(
            Field(field["name"], field["type"]["qualType"], self._comments.of_member(_begin(field), _end(field)))
            for field in _children(node, "FieldDecl")
        )
        return Struct(node["name"], self._comments.above(_begin(node)), fields)

    def _enumerations(self) -> list[Enumeration]:
        found = []
        for node in self._enums():
            constants = self._constants(node)
            if constants[0].name.startswith(self._prefix.upper()):
                name = node.get("name") or self._type_at.get(_begin(node))
                is_bits = self._types().get(name or "") == "uint32_t"
                found.append(Enumeration(name, self._comments.of(_begin(node), _end(node)), constants, is_bits))
        return found

    def _constants(self, node: _Node) -> tuple[Constant, ...]:
        constants: list[Constant] = []
        for child in _children(node, "EnumConstantDecl"):
            given = _children(child, "ConstantExpr")
            value = int(given[0]["value"]) if given else constants[-1].value + 1 if constants else 0
            row = self._comments.rows.get(child["name"])
            documentation = row or self._comments.of_member(_begin(child), _end(child))
            constants.append(Constant(child["name"], value, documentation))
        return tuple(constants)

    def _numbers(self) -> list[Constant]:
        values = {
            constant.name.removeprefix(_VALUE): constant.value
            for node in self._enums()
            for constant in self._constants(node)
            if constant.name.startswith(_VALUE)
        }
        return [
            Constant(name, values[name], self._comments.of(end, end)) for name, end in self._macros.items()
        ]

    def _functions(self, *, are_inline: bool = False) -> list[Function]:
        found: list[Function] = []
        end = 0
        for node in self._of("FunctionDecl"):
            # Static functions are only for C: the library has no symbol for them.
            if (node.get("storageClass") == "static") != are_inline:
                continue
            begin = _begin(node)
            documentation = self._comments.above(begin)
            if not documentation and found and self._comments.follows_directly(end, begin):
                documentation = found[-1].documentation
            end = _end(node)
            parameters = tuple(
                Field(parameter["name"], parameter["type"]["qualType"]) for parameter in _children(node, "ParmVarDecl")
            )
            result = node["type"]["qualType"].partition("(")[0].strip()
            found.append(Function(node["name"], result, parameters, documentation))
        return found

    def _other_macros(self) -> tuple[Macro, ...]:
        parameters = {match[1].decode(): (match[2] or b"").decode() for match in self._macro_definitions()}
        return tuple(Macro(name, words) for name, words in parameters.items() if name not in self._macros)

    def _macro_definitions(self) -> list[re.Match[bytes]]:
        removed = set(_REMOVED_MACRO.findall(self._source))
        return [match for match in _ANY_MACRO.finditer(self._source) if match[1] not in removed]

    def _places(self) -> dict[str, int]:
        """Maps each name to its first declaration."""
        macros = {match[1].decode(): match.start() for match in reversed(self._macro_definitions())}
        nodes = [*self._of("FunctionDecl"), *self._of("TypedefDecl"), *self._of("RecordDecl"), *self._of("EnumDecl")]
        return macros | {node["name"]: _begin(node) for node in reversed(nodes)}

    def _types(self) -> dict[str, str]:
        """Maps each alias to the type that it stands for, and each enumeration to its integer type."""
        enums = {
            node["name"]: node.get("fixedUnderlyingType", {}).get("qualType", "int") for node in self._of("EnumDecl")
        }
        aliases = {
            node["name"]: node["type"]["qualType"]
            for node in self._of("TypedefDecl")
            if not node["type"]["qualType"].startswith(("struct ", "enum "))
        }
        return {**enums, **aliases}
