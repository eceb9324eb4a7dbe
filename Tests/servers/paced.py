"""An HTTP/1.1 server of one file with a strong entity tag, sent at a steady rate in small writes."""

import re
import socket
import threading
import time
from contextlib import suppress
from dataclasses import dataclass

from servers import sockets

#: Seconds between two writes, at the least.
_INTERVAL = 0.001


@dataclass
class Delivery:
    """One response: where its range begins, and how many bytes of the body were sent."""

    start: int
    connection: object
    head: int = 0
    sent: int = 0

    @property
    def taken(self):
        """The byte of the file up to which the process at the other end has read."""
        return self.start + sockets.taken(self.connection) - self.head


class PacedServer:
    """``with PacedServer(content, rate) as server``: so many bytes a second on each connection. `deliveries` are in the
    order of the requests. `watch`, a function of a delivery, is called after each write; the connection ends when it
    returns True."""

    def __init__(self, content, rate, watch):
        self._content, self._rate, self._watch = content, rate, watch
        self.deliveries = []
        self._open = set()

    def __enter__(self):
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=16)
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/file"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in [self._listener, *self._open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        self._open.add(connection)
        with suppress(OSError), connection, connection.makefile("rb") as reader:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            is_open = True
            while is_open and reader.readline():
                fields = b"".join(iter(lambda: reader.readline().strip(b"\r\n") + b"\n", b"\n")).decode("latin-1")
                is_open = self._answer(connection, fields)
        self._open.discard(connection)

    def _answer(self, connection, fields):
        found = re.search(r"^range: *bytes=(\d+)-$", fields, re.IGNORECASE | re.MULTILINE)
        delivery = Delivery(int(found[1]) if found else 0, connection)
        self.deliveries.append(delivery)
        size, start = self._content.size, delivery.start
        lines = ["HTTP/1.1 206 Part" if found else "HTTP/1.1 200 OK", "Accept-Ranges: bytes",
                 f"ETag: {self._content.etag}", f"Content-Length: {size - start}"]
        if found:
            lines.append(f"Content-Range: bytes {start}-{size - 1}/{size}")
        head = "\r\n".join([*lines, "", ""]).encode()
        before = sockets.taken(connection)
        connection.sendall(head)
        delivery.head = before + len(head)
        block = max(1, int(self._rate * _INTERVAL))
        begin = time.monotonic()
        for offset in range(start, size, block):
            part = self._content.data[offset:offset + block]
            connection.sendall(part)
            delivery.sent += len(part)
            if self._watch(delivery):
                return False
            # By the clock of the whole response, so that a late turn does not slow it down.
            time.sleep(max(0.0, begin + delivery.sent / self._rate - time.monotonic()))
        return True
