"""The wheel: carries the library, names its platform, and works where nothing else of Backhaul is installed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytest.importorskip("hatchling")
PACKAGE = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps"]
    done = subprocess.run([*command, "--no-build-isolation", "--wheel-dir", folder, PACKAGE], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


def test_it_is_for_any_python_3_on_this_platform(wheel):
    assert wheel.name.startswith("backhaul-0.2.0-py3-none-linux_")


def test_it_holds_the_package_its_types_and_the_library(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"backhaul/__init__.py", "backhaul/py.typed", "backhaul/libbackhaul.so.0"} <= names


def test_it_works_by_itself(wheel, tmp_path):
    zipfile.ZipFile(wheel).extractall(tmp_path / "installed")
    program = (
        "import backhaul, sys\n"
        "with backhaul.Application('org.example.wheel', sys.argv[1]) as application:\n"
        "    print(backhaul.version(), application.session('s').created, backhaul.__file__)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "installed")}
    for name in ("BACKHAUL_LIBRARY", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, tmp_path / "store"], env=environment,
                          capture_output=True, text=True, timeout=60, check=False)
    assert done.stdout.split() == ["0.2.0", "True", str(tmp_path / "installed/backhaul/__init__.py")], done.stderr


def test_without_the_library_it_is_not_built(tmp_path):
    environment = {**os.environ, "BACKHAUL_LIBRARY": str(tmp_path / "missing.so")}
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir",
                           tmp_path, PACKAGE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "run `make` first" in done.stdout + done.stderr
