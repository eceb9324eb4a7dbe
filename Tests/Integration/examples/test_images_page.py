"""Tests the web page of the example program `images`. The page lists pictures and starts downloads. The program accepts
only requests of the user who runs the program."""

import http.client
import json
import re
import sys
import threading
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

PROJECT = Path(__file__).resolve().parents[3]
sys.path.insert(0, str(PROJECT / "examples" / "python"))

from backhaul import InvalidArgument, Status  # noqa: E402
from images_page import LONGEST_FORM, make_server  # noqa: E402

HOSTILE = '"><script>alert(1)</script>.jpg'


class Button:
    """Records the downloads that the page requests."""

    def __init__(self):
        self.pressed = []

    def enqueue_download(self, url):
        if url.startswith("ftp:"):
            raise InvalidArgument(Status.INVALID_ARGUMENT, f"the URL <{url}> is not http or https")
        self.pressed.append(url)

    def tasks(self):
        yield "moon.jpg", 40, None
        yield "<b>.jpg", None, "the server has not responded yet"


class Page:
    def __init__(self, folder):
        self.button = Button()
        self.server = make_server(self.button, lambda: sorted(path.name for path in folder.iterdir()), folder, 0)
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()

    def ask(self, method, path, body=None, **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        content = response.read()
        connection.close()
        return response, content

    def press(self, token, url, **headers):
        headers.setdefault("Content-Type", "application/x-www-form-urlencoded")
        return self.ask("POST", "/download", urlencode({"token": token, "url": url}), **headers)

    def token(self):
        return re.search(rb'name="token" value="([^"]+)"', self.ask("GET", "/")[1])[1].decode()


@pytest.fixture
def folder(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    (folder / "sunset.jpg").write_bytes(b"sunset")
    (folder / HOSTILE.replace("/", "_")).write_bytes(b"hostile")
    (folder / "page.html").write_bytes(b"<script>")
    (folder / "drawing.svg").write_bytes(b"<svg/>")
    return folder


@pytest.fixture
def page(folder):
    page = Page(folder)
    yield page
    page.server.shutdown()
    page.server.server_close()


def test_the_page_lists_only_the_pictures_of_its_folder(page):
    response, content = page.ask("GET", "/")
    assert response.status == 200
    assert b'src="/pictures/sunset.jpg"' in content
    assert b"page.html" not in content and b"drawing.svg" not in content
    response, content = page.ask("GET", "/pictures/sunset.jpg")
    assert (response.status, response.getheader("Content-Type"), content) == (200, "image/jpeg", b"sunset")


def test_file_names_are_escaped_in_the_page(page):
    content = page.ask("GET", "/")[1]
    assert b"<script>alert" not in content
    assert b"&lt;script&gt;alert" in content
    (link,) = re.findall(rb'src="/pictures/([^"]*alert[^"]*)"', content)
    assert page.ask("GET", f"/pictures/{link.decode()}")[1] == b"hostile"


@pytest.mark.parametrize("path", [
    "/pictures/../secret.jpg", "/pictures/%2e%2e/secret.jpg", "/pictures/..%2fsecret.jpg", "/../secret.jpg",
    "//etc/passwd", "/pictures//etc/passwd", "/pictures/page.html", "/pictures/drawing.svg", "/pictures/",
    "/pictures/sunset.jpg%00", "/pictures/.", "/nowhere",
])
def test_a_path_that_names_no_picture_of_the_folder_is_not_found(page, path):
    response, content = page.ask("GET", path)
    assert (response.status, content) == (404, b"Not Found\n")


def test_an_absolute_path_in_a_request_is_not_found(page, folder):
    assert page.ask("GET", f"/pictures/{quote(str(folder.parent / 'secret.jpg'))}")[0].status == 404


def test_the_button_starts_a_download_that_a_reload_does_not_repeat(page):
    response, _ = page.press(page.token(), " https://example.org/moon.jpg ")
    assert (response.status, response.getheader("Location")) == (303, "/")
    assert page.button.pressed == ["https://example.org/moon.jpg"]


def test_the_error_message_for_a_refused_url_is_escaped_in_the_page(page):
    response, content = page.press(page.token(), "ftp://example.org/")
    assert response.status == 400
    assert b"the URL &lt;ftp://example.org/&gt; is not http or https" in content


@pytest.mark.parametrize("token", ["", "wrong", "ü"])
def test_a_request_without_the_pages_token_starts_no_download(page, token):
    assert page.press(token, "https://example.org/moon.jpg")[0].status == 403
    assert page.button.pressed == []


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1", ""])
def test_a_request_with_a_foreign_host_header_is_refused(page, host):
    response, content = page.ask("GET", "/", Host=host)
    assert (response.status, content) == (421, b"Misdirected Request\n")
    assert page.press(page.token(), "https://example.org/moon.jpg", Host=host)[0].status == 421
    assert page.button.pressed == []


@pytest.mark.parametrize("length", ["", "-1", "1e3", str(LONGEST_FORM + 1)])
def test_a_form_without_a_valid_length_is_refused(page, length):
    headers = {"Content-Length": length} if length else {"Transfer-Encoding": "chunked"}
    assert page.ask("POST", "/download", None, **headers)[0].status == 400


def test_the_state_has_the_progress_of_each_task_and_the_number_of_pictures(page):
    response, content = page.ask("GET", "/state")
    assert response.getheader("Content-Type") == "application/json"
    assert json.loads(content) == {
        "tasks": [["moon.jpg", 40, None], ["<b>.jpg", None, "the server has not responded yet"]], "pictures": 2}


def test_the_content_security_policy_forbids_foreign_content(page):
    response, content = page.ask("GET", "/")
    policy = response.getheader("Content-Security-Policy")
    (nonce,) = set(re.findall(r"nonce-([^']+)'", policy))
    assert f'<script nonce="{nonce}">'.encode() in content
    assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
    assert response.getheader("X-Content-Type-Options") == "nosniff"
    assert page.ask("GET", "/")[0].getheader("Content-Security-Policy") != policy, "two pages have the same nonce"
