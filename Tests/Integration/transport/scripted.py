"""A server that calls a function of the test for each request. The server itself sends no byte of a response: the
function sends the whole response, and decides how the connection ends."""

import socket
import ssl
import struct
from contextlib import suppress

from servers import sockets
from servers.accepting import AcceptingServer


class ScriptedServer(AcceptingServer):
    """``with ScriptedServer(respond, context) as server`` calls `respond(connection, head)` for each request.

    If `respond` returns True, the connection is kept for the next request. `greeting` is sent as soon as a client has
    connected.
    """

    def __init__(self, respond, tls=None, greeting=b""):
        super().__init__(tls)
        self._respond, self._greeting = respond, greeting
        #: The heads of the requests, in the order of arrival.
        self.requests = []

    def _serve(self, connection):
        connection.settimeout(60)
        connection.sendall(self._greeting)
        self._converse(connection)

    def _converse(self, connection):
        while True:
            head = read_head(connection)
            self.requests.append(head)
            if not self._respond(connection, head):
                return


def read_head(connection):
    """Reads the head of a request up to the empty line. Raises EOFError at the end of the connection."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise EOFError
        head += byte
    return head


def drain(connection):
    """Reads until the client ends the connection. An earlier close could send a reset (RFC 9293, 3.6.1)."""
    with suppress(OSError):
        while connection.recv(65_536):
            pass


# Functions that end a connection

def cut(connection):
    """Ends the TCP connection in order, with FIN. Over TLS, close_notify is missing."""
    connection.shutdown(socket.SHUT_WR)
    drain(connection)


def close(connection):
    """Ends the connection as TLS requires: sends close_notify, then ends TCP (RFC 8446, section 6.1)."""
    if isinstance(connection, ssl.SSLSocket):
        with suppress(OSError):
            connection = connection.unwrap()
    with suppress(OSError):
        cut(connection)


def reset(connection):
    """Resets TCP after the client has read all sent bytes."""
    sockets.wait_until_all_read(connection)
    # With a linger time of zero, `close` sends a reset (socket(7)).
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
