"""Compiles the C programs of this folder against the built library; each of their tests is an item of its own."""

import os
import re
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
HEADER = PROJECT / "include" / "backhaul.h"
WARNINGS = ["-Wall", "-Wextra", "-Werror", "-pedantic"]


@pytest.fixture(scope="session")
def library():
    """The built library, by $BACKHAUL_LIBRARY or where `make` puts it."""
    path = Path(os.environ.get("BACKHAUL_LIBRARY", PROJECT / "build" / "lib" / "libbackhaul.so.0"))
    if not path.exists():
        pytest.fail(f"{path} is not there; build it with `make`")
    return path.resolve()


@pytest.fixture(scope="session")
def compile_program(library, tmp_path_factory):
    """Returns a function: source -> program, compiled once."""
    folder = tmp_path_factory.mktemp("programs")
    made = {}

    def compile_one(source):
        if source not in made:
            program = folder / source.stem
            language = ["clang++", "-std=c++17"] if source.suffix == ".cpp" else ["clang", "-std=c11"]
            compiler = subprocess.run(
                [*language, *WARNINGS, "-g", "-D_GNU_SOURCE", f"-I{HEADER.parent}", "-o", program, source, library,
                 "-pthread", f"-Wl,-rpath,{library.parent}"], capture_output=True, text=True)
            made[source] = (program, compiler.stderr)
        program, messages = made[source]
        if messages:
            pytest.fail(messages, pytrace=False)
        return program

    return compile_one


def programs():
    """Pairs of a source and the name of one of its tests."""
    for source in sorted(HERE.glob("test_*.c*")):
        for name in re.findall(r"TEST\((\w+)\)", source.read_text(encoding="utf-8")):
            yield source, name
