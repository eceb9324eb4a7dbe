"""The C host's path, with a kill in the middle, while the sanitizers watch every thread of library and host."""

import hashlib
import os
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(PROJECT / "scripts"))

from demo_parts.server import Server  # noqa: E402  (the demo's own: ranges, entity tags, a speed limit and a log)

FILES = 60
OPTIONS = {
    # Leaks are looked for when the host has closed everything and ends.
    "address": {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1"},
    "thread": {"TSAN_OPTIONS": "second_deadlock_stack=1"},
}


@pytest.fixture(scope="module", params=["address", "thread"])
def sanitizer(request):
    return request.param


@pytest.fixture(scope="module")
def library(sanitizer):
    """A debug build of the library with the sanitizer in it; returns its folder."""
    scratch = PROJECT / "build" / "swift" / sanitizer
    built = subprocess.run(
        ["swift", "build", "--package-path", PROJECT, "--scratch-path", scratch, "--product", "BackhaulLibrary",
         f"--sanitize={sanitizer}"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-4000:] + built.stderr[-4000:]
    return scratch / "debug"


@pytest.fixture(scope="module")
def host(sanitizer, library, tmp_path_factory):
    program = tmp_path_factory.mktemp(sanitizer) / "photos"
    # Where the toolchain keeps the libraries that its thread sanitizer refers to.
    runtime = f"{os.environ['BACKHAUL_TOOLCHAIN']}/lib/swift/linux"
    subprocess.run(
        ["clang", "-std=c11", "-g", "-O1", f"-fsanitize={sanitizer}", "-fuse-ld=lld", "-I", PROJECT / "include",
         PROJECT / "examples" / "c" / "photos.c", "-o", program, "-L", library, "-lBackhaulLibrary",
         "-L", runtime, "-ldispatch", "-lBlocksRuntime", f"-Wl,-rpath,{library}:{runtime}"], check=True)
    return program


@pytest.fixture
def server(tmp_path):
    noise = random.Random(1)
    files = {}
    for number in range(FILES):
        path = tmp_path / "served" / str(number)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(noise.randbytes(noise.choice([0, 1, 5_000, 50_000, 400_000]) if number else 8 << 20))
        files[f"/{number}"] = path
    server = Server(files, bytes_per_second=6 << 20)
    yield server
    server.close()


def test_the_host_is_killed_and_started_again_without_a_report(sanitizer, host, server, tmp_path):
    target, listing = tmp_path / "photos", tmp_path / "list"
    target.mkdir()
    listing.write_text("".join(f"{server.url}{url}\t{target}{url}\n" for url in server.files))
    environment = {**os.environ, **OPTIONS[sanitizer]}

    first = subprocess.Popen([host, tmp_path / "store", listing], env=environment, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, text=True)
    while first.poll() is None and not server.is_in_the_middle():
        time.sleep(0.02)
    assert first.poll() is None, first.stderr.read()
    first.kill()
    _, report = first.communicate()
    assert report == ""

    second = subprocess.run([host, tmp_path / "store"], env=environment, capture_output=True, text=True, timeout=120,
                            check=False)
    assert (second.returncode, second.stderr) == (0, "")
    assert second.stdout.endswith("round 1 finished\n")
    assert any(request.status == 206 for request in server.requests())
    for url, path in server.files.items():
        assert digest(Path(f"{target}{url}")) == digest(path), url


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
