"""A testbed: a store, its daemon, an origin and a clock."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from enum import IntEnum
from multiprocessing import connection
from pathlib import Path
from types import TracebackType
from typing import Any

from .._application import Application
from .._constants import Hosting, NetworkKind, Status, ThermalState
from .._errors import error_for, error_from
from .._types import StrPath
from ._hosts import Host, HostProgram, is_marker, make_marker, start
from ._library import LaunchRequest, Options, call, content_of, kit, milliseconds, status_of, text_of, texts
from ._origin import Resource

#: The longest duration that may pass at once, in seconds: 100 years.
_LONGEST = 100 * 365 * 86_400
#: The longest wait in a call of the kit, in seconds. After it, Python handles signals, such as Ctrl-C.
_SLICE = 0.1


class Point(IntEnum):
    """A point at which a daemon dies. At the point, the disk has what the comment states, and no later change. A host
    detects the death at its next call."""

    #: Before a durable step: a call by which the daemon changes or syncs a file or a directory below the testbed's
    #: directory, such as its database.
    STEP = 1
    #: The tasks of an enqueue are stored; the host has no reply.
    ENQUEUED = 2
    #: All bytes of a download are on the disk; its file does not have its final name.
    RECEIVED = 3
    #: The file has its final name; the task has not ended.
    PLACED = 4
    #: The task of a placed file has ended, and its event is stored; no host has the event.
    ENDED = 5
    #: An acknowledgement is stored; the host has no reply.
    ACKNOWLEDGED = 6


class Testbed:
    """All that a host meets in a test: an empty store in a temporary directory, the daemon of this store, an HTTP
    server and the clock of the daemon.

    ``daemon`` is the path of backhauld. By default it is the installed daemon. ``directory`` is an existing directory,
    in which the testbed makes its own directory. By default it is the directory for temporary files.
    """

    # pytest collects classes whose names begin with Test.
    __test__ = False

    def __init__(self, *, daemon: StrPath | None = None, directory: StrPath | None = None) -> None:
        options = Options(
            ctypes.sizeof(Options),
            None if daemon is None else os.fsencode(daemon),
            None if directory is None else os.fsencode(directory),
        )
        self._opened: ctypes.c_void_p | None = None
        self._hosts: list[Host] = []
        self._waits = 0
        self._waited = threading.Condition()
        self._last: tuple[HostProgram, Sequence[object]] | None = None
        handle = ctypes.c_void_p()
        call(kit.bht_open, ctypes.byref(options), ctypes.byref(handle))
        self._opened = handle
        try:
            make_marker(str(self.directory))
        except OSError as error:
            self.close()
            raise error_for(
                Status.OUT_OF_RESOURCES, f"the directory of the testbed cannot be made: {error.strerror}"
            ) from error

    def __enter__(self) -> Testbed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kills the hosts and the daemon, and removes the store. Waits of other threads end with ``InvalidHandle``."""
        with self._waited:
            handle, self._opened = self._opened, None
            self._waited.wait_for(lambda: not self._waits)
        for host in self._hosts:
            host.end()
        if handle is not None:
            kit.bht_close(handle)

    def _check_open(self) -> ctypes.c_void_p:
        """Returns the handle, or raises an exception if the testbed is closed."""
        if self._opened is None:
            raise error_for(Status.INVALID_HANDLE, "the testbed is closed; open another one")
        return self._opened

    _handle = property(_check_open)

    @contextmanager
    def _waiting(self) -> Iterator[None]:
        """The testbed is not closed before the end of the context."""
        with self._waited:
            self._check_open()
            self._waits += 1
        try:
            yield
        finally:
            with self._waited:
                self._waits -= 1
                self._waited.notify_all()

    def _wait(self, timeout: float, function: Any, *arguments: Any) -> None:
        """Calls a function of the kit that waits. The message of a time-out names the hosts that have failed."""
        deadline = time.monotonic() + timeout
        with self._waiting():
            while True:
                self._check_open()
                left = deadline - time.monotonic()
                status, error = status_of(function, *arguments, milliseconds(min(left, _SLICE)))
                if status == Status.TIMEOUT and left > _SLICE:
                    continue
                if status == Status.TIMEOUT:
                    message = error.message.decode("utf-8", "replace")
                    raise error_for(status, "; ".join([message, *self.failures]))
                if status:
                    raise error_from(status, error)
                return

    @property
    def failures(self) -> list[str]:
        """The failures of hosts that no ``wait`` has raised: the last lines of a traceback, or an exit code. Hosts that
        were killed do not count. The fixture ``backhaul_testbed`` fails at the end of the test if there are any."""
        return [text for text in (host.failure() for host in self._hosts) if text]

    @property
    def directory(self) -> Path:
        """The testbed's directory. A test may make files in it."""
        return Path(os.fsdecode(kit.bht_directory(self._handle)))

    @property
    def store(self) -> Path:
        """The path of the store."""
        return Path(os.fsdecode(kit.bht_store(self._handle)))

    @property
    def environment(self) -> dict[str, str]:
        """The variables that lead a host to the testbed, such as BACKHAUL_STORE. ``start`` and ``launched`` set
        them."""
        return _variables(texts(kit.bht_environment(self._handle)))

    # The origin

    @property
    def url(self) -> str:
        """The URL of the origin, without a slash at the end. Only the daemon reaches its address. Other programs reach
        the origin on the same port of 127.0.0.1."""
        url: bytes = kit.bht_origin_url(self._handle)
        return url.decode()

    def serve(self, path: str, content: bytes) -> Resource:
        """Adds a resource to the origin. ``path`` begins with a slash, and may have a query. Characters that a URL
        cannot have are percent-encoded: ``urllib.parse.quote``."""
        handle = ctypes.c_void_p()
        content = content_of(content)
        path = text_of("the path", path)
        call(kit.bht_serve, self._handle, path.encode(), content, len(content), ctypes.byref(handle))
        return Resource(handle, self, len(content))

    # Hosts

    def start(self, host: HostProgram, *arguments: object) -> Host:
        """Starts a host in a process of its own.

        The host is the words of a command, or a function that a module defines. A function runs in a new process, with
        copies of the arguments. Its module is imported there.
        """
        if isinstance(host, (str, bytes, os.PathLike)):
            raise TypeError(f"a program is the list of its words; give [{os.fspath(host)!r}]")
        if not callable(host) and not host:
            raise ValueError("a host needs a program; the list of its words is empty")
        self._last = (host, arguments)
        started = start(host, arguments, {**os.environ, **self.environment})
        self._hosts.append(started)
        return started

    def launched(self, timeout: float = 10) -> Host:
        """Waits until the daemon launches a host, and starts it as the daemon would start it. The daemon launches a
        host when a session needs it and no host is connected. A launch that the daemon has ended is not started: it
        ends a launch whose host has not attached a session within a minute of its clock, and launches again later."""
        request = LaunchRequest(ctypes.sizeof(LaunchRequest))
        with self._waiting():
            self._wait(timeout, _take_launch, self._handle, ctypes.byref(request))
            with connection.Connection(request.connection) as launch:
                words = texts(request.words)
                environment, directory = _variables(texts(request.environment)), os.fsdecode(request.directory)
                host: HostProgram = words
                arguments: Sequence[object] = ()
                if is_marker(words[0]):
                    assert self._last is not None
                    host, arguments = self._last
                started = start(host, arguments, environment, directory=directory, launch=launch)
            self._hosts.append(started)
        return started

    def application(self, identifier: str, **options: Any) -> Application:
        """Opens an application in the process of the test: ``Application(identifier, store, **options)``. With
        ``observes=True``, the test reads the tasks of its host, and does not count as a connected host."""
        if options.get("hosting", Hosting.DAEMON) is Hosting.EMBEDDED:
            raise ValueError(
                "the engine of the application would be in the test, and the testbed has a daemon; "
                "open Application(identifier, folder, hosting=Hosting.EMBEDDED) without the testbed"
            )
        self.start_daemon()
        return Application(identifier, self.store, daemon=self.environment["BACKHAUL_DAEMON"], **options)

    # The daemon

    def start_daemon(self) -> None:
        """Starts the daemon, as the machine does at boot with ``backhaul service install``. A host also starts it."""
        call(kit.bht_start_daemon, self._handle)

    def kill_daemon(self, *, at: Point | int | None = None, count: int = 1) -> bool:
        """Kills the daemon with SIGKILL, and waits until it has ended. Returns whether one ran.

        With ``at``, the daemon is killed later, and the result is False: when it comes to this point for the
        ``count``-th time from now on. A number is ``Point.STEP`` with this count. A connected host starts the next
        daemon at once. To let a daemon die in its start, call this method before the start.
        """
        if count != 1 and not isinstance(at, Point):
            raise ValueError("count is the number of times that the daemon comes to a Point; give at=Point.…, too")
        if at is None:
            return bool(kit.bht_kill_daemon(self._handle))
        point, number = (at, count) if isinstance(at, Point) else (Point.STEP, at)
        if not 1 <= number < 2**32:
            raise ValueError(f"the daemon cannot die at {number}; give 1 or more")
        kit.bht_kill_daemon_at(self._handle, point, number)
        return False

    @property
    def daemon_died(self) -> bool:
        """Whether a daemon has died at the point of the last ``kill_daemon(at=…)``."""
        return bool(kit.bht_daemon_died(self._handle))

    def wait_for_death(self, timeout: float = 10) -> None:
        """Waits until a daemon has died at the point of the last ``kill_daemon(at=…)``."""
        self._wait(timeout, kit.bht_wait_for_death, self._handle)

    def fail_power(self) -> None:
        """The power fails, and the machine boots. The daemon and the hosts are killed. All that the daemons have not
        synced is lost: writes to files, new names and removals of names, below the testbed's directory. The daemon runs
        again when the test starts it or a host; a host in the process of the test starts it itself.

        A real disk may keep a part of what was not synced; this disk keeps nothing. Changes by other processes,
        such as the test, a host or an engine in a host, stay. The process of the test is not killed.
        """
        for host in self._hosts:
            host.kill()
        call(kit.bht_fail_power, self._handle)

    # The conditions

    def set_power(self, *, external: bool, battery_percent: int = 80) -> None:
        """Sets whether there is external power, and the charge of the battery. At first, there is external power, and
        no battery."""
        if not 0 <= battery_percent <= 100:
            raise ValueError(f"battery_percent is {battery_percent}; give 0 to 100")
        kit.bht_set_power(self._handle, external, battery_percent)

    def set_heat(self, state: ThermalState) -> None:
        """Sets the temperature of the machine, as a state. At first, no temperature can be read."""
        if int(state) not in map(int, ThermalState):
            raise ValueError(f"{state} is no state; give a member of ThermalState")
        kit.bht_set_heat(self._handle, state)

    def set_network(self, kind: NetworkKind) -> None:
        """Sets the kind of the network. ``NetworkKind(0)``: no route leads to the origin and to other machines.
        Cellular and Bluetooth networks count as metered. At first, there is an Ethernet network."""
        if int(kind) not in (0, *map(int, NetworkKind)):
            raise ValueError(f"{kind} is not the kind of one network; give a member of NetworkKind, or NetworkKind(0)")
        kit.bht_set_network(self._handle, kind)

    # The clock

    def pass_time(self, duration: timedelta | float) -> None:
        """Lets time pass at once. First waits until the daemon has done what it can do at the present time, such as the
        handling of a response. Then moves the clocks of the present daemon and of later daemons. Timers that are due
        run. ``duration`` is a ``timedelta``, or seconds."""
        seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
        if not 0 <= seconds <= _LONGEST:
            raise ValueError(f"the duration is {seconds} seconds; give 0 to {_LONGEST}")
        kit.bht_pass(self._handle, round(seconds * 1_000))

    @property
    def now(self) -> float:
        """The time of the daemon as Unix time, in seconds."""
        now: int = kit.bht_now(self._handle)
        return now / 1_000


def _take_launch(testbed: ctypes.c_void_p, request: Any, limit: int, error: Any) -> int:
    """bht_take_launch, with the time-out in the place that all other waits have."""
    status: int = kit.bht_take_launch(testbed, limit, request, error)
    return status


def _variables(entries: list[str]) -> dict[str, str]:
    return dict(entry.split("=", 1) for entry in entries)
