"""Servers that send as fast as the client reads, until the client ends the connection."""

import select
import threading
from contextlib import suppress
from dataclasses import dataclass

from transport.scripted import ScriptedServer
from transport.violating import ViolatingServer

#: The number of bytes that the server sends before it reads the next bytes from the client.
_BLOCK = 65_536


@dataclass(frozen=True)
class Flood:
    """The bytes of a flood: `start` one time, then `part` repeatedly."""

    start: bytes
    part: bytes
    #: Whether the server reads what the client sends during the flood.
    reads: bool = True
    #: The largest number of bytes in a TLS record.
    record: int = _BLOCK


class _Counter:
    """Counts the floods of one server, and the bytes that they have sent."""

    def __init__(self):
        self._lock = threading.Lock()
        #: Bytes that the kernel or the TLS library has accepted.
        self.sent = 0
        #: The numbers of floods that have begun, and of floods that the client has ended.
        self.begun = self.ended = 0

    def add(self, *, sent=0, begun=0, ended=0):
        with self._lock:
            self.sent, self.begun, self.ended = self.sent + sent, self.begun + begun, self.ended + ended


def _pour(connection, flood, counter):
    """Sends the flood. Returns when the client has ended the connection."""
    block = flood.part * max(1, _BLOCK // len(flood.part))
    counter.add(begun=1)
    with suppress(OSError):
        connection.sendall(flood.start)
        while True:
            for start in range(0, len(block), flood.record):
                connection.sendall(block[start:start + flood.record])
            counter.add(sent=len(block))
            if flood.reads:
                _take(connection)
    counter.add(ended=1)


def _take(connection):
    while select.select([connection], [], [], 0)[0]:
        if not connection.recv(_BLOCK):
            raise ConnectionResetError


class FloodingServer(ScriptedServer):
    """``with FloodingServer(flood, context) as server``: responds to each request over HTTP/1.1 with the flood."""

    def __init__(self, flood, context=None):
        self.flood = _Counter()
        super().__init__(lambda connection, _: _pour(connection, flood, self.flood), context)


class FloodingHTTP2Server(ViolatingServer):
    """``with FloodingHTTP2Server(flood, context) as server`` calls the function `flood` for each stream.

    `flood` gets the number of the stream. It returns frames to send, or a `Flood`. After a `Flood`, the server reads no
    more requests from this connection.
    """

    def __init__(self, flood, context=None):
        self.flood = _Counter()
        super().__init__(context, flood)

    def _send(self, connection, response):
        if isinstance(response, bytes):
            connection.sendall(response)
        else:
            _pour(connection, response, self.flood)
            raise EOFError
