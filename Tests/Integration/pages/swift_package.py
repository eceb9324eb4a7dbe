"""Builds Swift code of the documents as a package that depends on bindings/swift."""

import subprocess

from .blocks import PROJECT, blocks

BINDINGS = PROJECT / "bindings" / "swift"
#: All tests that use the Swift package share this build folder, so that the package is compiled only one time.
SCRATCH = PROJECT / "build" / "swift" / "package"


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
    ended = subprocess.run(["swift", "build", "--package-path", folder, "--scratch-path", SCRATCH],
                           capture_output=True, text=True, check=False)
    errors = [line for line in ended.stdout.split("\n") if "error: " in line]
    assert ended.returncode == 0, "\n".join(errors) or ended.stdout + ended.stderr
    return SCRATCH / "debug" / "fetch"
