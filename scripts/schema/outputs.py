"""The generated files, and the functions that write them."""

from __future__ import annotations

from . import (
    fuzz_calls,
    header,
    manifest,
    python_constants,
    python_declarations,
    python_options,
    swift_names,
    swift_options,
)

_PACKAGE = "bindings/python/src/backhaul"

_VALUES = "bindings/swift/Sources/Backhaul/Values"

WRITERS = {
    "Sources/BackhaulABI/Manifest/Constants.swift": manifest.constants,
    "Tests/Fuzz/Calls/generated.h": fuzz_calls.calls,
    "Sources/CBackhaulTables/layouts.h": manifest.layouts,
    "Sources/CBackhaulTables/words.h": manifest.words,
    f"{_PACKAGE}/_configuration.py": python_options.configuration,
    f"{_PACKAGE}/_constants.py": python_constants.constants,
    f"{_PACKAGE}/_ctypes.py": python_declarations.structs,
    f"{_PACKAGE}/_functions.py": python_declarations.functions,
    f"{_PACKAGE}/_numbers.py": python_constants.numbers,
    f"{_PACKAGE}/_rules.py": python_options.parts,
    f"{_PACKAGE}/_words.py": python_constants.words,
    f"{_VALUES}/HeaderNames.swift": swift_names.table,
    f"{_VALUES}/Options.swift": swift_options.options,
}


def texts() -> dict[str, str]:
    """Maps the path of each generated file, from the project's root, to the text of the file."""
    read = header.read()
    return {path: write(read) for path, write in WRITERS.items()}


def write() -> None:
    for path, text in texts().items():
        file = header.PROJECT / path
        # A file that does not change is not written, so that `make` does not compile it again.
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    write()
