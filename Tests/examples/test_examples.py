"""Each example is killed in the middle of its work, started again, and finishes it. They print the same lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from story import kill_and_finish, serve

PROJECT = Path(__file__).resolve().parents[2]
BUILD = PROJECT / "build"
EXAMPLES = PROJECT / "examples"


def c_host():
    return [BUILD / "examples" / "photos"]


def python_host():
    return [sys.executable, "-W", "error", EXAMPLES / "python" / "photos.py"]


def swift_host():
    scratch = BUILD / "swift" / "package"
    package = EXAMPLES / "swift" / "photos"
    built = subprocess.run(["swift", "build", "--package-path", package, "--scratch-path", scratch],
                           capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return [scratch / "debug" / "photos"]


@pytest.mark.parametrize("host", [c_host, python_host, swift_host])
def test_an_example_that_is_killed_in_the_middle_finishes_when_it_is_started_again(host, tmp_path):
    command = host()
    server = serve(tmp_path / "served", count=60, bytes_per_second=8 << 20)
    try:
        *events, last = kill_and_finish(command, server, tmp_path).splitlines()
    finally:
        server.close()
    assert events and all(re.fullmatch(r"done \d+ \d+ /.*", event) for event in events)
    assert last == "round 1 finished"


@pytest.mark.parametrize("host", [c_host, python_host, swift_host])
def test_an_example_says_how_it_is_used(host):
    asked = subprocess.run(host(), capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr.splitlines()[0]) == (2, "usage: photos STORE [LIST]")
