"""Runs hosts that were compiled with the current header. The hosts use a library whose structs have more fields.

The script copies the project. In the copy, the script appends a field to every struct that may grow, and uses a
reserved field of each embedded struct. Then the script builds the changed library, and runs the project's C tests
with this library. The tests are compiled with the unchanged header.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
#: C tests that check the library itself. They are left out, because the library of this run is changed.
SKIPPED_TESTS = "not language and not example and not version"


def append_fields(header):
    """Adds one field at the end of each struct of the header that may grow. In an embedded struct that has two reserved
    numbers left, the new field replaces one of them."""
    text, grown, taken = header.read_text(encoding="utf-8"), 0, 0

    def one(match):
        nonlocal grown, taken
        body, name = match.group(1), match.group(2)
        if "struct_size;" in body:
            grown += 1
            return f"{{{body}    uint64_t grown_field;\n}} {name};"
        if "uint64_t reserved[2];" in body:
            taken += 1
            return f"{{{body.replace('uint64_t reserved[2];', 'uint64_t grown_field; uint64_t reserved[1];')}}} {name};"
        return match.group(0)

    header.write_text(re.sub(r"(?s)\{([^{}]*)\} (bh_\w+);", one, text), encoding="utf-8")
    assert grown >= 20 and taken == text.count("uint64_t reserved[2];") > 0, (grown, taken)


def build(folder):
    files = subprocess.run(["git", "ls-files"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    for name in files.splitlines():
        if (PROJECT / name).is_file():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(PROJECT / name, folder / name)
    append_fields(folder / "include" / "backhaul.h")
    # The Swift code reads two reserved numbers, each with an index. In the changed structs, only one number remains.
    # Swift imports an array of one number as the number itself, which is read without an index.
    for path in (folder / "Sources" / "BackhaulABI").rglob("*.swift"):
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"(\w+)\.reserved\.0, \1\.reserved\.1", r"\1.reserved", text), encoding="utf-8")
    subprocess.run(["make", "build/lib/libbackhaul.so.1"], cwd=folder, check=True)
    return folder / "build" / "lib" / "libbackhaul.so.1"


def main():
    with tempfile.TemporaryDirectory(prefix="backhaul-newer-library-") as folder:
        library = build(Path(folder))
        tests = [PROJECT / "scripts" / "in-venv", "python", "-m", "pytest", "-q", "-p", "no:cacheprovider",
                 "-k", SKIPPED_TESTS, "Tests/C"]
        return subprocess.run(tests, cwd=PROJECT, env={**os.environ, "BACKHAUL_LIBRARY": str(library)},
                              check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
