"""What the built library shows to the world, and what `make install` puts where."""

import os
import re
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
LIBRARY = PROJECT / "build" / "lib" / "libbackhaul.so.0"
HEADER = PROJECT / "include" / "backhaul.h"
EXAMPLE = PROJECT / "examples" / "c" / "photos.c"

# Every machine that can use the library has these; Swift's runtime is linked in.
MAY_NEED = {"libcurl.so.4", "libcrypto.so.3", "libuv.so.1", "libsqlite3.so.0", "libstdc++.so.6", "libm.so.6",
            "libgcc_s.so.1", "libc.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}


def output(*command, **options):
    ended = subprocess.run(command, check=False, capture_output=True, text=True, **options)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_exactly_the_functions_of_the_header_are_exported():
    symbols = output("nm", "-D", "--defined-only", LIBRARY).splitlines()
    exported = {line.split()[-1].partition("@")[0] for line in symbols}
    declared = set(re.findall(r"^[a-z][^/;{]*?\b(bh_\w+)\(", HEADER.read_text(encoding="utf-8"), flags=re.M))
    assert exported == declared


def test_it_has_its_soname_and_stays_loaded_once_it_is():
    dynamic = output("readelf", "--dynamic", LIBRARY)
    assert re.search(r"\(SONAME\).*\[libbackhaul\.so\.0\]", dynamic)
    assert re.search(r"\(FLAGS_1\).*NODELETE", dynamic)


def test_it_needs_neither_swift_nor_foundation():
    assert set(re.findall(r"\(NEEDED\).*\[(.*)\]", output("readelf", "--dynamic", LIBRARY))) <= MAY_NEED


def test_it_leaves_the_search_for_libraries_to_the_system():
    assert not re.search(r"\((RUNPATH|RPATH)\)", output("readelf", "--dynamic", LIBRARY))


def test_it_is_smaller_than_9_MiB_when_stripped(tmp_path):
    stripped = tmp_path / "stripped.so"
    output("strip", "--strip-unneeded", "-o", stripped, LIBRARY)
    assert stripped.stat().st_size < 9 << 20


@pytest.mark.parametrize("compiler, standard, suffix", [("clang", "c11", "c"), ("clang++", "c++17", "cpp")])
def test_the_header_stands_alone_under_every_warning(tmp_path, compiler, standard, suffix):
    source = tmp_path / f"alone.{suffix}"
    source.write_text("#include <backhaul.h>\n#include <backhaul.h>\nint main() { return bh_version() == 0; }\n"
                      .replace("main()", "main(void)" if suffix == "c" else "main()"))
    output(compiler, f"-std={standard}", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", HEADER.parent,
           "-fsyntax-only", source)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    prefix = tmp_path_factory.mktemp("prefix")
    output("make", "install", f"PREFIX={prefix}", cwd=PROJECT)
    return prefix


def test_an_installed_library_is_found_by_pkg_config(installed, tmp_path):
    program = tmp_path / "photos"
    environment = {**os.environ, "PKG_CONFIG_PATH": str(installed / "lib" / "pkgconfig")}
    flags = output("pkg-config", "--cflags", "--libs", "backhaul", env=environment).split()
    output("clang", "-std=c11", "-Werror", EXAMPLE, "-o", program, *flags)
    environment["LD_LIBRARY_PATH"] = str(installed / "lib")
    usage = subprocess.run([program], env=environment, capture_output=True, text=True)
    assert (usage.returncode, usage.stderr) == (2, "usage: photos STORE [LIST]\n")
    version = output("pkg-config", "--modversion", "backhaul", env=environment).strip()
    assert version == output(installed / "bin" / "backhaul", "--version", env=environment).split()[-1]


def test_an_installed_library_is_a_module_for_swift(installed, tmp_path):
    source = tmp_path / "host.swift"
    source.write_text("import CBackhaul\nlet version: UInt32 = bh_version()\n")
    output("swiftc", "-typecheck", "-I", installed / "include" / "backhaul", source)


def test_a_destination_folder_is_put_before_the_prefix(tmp_path):
    output("make", "install", "PREFIX=/usr", f"DESTDIR={tmp_path}", cwd=PROJECT)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if not path.is_dir()}
    assert files == {
        "usr/bin/backhaul", "usr/include/backhaul.h", "usr/include/backhaul/module.modulemap",
        "usr/lib/libbackhaul.so", "usr/lib/libbackhaul.so.0", "usr/lib/pkgconfig/backhaul.pc",
            "usr/libexec/backhaul/backhauld",
    }
    assert "prefix=/usr\n" in (tmp_path / "usr/lib/pkgconfig/backhaul.pc").read_text()
