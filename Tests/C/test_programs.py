"""Tests of the C API, called from C with valid and invalid arguments.

The C programs of this folder are compiled against the built library. Each test of a C program is a separate item of
pytest.
"""

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
    """The built library: $BACKHAUL_LIBRARY, or the path at which `make` builds it."""
    path = Path(os.environ.get("BACKHAUL_LIBRARY", PROJECT / "build" / "lib" / "libbackhaul.so.1"))
    if not path.exists():
        pytest.fail(f"{path} is not there; build it with `make`")
    return path.resolve()


@pytest.fixture(scope="session")
def compile_program(library, tmp_path_factory):
    """Returns a function that returns the program of a source. The function compiles each source only one time."""
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
    """Yields pairs of a source and the name of one of its tests."""
    for source in sorted(HERE.glob("test_*.c*")):
        for name in re.findall(r"TEST\((\w+)\)", source.read_text(encoding="utf-8")):
            yield source, name


@pytest.mark.parametrize("source, name", [pytest.param(source, name, id=f"{source.name}: {name.replace('_', ' ')}")
                                          for source, name in programs()])
def test_each_test_of_a_c_program_exits_with_0_and_without_output(source, name, compile_program, tmp_path):
    ended = subprocess.run([compile_program(source), name, tmp_path / "store"], timeout=120, text=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode != 0 or ended.stdout:
        pytest.fail(f"{source.name} {name} ended with {ended.returncode}\n{ended.stdout}", pytrace=False)


def test_calls_h_lists_every_function_that_takes_a_handle():
    header = re.sub(r"/\*.*?\*/", "", HEADER.read_text(encoding="utf-8"), flags=re.S)
    declared = re.findall(r"^BH_API ([^;]*);", header, flags=re.M)
    handle = r"\b(bh_\w+)\((?:const )?bh_(?:application|session|ticket|batch) \*"
    taking = {name for declaration in declared for name in re.findall(handle, declaration)}
    calls = "".join(part.read_text(encoding="utf-8") for part in HERE.glob("calls*.h"))
    called = dict(re.findall(r"ENTRY\((bh_\w+), \w+, (\w+)\)", calls))
    assert len(taking) > 50
    assert set(called) == taking
    waiting = {name for name in taking for declaration in declared
               if re.search(rf"\b{name}\(.*\bint32_t timeout_ms\b", declaration, flags=re.S)}
    assert {name for name, kind in called.items() if kind in ("WAITS", "STARTS")} == waiting
