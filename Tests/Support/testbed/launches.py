"""The test's side of launches. The engine launches a program when the program's sessions need it. Launched programs
connect to the test, which controls them."""

import os
import pickle
import select
import signal
import socket
import struct
import sys
from contextlib import suppress

from backhaul import Hosting, LaunchCommand
from daemons import end_daemons
from testbed.host import HostEnded

#: Variables with which launched programs find the library and the modules under test.
ENVIRONMENT = {name: os.environ[name] for name in ("BACKHAUL_LIBRARY", "PYTHONPATH") if name in os.environ}


class LaunchedHost:
    """A launched program. It has the same methods as programs/host_agent.py."""

    LIMIT = 300

    def __init__(self, connection, hosting):
        self._connection, self._hosting = connection, hosting
        self.about = pickle.loads(self._receive())
        self.pid, self.environment = self.about["pid"], self.about["environment"]
        self._descriptor = os.pidfd_open(self.pid)

    def __repr__(self):
        return f"<LaunchedHost {self.pid}>"

    def open(self, application="org.example.hosts", store=None, **options):
        """Opens the application by its identifier. Without `store`, the store comes from the program's environment."""
        self._call("open", store, application, **{"hosting": self._hosting, **options})
        return self

    def __getattr__(self, name):
        return lambda *arguments, **options: self._call(name, *arguments, **options)

    def _call(self, name, *arguments, **options):
        self.begin(name, *arguments, **options)
        return self.finish()

    def begin(self, name, *arguments, **options):
        message = pickle.dumps((name, arguments, options))
        self._connection.sendall(struct.pack("<Q", len(message)) + message)

    def finish(self):
        result, error = pickle.loads(self._receive())
        if error is not None:
            raise error
        return result

    def finish_session(self, identifier):
        """Does the work of a launched host: attaches to the session, reads and acknowledges its events, and completes
        the session (states that all events are processed). Returns the events."""
        self.attach(identifier)
        events = self.wait_for()
        self.acknowledge(events)
        self.complete()
        return events

    def exit(self):
        """Ends the program, and waits until it has ended."""
        self._connection.shutdown(socket.SHUT_WR)
        self.wait()

    def kill(self):
        self.signal(signal.SIGKILL)
        self.wait()

    def signal(self, number):
        signal.pidfd_send_signal(self._descriptor, number)

    def wait(self, timeout=30):
        """Waits until the program has ended."""
        if not select.select([self._descriptor], [], [], timeout)[0]:
            raise AssertionError(f"{self} has not ended after {timeout} s")

    def has_ended(self):
        return bool(select.select([self._descriptor], [], [], 0)[0])

    def end(self):
        with suppress(ProcessLookupError):
            self.signal(signal.SIGKILL)
        self._connection.close()
        os.close(self._descriptor)

    def _receive(self):
        size = struct.unpack("<Q", self._read(8))[0]
        return self._read(size)

    def _read(self, size):
        data = b""
        while len(data) < size:
            if not select.select([self._connection], [], [], self.LIMIT)[0]:
                raise AssertionError(f"a launched program has not answered for {self.LIMIT} s")
            part = self._connection.recv(size - len(data))
            if not part:
                raise HostEnded("a launched program ended in mid-call")
            data += part
        return data


class LaunchListener:
    """The socket to which launched programs connect."""

    def __init__(self, place, hosting):
        self.place, self.hosting = place, hosting
        self._path = place / "launches.socket"
        self._listener = socket.socket(socket.AF_UNIX)
        # The path of a socket has a bound of about 100 bytes. The path of the directory may be longer.
        self._listener.bind(str(self._path) if len(str(self._path)) < 100 else self._short_path())
        self._listener.listen(16)
        self._launched = []

    def _short_path(self):
        self._path = f"/tmp/backhaul-launches-{os.getpid()}-{id(self):x}"
        return self._path

    def command(self, *, program=sys.executable, arguments=None, environment=None, **options):
        """Returns a launch command with short delays. The engine starts the program of this command, and the program
        connects to this listener."""
        scaled = {"attach_timeout_ms": 20_000, "first_delay_ms": 300, "longest_delay_ms": 2_000, **options}
        return LaunchCommand(program, self.arguments() if arguments is None else arguments,
                             {**ENVIRONMENT, **(environment or {})}, **scaled)

    def arguments(self):
        return ["-m", "testbed.programs.launched", str(self._path)]

    def shell(self, script):
        """Returns the arguments of a shell that runs the script. In the script, "$@" runs the program that connects to
        this listener."""
        return ["-c", script, "sh", sys.executable, *self.arguments()]

    def next(self, timeout=30):
        """Waits for the next launched program, and returns it."""
        if not select.select([self._listener], [], [], timeout)[0]:
            raise AssertionError(f"no program was launched within {timeout} s")
        self._launched.append(LaunchedHost(self._listener.accept()[0], self.hosting))
        return self._launched[-1]

    def no_launch_within(self, seconds):
        return not select.select([self._listener], [], [], seconds)[0]

    def close(self):
        end_daemons(self.place)
        self._listener.close()
        for one in self._launched:
            one.end()
        with suppress(FileNotFoundError):
            os.unlink(self._path)


def is_daemon(hosting):
    return hosting is not Hosting.EMBEDDED
