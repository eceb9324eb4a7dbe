"""The documentation of the Swift package can be built by docc without a warning."""

import platform
import shutil
import subprocess
from pathlib import Path

import pytest
import swift_packages

PROJECT = Path(__file__).resolve().parents[3]
PACKAGE = PROJECT / "bindings" / "swift"


def run(*command):
    ended = subprocess.run(command, cwd=PROJECT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def modules():
    """Builds the package, and returns the folder with its modules."""
    return swift_packages.build(PACKAGE) / "Modules"


@pytest.mark.parametrize("module", ["Backhaul", "BackhaulFoundation", "BackhaulURLSession"])
def test_docc_converts_the_documentation_of_a_product_without_a_warning(module, modules, tmp_path):
    symbols = tmp_path / "symbols"
    symbols.mkdir()
    toolchain = Path(shutil.which("swift")).resolve().parents[1]
    run("swift-symbolgraph-extract", "-module-name", module, "-minimum-access-level", "public", "-skip-inherited-docs",
        "-I", modules, "-I", PACKAGE / "Sources" / "CBackhaul", "-I", PACKAGE / "Sources" / "CBackhaulSystem",
        "-sdk", "/", "-resource-dir", toolchain / "lib" / "swift", "-target", f"{platform.machine()}-unknown-linux-gnu",
        "-output-dir", symbols)
    output = run("docc", "convert", "--additional-symbol-graph-dir", symbols, "--output-path", tmp_path / "archive",
                 "--fallback-display-name", module, "--fallback-bundle-identifier", f"org.example.{module}")
    assert "warning:" not in output, output
