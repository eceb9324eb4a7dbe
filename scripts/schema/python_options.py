"""Generates the dataclasses of the Python package that programs fill: the options of sessions and tasks."""

from __future__ import annotations

import re
from collections.abc import Sequence

from . import names
from .model import Enumeration, Field, Header, Struct
from .python_source import docstring, import_from, module, remark
from .python_terms import PythonTerms

_SECRET = ", repr=False"
_REQUIRED = "required: "
#: If the header's comment on a field begins with these words, the field is the path of a file.
_PATH = "absolute path"


class Options:
    def __init__(self, header: Header) -> None:
        self._structs = {struct.name for struct in header.structs}
        self._enumerations = {enumeration.name: enumeration for enumeration in header.enumerations}
        # In Python, a choice is a bool. None stands for the default.
        self._words = PythonTerms(header, {"BH_YES": "True", "BH_NO": "False"})

    def dataclass(self, struct: Struct, decorator: str) -> str:
        fields = "".join(
            f"{remark(self._documentation(field))}    {field.name}: {self._declaration(field)}\n"
            for field in names.options(struct)
        )
        # This sentence concerns only the binary interface, so it is left out.
        documentation = self._words.of(struct.documentation.replace(" The struct never grows.", ""))
        return f"{decorator}\nclass {names.value(struct.name)}:\n{docstring(documentation)}\n{fields}"

    def keywords(self, struct: Struct, name: str, documentation: str) -> str:
        """Returns the class with the types of the options that a method accepts as keywords."""
        fields = "".join(
            f"    {field.name}: {self._annotation(field)}\n" for field in names.options(struct)
            if not field.documentation.startswith(_REQUIRED)
        )
        return f'class {name}(TypedDict, total=False):\n    """{documentation}"""\n\n{fields}'

    def _documentation(self, field: Field) -> str:
        text = field.documentation or names.documentation_of(field.type, self._enumerations)
        sentences = [self._words.of(text.removeprefix(_REQUIRED))]
        if self._is_spoken(field):
            sentences.append(_choices(self._enumerations[field.type]))
        if field.name in names.SECRETS:
            sentences.append("Not shown by ``repr``.")
        return " ".join(filter(None, sentences))

    def _declaration(self, field: Field) -> str:
        """Returns the type and the default of a field."""
        if field.documentation.startswith(_REQUIRED):
            return self._type(field)
        if field.name == "headers":
            return f"Headers = field(default=(){_SECRET})"
        default = "0" if self._type(field) == "int" else "None"
        kind = self._type(field)
        if field.type in self._structs:
            default = f"{kind}()"
        elif field.type in names.PYTHON_ZEROS:
            default = names.PYTHON_ZEROS[field.type]
        elif default == "None":
            kind = f"{kind} | None"
        return f"{kind} = field(default={default}{_SECRET})" if field.name in names.SECRETS else f"{kind} = {default}"

    def _annotation(self, field: Field) -> str:
        return self._declaration(field).partition(" = ")[0]

    def _type(self, field: Field) -> str:
        if field.type in self._structs:
            return names.value(field.type)
        if field.type == "bh_choice":
            return "bool"
        if "char" in field.type:
            return "StrPath" if field.documentation.startswith(_PATH) else "str"
        if field.type not in self._enumerations:
            return "int"
        name = names.python_class(self._enumerations[field.type])
        return f"{name} | {name}Word" if self._is_spoken(field) else name

    def _is_spoken(self, field: Field) -> bool:
        return field.type in self._enumerations and names.is_spoken(self._enumerations[field.type])


def _choices(enumeration: Enumeration) -> str:
    """Returns the words of an enumeration as text: `"follow", "same_origin" or "none".`"""
    words = [f'"{word}"' for word in names.python_words(enumeration)]
    return f"{', '.join(words[:-1])} or {words[-1]}."


def _import(source: str, declarations: str, candidates: list[str]) -> str:
    used = [name for name in candidates if re.search(rf"\b{name}\b", declarations)]
    # The names are in the order that the linter requires: constants first.
    used.sort(key=lambda name: (not name.isupper(), name.lower()))
    return import_from(f".{source}", used) + "\n" if used else ""


def parts(header: Header) -> str:
    """Returns the module with a task's policy, and with the parts that sessions and tasks share."""
    return _module(
        header, "The parts of a session's configuration, and a task's policy.", names.PYTHON_PARTS,
        "@dataclass(frozen=True, kw_only=True)", "from ._keyword_only import dataclass\n", [],
    )


def configuration(header: Header) -> str:
    """Returns the module with the configuration. The arguments of its classes are positional, because programs give the
    identifier without its name."""
    options = Options(header).keywords(
        header.struct("bh_session_configuration"), "ConfigurationOptions",
        "The fields of ``SessionConfiguration`` that ``Application.session`` accepts as keywords.",
    )
    return _module(
        header, "What is stored with sessions, and what all sessions of a store share.",
        ["bh_session_configuration", "bh_limits"], "@dataclass(frozen=True)", "", names.PYTHON_PARTS, [options],
    )


def _module(
    header: Header, documentation: str, structs: list[str], decorator: str, keyword_only: str, parts: list[str],
    more: Sequence[str] = (),
) -> str:
    options = Options(header)
    blocks = [*(options.dataclass(header.struct(name), decorator) for name in structs), *more]
    declarations = "\n".join(re.findall(r"^    \w+: .*", "\n".join(blocks), re.MULTILINE))
    standard = ([] if keyword_only else ["dataclass"]) + (["field"] if "field(" in declarations else [])
    classes = [names.python_class(enumeration) for enumeration in header.enumerations]
    own = (
        _import("_constants", declarations, classes)
        + keyword_only
        + _import("_rules", declarations, [names.value(name) for name in parts])
        + _import("_types", declarations, ["Headers", "StrPath"])
        + _import("_words", declarations, [f"{name}Word" for name in classes])
    )
    typing = "\nfrom typing import TypedDict" if more else ""
    imports = [f"from dataclasses import {', '.join(standard)}{typing}", own.rstrip("\n")]
    return module(documentation, imports, blocks)
