"""Builds Swift code of the documents as a package that depends on bindings/swift."""

import swift_packages

from .blocks import PROJECT, blocks

BINDINGS = PROJECT / "bindings" / "swift"


def manifest():
    """The Package.swift of the start page. Its dependency is the package in this checkout."""
    text = next(block.text for block in blocks("swift", "docs/start/swift.md") if "PackageDescription" in block.text)
    return text.replace("/usr/share/backhaul/swift", str(BINDINGS))


def build(folder, text, sources):
    """Builds a package with the name fetch, and returns the path of its program."""
    code = folder / "Sources" / "fetch"
    code.mkdir(parents=True, exist_ok=True)
    (folder / "Package.swift").write_text(text)
    for name, source in sources.items():
        (code / name).write_text(source)
    return swift_packages.build(folder) / "fetch"
