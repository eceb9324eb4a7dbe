"""An HTTP/1.1 server of one large resource. The server cuts each connection, moves to another address, and counts the
bytes that its client has read.

The server has two host names. The address of `moving.test`, which has the resource, changes with each move. The address
of `front.test` is fixed: a request for this name gets a redirect to the resource at `moving.test`. Each redirect has a
new query, like a signed link.
"""

import random
import re
import socket
import struct
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import formatdate

from servers import sockets
from servers.accepting import AcceptingServer

_HOSTS = "127.0.0.1 localhost front.test\n127.0.0.{} moving.test\n"


@dataclass
class Delivery:
    """The bytes of a representation that one response delivered."""

    etag: str
    address: str
    start: int
    if_range: object
    #: Body bytes that the client has read. Bytes in flight at the end of the connection do not count.
    bytes_read: int = 0
    #: How the response ended: "whole", "dropped", "reset", "killed" (the engine was killed), or "the client left".
    end: str = "the client left"

    @property
    def stop(self):
        return self.start + self.bytes_read


@dataclass
class Script:
    """What the server does in one test, chosen by a seed."""

    seed: int
    #: Each connection ends after a random number of bytes: at least `shortest`, and at most `longest`.
    shortest: int
    longest: int
    #: The representations. Each representation except the last one has an offset in `replaced_at`. When the server has
    #: sent the byte at this offset, the server changes to the next representation.
    contents: list
    replaced_at: list = field(default_factory=list)
    #: Pairs: the number of a representation, and an offset. When the server has sent the byte at this offset, it kills
    #: the engine: the process that runs the client's transfers.
    kills: list = field(default_factory=list)


class MovingServer(AcceptingServer):
    """``with MovingServer(script, folder) as server: server.url``. The file ``server.hosts`` has the server's names."""

    def __init__(self, script, folder):
        super().__init__()
        self._script, self.hosts = script, folder / "hosts"
        self._random = random.Random(script.seed)
        self._kills, self._representation = list(script.kills), 0
        self._serial = threading.Lock()
        self._place = 1
        self.deliveries = []
        #: A function that returns a context manager. Inside its `with` block, the engine is stopped. The value after
        #: `as` is a function that kills the engine.
        self.killer = None

    def __enter__(self):
        super().__enter__()
        self._move()
        return self

    @property
    def content(self):
        """The current representation."""
        return self._script.contents[self._representation]

    @property
    def url(self):
        return f"http://front.test:{self.port}/file"

    def _move(self):
        """Moves to another address. The old address has no listener any more, and the name resolves to the new
        address."""
        before = self._place
        self._place = self._random.choice([place for place in range(2, 10) if place != before])
        self._listen(f"127.0.0.{self._place}", self.port)
        if before != 1:
            self._stop_listening(f"127.0.0.{before}")
        # Each write is one call and has the same length. So no reader finds half a file.
        with open(self.hosts, "r+b" if self.hosts.exists() else "wb", buffering=0) as file:
            file.write(_HOSTS.format(self._place).encode())

    def _serve(self, connection):
        with connection.makefile("rb") as reader:
            while (asked := _read_request(reader)) and self._respond(connection, *asked):
                pass

    def _respond(self, connection, path, headers):
        if path == "/file":
            signature = self._random.getrandbits(64)
            location = f"http://moving.test:{self.port}/large/file?signed={signature:x}"
            return _send_head(connection, 302, {"Location": location, "Content-Length": 0}) > 0
        # The server sends one response at a time. So each delivery has ended before the next delivery begins.
        with self._serial:
            return self._deliver(connection, headers)

    def _deliver(self, connection, headers):
        content = self.content
        start = _first_byte(content, headers)
        delivery = Delivery(content.etag, connection.getsockname()[0], start, headers.get("if-range"))
        self.deliveries.append(delivery)
        head = _send_head(connection, 206 if start else 200, _fields(content, start))
        stop, end = self._plan_response(content, start)
        with suppress(OSError):
            for piece in content.pieces(start, stop):
                connection.sendall(piece)
            return end(connection, delivery, stop - start, head)
        return False

    def _plan_response(self, content, start):
        """Returns the offset at which a response ends, and the function that ends the response."""
        chosen = start + self._random.randint(self._script.shortest, self._script.longest)
        ends = [(content.size, self._whole), (chosen, self._random.choice([self._drop, self._reset]))]
        ends += [(at, self._replace) for number, at in enumerate(self._script.replaced_at)
                 if number == self._representation]
        ends += [(at, self._kill_engine) for number, at in self._kills if number == self._representation and at > start]
        return min(ends, key=lambda end: end[0])

    def _whole(self, _, delivery, count, __):
        delivery.bytes_read, delivery.end = count, "whole"
        return True

    def _drop(self, connection, delivery, count, _):
        self._move()
        connection.shutdown(socket.SHUT_WR)
        # If the client ends the connection without a reset, the client has read all bytes. If a client closes the
        # connection before it has read all bytes, the client's kernel sends a reset (RFC 9293, section 3.6.1).
        if connection.recv(1) == b"":
            delivery.bytes_read, delivery.end = count, "dropped"
        return False

    def _reset(self, connection, delivery, count, head):
        # A reset discards unread bytes, so the client must read them first.
        sockets.wait_until_read(connection, head + count)
        self._move()
        # With a linger time of zero, `close` sends a reset (socket(7)).
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        delivery.bytes_read, delivery.end = count, "reset"
        return False

    def _replace(self, connection, delivery, count, head):
        self._representation += 1
        return self._drop(connection, delivery, count, head)

    def _kill_engine(self, connection, delivery, _, head):
        """Stops the engine during the transfer, counts the bytes that the engine has read, and kills the engine."""
        self._kills.pop(0)
        with self.killer() as kill:
            delivery.bytes_read, delivery.end = sockets.settled(connection) - head, "killed"
            self._move()
            kill()
        return False


def _first_byte(content, headers):
    """Returns the offset of the requested range, or 0 if the response has the complete content (RFC 9110, sections
    13.1.5 and 14.2)."""
    found = re.fullmatch(r"bytes=(\d+)-", headers.get("range", ""))
    return int(found[1]) if found and headers.get("if-range") in (None, content.etag) else 0


def _fields(content, start):
    fields = {"Date": formatdate(usegmt=True), "Accept-Ranges": "bytes", "ETag": content.etag,
              "Content-Type": "application/octet-stream", "Content-Length": content.size - start}
    if start:
        fields["Content-Range"] = f"bytes {start}-{content.size - 1}/{content.size}"
    return fields


def _send_head(connection, status, fields):
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    data = f"HTTP/1.1 {status} Because\r\n{head}\r\n".encode()
    connection.sendall(data)
    return len(data)


def _read_request(reader):
    """Returns the path and the header fields of a request, or None at the end of the connection."""
    line = reader.readline(65_536).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while field_line := reader.readline(65_536).decode("latin-1").strip():
        name, _, value = field_line.partition(":")
        headers[name.lower()] = value.strip()
    return line[1], headers
