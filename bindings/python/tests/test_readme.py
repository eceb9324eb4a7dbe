"""Runs each program of the package's README.

In each program, the test replaces https://example.org by its own server, and /home/me by its own directory. It changes
nothing else.
"""

import http.server
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from daemons import end_daemons

README = Path(__file__).resolve().parents[1] / "README.md"
PROGRAMS = re.findall(r"^```python\n(.*?)^```$", README.read_text(encoding="utf-8"), flags=re.M | re.S)


class Picture(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "5000")
        self.end_headers()
        self.wfile.write(bytes(5000))

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"ok")

    def log_message(self, *_):
        pass


@pytest.fixture
def url():
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Picture) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize("program", PROGRAMS, ids=range(len(PROGRAMS)))
def test_each_program_of_the_readme_runs_three_times_without_an_error(program, url, tmp_path):
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path / "state")}
    text = program.replace("https://example.org", url).replace("/home/me", str(tmp_path))
    try:
        for _ in range(3):
            done = subprocess.run([sys.executable, "-W", "error", "-c", text], env=environment, capture_output=True,
                                  text=True, check=False)
            assert (done.returncode, done.stderr) == (0, "")
    finally:
        end_daemons(tmp_path)
    for destination in re.findall(r'"/home/me/(\d\.jpg)"', program):
        assert (tmp_path / destination).read_bytes() == bytes(5000)
