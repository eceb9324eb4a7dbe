"""Hosts of a testbed: programs, and functions of the test that run in processes of their own."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from multiprocessing import connection
from typing import Any, Union

from .._launch import LaunchCommand
from .._types import StrPath

#: A host: the words of a command, or a function that a module defines.
HostProgram = Union[Sequence[StrPath], Callable[..., object]]
_MARKER = "this-host"
_TESTBED = "BACKHAUL_TESTBED"


class HostFailed(AssertionError):
    """A host has ended with an error. The message has its traceback, or its exit code."""


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

    @property
    def process_id(self) -> int:
        """The process id."""
        number: int = self._process.pid
        return number

    def kill(self) -> None:
        """Kills the host with SIGKILL, and waits until it has ended."""
        self._process.kill()
        _join(self._process, None)

    def wait(self, timeout: float = 10) -> None:
        """Waits until the host has ended. Raises ``HostFailed`` if it ended with an error, and ``TimeoutError`` if it
        still runs."""
        code = _join(self._process, timeout)
        if code is None:
            raise TimeoutError(f"the host with process id {self.process_id} still runs")
        if code:
            raise HostFailed(f"the host has failed: {self._report() or f'the exit code is {code}'}")

    def _report(self) -> str | None:
        """The traceback of a function; None if it was killed, or has ended the process itself."""
        try:
            report: str | None = self._failure.recv() if self._failure and self._failure.poll() else None
        except EOFError:
            return None
        return report

    def end(self) -> None:
        """Kills the host if it still runs, and frees its resources."""
        self.kill()
        if self._failure:
            self._failure.close()


def _join(process: Any, timeout: float | None) -> int | None:
    """Returns the exit code, or None if the process still runs."""
    if isinstance(process, subprocess.Popen):
        try:
            return process.wait(timeout)
        except subprocess.TimeoutExpired:
            return None
    process.join(timeout)
    code: int | None = process.exitcode
    return code


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
        failure.send(traceback.format_exc())
        raise SystemExit(1) from None
