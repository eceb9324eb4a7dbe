"""The image downloader, an example program, in each language, while it is open, and with odd names and absent pictures.
Tests/Integration/testing/test_examples.py tests what happens when it is closed or killed."""

import os
import re

import pytest
from example_programs import LANGUAGES, program
from examples.images_program import Images
from pausing_server import PausingServer
from testbed.host import until

SUNSET = 3_000_000
USED = ["launched: sunset.jpg is there, 3000000 bytes", "launched: round 1 finished",
        "launched: no event is outstanding"]


@pytest.fixture(scope="module", params=LANGUAGES)
def command(request):
    return program(request.param, "images")


@pytest.fixture
def images(command, tmp_path):
    images = Images(command, tmp_path / "home")
    yield images
    images.end()


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
