"""The pages of the Swift package in Markdown, from the symbol graphs that the compiler writes.

docc's own site is not used: for these symbols it has some 1,500 files and 12 MB, shows nothing without JavaScript, and
its index is not a part of the site's search. docc still checks the comments, in `make site-test`.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from schema.header import KIT, PATH, PROJECT

from . import code, prose

PACKAGE = PROJECT / "bindings" / "swift"
SYMBOLS = PROJECT / "build" / "symbols"
_BUILD = PROJECT / "build" / "swift" / "package"

#: Page -> the source files whose types it describes, without their folder.
PAGES = {
    "Application": ["Application", "ApplicationInfo", "Hosting", "LibraryVersion", "Limits"],
    "Session": ["Session", "Sequences", "SessionInfo"],
    "Requests": ["Request", "Body", "Dependency", "Policy"],
    "Tasks": ["TaskInfo", "TaskProgress", "TaskSelection", "StartChange", "Attempt", "Identifiers"],
    "Events": ["Event", "Challenge", "ChallengeResponse"],
    "Settings": [
        "Options", "RetryErrors", "SessionChoices", "TransferChoices", "TLSVersion", "Proxy", "Budget",
        "ConstraintChoices",
    ],
    "Conditions": ["Conditions", "Network"],
    "Activities": ["Activity"],
    "Launches": ["Launch"],
    "Errors": ["BackhaulError", "Status"],
    "Names": ["ConstantNames"],
}
MODULES = {
    "Backhaul": "Sessions, tasks and events in Swift, without Foundation.",
    "BackhaulFoundation": "Sessions, tasks and delegates with the structure of `URLSession`.",
    "BackhaulURLSession": "Apple's names for the types of `BackhaulFoundation`.",
    "BackhaulTesting": "The test kit for hosts. Import it in tests only.",
}

_TYPES = {"struct", "enum", "class", "protocol", "actor"}
_CODE = re.compile(r"(`+)([^`]+)\1|(?P<document>\bdocs/[\w-]+\.md)")


def extract() -> None:
    """Compiles the package and writes its symbol graphs, unless the graphs are newer than all sources."""
    sources = [path.stat().st_mtime for path in [*(PACKAGE / "Sources").rglob("*.swift"), PATH, KIT]]
    graphs = [path.stat().st_mtime for path in SYMBOLS.glob("*.symbols.json")]
    if len(graphs) >= len(MODULES) and min(graphs) > max(sources):
        return
    for module in ("BackhaulURLSession", "BackhaulTesting"):  # they import the others
        subprocess.run(
            ["swift", "build", "--package-path", PACKAGE, "--scratch-path", _BUILD, "--target", module],
            check=True, stdout=subprocess.DEVNULL)
    SYMBOLS.mkdir(parents=True, exist_ok=True)
    target = json.loads(subprocess.run(["swiftc", "-print-target-info"], check=True, capture_output=True).stdout)
    libraries = ("CBackhaul", "CBackhaulSystem", "CBackhaulTesting")
    folders = [_BUILD / "debug" / "Modules", *(PACKAGE / "Sources" / library for library in libraries)]
    for module in MODULES:
        subprocess.run(
            ["swift", "symbolgraph-extract", "-module-name", module, "-target", target["target"]["triple"],
             *(f"-I{folder}" for folder in folders), "-minimum-access-level", "public", "-skip-synthesized-members",
             "-output-dir", SYMBOLS], check=True)


@dataclass(frozen=True)
class Symbol:
    node: Any

    @property
    def path(self) -> str:
        return ".".join(self.node["pathComponents"])

    @property
    def owner(self) -> str:
        return self.path.rpartition(f".{self.name}")[0]

    @property
    def name(self) -> str:
        return str(self.node["pathComponents"][-1])

    @property
    def kind(self) -> str:
        return str(self.node["kind"]["identifier"].removeprefix("swift."))

    @property
    def is_type(self) -> bool:
        return self.kind in _TYPES

    @property
    def is_value(self) -> bool:
        return self.kind in ("property", "type.property", "enum.case", "typealias", "associatedtype", "var")

    @property
    def file(self) -> str:
        return Path(self.node.get("location", {}).get("uri", "")).stem.partition("+")[0]

    @property
    def declaration(self) -> str:
        text = "".join(fragment["spelling"] for fragment in self.node["declarationFragments"])
        if not text.endswith(f"typealias {self.name} = {self.name}"):
            return text
        # The alias of a type with the same name: the module of that type is in its mangled name.
        mangled = self.node["declarationFragments"][-1].get("preciseIdentifier", "")
        match = re.match(r"s:(\d+)(.*)", mangled)
        return text.replace("= ", f"= {match[2][:int(match[1])]}.") if match else text

    @property
    def text(self) -> str:
        return "\n".join(line["text"] for line in self.node.get("docComment", {}).get("lines", []))

    @property
    def order(self) -> tuple[str, int]:
        location = self.node.get("location", {})
        return location.get("uri", "").removesuffix(".swift"), location.get("position", {}).get("line", 0)


def load(module: str) -> list[Symbol]:
    """Returns the public symbols of a module, in the order of the sources. Without those that the compiler makes: their
    comments are in Swift's own library."""
    graphs = [SYMBOLS / f"{module}.symbols.json", *sorted(SYMBOLS.glob(f"{module}@*.symbols.json"))]
    nodes = [node for graph in graphs for node in json.loads(graph.read_text(encoding="utf-8"))["symbols"]]
    symbols = [Symbol(node) for node in nodes if node.get("docComment", {}).get("module", module) in MODULES]
    return sorted(symbols, key=lambda symbol: symbol.order)


class SwiftPages:
    def __init__(self) -> None:
        self._pages = dict(self._divided())
        #: Maps each symbol to its page and anchor, by the position in the list of all symbols.
        self._anchors: dict[int, str] = {}
        #: Maps the path of a symbol, with and without its parameters, to the page and anchor.
        self._targets: dict[str, str] = {}
        #: Maps the name of a method with its parameters to the page and anchor of its first declaration.
        self._methods: dict[str, str] = {}
        for title, symbols in self._pages.items():
            used: dict[str, int] = {}
            for symbol in symbols:
                anchor = re.sub(r"[^\w.]+|__+", "_", symbol.path).strip("_")
                used[anchor] = used.get(anchor, 0) + 1
                anchor += f"_{used[anchor]}" if used[anchor] > 1 else ""
                self._anchors[id(symbol)] = anchor
                for name in (symbol.path, symbol.path.partition("(")[0]):
                    self._targets.setdefault(name, f"{_slug(title)}.md#{anchor}")
                if "(" in symbol.name and symbol.kind != "init":
                    self._methods.setdefault(symbol.name, f"{_slug(title)}.md#{anchor}")

    @staticmethod
    def _divided() -> Iterator[tuple[str, list[Symbol]]]:
        """Yields each page with its symbols."""
        by_file: dict[str, list[Symbol]] = {}
        files: dict[str, str] = {}
        for symbol in load("Backhaul"):
            root = symbol.node["pathComponents"][0]
            if root == symbol.path:
                files[root] = symbol.file
        for symbol in load("Backhaul"):
            by_file.setdefault(files[symbol.node["pathComponents"][0]], []).append(symbol)
        for title, names in PAGES.items():
            yield title, [symbol for name in names for symbol in by_file.pop(name, [])]
        if by_file:
            raise SystemExit(f"scripts/reference/swift_pages.py names no page for {', '.join(by_file)}")
        for module in list(MODULES)[1:]:
            yield module, load(module)

    def texts(self) -> dict[str, str]:
        """Maps the name of each file to its text."""
        return {"index.md": self._index()} | {
            f"{_slug(title)}.md": self._introduction(title) + "".join(self._sections(symbols))
            for title, symbols in self._pages.items()
        }

    def _index(self) -> str:
        modules = "".join(f"- `{module}` – {text}\n" for module, text in MODULES.items())
        lists = (
            f"## {title}\n\n" + ", ".join(self._link(one.path, "") for one in symbols if not one.owner) + "\n\n"
            for title, symbols in self._pages.items()
        )
        return f"# Swift reference\n\nThe package has four modules:\n\n{modules}\n" + "".join(lists)

    @staticmethod
    def _introduction(title: str) -> str:
        return f"# {title} (Swift)\n\n" + (f"`import {title}`: {MODULES[title]}\n\n" if title in MODULES else "")

    def _sections(self, symbols: list[Symbol]) -> Iterator[str]:
        types = {symbol.path for symbol in symbols if symbol.is_type}
        for symbol in symbols:
            if symbol.is_type:
                yield self._section(symbol, [one for one in symbols if one.owner == symbol.path and not one.is_type])
            elif symbol.owner not in types:
                yield self._section(symbol, [])

    def _section(self, symbol: Symbol, members: list[Symbol]) -> str:
        title = f"## {symbol.path} {{#{self._anchors[id(symbol)]}}}\n\n"
        values = "".join(self._value(member) for member in members if member.is_value)
        methods = "".join(self._method(member) for member in members if not member.is_value)
        values = f"{values}\n" if values else ""
        return f"{title}{self._code(symbol)}{self._prose(symbol.text, symbol.path)}\n\n{values}{methods}"

    def _method(self, symbol: Symbol) -> str:
        text = self._prose(symbol.text, symbol.owner)
        return f"### {symbol.path} {{#{self._anchors[id(symbol)]}}}\n\n{self._code(symbol)}{text}\n\n"

    def _value(self, symbol: Symbol) -> str:
        text = self._prose(" ".join(symbol.text.split()), symbol.owner)
        return f'- <a id="{self._anchors[id(symbol)]}"></a>`{symbol.declaration}` – {text}\n'

    @staticmethod
    def _code(symbol: Symbol) -> str:
        return code.block("swift", code.wrapped(symbol.declaration))

    def _prose(self, text: str, owner: str) -> str:
        """Returns a comment, which is Markdown already, with links."""
        def replaced(match: re.Match[str]) -> str:
            return prose.document_link(match[0]) if match["document"] else self._link(match[2], owner)

        parts = re.split(r"(^```.*?^```$)", text, flags=re.DOTALL | re.MULTILINE)
        return "".join(
            part if part.startswith("```") else _CODE.sub(replaced, part) for part in parts
        )

    def _link(self, name: str, owner: str) -> str:
        """Returns a name as a link if it is a symbol, a member of the same type, or a method with its parameters."""
        return prose.link(
            name, self._member(name, owner) or self._methods.get(name) or self._member(name.partition("(")[0], owner))

    def _member(self, name: str, owner: str) -> str | None:
        outer = owner.split(".")
        candidates = [".".join([*outer[:length], name]) for length in range(len(outer), -1, -1)]
        return next((self._targets[one] for one in candidates if one in self._targets), None)


def _slug(title: str) -> str:
    return title.lower().replace(" ", "-")
