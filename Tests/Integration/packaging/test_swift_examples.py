"""The examples in Swift find Backhaul's package where `make packages` puts both. Tests/Packages builds an example."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "swift"


@pytest.mark.parametrize("name", sorted(path.name for path in EXAMPLES.iterdir()))
def test_an_installed_example_depends_on_the_installed_package(name, tmp_path):
    example = tmp_path / "share" / "doc" / "backhaul" / "examples" / "swift" / name
    shutil.copytree(EXAMPLES / name, example, ignore=shutil.ignore_patterns(".build"))
    package = tmp_path / "share" / "backhaul" / "swift"
    package.mkdir(parents=True)
    (package / "Package.swift").touch()
    read = subprocess.run(["swift", "package", "--package-path", example, "dump-package"], capture_output=True,
                          check=True, text=True)
    assert str(package) in json.dumps(json.loads(read.stdout)["dependencies"])
