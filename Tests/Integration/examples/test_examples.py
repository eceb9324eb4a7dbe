"""Each example is killed in the middle of its work, is started again, and finishes the work. The examples in all
languages print the same lines."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from kill_and_resume import kill_and_resume, serve

PROJECT = Path(__file__).resolve().parents[3]
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
def test_a_killed_example_finishes_after_a_restart_and_further_runs_fetch_only_changed_files(host, tmp_path):
    command = host()
    server = serve(tmp_path / "served", count=60, bytes_per_second=8 << 20)
    try:
        *events, last = kill_and_resume(command, server, tmp_path).splitlines()
        assert events and all(re.fullmatch(r"done \d+ \d+ /.*", event) for event in events)
        assert last == "round 1 finished"
        # The client may have the last response before the server has logged the request.
        server.wait_until_idle()
        asked, (store, listing) = len(server.requests()), (tmp_path / "store", tmp_path / "list")
        server.files["/1"].write_bytes(b"changed")
        for number in (2, 3):
            enqueued, *events, last = again(*command, store, listing)
            assert (enqueued, len(events), last) == ("enqueued 60 files", 60, f"round {number} finished")
        assert again(*command, store) == []
    finally:
        server.close()
    assert [request.path for request in server.requests()[asked:] if request.status != 304] == ["/1"]
    assert (tmp_path / "photos" / "1").read_bytes() == b"changed"


def again(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()


@pytest.mark.parametrize("host", [c_host, python_host, swift_host])
def test_an_example_prints_its_usage(host):
    asked = subprocess.run(host(), capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr.splitlines()[0]) == (2, "usage: photos STORE [LIST]")
