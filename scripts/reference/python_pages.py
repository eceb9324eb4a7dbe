"""The pages of the Python package in Markdown, from its docstrings and its comments that begin with `#:`. griffe reads
the sources, so the pages need no built library."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import griffe

from schema.header import PROJECT

from . import code, prose

SOURCES = PROJECT / "bindings" / "python" / "src"

#: Page -> the modules whose public names it describes.
PAGES = {
    "Application": ["_application", "_attention", "_library", "_version"],
    "Session": ["_session", "_events", "_progress"],
    "Tickets": ["_tickets", "_application_verbs", "_session_verbs"],
    "Requests": ["_requests"],
    "Tasks and listings": ["_task", "_values", "_attempt"],
    "Events": ["_event", "_reading"],
    "Settings": ["_configuration", "_rules"],
    "Conditions": ["_conditions"],
    "Activities": ["_activity"],
    "Launches": ["_launch"],
    "Errors": ["_errors"],
    "Enumerations": ["_constants", "_words"],
    "Numbers and types": ["_numbers", "_types", "_identity"],
    "Test kit": ["testing"],
}

#: Descriptors of the package -> the types that they return.
_TYPES = {"Time()": "datetime", "OptionalTime()": "datetime | None"}
_VARIABLES = {"session": "Session", "application": "Application", "error": "BackhaulError", "event": "Event"}
# Code in double backquotes, a path such as Role.CONSUME, a name with a second capital letter, a constant, or the path
# of a document.
_WORD = re.compile(
    r"``([^`]+)``|\b([A-Z]\w*\.\w+)\b|\b([A-Z][a-z]+[A-Z]\w+)\b|\b([A-Z]+_[A-Z_]+)\b"
    r"|(?P<document>\bdocs/[\w-]+\.md)"
)


@dataclass(frozen=True)
class Described:
    """A public name with its documentation, and with its members if it is a class."""

    path: str
    node: Any
    members: tuple[Described, ...] = ()

    @property
    def text(self) -> str:
        return self.node.docstring.value if self.node.docstring else ""

    @property
    def is_callable(self) -> bool:
        return bool(self.node.is_function)


def package() -> Any:
    extensions = griffe.load_extensions("griffe_sphinx")
    return griffe.load("backhaul", search_paths=[SOURCES], extensions=extensions, resolve_aliases=True)


def load() -> dict[str, list[Described]]:
    """Maps the title of each page to its public names."""
    loaded = package()
    by_module: dict[str, list[Described]] = {}
    for name in loaded.exports:
        node = _target(loaded.members[str(name)])
        by_module.setdefault(node.module.name, []).append(_described(str(name), node))
    testing = loaded.members["testing"]
    by_module["testing"] = [_described(f"testing.{name}", _target(testing.members[str(name)]))
                            for name in testing.exports]
    pages = {
        title: [one for module in modules for one in by_module.pop(module, [])] for title, modules in PAGES.items()
    }
    if by_module:
        raise SystemExit(f"scripts/reference/python_pages.py names no page for {', '.join(by_module)}")
    return pages


def _target(node: Any) -> Any:
    return node.final_target if node.is_alias else node


def _described(name: str, node: Any) -> Described:
    return Described(name, node, tuple(_members(name, node)) if node.is_class else ())


def _members(name: str, node: Any) -> Iterator[Described]:
    """Yields the members of a class, and those of base classes that the package does not export."""
    exports = {str(export) for export in node.package.exports or []}
    inherited = {key: member for key, member in node.inherited_members.items()
                 if _target(member).parent.name not in exports}
    for member_name, member in {**node.members, **inherited}.items():
        if not member_name.startswith("_"):
            yield Described(f"{name}.{member_name}", _target(member))


def _public_bases(node: Any) -> Iterator[str]:
    """Yields the names of the base classes. In place of a base class that the package does not export, yields the base
    classes of that class."""
    exports = {str(export) for export in node.package.exports or []}
    own = {base.name: base for base in node.resolved_bases}
    for base in map(str, node.bases):
        if base in own and base not in exports:
            yield from _public_bases(own[base])
        else:
            yield base


class PythonPages:
    def __init__(self) -> None:
        self._pages = load()
        self._targets = {
            one.path: f"{_slug(title)}.md#{one.path}"
            for title, described in self._pages.items()
            for parent in described
            for one in (parent, *parent.members)
        }

    def texts(self) -> dict[str, str]:
        """Maps the name of each file to its text."""
        return {"index.md": self._index()} | {
            f"{_slug(title)}.md": f"# {title} (Python)\n\n" + "".join(map(self._section, described))
            for title, described in self._pages.items()
        }

    def _index(self) -> str:
        lists = (
            f"## {title}\n\n" + ", ".join(self._link(one.path, one.path) for one in described) + "\n\n"
            for title, described in self._pages.items()
        )
        return f"# Python reference\n\n{self._blocks(package().docstring.value, '')}" + "".join(lists)

    def _section(self, one: Described) -> str:
        title = f"## {one.path} {{#{one.path}}}\n\n"
        if not one.node.is_class:
            declaration = one.node.signature() if one.is_callable else f"{one.path} = {one.node.value}"
            return f"{title}{self._code(declaration)}{self._blocks(one.text, '')}"
        values = "".join(self._value(one.path, member) for member in one.members if not member.is_callable)
        methods = "".join(self._method(one.path, member) for member in one.members if member.is_callable)
        values = f"{values}\n" if values else ""
        return f"{title}{self._constructor(one)}{self._blocks(one.text, one.path)}{values}{methods}"

    def _constructor(self, one: Described) -> str:
        """Returns the signature of a class that programs instantiate. They get objects of other classes from methods,
        whose constructors have parameters without public types."""
        init = one.node.all_members.get("__init__")
        bases = list(_public_bases(one.node))
        is_made_by_programs = "dataclass" in one.node.labels or one.path in ("Application", "testing.Testbed")
        if init is not None and is_made_by_programs:
            return self._code(_target(init).signature(name=one.path).removesuffix(" -> None"))
        return self._code(f"class {one.path}({', '.join(bases)})") if bases else ""

    def _method(self, owner: str, member: Described) -> str:
        text = self._blocks(member.text, owner)
        return f"### {member.path} {{#{member.path}}}\n\n{self._code(member.node.signature())}{text}"

    def _value(self, owner: str, member: Described) -> str:
        value = str(member.node.value or "")
        annotation = str(member.node.annotation or _annotation_of_parameter(member))
        term = member.node.name
        if value in _TYPES:
            term += f": {_TYPES[value]}"
        elif annotation:
            term += f": {annotation}"
        elif re.fullmatch(r"[\d_x<* -]+", value):
            term += f" = {value}"
        text = f" – {self._prose(' '.join(member.text.split()), owner)}" if member.text else ""
        return f'- <a id="{member.path}"></a>`{term}`{text}\n'

    @staticmethod
    def _code(declaration: str) -> str:
        return code.block("python", code.wrapped(declaration))

    def _blocks(self, text: str, owner: str) -> str:
        parts = []
        for block in prose.blocks(text):
            if isinstance(block, prose.Preformatted):
                parts.append(code.block("python", block.text))
            else:
                parts.append(f"{self._prose(block.text, owner)}\n\n")
        return "".join(parts)

    def _prose(self, text: str, owner: str) -> str:
        def replaced(match: re.Match[str]) -> str:
            if match["document"]:
                return prose.document_link(match["document"])
            word = next(filter(None, match.groups()))
            target = self._link(word, word, owner)
            return target if target.startswith("[") or match[1] else word

        parts, end = [], 0
        for match in _WORD.finditer(text):
            parts += [prose.escaped(text[end : match.start()]), replaced(match)]
            end = match.end()
        return "".join([*parts, prose.escaped(text[end:])])

    def _link(self, text: str, name: str, owner: str = "") -> str:
        """Returns a piece of code as a link if it names something that the pages describe: a path such as Role.CONSUME,
        a member of the same class, or a method as programs call it (`session.respond`)."""
        name = re.sub(r"\(.*|\bawait ", "", name)
        first, dot, rest = name.partition(".")
        candidates = (f"{owner}.{name}", name, f"{_VARIABLES.get(first, first)}{dot}{rest}")
        target = next((self._targets[one] for one in candidates if one in self._targets), None)
        return prose.link(text, target)


def _annotation_of_parameter(member: Described) -> str:
    """Returns the type of an attribute that the initializer sets to the value of a parameter."""
    init = member.node.parent.members.get("__init__")
    if init is None or not init.is_function or str(member.node.value) not in init.parameters:
        return ""
    return str(init.parameters[str(member.node.value)].annotation)


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")
