"""The header as pages: one for each chapter, and on each page the entries in the order of the header."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from schema import names
from schema.model import Constant, Enumeration, Field, Function, Header

from . import code

#: Types that an earlier chapter needs, but that belong to a later one.
CHAPTERS = {
    "bh_task_state": "Tasks",
    "bh_task_kind": "Tasks",
    "bh_launch": "Application",
    "bh_launch_state": "Application",
    "bh_launch_info": "Application",
}

#: Fits on a page of the manual, where declarations are indented.
_WIDTH = 72


@dataclass(frozen=True)
class Member:
    """A field of a struct, or a constant."""

    name: str
    #: The declaration of a field, or the value of a constant.
    code: str
    text: str

    @property
    def type(self) -> str:
        """The type of a field, without `const` and `*`."""
        return self.code.removeprefix("const ").split(" ")[0]


@dataclass(frozen=True)
class Entry:
    """Declarations that share a comment."""

    names: tuple[str, ...]
    #: The declarations in C, one for each name; empty for types and numbers, whose members show them.
    declarations: tuple[str, ...]
    #: The comment, with its lines and indentation.
    text: str
    members: tuple[Member, ...] = ()
    is_function: bool = False


@dataclass(frozen=True)
class Page:
    #: The name of the header.
    header: str
    title: str
    summary: str
    entries: tuple[Entry, ...]

    @property
    def first_sentence(self) -> str:
        return self.summary.partition(". ")[0].removesuffix(".")

    @property
    def slug(self) -> str:
        prefix = "" if self.header == "backhaul.h" else "testing-"
        return prefix + self.title.lower().replace(" ", "-")


def include(header: str) -> str:
    return f"#include <{header}>"


def pages(header: Header) -> list[Page]:
    begins = [(chapter.begin, chapter.title) for chapter in header.chapters]
    found: dict[str, list[Entry]] = {title: [] for _, title in begins}
    for place, entry in sorted(_entries(header), key=lambda pair: pair[0]):
        title = CHAPTERS.get(entry.names[0]) or [title for begin, title in begins if begin <= place][-1]
        found[title].append(entry)
    return [
        Page(header.name, chapter.title, chapter.summary, tuple(_joined(found[chapter.title])))
        for chapter in header.chapters
    ]


def _entries(header: Header) -> Iterator[tuple[int, Entry]]:
    enumerations = {enumeration.name: enumeration for enumeration in header.enumerations}
    items = {item.constant: f"{item.struct}; {item.accessor} returns such an item" for item in header.items}

    def entry(
        name: str, declaration: str = "", members: tuple[Member, ...] = (), *, is_function: bool = False
    ) -> tuple[int, Entry]:
        declarations = (declaration,) if declaration else ()
        return header.places[name], Entry((name,), declarations, header.texts[name], members, is_function)

    for function in (*header.functions, *header.inline_functions):
        yield entry(function.name, declaration(function), is_function=True)
    for struct in header.structs:
        fields = (field for field in struct.fields if not field.name.startswith("reserved"))
        yield entry(struct.name, members=tuple(_field(field, enumerations) for field in fields))
    for handle in header.opaque:
        yield entry(handle, f"typedef struct {handle} {handle};")
    for enumeration in header.enumerations:
        yield entry(enumeration.key, members=tuple(_constant(one, items) for one in enumeration.constants))
    for number in header.numbers:
        member = _constant(number, items)
        is_repeated = member.text == " ".join(header.texts[number.name].split())
        yield entry(number.name, members=(replace(member, text="") if is_repeated else member,))
    for macro in header.macros:
        yield entry(macro.name, f"{macro.name}{macro.parameters}")


def _joined(entries: list[Entry]) -> Iterator[Entry]:
    """Joins entries that share a comment: functions, macros or numbers of which only the first has a comment, and
    declarations that one macro makes."""
    pending: Entry | None = None
    for entry in entries:
        if pending and _shares_comment(pending, entry):
            pending = replace(
                pending,
                names=pending.names + entry.names,
                declarations=pending.declarations + entry.declarations,
                members=pending.members + entry.members,
            )
        else:
            if pending:
                yield pending
            pending = entry
    if pending:
        yield pending


def _shares_comment(first: Entry, second: Entry) -> bool:
    alike = first.is_function == second.is_function and bool(first.declarations) == bool(second.declarations)
    return alike and second.text in ("", first.text) and second.names[0].isupper() == first.names[0].isupper()


def _field(field: Field, enumerations: dict[str | None, Enumeration]) -> Member:
    return Member(field.name, variable(field), text_of(field, enumerations))


def text_of(field: Field, enumerations: dict[str | None, Enumeration]) -> str:
    """Returns the comment of a field. Without one, returns the comment of its enumeration, with the default if the
    enumeration has one."""
    enumeration = enumerations.get(field.type)
    if field.documentation or enumeration is None:
        return field.documentation
    if any(constant.name.endswith("_DEFAULT") for constant in enumeration.constants):
        return names.documentation_of(field.type, enumerations)
    return enumeration.documentation.partition(". ")[0]


def _constant(constant: Constant, items: dict[str, str]) -> Member:
    return Member(constant.name, str(constant.value), constant.documentation or items.get(constant.name, ""))


def variable(field: Field) -> str:
    """Returns the declaration of a field or parameter: `char message[512]` for the type `char[512]`."""
    kind, bracket, size = field.type.replace("_Bool", "bool").partition("[")
    blank = "" if kind.endswith("*") else " "
    return f"{kind}{blank}{field.name}{bracket}{size}"


def declaration(function: Function) -> str:
    parameters = [variable(parameter) for parameter in function.parameters] or ["void"]
    result = Field(f"{function.name}({', '.join(parameters)});", function.result)
    return code.wrapped(variable(result), _WIDTH)
