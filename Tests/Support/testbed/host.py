"""The test's side of a host. The host runs separately from the test, and performs the test's calls."""

import os
import pickle
import select
import signal
import struct
import subprocess
import sys
import time
from contextlib import contextmanager, suppress

import daemons
from backhaul import PRIORITY_NOW, Hosting, TaskState
from servers import child
from testbed.fork_server import fork_server

#: Prefixes of environment variables that a program reads only at its start.
READ_AT_START = ("LD_", "PYTHON", "MALLOC_", "BACKHAUL_LIBRARY")


def until(read, condition, timeout=180):
    """Calls `read` repeatedly until `condition(result)` is true. Returns the last result of `read`."""
    deadline = time.monotonic() + timeout
    while not condition(seen := read()):
        if time.monotonic() > deadline:
            raise AssertionError(f"the condition was false for {timeout} s; last seen: {seen}")
        time.sleep(0.01)
    return seen


def wait_until_interrupted(one):
    """Waits until an attempt of the host's first task has failed and the next one is delayed. Returns the task."""
    return until(one.tasks, lambda tasks: tasks[0].attempts >= 1 and tasks[0].state is TaskState.WAITING)[0]


def continue_now(one):
    """Starts the next attempt, and shortens the delays after it."""
    one.reconfigure(first_delay_ms=10)
    one.set_priority(PRIORITY_NOW)


def stop(process):
    """Sends SIGSTOP, and waits until all threads of the process are stopped. On a busy machine, some threads run on for
    a moment after kill(2)."""
    os.kill(process, signal.SIGSTOP)

    def states():
        for thread in os.listdir(f"/proc/{process}/task"):
            with suppress(FileNotFoundError):
                yield state_of(thread)
    until(lambda: set(states()), lambda found: found == {"T"})


@contextmanager
def stopped(process):
    """A context manager that stops the process with SIGSTOP. The value after `as` is a function that kills the process
    and waits until the process has ended."""
    descriptor = os.pidfd_open(process)

    def kill():
        signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        select.select([descriptor], [], [])

    try:
        stop(process)
        yield kill
    finally:
        os.close(descriptor)


def state_of(process):
    """Returns the state of a process, as in proc_pid_stat(5)."""
    with open(f"/proc/{process}/stat", encoding="ascii", errors="replace") as file:
        return file.read().rpartition(")")[2].split()[0]


class HostEnded(AssertionError):
    """The host's process ended during a call."""


class Host:
    """``host.download(url)`` calls the method in the host's process, and returns its result or raises its error."""

    #: The longest time that a call of a test may take, in seconds.
    LIMIT = 300

    def __init__(self, store, identifier="org.example.hosts", *, hosting=Hosting.EMBEDDED, environment=None, prefix=()):
        """`prefix` has the words of a program that runs the host, such as unshare or setpriv."""
        self._store, self._identifier, self._hosting = str(store), identifier, hosting
        self._process = self._started(prefix, environment or {})
        self.pid = self._process.pid

    @staticmethod
    def _started(prefix, environment):
        variables = {**os.environ, **environment}
        if not prefix and not any(name.startswith(READ_AT_START) for name in environment):
            return fork_server().start(variables)
        return child.start([*prefix, sys.executable, "-m", "testbed.programs.host_agent"], stdin=subprocess.PIPE,
                           stdout=subprocess.PIPE, env=variables)

    def __repr__(self):
        return f"<Host {self.pid}>"

    def open(self, store=None, **options):
        """Opens the application. `store` is a new path of the store."""
        self._store = str(store or self._store)
        self._call("open", self._store, self._identifier, **{"hosting": self._hosting, **options})
        return self

    def begin(self, name, *arguments, **options):
        """Starts a call. ``finish`` waits for the result of this call."""
        message = pickle.dumps((name, arguments, options))
        try:
            self._process.stdin.write(struct.pack("<Q", len(message)) + message)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise HostEnded(f"{self} ended with {self._process.wait(10)} before {name}") from None

    def finish(self):
        result, error = pickle.loads(self._read(struct.unpack("<Q", self._read(8))[0]))
        if error is not None:
            raise error
        return result

    def has_result_within(self, seconds):
        """Waits for up to this number of seconds. Returns whether the started call has a result."""
        return bool(select.select([self._process.stdout], [], [], seconds)[0])

    def _call(self, name, *arguments, **options):
        self.begin(name, *arguments, **options)
        return self.finish()

    def __getattr__(self, name):
        return lambda *arguments, **options: self._call(name, *arguments, **options)

    def _read(self, size):
        descriptor, data, end = self._process.stdout.fileno(), b"", time.monotonic() + self.LIMIT
        while len(data) < size:
            if not select.select([descriptor], [], [], max(0.0, end - time.monotonic()))[0]:
                raise AssertionError(f"{self} has not answered for {self.LIMIT} s")
            part = os.read(descriptor, size - len(data))
            if not part:
                raise HostEnded(f"{self} ended in mid-call with {self._process.wait(10)}")
            data += part
        return data

    @property
    def has_ended(self):
        return self._process.poll() is not None

    def signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        """Sends SIGKILL, and waits until the process has ended."""
        self._process.kill()
        self._process.wait()

    def kill_engine(self):
        """Kills the process of the engine, which runs the tasks, and waits until the process has ended. The engine is
        in the process of this host or in a daemon."""
        engine = self.engine().process_id
        if engine == self.pid:
            self.kill()
        else:
            daemons.end(engine, signal.SIGKILL, time.monotonic() + 10)

    def kill_with_engine(self):
        """Kills the host and the process of the engine, and waits until both have ended."""
        self.kill_engine()
        self.kill()

    def stop(self):
        """Sends SIGSTOP, and waits until the process is stopped."""
        stop(self.pid)

    def continue_process(self):
        self.signal(signal.SIGCONT)

    def exit(self):
        """Ends the program while its handles are open. Returns its exit status."""
        self._process.stdin.close()
        return self._process.wait(30)

    def end(self):
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        with suppress(BrokenPipeError):
            self._process.stdin.close()
        self._process.stdout.close()
