"""Starts hosts quickly. A server process imports the library and then forks one host for each request. So no new
interpreter starts.

The fork server of Python's multiprocessing is not used, because its children get no standard streams and no separate
environment.
"""

import ctypes
import functools
import os
import pickle
import select
import signal
import socket
import subprocess
import sys
import threading

_MESSAGE = 1 << 18
_PR_SET_PDEATHSIG = 1


class ForkedProcess:
    """A process that the fork server has started, with the interface of subprocess.Popen."""

    def __init__(self, server, pid, stdin, stdout):
        self._server, self.pid, self.stdin, self.stdout = server, pid, stdin, stdout
        self.returncode = None
        # The server reaps the process only when the test requests it. Until then no other process gets this id.
        self._descriptor = os.pidfd_open(pid)

    def __del__(self):
        os.close(self._descriptor)

    def poll(self):
        return self._status(0)

    def wait(self, timeout=None):
        status = self._status(timeout)
        if status is None:
            raise subprocess.TimeoutExpired(f"host {self.pid}", timeout)
        return status

    def kill(self):
        if self.poll() is None:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def _status(self, timeout):
        if self.returncode is None and select.select([self._descriptor], [], [], timeout)[0]:
            self.returncode = self._server.request(("wait", self.pid))
        return self.returncode


class ForkServer:
    """The test's side of the fork server. When the test's process has ended, the server and the hosts end, too."""

    def __init__(self):
        self._connection, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._lock = threading.Lock()
        with theirs:
            command = [sys.executable, "-m", "testbed.fork_server", str(theirs.fileno())]
            self._process = subprocess.Popen(command, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])

    def start(self, environment):
        """Starts a host (programs/host_agent.py) with these environment variables and two pipes."""
        (their_input, our_output), (our_input, their_output) = os.pipe(), os.pipe()
        try:
            pid = self.request(("start", environment), [their_input, their_output])
        finally:
            os.close(their_input)
            os.close(their_output)
        return ForkedProcess(self, pid, os.fdopen(our_output, "wb"), os.fdopen(our_input, "rb", 0))

    def request(self, request, descriptors=()):
        with self._lock:
            socket.send_fds(self._connection, [pickle.dumps(request)], descriptors)
            return pickle.loads(self._connection.recv(_MESSAGE))


@functools.cache
def fork_server():
    return ForkServer()


def serve(connection):
    """Serves requests. In the server, this function returns None when the test's process has ended. In each host, this
    function returns the environment variables."""
    server = os.getpid()
    while message := socket.recv_fds(connection, _MESSAGE, 2):
        data, descriptors, _, _ = message
        if not data:
            return None
        verb, argument = pickle.loads(data)
        if verb == "wait":
            reply = os.waitstatus_to_exitcode(os.waitpid(argument, 0)[1])
        elif (reply := os.fork()) == 0:
            become_host(server, descriptors)
            return argument
        for descriptor in descriptors:
            os.close(descriptor)
        connection.send(pickle.dumps(reply))


def become_host(server, descriptors):
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != server:
        os._exit(1)
    for standard, descriptor in enumerate(descriptors):
        os.dup2(descriptor, standard)
        os.close(descriptor)


def main():
    # Only the server needs this module. So it is imported here and not at the start of this file.
    from testbed.programs import host_agent

    with socket.socket(fileno=int(sys.argv[1])) as connection:
        environment = serve(connection)
    if environment is not None:
        os.environ.clear()
        os.environ.update(environment)
        host_agent.main()


if __name__ == "__main__":
    main()
