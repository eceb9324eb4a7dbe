"""The environment of one scenario: a fake machine, a network, a link, a server and hosts. In a scenario, conditions
such as power change during downloads. The engine runs the downloads, in the host or in a daemon. Several
environments can run at the same time."""

import functools
import os
import shutil
import struct
import tempfile
import time
from contextlib import ExitStack
from datetime import datetime, UTC
from pathlib import Path

from backhaul import Hosting, TaskState
from conditions.buses import Bus
from conditions.buses import Unavailable as NoBus
from conditions.machine import Machine
from daemons import end_daemons
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from servers.shaping import Link
from testbed.host import Host, until
from testbed.network import Network
from testbed.network import Unavailable as NoNetwork

ROOT = Path(__file__).resolve().parents[3]
#: The largest number of bytes that can be in kernel buffers between the link and the engine.
IN_FLIGHT = 262_144
#: The rate of the link, in bytes per second, while the test changes a condition. At this rate, no download ends before
#: the change. The rate is not too slow for a discretionary download.
SLOW = 50_000

Unavailable = (NoBus, NoNetwork)


#: Returns a content of the given size. The creation of a content takes time, so all calls with the same size share one
#: object.
content_of = functools.cache(Content)


class Calendar:
    """The calendar: the date and time that the engine sees. If the hosts use a debug build of the library, a test can
    set the calendar (BACKHAUL_CLOCK)."""

    def __init__(self, path):
        self._path = path
        self._write(0)

    def _write(self, milliseconds):
        with open(self._path, "r+b" if self._path.exists() else "wb") as file:
            file.write(struct.pack("<q", int(milliseconds)))

    def set(self, text):
        """Sets the calendar to a time in UTC, such as "2026-11-19 21:04"."""
        moment = datetime.fromisoformat(text).replace(tzinfo=UTC)
        self.moved = round((moment.timestamp() - time.time()) * 1_000)
        self._write(self.moved)


class Environment:
    """``with Environment("laptop", bus=True) as env: …``. With `bus`, there is a private system bus. If `library` is a
    path, the hosts use the library at this path, such as a debug build. `rate` is the bytes per second of the link."""

    def __init__(self, name, *, bus=False, library=None, rate=1_000_000):
        self._name, self._has_bus, self._library, self.rate = name, bus, library, rate

    def __enter__(self):
        with ExitStack() as stack:
            places = ROOT / "build" / "places"
            places.mkdir(parents=True, exist_ok=True)
            self.place = Path(tempfile.mkdtemp(prefix=f"{self._name}-", dir=places))
            stack.callback(shutil.rmtree, self.place, ignore_errors=True)
            self.network = Network()
            stack.callback(self.network.end)
            self.network.plug()
            self.network.add_default_route()
            self.machine = Machine(self.place / "machine", self.network)
            self.environment = dict(self.machine.environment)
            if self._has_bus:
                self.bus = stack.enter_context(Bus())
                self.environment |= self.bus.environment
            self.calendar = Calendar(self.place / "calendar")
            if self._library:
                self.environment |= {
                    "BACKHAUL_LIBRARY": str(self._library), "BACKHAUL_CLOCK": str(self.place / "calendar")}
            self.server = MisbehavingServer(address=self.network.address)
            self.network.there(self.server.__enter__)
            stack.callback(self.server.__exit__)
            self.link = Link(self.server.port, self.network.address, self.rate)
            self.network.there(self.link.__enter__)
            stack.callback(self.link.__exit__)
            self.store = self.place / "store"
            self.downloads = self.place / "downloads"
            self.downloads.mkdir()
            stack.callback(end_daemons, self.place)
            self._hosts = []
            stack.callback(lambda: [host.end() for host in self._hosts])
            self._stack = stack.pop_all()
        return self

    def __exit__(self, *reason):
        self._stack.__exit__(*reason)

    def host(self, *, hosting=Hosting.EMBEDDED, **session):
        """Returns a host with a session. If the session exists, the host attaches to it. Otherwise the host creates the
        session with the configuration in `session`. By default, the process of the host runs the engine."""
        host = Host(self.store, environment=self.environment, prefix=self.network.prefix, hosting=hosting)
        self._hosts.append(host)
        host.open()
        host.session(**session)
        return host

    def serve(self, path, size, **options):
        """Makes the server serve a file through the link. Returns the file's URL and its content."""
        content = content_of(size)
        url = self.server.serve(path, content, **options)
        return url.replace(f":{self.server.port}", f":{self.link.port}"), content

    def command(self, *words):
        """Returns a command line of the program `backhaul` for this store and session, as a list of words."""
        command = os.environ.get("BACKHAUL_COMMAND", str(ROOT / "build" / "bin" / "backhaul"))
        return [command, *words, "--store", str(self.store), "--application", "org.example.hosts",
                "--session", "gallery"]


class Download:
    """One download, with checks of its state and of the bytes that were transferred for it."""

    def __init__(self, env, host, path="/file", size=4_000_000, **options):
        self.env, self.host, self.path = env, host, path
        self.url, self.content = env.serve(path, size)
        self.destination = env.downloads / path.strip("/")
        self.id = host.download(self.url, self.destination, **options)

    def info(self):
        return self.host.task(self.id)

    def wait_for_reason(self, reason, timeout=180):
        """Waits until the task waits for this reason. Then the transfer has stopped, so the task's offset (the number
        of received bytes) no longer changes. Returns the task's information."""
        return until(self.info, lambda task: task.reason is reason and task.state is TaskState.WAITING, timeout)

    def wait_for_bytes(self, more=200_000, timeout=180, *, sharing=1):
        """Waits until `more` bytes have arrived after this call. Then the link is slow, until `wait_for_success`.
        `sharing` is the number of downloads that share the link."""
        link = self.env.link
        begin = self.info().offset
        link.rate = self.env.rate
        link.slow_down(more * sharing, SLOW)
        until(lambda: link.rate, lambda rate: rate == SLOW, timeout)
        until(self.info, lambda task: task.offset >= begin + more, timeout)

    def wait_for_success(self, timeout=180):
        self.env.link.rate = self.env.rate
        found = until(self.info, lambda task: task.ended_ms, timeout)
        assert found.state is TaskState.SUCCEEDED, found
        assert sha256_of(self.destination) == self.content.sha256
        return found

    def requests(self):
        return self.env.server.log(self.path)

    def assert_no_bytes_fetched_twice(self, *offsets):
        """Checks that the first request begins at byte 0, and that each later request begins at the next offset in
        `offsets`. Each of these offsets is the length of the unfinished file after the transfer has stopped.

        Also checks the number of bytes that the link passed. The limit is the sum of three numbers: the bytes of the
        file, the bytes of the messages' heads, and the bytes that were in flight at each stop.
        """
        assert [asked.offset for asked in self.requests()] == [0, *offsets]
        most = self.content.size + (len(offsets) + 1) * 1_000 + len(offsets) * IN_FLIGHT
        assert self.content.size < self.env.link.passed <= most
