"""The enumerations and the plain numbers of the Python package."""

from __future__ import annotations

from . import names
from .model import Enumeration, Header
from .python_source import docstring, module, number, remark
from .python_terms import PythonTerms

#: Class -> its base class, if the base class has more members than OpenEnum. These base classes are written by hand in
#: _open_enum.py.
_BASES = {"Status": "StatusNames", "TaskState": "FinalStates"}


def constants(header: Header) -> str:
    words = PythonTerms(header)
    classes = [(names.python_class(enumeration), enumeration) for enumeration in header.enumerations]
    table = "".join(f'    ("{enumeration.prefix}", {name}),\n' for name, enumeration in classes)
    return module(
        "The constants of include/backhaul.h, as enumerations. The package compares them with the loaded library's.",
        ["from enum import IntEnum, IntFlag", "from ._open_enum import FinalStates, OpenEnum, OpenFlag, StatusNames"],
        [
            *(_class(name, enumeration, words) for name, enumeration in classes),
            "#: The prefix of the members of each enumeration in the header, and the enumeration.\n"
            f"PREFIXES: tuple[tuple[str, type[IntEnum] | type[IntFlag]], ...] = (\n{table})\n",
        ],
    )


def _class(name: str, enumeration: Enumeration, words: PythonTerms) -> str:
    base = "OpenFlag" if enumeration.is_bits else _BASES.get(name, "OpenEnum")
    members = "".join(
        f"{remark(words.of(constant.documentation))}"
        f"    {names.python_member(enumeration, constant)} = {constant.value}\n"
        for constant in enumeration.constants
    )
    return f"class {name}({base}):\n{docstring(words.of(enumeration.documentation))}\n{members}"


def numbers(header: Header) -> str:
    words = PythonTerms(header)
    # The version is left out, because the loaded library may have another version.
    plain = [constant for constant in header.numbers if not constant.name.startswith("BH_VERSION")]
    lines = "".join(
        remark(words.of(constant.documentation), "")
        + f"{constant.name.removeprefix('BH_')} = {number(constant.value)}\n"
        for constant in plain
    )
    return module(
        "The numeric constants of include/backhaul.h: limits and special values. Their names have no prefix here.",
        [],
        [lines],
        separator="\n",
    )


def words(header: Header) -> str:
    lines = "".join(
        f'    "{names.python_member(enumeration, constant)}": "{names.WORDS[constant.name]}",\n'
        for enumeration in header.enumerations for constant in enumeration.constants if constant.name in names.WORDS
    )
    spoken = {field.type for name in names.PYTHON_SPOKEN for field in header.struct(name).fields}
    aliases = [
        _alias(enumeration) for enumeration in header.enumerations
        if enumeration.name in spoken and names.is_spoken(enumeration)
    ]
    return module(
        "Words for members of enumerations.",
        ["from typing import Literal"],
        [
            "#: The words of members that are not the members' names in lower case. These words are options of curl.\n"
            f"WORDS = {{\n{lines}}}\n",
            *aliases,
        ],
        separator="\n",
    )


def _alias(enumeration: Enumeration) -> str:
    name = names.python_class(enumeration)
    words = ", ".join(f'"{word}"' for word in names.python_words(enumeration))
    return f"#: What a program can give in place of a member of {name}.\n{name}Word = Literal[{words}]\n"
