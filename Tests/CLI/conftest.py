"""Fixtures for tests of the command line: the hosting (which process runs the transfers), a command line that runs
`backhaul` in its own folder, servers, and a desktop."""

import base64
import http.server
import threading

import pytest

from command_line import CommandLine, until
from demo_parts.server import Server  # supports ranges, entity tags, a speed limit and a log
from desktop_session import DesktopSession, is_watching, missing
from pausing_server import PausingServer
from servers.misbehaving import MisbehavingServer


def pytest_configure(config):
    config.addinivalue_line("markers", "hosting(name): the test runs only with this hosting: daemon or embedded")


def pytest_generate_tests(metafunc):
    """Most tests run with the daemon, and again with an engine in the process of the command."""
    if "hosting" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("hosting")
        metafunc.parametrize("hosting", marker.args if marker else ["daemon", "embedded"])


@pytest.fixture
def backhaul(tmp_path, hosting):
    command_line = CommandLine(tmp_path, hosting)
    yield command_line
    command_line.end()


@pytest.fixture
def server():
    with MisbehavingServer() as one:
        yield one


@pytest.fixture
def serve(tmp_path):
    """Returns a function that starts a server of files: `serve({"/path": bytes}, speed)`, with the speed in bytes per
    second. With `pause_at`, the server pauses at this offset of each file until `release`."""
    servers = []

    def start(contents, speed=1 << 30, pause_at=None):
        folder = tmp_path / f"served-{len(servers)}"
        folder.mkdir()
        files = {}
        for number, (path, content) in enumerate(contents.items()):
            file = folder / str(number)
            file.write_bytes(content)
            files[path] = file
        servers.append(Server(files, speed) if pause_at is None else PausingServer(files, pause_at, speed))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture
def guarded(serve, monkeypatch):
    """`guarded(contents)` starts a server that sends its files only to the user ann with the password "secret word"."""
    class Guard:
        scheme, accepted, realm = "Basic", "Basic " + base64.b64encode(b"ann:secret word").decode(), "Staff"

    def start(contents, **options):
        server = serve(contents, **options)
        original = server.RequestHandlerClass.do_GET

        def guard(self):
            if self.headers.get("Authorization") == Guard.accepted:
                return original(self)
            self.send_response(401)
            self.send_header("WWW-Authenticate", f'{Guard.scheme} realm="{Guard.realm}"')
            self.send_header("Content-Length", "0")
            self.end_headers()

        monkeypatch.setattr(server.RequestHandlerClass, "do_GET", guard)
        server.guard = Guard
        return server

    return start


@pytest.fixture
def free():
    """The URL of a server that needs no credential. `/to/URL` redirects to the URL."""
    class Free(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(302 if self.path.startswith("/to/") else 200)
            self.send_header("Location", self.path.removeprefix("/to/"))
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Free) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def desktop(tmp_path):
    if reason := missing():
        pytest.skip(reason)
    session = DesktopSession(tmp_path / "desktop")
    yield session
    session.end()


@pytest.fixture
def observe(backhaul, desktop):
    """Returns a function that starts `backhaul desktop` and waits until it watches the store."""
    backhaul.environment.update(desktop.environment)

    def start(*words):
        process = backhaul.start("desktop", *words)
        until(lambda: is_watching(process.pid) or process.poll() is not None, "the start")
        assert process.poll() is None, process.stderr.read()
        return process

    return start
