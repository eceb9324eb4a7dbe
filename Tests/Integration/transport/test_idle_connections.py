"""If a server closes an idle connection, the engine closes this connection, too."""

import threading
from contextlib import suppress

import pytest

from backhaul import TaskState

from servers.accepting import AcceptingServer
from servers.sockets import CLOSE_WAIT, count
from testbed.host import until
from transport.conftest import QUICK
from transport.dripping import DrippingServer

CONNECTIONS = 20
#: A limit in seconds. If the engine did not watch its idle connections, it would keep them for 30 seconds, which is
#: longer than this limit.
SOON = 12


class ClosingServer(AcceptingServer):
    """A server that waits until each expected connection has a request, and then responds to all requests. The server
    closes the connections when the test calls `close_connections`.

    The responses do not announce the end of the connection, so the client keeps the connection.
    """

    def __init__(self, expected):
        super().__init__()
        self._all_here = threading.Barrier(expected)
        self._closing = threading.Event()
        self.closed = []

    def __exit__(self, *details):
        self._all_here.abort()
        self._closing.set()
        super().__exit__(*details)

    def close_connections(self):
        """Closes the connections. The test calls this method after the client has read the responses, because the
        client does not keep a connection that ends earlier."""
        self._closing.set()

    def _serve(self, connection):
        with suppress(OSError, threading.BrokenBarrierError), connection:
            reader = connection.makefile("rb")
            while reader.readline().strip():
                pass
            self._all_here.wait(30)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile")
            self._closing.wait(60)
            reader.close()
        self.closed.append(connection)


@pytest.fixture
def closing():
    with ClosingServer(CONNECTIONS) as server:
        yield server


def fetch_all(one, closing, downloads):
    """Downloads over several connections, which the server then closes. Returns the engine's process id."""
    engine = one.engine().process_id
    one.session("idle", connections_per_origin=CONNECTIONS, maximum_running_tasks=CONNECTIONS, **QUICK)
    for number in range(CONNECTIONS):
        one.download(closing.url + f"/{number}", downloads / f"idle {number}")
    until(one.tasks, lambda seen: [task.state for task in seen] == [TaskState.SUCCEEDED] * CONNECTIONS)
    closing.close_connections()
    until(lambda: len(closing.closed), lambda closed: closed == CONNECTIONS)
    return engine


@pytest.mark.both_hostings
def test_an_idle_engine_closes_connections_that_the_server_has_closed(host, closing, downloads):
    one = host()
    engine = fetch_all(one, closing, downloads)
    until(lambda: count(engine, CLOSE_WAIT), lambda open_ones: open_ones == 0, SOON)


@pytest.mark.both_hostings
def test_a_busy_engine_closes_connections_that_the_server_has_closed(host, closing, downloads):
    one = host()
    with DrippingServer() as dripping:
        one.session("busy", **QUICK)
        one.download(dripping.url + "/a", downloads / "a")
        until(lambda: dripping.dripped, lambda dripped: dripped > 0)
        engine = fetch_all(one, closing, downloads)
        until(lambda: count(engine, CLOSE_WAIT), lambda open_ones: open_ones == 0, SOON)
        dripping.finish()
        one.select_session("busy")
        [event] = [event for event in one.wait_for() if event.task_id]
        assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event.error_message
