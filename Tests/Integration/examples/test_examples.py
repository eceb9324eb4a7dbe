"""What the examples print if they are called in a wrong way. Tests/Integration/testing/test_examples.py tests what they
do."""

import subprocess

import pytest
from example_programs import LANGUAGES, c, program, swift

LOOPS = ["epoll", "libuv", "glib"]


@pytest.fixture(autouse=True)
def store(tmp_path, monkeypatch):
    """No example uses the user's own store."""
    monkeypatch.setenv("BACKHAUL_STORE", str(tmp_path / "store"))


def usage(*command):
    asked = subprocess.run(command, capture_output=True, text=True, check=False)
    return asked.returncode, asked.stderr.splitlines()[0]


@pytest.mark.parametrize("language", LANGUAGES)
def test_photos_prints_its_usage(language):
    assert usage(*program(language, "photos")) == (2, "usage: photos STORE [LIST]")


@pytest.mark.parametrize("loop", LOOPS)
def test_an_example_with_an_event_loop_prints_its_usage(loop):
    assert usage(*c(loop)) == (2, f"usage: {loop} URL FOLDER FILE")


@pytest.mark.parametrize("arguments", [[], ["nonsense"]])
def test_the_background_guide_prints_its_usage_if_it_gets_no_url(arguments):
    assert usage(*swift("background-guide"), *arguments) == (2, "usage: background-guide URL")
