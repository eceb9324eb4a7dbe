"""The gallery, an example program, in a browser: the button, the progress, the pictures, and the end of the program."""

import http.client
import json
import os
import re
import signal
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from examples.images_program import Images
from pausing_server import PausingServer
from servers import child
from testbed.host import until

PROGRAM = Path(__file__).resolve().parents[3] / "examples" / "python" / "images.py"
SUNSET = os.urandom(3_000_000)


@pytest.fixture
def images(tmp_path):
    program = Images([sys.executable, "-W", "error", PROGRAM], tmp_path / "home")
    yield program
    program.end()


@pytest.fixture
def server(tmp_path):
    (tmp_path / "sunset.jpg").write_bytes(SUNSET)
    server = PausingServer({"/sunset.jpg": tmp_path / "sunset.jpg"}, pause_at=1_500_000)
    yield server
    server.close()


class Browser:
    def __init__(self, gallery):
        self.gallery = gallery
        self.port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/", gallery.stdout.readline().strip())[1])

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        assert response.status in (200, 303), content
        return content

    def press(self, url):
        token = re.search(rb'name="token" value="([^"]+)"', self.ask("GET", "/"))[1].decode()
        form = urlencode({"token": token, "url": url})
        self.ask("POST", "/download", form, **{"Content-Type": "application/x-www-form-urlencoded"})

    def state(self):
        return json.loads(self.ask("GET", "/state"))

    def close(self):
        self.gallery.kill()
        self.gallery.communicate()


@pytest.fixture
def browser(images):
    gallery = images.open("gallery", "0")
    browser = Browser(gallery)
    yield browser
    child.end(gallery)


def is_half_done(state):
    return any(name == "sunset.jpg" and percent and percent >= 30 for name, percent, _ in state["tasks"])


def test_a_picture_appears_while_the_page_is_open(images, browser, server):
    browser.press(f"{server.url}/sunset.jpg")
    until(browser.state, is_half_done)
    server.release()
    until(browser.state, lambda state: state == {"tasks": [], "pictures": 1})
    assert browser.ask("GET", "/pictures/sunset.jpg") == SUNSET
    assert b'src="/pictures/sunset.jpg"' in browser.ask("GET", "/")
    until(images.log, lambda log: "round 1 finished" in log)
    assert not [line for line in images.log() if line.startswith("launched")]


def test_ctrl_c_ends_the_gallery_silently(browser):
    browser.ask("GET", "/state")
    browser.gallery.send_signal(signal.SIGINT)
    assert browser.gallery.communicate(timeout=20) == ("", "")
    assert browser.gallery.returncode == 130


def test_after_a_kill_of_the_gallery_the_program_is_launched_when_the_picture_has_arrived(images, browser, server):
    browser.press(f"{server.url}/sunset.jpg")
    until(browser.state, is_half_done)
    browser.close()
    server.release()
    log = until(images.log, lambda log: log[-1:] == ["launched: no event is outstanding"])
    assert "launched: sunset.jpg is there, 3000000 bytes" in log
    assert (images.folder / "sunset.jpg").read_bytes() == SUNSET
