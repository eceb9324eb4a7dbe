"""The hosts in Rust and in Go need only the header and the library. Each is built with Debian's compiler, and
downloads a file two times."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
from daemons import end_daemons
from pausing_server import PausingServer

PROJECT = Path(__file__).resolve().parents[3]
EXAMPLES, HEADER, LIBRARY = PROJECT / "examples", PROJECT / "include", PROJECT / "build" / "lib"


def build(folder, *command, **variables):
    built = subprocess.run(command, cwd=folder, env={**os.environ, **variables}, capture_output=True, text=True,
                           check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return folder / "download"


def needs(*programs):
    for program, package in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed; the Debian package {package} has it")


def rust(folder):
    needs(("rustc", "rustc"), ("bindgen", "bindgen"))
    shutil.copy(EXAMPLES / "rust" / "download.rs", folder)
    if "Unable to find libclang" in subprocess.run(["bindgen", "/dev/null"], capture_output=True, text=True,
                                                   check=False).stderr:
        pytest.skip("bindgen finds no libclang; the Debian package libclang1-14 has it")
    build(folder, "bindgen", HEADER / "backhaul.h", "-o", "backhaul.rs")
    return build(folder, "rustc", "--edition", "2021", "download.rs", "-L", LIBRARY, "-l", "backhaul",
                 "-C", f"link-arg=-Wl,-rpath,{LIBRARY}")


def go(folder):
    needs(("go", "golang-go"))
    shutil.copy(EXAMPLES / "go" / "download.go", folder)
    return build(folder, "go", "build", "download.go", GO111MODULE="off", GOCACHE=str(folder / "cache"),
                 CGO_CFLAGS=f"-I{HEADER}", CGO_LDFLAGS=f"-L{LIBRARY} -Wl,-rpath,{LIBRARY}")


@pytest.fixture
def server(tmp_path):
    (tmp_path / "served").write_bytes(os.urandom(100_000))
    server = PausingServer({"/photo.jpg": tmp_path / "served"}, pause_at=0)
    server.release()
    yield server
    server.close()


@pytest.mark.parametrize("language", [rust, go])
def test_a_host_that_needs_only_the_header_downloads_a_file(language, server, tmp_path):
    program = language(tmp_path)
    target = tmp_path / "photo.jpg"
    environment = {**os.environ, "BACKHAUL_STORE": str(tmp_path / "store")}
    try:
        for path, status in (("/photo.jpg", 0), ("/photo.jpg", 0), ("/absent", 1)):
            ended = subprocess.run([program, server.url + path, target], env=environment, capture_output=True,
                                   text=True, timeout=120, check=False)
            assert (ended.returncode, ended.stderr) == (status, "")
            assert ended.stdout.startswith(f"{server.url}{path} ")
        assert target.read_bytes() == (tmp_path / "served").read_bytes()
        usage = subprocess.run([program], capture_output=True, text=True, check=False)
        assert (usage.returncode, usage.stderr) == (2, "usage: download URL FILE\n")
    finally:
        end_daemons(tmp_path)
