"""Hosts in Swift are built with an installed library, with the manifests of the package's README and without flags."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
README = PROJECT / "bindings" / "swift" / "README.md"
BLOCKS = re.findall(r"^```swift\n(.*?)^```$", README.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
PLAIN, _, URL_SESSION = (block for block in BLOCKS if "import PackageDescription" in block)
IMPORTS = next(block for block in BLOCKS if "canImport" in block)
#: Variables that name the built library, or where to search for an installed one.
BUILD_VARIABLES = {"BACKHAUL_LIBRARY", "BACKHAUL_COMMAND", "LD_LIBRARY_PATH", "PKG_CONFIG_PATH"}
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in BUILD_VARIABLES}
VERSION = "import Backhaul\nprint(LibraryVersion.text)\n"


def output(*command, **variables):
    ended = subprocess.run(command, cwd=PROJECT, env=ENVIRONMENT | variables, capture_output=True, text=True,
                           check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    """A folder that neither pkg-config nor ld.so searches."""
    folder = tmp_path_factory.mktemp("installed") / "prefix"
    output("make", "install", f"PREFIX={folder}")
    return folder


def run(folder, manifest, package, code, **variables):
    """Builds the host, and returns what it prints."""
    sources = folder / "host" / "Sources" / "photos"
    sources.mkdir(parents=True)
    (sources / "main.swift").write_text(code)
    (folder / "host" / "Package.swift").write_text(manifest.replace("/usr/share/backhaul/swift", str(package)))
    output("swift", "build", "--package-path", folder / "host", **variables)
    # The program finds its library without a variable.
    return output(folder / "host" / ".build" / "debug" / "photos").strip()


def version(prefix):
    return output(prefix / "bin" / "backhaul", "--version").split()[-1]


def test_a_host_depends_on_the_package_of_an_installation(prefix, tmp_path):
    assert run(tmp_path, PLAIN, prefix / "share" / "backhaul" / "swift", VERSION) == version(prefix)


def test_a_host_with_a_copy_of_the_package_finds_the_library_by_pkg_config(prefix, tmp_path):
    shutil.copytree(prefix / "share" / "backhaul" / "swift", tmp_path / "Backhaul")
    search = str(prefix / "lib" / "pkgconfig")
    assert run(tmp_path, PLAIN, tmp_path / "Backhaul", VERSION, PKG_CONFIG_PATH=search) == version(prefix)


def test_a_host_with_the_names_of_urlsession_depends_on_the_package_of_an_installation(prefix, tmp_path):
    code = IMPORTS + 'print(URLSessionConfiguration.background(withIdentifier: "photos").identifier ?? "")\n'
    assert run(tmp_path, URL_SESSION, prefix / "share" / "backhaul" / "swift", code) == "photos"


def test_an_installed_example_is_built_with_the_package_of_its_installation(prefix):
    example = prefix / "share" / "doc" / "backhaul" / "examples" / "swift" / "photos"
    shutil.copytree(PROJECT / "examples" / "swift" / "photos", example, ignore=shutil.ignore_patterns(".build"))
    output("swift", "build", "--package-path", example)
    asked = subprocess.run([example / ".build" / "debug" / "photos"], env=ENVIRONMENT, capture_output=True, text=True,
                           check=False)
    assert (asked.returncode, asked.stderr) == (2, "usage: photos STORE [LIST]\n")
