"""An error on an idle HTTP/2 connection does not change how a failure of another server is reported. libcurl finds such
an error only when a later request, perhaps to another server, needs a connection."""

import socket
import struct
import threading
from contextlib import suppress

import pytest

from backhaul import Status, TaskState

from servers.accepting import AcceptingServer
from transport.conftest import QUICK
from transport.scripted import ScriptedServer, reset
from transport.violating import (
    CONTINUATION,
    DATA,
    END_STREAM,
    HEADERS,
    RST_STREAM,
    ViolatingServer,
    fields,
    frame,
    headers,
)

STATUS = (":status", "200")
PROTOCOL_ERROR = struct.pack(">I", 1)
#: The number of CONTINUATION frames that is too large for nghttp2.
MANY = 3_000


def whole(stream):
    return headers(stream, STATUS) + frame(DATA, END_STREAM, stream, b"abc")


class IdleServer(ViolatingServer):
    """A server that sends a whole response. When the test calls `violate`, the server sends wrong bytes."""

    def __init__(self, context, send):
        super().__init__(context, whole)
        self._send_wrong_bytes = send
        self._violating = threading.Event()
        #: Set when the client has closed the connection.
        self.ended = threading.Event()

    def __exit__(self, *details):
        self._violating.set()
        super().__exit__(*details)

    def violate(self):
        """Sends the wrong bytes. The test calls this method when the connection is idle."""
        self._violating.set()

    def _converse(self, connection):
        try:
            super()._converse(connection)
        finally:
            self.ended.set()

    def _send(self, connection, response):
        super()._send(connection, response)
        self._violating.wait(60)
        with suppress(OSError):
            self._send_wrong_bytes(connection)


class HandshakeResettingServer(AcceptingServer):
    """A server that resets each connection after the first byte of the TLS handshake."""

    @property
    def url(self):
        return f"https://{self._address}:{self.port}"

    def _serve(self, connection):
        connection.recv(1)
        reset(connection)


def without_tls(wrong):
    """Returns a function that sends the bytes below the connection's TLS."""
    return lambda connection: socket.socket.sendall(connection, wrong)


#: What the idle connection sends; the other server; how the failure of the other server is reported.
ERRORS = {
    "frames": (
        lambda connection: connection.sendall(
            frame(HEADERS, 0, 1, fields(STATUS)) + frame(CONTINUATION, 0, 1) * MANY),
        lambda context: ScriptedServer(lambda connection, _: reset(connection), context),
        Status.CONNECTION_LOST, "Connection reset by peer"),
    "HTTP/1.1 without TLS": (
        without_tls(b"HTTP/1.1 400 Bad\r\n\r\n"),
        lambda _: HandshakeResettingServer(), Status.TLS_FAILED, "Connection reset by peer"),
    "an invalid TLS record": (
        without_tls(b"\x17\x03\x03\x00\x20" + bytes(32)),
        lambda context: ViolatingServer(context, lambda stream: frame(RST_STREAM, 0, stream, PROTOCOL_ERROR)),
        Status.BAD_RESPONSE, "PROTOCOL_ERROR"),
}


@pytest.mark.parametrize(("send", "other_server", "status", "reason"), ERRORS.values(), ids=ERRORS)
def test_an_error_on_an_idle_connection_does_not_change_the_failure_of_another_server(
        host, authority, downloads, send, other_server, status, reason):
    with IdleServer(authority.context(), send) as idle:
        one = host()
        one.session(ca_file=authority.file, maximum_attempts=1, **QUICK)
        one.download(idle.url + "/a", downloads / "a")
        [event] = [event for event in one.wait_for() if event.task_id]
        assert event.state == TaskState.SUCCEEDED, event
        idle.violate()
        # libcurl checks idle connections one time per second at most, so several requests may be needed. The other
        # server has a new origin each time, so that no earlier failure delays a request.
        while not idle.ended.is_set():
            with other_server(authority.context()) as other:
                task = one.download(other.url + "/b", downloads / "b")
                [event] = [event for event in one.wait_for() if event.task_id == task]
            assert (event.status, event.attempts) == (status, 1), event
            assert reason in event.error_message, event
