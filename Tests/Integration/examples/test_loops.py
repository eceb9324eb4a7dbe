"""The examples with event loops download files, show progress, upload a file, and respond to a server that demands a
credential. Each example is killed in the middle of its transfers. The daemon, a separate process, continues the
transfers, and the next run reports the ends."""

import base64
import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from daemons import end_daemons
from demo_parts.server import Handler
from pausing_server import PausingServer
from servers import child
from testbed.host import until

EXAMPLES = Path(__file__).resolve().parents[3] / "build" / "examples"
LOOPS = ["epoll", "libuv", "glib"]
COUNT, SIZE, PRIVATE, BODY = 20, 200_000, "/1", b"a report\n"
CREDENTIAL = "Basic " + base64.b64encode(b"me:opensesame").decode()


class PrivateHandler(Handler):
    """Demands a credential for one file, and accepts uploads."""

    def do_GET(self):
        if self.path != PRIVATE or self.headers.get("Authorization") == CREDENTIAL:
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="photos"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_PUT(self):
        self.server.uploads[self.path] = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(201)
        self.send_header("Content-Length", "0")
        self.end_headers()


class Example:
    def __init__(self, name, folder):
        self.program, self.folder, self.output = EXAMPLES / name, folder, folder / "output"
        self.target = folder / "files"
        self.target.mkdir()
        (folder / "report").write_bytes(BODY)

    def start(self, server, **variables):
        environment = {**os.environ, "BACKHAUL_STORE": str(self.folder / "store"), **variables}
        with self.output.open("w") as output:
            return child.start([self.program, server.url, self.target, self.folder / "report"], env=environment,
                               stdout=output, stderr=subprocess.PIPE, text=True)

    def lines(self):
        return self.output.read_text().splitlines()


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    files = {f"/{number}": folder / str(number) for number in range(1, COUNT + 1)}
    for path in files.values():
        path.write_bytes(os.urandom(SIZE))
    server = PausingServer(files, pause_at=SIZE // 2)
    server.uploads, server.RequestHandlerClass = {}, PrivateHandler
    yield server
    server.close()


@pytest.fixture
def example(request, tmp_path):
    yield Example(request.param, tmp_path)
    end_daemons(tmp_path)


def is_in_the_middle(lines):
    """Whether the example has shown progress, and has responded to the server's demand."""
    return any(re.fullmatch(r"task \d+ is running: [1-9]\d* bytes, \d+ bytes/s", line) for line in lines) and any(
        line.endswith("demands a credential: credential") for line in lines)


@pytest.mark.parametrize("example", LOOPS, indirect=True)
def test_a_killed_example_with_an_event_loop_completes_all_transfers_after_a_restart(example, server):
    credential = {"LOOP_USER": "me", "LOOP_PASSWORD": "opensesame"}
    killed = example.start(server, **credential)
    until(example.lines, is_in_the_middle)
    until(server.is_paused, bool)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    first = example.lines()
    server.release()
    again = example.start(server, **credential)
    assert (again.communicate(timeout=120)[1], again.returncode) == ("", 0)
    ends = [line for line in [*first, *example.lines()] if line.endswith(" succeeded")]
    assert set(ends) == {f"download {server.url}{url} succeeded" for url in server.files} | {
        f"upload {server.url}/upload succeeded"}
    assert {url: (example.target / url[1:]).read_bytes() for url in server.files} == {
        url: path.read_bytes() for url, path in server.files.items()}
    assert server.uploads == {"/upload": BODY}


@pytest.mark.parametrize("example", ["epoll"], indirect=True)
def test_without_a_credential_the_example_refuses_the_demand_and_exits_with_1(example, server):
    server.release()
    process = example.start(server)
    assert (process.communicate(timeout=120)[1], process.returncode) == ("", 1)
    assert any(line.endswith("demands a credential: refuse") for line in example.lines())
    assert any(line.startswith(f"download {server.url}{PRIVATE} failed: ") for line in example.lines())


@pytest.mark.parametrize("name", LOOPS)
def test_an_example_with_an_event_loop_prints_its_usage(name):
    asked = subprocess.run([EXAMPLES / name], capture_output=True, text=True, check=False)
    assert (asked.returncode, asked.stderr) == (2, f"usage: {name} URL FOLDER FILE\n")
