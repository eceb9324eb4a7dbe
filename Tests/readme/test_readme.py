"""The README's hosts are compiled and run as they stand there, and each must bring its file.

In the blocks https://example.org stands for a server on loopback, and /home/me for a folder of the test.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from daemons import end_daemons
from hosts.host import until
from held import Server

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
LIBRARIES = BUILD / "lib"
PHOTO = bytes(range(256)) * 2000


def blocks(language):
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.M | re.S)


def the_block(language):
    found = blocks(language)
    assert len(found) == 1, f"the README has {len(found)} {language} blocks; this test knows what to do with one"
    return found[0]


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    yield home
    end_daemons(home)
    assert (home / "photo.jpg").read_bytes() == PHOTO
    assert not list(home.glob(".*.part*")), "a part file is left"


@pytest.fixture
def server(tmp_path):
    photo = tmp_path / "photo.jpg"
    photo.write_bytes(PHOTO)
    server = Server({"/photo.jpg": photo}, bytes_per_second=2 << 20)
    yield server
    server.close()


@pytest.fixture
def localised(home, server):
    return lambda text: text.replace("https://example.org", server.url).replace("/home/me", str(home))


def at_home(folder):
    return {"HOME": str(folder), "XDG_STATE_HOME": f"{folder}/.local/state"}


def run(*command, cwd, **variables):
    environment = {**os.environ, **at_home(cwd), **variables}
    ended = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def test_the_shell_host(home, localised):
    run("sh", "-euc", localised(the_block("sh")), cwd=home, PATH=f"{BUILD / 'bin'}:{os.environ['PATH']}")


def c_host(localised, tmp_path):
    source, program = tmp_path / "host.c", tmp_path / "host"
    source.write_text(localised(the_block("c")))
    run("clang", "-std=c11", "-Wall", "-Wextra", "-Werror", "-pedantic", "-I", PROJECT / "include", source,
        "-o", program, "-L", LIBRARIES, "-lbackhaul", f"-Wl,-rpath,{LIBRARIES}", cwd=tmp_path)
    return [program]


def test_the_c_host(home, localised, tmp_path):
    assert f"{home}/photo.jpg" in run(*c_host(localised, tmp_path), cwd=home)


def test_the_python_host(home, localised):
    assert f"{home}/photo.jpg" in run(sys.executable, "-W", "error", "-c", localised(the_block("python")), cwd=home)


@pytest.mark.parametrize("language", ["c", "python"])
def test_a_host_that_is_killed_in_the_middle_finds_its_file_when_it_is_started_again(
        language, home, localised, server, tmp_path):
    host = c_host(localised, tmp_path) if language == "c" else [sys.executable, "-c", localised(the_block("python"))]
    environment = {**os.environ, **at_home(home)}
    first = subprocess.Popen(host, env=environment, stdout=subprocess.DEVNULL)
    until(server.requests, lambda requests: requests)
    first.kill()
    first.wait()
    assert f"{home}/photo.jpg" in run(*host, cwd=home)
    assert len(server.requests()) == 1, "the daemon has not gone on"


def test_the_swift_host(home, localised, tmp_path):
    package = tmp_path / "host"
    shutil.copytree(Path(__file__).with_name("package"), package)
    manifest = package / "Package.swift"
    manifest.write_text(manifest.read_text().replace("BINDINGS", str(PROJECT / "bindings" / "swift")))
    host = package / "Sources" / "host" / "main.swift"
    host.parent.mkdir(parents=True, exist_ok=True)
    host.write_text(localised(the_block("swift")))
    # That of the Swift package, which is compiled once.
    scratch = BUILD / "swift" / "package"
    run("swift", "build", "--package-path", package, "--scratch-path", scratch, cwd=tmp_path, HOME=os.environ["HOME"])
    assert f"{home}/photo.jpg" in run(scratch / "debug" / "host", cwd=home, LD_LIBRARY_PATH=str(LIBRARIES))


def test_the_commands_to_try_are_targets_of_make():
    targets = set(re.findall(r"^\$ make(?: (\w+))?", "\n".join(blocks("console")), flags=re.M)) - {""}
    assert targets
    help_text = subprocess.run(["make", "help"], cwd=PROJECT, capture_output=True, text=True, check=True).stdout
    assert targets <= set(re.findall(r"make (\w+)", help_text))


def test_what_the_readme_points_to_is_there():
    text = (PROJECT / "README.md").read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", text):
        assert (PROJECT / target).exists(), target
