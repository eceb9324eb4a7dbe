"""The built files have the defences of the linker and the compiler. docs/security.md lists them."""

import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
BUILD = PROJECT / "build"
LIBRARY = BUILD / "lib" / "libbackhaul.so.1"
COMMAND = BUILD / "bin" / "backhaul"
DAEMON = BUILD / "libexec" / "backhaul" / "backhauld"
FILES = pytest.mark.parametrize("file", [LIBRARY, COMMAND, DAEMON], ids=lambda path: path.name)
PROGRAMS = pytest.mark.parametrize("program", [COMMAND, DAEMON], ids=lambda path: path.name)


def readelf(option, file):
    return subprocess.run(["readelf", "--wide", option, file], capture_output=True, text=True, check=True).stdout


def segments(file, kind):
    """Returns the flags of the segments with this type, such as ``R E``."""
    return re.findall(rf"^  {kind} +(?:0x\w+ +){{5}}([RWE ]{{3}})", readelf("--program-headers", file), re.M)


@FILES
def test_the_addresses_of_imported_functions_are_resolved_at_the_start_and_then_read_only(file):
    assert len(segments(file, "GNU_RELRO")) == 1
    assert re.search(r"\((FLAGS\).*BIND_NOW|FLAGS_1\).*NOW)", readelf("--dynamic", file))


@PROGRAMS
def test_a_program_is_loaded_at_a_random_address(program):
    assert "DYN (Position-Independent Executable file)" in readelf("--file-header", program)


@FILES
def test_no_memory_is_both_writable_and_executable(file):
    assert segments(file, "GNU_STACK") == ["RW "]
    assert all("W" not in flags or "E" not in flags for flags in segments(file, "LOAD"))
    assert "TEXTREL" not in readelf("--dynamic", file)


@pytest.mark.parametrize("file", [LIBRARY, COMMAND], ids=lambda path: path.name)
def test_functions_with_buffers_on_the_stack_have_canaries(file):
    assert "__stack_chk_fail" in readelf("--dyn-syms", file)


@FILES
def test_a_library_is_searched_for_only_in_folders_of_the_system_and_of_the_installation(file):
    paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", readelf("--dynamic", file))
    folders = [folder for path in paths for folder in path.split(":")]
    assert all(re.fullmatch(r"\$ORIGIN(/\.\./\.\./lib(64|/\w+-linux-gnu)?)?", folder) for folder in folders), folders
    assert bool(folders) == (file == DAEMON)


@pytest.mark.parametrize("file", [LIBRARY, COMMAND], ids=lambda path: path.name)
def test_copies_of_code_in_c_check_the_size_of_their_target(file):
    """FORTIFY replaces a call whose target's size is known by a call with a check, such as `__snprintf_chk`."""
    assert "__snprintf_chk" in readelf("--dyn-syms", file)


def test_the_build_requests_the_defences_that_leave_no_trace_in_a_file():
    """The daemon's program has one call, so there is nothing to check in the file."""
    printed = subprocess.run(["make", "--always-make", "--dry-run", DAEMON.relative_to(PROJECT)], cwd=PROJECT,
                             capture_output=True, text=True, check=True).stdout
    (compilation,) = [line for line in printed.replace("\\\n", "").splitlines() if "-o build/libexec" in line]
    assert {"-fstack-protector-strong", "-D_FORTIFY_SOURCE=2", "-fPIE"} <= set(compilation.split())
