"""Hosts of a testbed: programs, and functions of the test that run in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import connection
from typing import Any, Union

from .._constants import Status
from .._errors import error_for
from .._launch import LaunchCommand
from .._types import StrPath

#: A host: the words of a command, or a function that a module defines.
HostProgram = Union[Sequence[StrPath], Callable[..., object]]
_MARKER = "this-host"
_TESTBED = "BACKHAUL_TESTBED"
_LINES_OF_A_FAILURE = 3
#: The number of characters at the end of a traceback that a host reports. They take 32 KiB at most. The pipe holds
#: 64 KiB, and is read only after the host has ended.
_LONGEST_REPORT = 8 << 10


class HostFailed(AssertionError):
    """A host has ended with an error. The message has the end of its traceback, or its exit code."""


def launch_command(**options: Any) -> LaunchCommand:
    """Returns a launch command for a host that is a function: a launch calls the function again, with the same
    arguments. Call it in the host. ``options`` are further fields of the ``LaunchCommand``."""
    directory = os.environ.get(_TESTBED)
    if directory is None:
        raise RuntimeError("launch_command() is called outside of a host that a Testbed has started.")
    return LaunchCommand(os.path.join(directory, _MARKER), **options)


def make_marker(directory: str) -> None:
    """Makes the program that stands for a function in a launch command."""
    path = os.path.join(directory, _MARKER)
    with open(path, "w") as file:
        file.write("#!/bin/sh\nexit 1\n")
    os.chmod(path, 0o700)


def is_marker(word: str) -> bool:
    """Whether a launch command stands for a function."""
    return os.path.basename(word) == _MARKER


class Host:
    """A host that the test has started."""

    def __init__(self, process: Any, failure: connection.Connection | None) -> None:
        self._process, self._failure = process, failure
        self._lock = threading.Lock()  # of the process and of the fields below
        self._text: str | None = None
        self._is_reported = self._is_closed = False

    @property
    def process_id(self) -> int:
        """The process id."""
        number: int = self._process.pid
        return number

    def kill(self) -> None:
        """Kills the host with SIGKILL, and waits until it has ended."""
        if self._ended(0) is None:
            self._is_reported = True
            self._process.kill()
        self._ended(None)

    def wait(self, timeout: float = 10) -> None:
        """Waits until the host has ended. Raises ``HostFailed`` if it ended with an error, and ``TimeoutError`` if it
        still runs."""
        code = self._ended(timeout)
        if self._is_closed:
            raise error_for(Status.INVALID_HANDLE, "the testbed is closed; open another one")
        if code is None:
            raise TimeoutError(f"the host with process id {self.process_id} still runs")
        self._is_reported = True
        if code:
            raise HostFailed(f"the host has failed: {self._report(code)}")

    def failure(self) -> str | None:
        """The last lines of the traceback, or the exit code, of a host that has ended with an error that no ``wait``
        has raised. None if the host was killed."""
        code = None if self._is_reported else self._ended(0)
        if code in (None, 0, -signal.SIGKILL, -signal.SIGTERM):
            return None
        lines = "\n".join(self._report(code).splitlines()[-_LINES_OF_A_FAILURE:])
        return f"the host with process id {self.process_id} has failed: {lines}"

    def _ended(self, timeout: float | None) -> int | None:
        """Waits until the process has ended. Returns its exit code, or None if it still runs."""
        if isinstance(self._process, subprocess.Popen):
            try:
                return self._process.wait(timeout)
            except subprocess.TimeoutExpired:
                return None
        # Only one thread can read the exit code that the server of multiprocessing sends.
        connection.wait([self._process.sentinel], timeout)
        with self._lock:
            self._process.join(0)
            code: int | None = self._process.exitcode
        return code

    def _report(self, code: int | None) -> str:
        """The end of the traceback of a function; the exit code if it was killed, or has ended the process itself."""
        with self._lock:
            try:
                if self._failure and self._text is None and self._failure.poll():
                    self._text = self._failure.recv()
            except EOFError:
                pass
        return self._text or f"the exit code is {code}"

    def end(self) -> None:
        """Kills the host if it still runs, ends its waits, and frees its resources."""
        self._is_closed = True
        self.kill()
        if self._failure:
            self._failure.close()


def start(
    host: HostProgram,
    arguments: Sequence[object],
    environment: Mapping[str, str],
    *,
    directory: str | None = None,
    launch: connection.Connection | None = None,
) -> Host:
    """Starts a host. ``environment`` is its whole environment. While the host runs, it keeps ``launch`` open."""
    if callable(host):
        return _call(host, arguments, environment, directory, launch)
    words = [os.fspath(word) for word in (*host, *map(str, arguments))]
    kept = () if launch is None else (launch.fileno(),)
    return Host(subprocess.Popen(words, env=dict(environment), cwd=directory, pass_fds=kept), None)


def _call(
    host: Callable[..., object],
    arguments: Sequence[object],
    environment: Mapping[str, str],
    directory: str | None,
    launch: connection.Connection | None,
) -> Host:
    # A child that is forked from the test would have the test's state, and could not use the library if the test has
    # used it. The server of multiprocessing has loaded only these modules, and forks in a millisecond.
    context = multiprocessing.get_context("forkserver")
    tests = ["pytest"] if "pytest" in vars(sys.modules[host.__module__]) else []
    context.set_forkserver_preload(["backhaul.testing", *tests, host.__module__])
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=_run, args=(host, arguments, environment, directory, launch, sender), daemon=True)
    process.start()
    sender.close()
    return Host(process, receiver)


def _run(
    host: Callable[..., object],
    arguments: Sequence[object],
    environment: Mapping[str, str],
    directory: str | None,
    launch: connection.Connection | None,
    failure: connection.Connection,
) -> None:
    """Runs in the host's process. Keeps ``launch`` open until the end of the process."""
    os.environ.clear()
    os.environ.update(environment)
    if directory is not None:
        os.chdir(directory)
    try:
        host(*arguments)
    except BaseException:
        failure.send(traceback.format_exc()[-_LONGEST_REPORT:])
        raise SystemExit(1) from None
