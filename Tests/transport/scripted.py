"""A server that answers each request by a function of the test, which decides about every byte and every end."""

import socket
import ssl
import struct
import threading
from contextlib import suppress

from servers import sockets


class ScriptedServer:
    """``with ScriptedServer(respond, context) as server``: calls `respond(connection, head)` for each request, and
    keeps the connection for the next one if that returns True. `greeting`: sent as soon as a client has connected."""

    def __init__(self, respond, tls=None, greeting=b""):
        self._respond, self._tls, self._greeting = respond, tls, greeting
        self._open = set()
        #: Heads of the requests, in the order of arrival.
        self.requests = []
        self.connections = 0

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        port = self._listener.getsockname()[1]
        self.url = f"{'https' if self._tls else 'http'}://127.0.0.1:{port}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in [self._listener, *self._open]:
            with suppress(OSError):
                socket.socket.shutdown(one, socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.connections += 1
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with suppress(OSError, EOFError):
            connection.settimeout(60)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True, suppress_ragged_eofs=True)
            self._open.add(connection)
            connection.sendall(self._greeting)
            self._converse(connection)
        self._open.discard(connection)
        connection.close()

    def _converse(self, connection):
        while True:
            head = read_head(connection)
            self.requests.append(head)
            if not self._respond(connection, head):
                return


def read_head(connection):
    """Up to the empty line. EOFError at the connection's end."""
    head = b""
    while not head.endswith(b"\r\n\r\n"):
        byte = connection.recv(1)
        if not byte:
            raise EOFError
        head += byte
    return head


def drain(connection):
    """Reads until the client ends the connection: a close before that could be a reset (RFC 9293, 3.6.1)."""
    with suppress(OSError):
        while connection.recv(65_536):
            pass


# Ends of a connection.

def cut(connection):
    """An orderly end of TCP, without close_notify over TLS."""
    connection.shutdown(socket.SHUT_WR)
    drain(connection)


def close(connection):
    """As TLS demands it: close_notify first (RFC 8446, section 6.1)."""
    if isinstance(connection, ssl.SSLSocket):
        with suppress(OSError):
            connection = connection.unwrap()
    with suppress(OSError):
        cut(connection)


def reset(connection):
    """A reset of TCP, after the client has read all that was sent."""
    sockets.settled(connection)
    # Lingering for zero seconds turns close into a reset (socket(7)).
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()
