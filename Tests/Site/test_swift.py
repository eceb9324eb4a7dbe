"""The comments of the Swift package, as docc reads them. `make site` writes the symbol graphs."""

import subprocess

import pytest
from reference import swift_pages


def test_docc_reports_nothing_about_the_comments(tmp_path):
    converted = subprocess.run(
        ["docc", "convert", "--additional-symbol-graph-dir", swift_pages.SYMBOLS, "--output-dir", tmp_path / "site",
         "--fallback-display-name", "Backhaul", "--fallback-bundle-identifier", "backhaul", "--warnings-as-errors",
         "--analyze"], check=False, capture_output=True, text=True)
    assert (converted.returncode, (converted.stdout + converted.stderr).strip()) == (0, "")


@pytest.mark.parametrize("module", swift_pages.MODULES)
def test_each_public_symbol_has_a_comment(module):
    symbols = swift_pages.load(module)
    assert symbols and [symbol.path for symbol in symbols if not symbol.text] == []
