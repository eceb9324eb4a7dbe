"""Runs the C host (an example program that embeds the library), kills it during its downloads, and starts it again.
Meanwhile a sanitizer checks every thread of the library and of the host."""

import os
import subprocess
from pathlib import Path

import pytest
from kill_and_resume import kill_and_resume, serve

PROJECT = Path(__file__).resolve().parents[3]
OPTIONS = {
    # The sanitizer searches for leaks when the host exits. By then the host has closed all objects of the library.
    "address": {"ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1"},
    "thread": {"TSAN_OPTIONS": "second_deadlock_stack=1"},
}


@pytest.fixture(scope="module", params=["address", "thread"])
def sanitizer(request):
    return request.param


@pytest.fixture(scope="module")
def library(sanitizer):
    """Builds a debug library with the sanitizer. Returns its folder."""
    scratch = PROJECT / "build" / "swift" / sanitizer
    built = subprocess.run(
        ["swift", "build", "--package-path", PROJECT, "--scratch-path", scratch, "--product", "BackhaulLibrary",
         "--disable-index-store", f"--sanitize={sanitizer}"], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout[-4000:] + built.stderr[-4000:]
    return scratch / "debug"


@pytest.fixture(scope="module")
def host(sanitizer, library, tmp_path_factory):
    program = tmp_path_factory.mktemp(sanitizer) / "photos"
    # The folder in which the toolchain has the libraries of its thread sanitizer.
    runtime = f"{os.environ['BACKHAUL_TOOLCHAIN']}/lib/swift/linux"
    subprocess.run(
        ["clang", "-std=c11", "-g", "-O1", f"-fsanitize={sanitizer}", "-fuse-ld=lld", "-I", PROJECT / "include",
         PROJECT / "examples" / "c" / "photos.c", "-o", program, "-L", library, "-lBackhaulLibrary",
         "-L", runtime, "-ldispatch", "-lBlocksRuntime", f"-Wl,-rpath,{library}:{runtime}"], check=True)
    return program


def test_the_sanitizer_reports_nothing_for_a_host_that_is_killed_and_restarted(sanitizer, host, tmp_path):
    server = serve(tmp_path / "served", count=60, bytes_per_second=6 << 20)
    try:
        kill_and_resume([host], server, tmp_path, **OPTIONS[sanitizer])
    finally:
        server.close()
