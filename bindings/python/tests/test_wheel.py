"""The wheel contains the library and the daemon, and its file name states the platform. The wheel works even if no
other part of Backhaul is installed."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from daemons import daemons_of, end_daemons
from servers import child

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


def test_the_wheel_is_for_any_python_3_on_this_platform(wheel):
    assert wheel.name.startswith("backhaul-1.0.0-py3-none-linux_")


def test_the_wheel_contains_the_typed_package_and_the_library_and_the_daemon(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {"backhaul/__init__.py", "backhaul/py.typed", "backhaul/libbackhaul.so.1", "backhaul/backhauld"} <= names


@pytest.mark.parametrize("name", ["libbackhaul.so.1", "backhauld"])
def test_the_files_of_the_wheel_have_no_debug_information(wheel, tmp_path, name):
    file = zipfile.ZipFile(wheel).extract(f"backhaul/{name}", tmp_path)
    sections = subprocess.run(["readelf", "--sections", "--wide", file], capture_output=True, text=True, check=True)
    assert ".text" in sections.stdout
    assert ".debug_" not in sections.stdout and ".symtab" not in sections.stdout
    assert os.access(file, os.R_OK)


def test_an_installed_wheel_uses_its_own_library_and_daemon(wheel, tmp_path):
    installed = tmp_path / "installed"
    subprocess.run([sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--no-deps",
                    "--target", installed, wheel], check=True)
    program = (
        "import backhaul, sys\n"
        "with backhaul.Application('org.example.wheel', sys.argv[1]) as application:\n"
        "    with application.session('s') as session:\n"
        "        print(backhaul.version(), session.created, backhaul.__file__, flush=True)\n"
        "        sys.stdin.read()\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    for name in ("BACKHAUL_LIBRARY", "BACKHAUL_DAEMON", "LD_LIBRARY_PATH"):
        environment.pop(name, None)
    host = child.start([sys.executable, "-c", program, tmp_path / "store"], env=environment, text=True,
                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        printed = host.stdout.readline().split()
        programs = [os.readlink(f"/proc/{daemon}/exe") for daemon in daemons_of(tmp_path)]
        _, errors = host.communicate("", 30)
    finally:
        child.end(host)
        end_daemons(tmp_path)
    assert (printed, errors) == (["1.0.0", "True", str(installed / "backhaul" / "__init__.py")], "")
    assert programs == [str(installed / "backhaul" / "backhauld")]


@pytest.mark.parametrize("variable", ["BACKHAUL_LIBRARY", "BACKHAUL_DAEMON"])
def test_the_build_of_the_wheel_fails_if_the_library_or_the_daemon_is_missing(variable, tmp_path):
    environment = {**os.environ, variable: str(tmp_path / "missing")}
    done = subprocess.run([sys.executable, "-m", "pip", "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir",
                           tmp_path, PACKAGE], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "run `make` first" in done.stdout + done.stderr
