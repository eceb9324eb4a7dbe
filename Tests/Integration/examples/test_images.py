"""The image downloader, an example program, in each language. The user presses download, closes the program, and finds
the picture later."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from daemons import daemons_of, end
from examples.images_program import Images
from kill_and_resume import digest
from pausing_server import PausingServer
from testbed import checkpoints
from testbed.host import until

PROJECT = Path(__file__).resolve().parents[3]
BUILD = PROJECT / "build"
SUNSET = 3_000_000
USED = ["launched: sunset.jpg is there, 3000000 bytes", "launched: round 1 finished",
        "launched: no event is outstanding"]


def c_program():
    return [BUILD / "examples" / "images"]


def python_program():
    return [sys.executable, "-W", "error", PROJECT / "examples" / "python" / "images.py"]


def swift_program():
    # All tests that use the Swift package share one build folder, so that the package is compiled only one time.
    scratch = BUILD / "swift" / "package"
    built = subprocess.run(["swift", "build", "--package-path", PROJECT / "examples" / "swift" / "images",
                            "--scratch-path", scratch], capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    return [scratch / "debug" / "images"]


@pytest.fixture(scope="module", params=[c_program, python_program, swift_program])
def command(request):
    return request.param()


@pytest.fixture
def images(command, tmp_path):
    program = Images(command, tmp_path / "home")
    yield program
    program.end()


@pytest.fixture
def server(tmp_path):
    sunset = tmp_path / "sunset.jpg"
    sunset.write_bytes(os.urandom(SUNSET))
    server = PausingServer({"/sunset.jpg": sunset}, pause_at=2_500_000)
    yield server
    server.close()


@pytest.fixture
def sunset(server):
    return f"{server.url}/sunset.jpg"


def end_of(opened):
    """Returns the last two lines of a program that ends successfully."""
    shown, errors = opened.communicate(timeout=300)
    assert (opened.returncode, errors) == (0, "")
    return shown.splitlines()[-2:]


def test_the_picture_arrives_after_the_program_has_exited(images, server, sunset):
    assert images("get", sunset) == ["enqueued sunset.jpg"]
    assert "sunset.jpg" not in images.files(), "the picture had arrived before the program ended"
    server.release()
    until(images.log, lambda log: log[-1:] == USED[-1:])
    assert images.log() == ["enqueued sunset.jpg", *USED]
    assert digest(images.folder / "sunset.jpg") == digest(server.files["/sunset.jpg"])
    # No unfinished file, program, daemon or unread event is left.
    assert images.files() == ["images.log", "sunset.jpg"]
    until(images.processes, lambda processes: processes == [])
    assert images() == ["there: sunset.jpg"]
    assert len(images.log()) == 4


def test_a_killed_program_is_launched_when_the_picture_has_arrived(images, server, sunset):
    images("get", sunset)
    opened = images.open()
    assert opened.stdout.readline().startswith("on its way: sunset.jpg")
    until(server.is_paused, bool)
    opened.kill()
    opened.communicate()
    server.release()
    until(images.log, lambda log: log[-1:] == USED[-1:])
    assert images.log() == ["enqueued sunset.jpg", *USED]
    assert digest(images.folder / "sunset.jpg") == digest(server.files["/sunset.jpg"])
    for _ in range(2):
        assert images("get", sunset) == ["sunset.jpg exists already"]
        assert end_of(images.open()) == ["there: sunset.jpg"]
    assert [request.status for request in server.requests()] == [200], "the picture was requested twice"


def test_after_a_kill_of_the_daemon_the_next_start_continues_the_download(images, server, sunset):
    images("get", sunset)
    until(server.is_paused, bool)
    (database,) = images.home.rglob(checkpoints.DATABASE)
    checkpoints.wait_for_checkpoint(database.parent)
    (daemon,) = daemons_of(images.home)
    end(daemon, signal.SIGKILL, time.monotonic() + 5)
    opened = images.open()
    assert opened.stdout.readline().startswith("on its way: sunset.jpg")
    server.release()
    assert end_of(opened) == ["sunset.jpg is there, 3000000 bytes", "round 1 finished"]
    assert [request.status for request in server.requests()] == [200, 206]
    assert digest(images.folder / "sunset.jpg") == digest(server.files["/sunset.jpg"])


def test_an_open_program_gets_the_event_and_is_not_launched(images, server, sunset):
    images("get", sunset)
    opened = images.open()
    # If the download had reached its pause before, the first line has the progress, and no other line follows.
    lines = iter(opened.stdout.readline, "")
    assert any(re.fullmatch(r"on its way: sunset.jpg \d+ %.*\n", line) for line in lines), "no progress was seen"
    server.release()
    assert end_of(opened) == ["sunset.jpg is there, 3000000 bytes", "round 1 finished"]
    assert not [line for line in images.log() if line.startswith("launched")]
    until(images.processes, lambda processes: processes == [])


def test_pressing_download_twice_starts_one_download(images, server, sunset):
    assert images("get", sunset, sunset) == ["enqueued sunset.jpg", "sunset.jpg was enqueued before"]
    server.release()
    until(images.log, lambda log: log[-1:] == USED[-1:])
    assert len(server.requests()) == 1


def test_pressing_download_again_keeps_an_existing_picture(images, server, sunset):
    images("get", sunset)
    server.release()
    until(images.log, lambda log: log[-1:] == USED[-1:])
    for _ in range(2):
        assert images("get", sunset) == ["sunset.jpg exists already"]
        assert images() == ["there: sunset.jpg"]
    assert len(server.requests()) == 1
    assert images.log()[4:] == ["sunset.jpg exists already"] * 2


def test_if_one_of_two_downloads_fails_the_failure_is_reported_and_the_other_picture_arrives(images, server, sunset):
    assert images("get", f"{server.url}/nowhere.png", sunset) == ["enqueued nowhere.png", "enqueued sunset.jpg"]
    server.release()
    # The program is launched when all its tasks have ended. The first task may end before the second task is enqueued,
    # so the test does not expect a particular number of launches.
    log = until(images.log, lambda log: USED[0] in log and log[-1] == USED[-1])
    (lost,) = [line for line in log if "nowhere" in line and line.startswith("launched")]
    assert re.fullmatch(r"launched: nowhere\.png does not come: .*404.*", lost)


@pytest.mark.parametrize(("url", "name"), [
    ("/a%2F..%2Fb.jpg?x=/y.png#/z", "a_2F.._2Fb.jpg"), ("/..", "_."), ("/.hidden", "_hidden"), ("/", "picture"),
    ("", "picture"), ("/images.log", "picture"), ("/dir/" + "n" * 200 + ".jpg", "n" * 95 + ".jpg"),
])
def test_the_file_name_of_a_picture_cannot_lead_out_of_the_folder(images, url, name):
    assert images("get", f"http://127.0.0.1:9{url}") == [f"enqueued {name}"]


def test_the_image_downloader_prints_its_usage(images):
    (usage,) = images("nonsense", code=2)
    assert usage.startswith("usage: images")
