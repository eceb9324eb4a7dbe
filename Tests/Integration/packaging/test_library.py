"""The exported symbols, the dependencies and the size of the built library."""

import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
LIBRARY = PROJECT / "build" / "lib" / "libbackhaul.so.1"
HEADER = PROJECT / "include" / "backhaul.h"

# Libraries that each supported machine has. The Swift runtime is not in this list, because it is linked statically.
MAY_NEED = {"libcurl.so.4", "libcrypto.so.3", "libuv.so.1", "libsqlite3.so.0", "libstdc++.so.6", "libm.so.6",
            "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*command, **options):
    ended = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_library_exports_exactly_the_functions_of_the_header_and_the_code_of_the_daemon():
    symbols = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
    exported = {line.split()[-1].partition("@")[0] for line in symbols}
    declared = set(re.findall(r"^BH_API [^;{]*?\b(bh_\w+)\(", HEADER.read_text(encoding="utf-8"), flags=re.M))
    assert exported == declared | {"bhd_run"}


def test_the_library_has_its_soname_and_is_never_unloaded():
    dynamic = output("readelf", "--dynamic", LIBRARY)
    assert re.search(r"\(SONAME\).*\[libbackhaul\.so\.1\]", dynamic)
    assert re.search(r"\(FLAGS_1\).*NODELETE", dynamic)


def test_the_library_needs_no_shared_library_of_swift_or_foundation():
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", LIBRARY))) <= MAY_NEED


def test_the_library_has_no_search_path_for_libraries():
    assert not re.search(r"\((RUNPATH|RPATH)\)", output("readelf", "--dynamic", LIBRARY))


def test_the_library_replaces_no_function_of_the_swift_runtime():
    assert not re.search(r"__(wrap|real)_", output("nm", LIBRARY))


def test_the_stripped_library_is_smaller_than_13_MiB(tmp_path):
    stripped = tmp_path / "stripped.so"
    output("strip", "--strip-unneeded", "-o", stripped, LIBRARY)
    assert stripped.stat().st_size < 13 << 20


@pytest.mark.parametrize("compiler, standard, suffix", [("clang", "c11", "c"), ("clang++", "c++17", "cpp")])
def test_the_header_compiles_alone_without_a_warning(tmp_path, compiler, standard, suffix):
    source = tmp_path / f"alone.{suffix}"
    source.write_text("#include <backhaul.h>\n#include <backhaul.h>\nint main() { return bh_version() == 0; }\n"
                      .replace("main()", "main(void)" if suffix == "c" else "main()"))
    output(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", HEADER.parent,
           "-fsyntax-only", source)
