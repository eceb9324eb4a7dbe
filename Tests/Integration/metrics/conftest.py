"""Fixtures for the tests of metrics: daemons that serve their metrics, and clients that read them."""

import os
import re
import socket
import subprocess
from dataclasses import dataclass

import pytest

from backhaul import Hosting
from servers import child, listening
from testbed.host import Host, until

for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "BACKHAUL_STORE"):
    os.environ.pop(name, None)

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
SAMPLE = re.compile(r'(\w+)(?:\{(.*)\})? (\S+)')


def samples(text):
    """Maps each sample of a text, with its labels, to its value: ``{'backhaul_tasks{state="waiting"}': 1.0}``."""
    return {line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
            for line in text.splitlines() if not line.startswith("#")}


@dataclass
class Response:
    status: int
    content_type: str
    text: str


class Daemon:
    """A daemon that serves its metrics at an address."""

    def __init__(self, process, store, address):
        self.process, self.store, self.address = process, store, address

    @property
    def curl_options(self):
        """The options with which curl(1) reaches the daemon, and the beginning of the URL."""
        if self.address.startswith("unix:"):
            return ["--unix-socket", self.address.removeprefix("unix:")], "http://localhost"
        return [], f"http://{self.address}"

    def get(self, path="/metrics", *options):
        reach, url = self.curl_options
        form = "\n%{http_code} %{content_type}"
        done = subprocess.run(["curl", "-sS", "--max-time", "60", "-w", form, *reach, *options, url + path],
                              capture_output=True, text=True, check=True)
        text, _, last = done.stdout.rpartition("\n")
        status, _, kind = last.partition(" ")
        return Response(int(status), kind, text)

    def openmetrics(self):
        response = self.get("/metrics", "-H", "Accept: application/openmetrics-text; version=1.0.0")
        assert (response.status, response.content_type) == (200, OPENMETRICS)
        return response.text

    def samples(self):
        return samples(self.get().text)


def accepts(path):
    """Whether a process serves the Unix socket."""
    with socket.socket(socket.AF_UNIX) as client:
        return client.connect_ex(str(path)) == 0


@pytest.fixture
def daemon(program, store):
    """Returns a function that starts a daemon of the test's store. With `path`, the metrics are at a Unix socket.
    Otherwise they are at a free port of 127.0.0.1."""
    started = []
    words = [program, "--store", store, "--linger", "86400000", "--metrics"]

    def start(path=None):
        if path is None:
            process, (port,) = listening.start(lambda port: [*words, f"127.0.0.1:{port}"])
            address = f"127.0.0.1:{port}"
        else:
            address = f"unix:{path}"
            process = child.start([*words, address], stdin=subprocess.DEVNULL)
            until(lambda: process.poll() is not None or accepts(path), bool, timeout=30)
        started.append(process)
        return Daemon(process, store, address)

    yield start
    for process in started:
        child.end(process)


@pytest.fixture
def served_metrics(daemon):
    """A daemon that serves its metrics at a port."""
    return daemon()


@pytest.fixture
def host(store):
    """A host with the session "gallery" of the daemon's store."""
    one = Host(store, hosting=Hosting.DAEMON)
    one.open()
    one.session(first_delay_ms=10)
    yield one
    one.end()
