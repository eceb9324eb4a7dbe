"""`install.sh` of the tarball, with a table of two files. `make packages-test` installs the complete tarball."""

import platform
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[3]
TOOLS = ["place", "describe", "ld-searches", "quote", "reload-ld", "backhaul-worker.service.in"]
UNIT = "lib/systemd/system/backhaul-worker.service"


@pytest.fixture
def unpacked(tmp_path):
    """A folder as an unpacked tarball. The name of the folder has a blank."""
    folder = tmp_path / "the tarball"
    (folder / "packaging").mkdir(parents=True)
    (folder / "bin").mkdir()
    shutil.copy(PROJECT / "packaging" / "install.sh", folder)
    for tool in TOOLS:
        shutil.copy(PROJECT / "packaging" / tool, folder / "packaging")
    table = f"executable bin/backhaul bin/backhaul\ntext packaging/backhaul-worker.service.in {UNIT}"
    texts = {"table": table, "version": "1.0",
             "name": f"backhaul-1.0-linux-{platform.machine()}"}
    for name, text in texts.items():
        (folder / "packaging" / name).write_text(text + "\n")
    program = folder / "bin" / "backhaul"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return folder


def run(*words, code=0):
    ended = subprocess.run(words, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert ended.returncode == code, ended.stdout + ended.stderr
    return ended.stdout + ended.stderr


@pytest.mark.parametrize("name", ["prefix", "my tools", "ann's tools"])
def test_the_printed_commands_can_be_copied_and_the_last_one_removes_the_files(unpacked, tmp_path, name):
    prefix = tmp_path / name
    printed = run(unpacked / "install.sh", "--prefix", prefix)
    library = shlex.quote(f"{prefix}/lib").replace("'\"'\"'", "'\\''")
    assert f"-Wl,-rpath,{library}. " in printed and f"LD_LIBRARY_PATH={library}, " in printed
    [shown] = [line.split("Try: ")[1] for line in printed.splitlines() if "Try: " in line]
    assert shlex.split(shown) == [f"{prefix}/bin/backhaul", "--help"]
    run("sh", "-c", shown)
    run("sh", "-c", printed.splitlines()[-1])
    assert not (prefix / "bin").exists()


def test_the_unit_of_the_worker_names_the_installed_program(unpacked, tmp_path):
    """In a unit, a percent sign begins a specifier, so it is doubled."""
    run(unpacked / "install.sh", "--prefix", tmp_path / "100%h tools")
    unit = tmp_path / "100%h tools" / UNIT
    assert f'ExecStart="{tmp_path}/100%%h tools/bin/backhaul" worker' in unit.read_text()
    assert stat.S_IMODE(unit.stat().st_mode) == 0o644


def test_the_removal_of_an_installation_that_does_not_exist_is_an_error(unpacked, tmp_path):
    printed = run(unpacked / "install.sh", "--uninstall", "--prefix", tmp_path / "absent", code=1)
    assert f"there is no installation below {tmp_path}/absent; name its folder with --prefix" in printed
