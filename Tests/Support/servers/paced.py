"""An HTTP/1.1 server of one file with a strong entity tag. It sends the file at a steady rate in small writes."""

import re
import time
from dataclasses import dataclass

from servers import sockets
from servers.accepting import AcceptingServer

#: The time between two writes, in seconds. Each write has the bytes for this time.
WRITE = 0.001


@dataclass
class Delivery:
    """One response: the offset of its range, and the number of body bytes that were sent."""

    start: int
    connection: object
    #: The number of bytes that the connection delivered before this body, including the head of this response.
    head: int = 0
    sent: int = 0

    @property
    def bytes_read(self):
        """The offset in the file up to which the process at the other end has read."""
        return self.start + sockets.bytes_read(self.connection) - self.head


class PacedServer(AcceptingServer):
    """``with PacedServer(content, rate, watch) as server``: sends `rate` bytes per second on each connection.

    `deliveries` are in the order of the requests. After each write, the server calls `watch` with the delivery. If
    `watch` returns True, the connection ends.
    """

    def __init__(self, content, rate, watch):
        super().__init__()
        self._content, self._rate, self._watch = content, rate, watch
        self.deliveries = []

    @property
    def url(self):
        return f"{super().url}/file"

    def _serve(self, connection):
        with connection.makefile("rb") as reader:
            is_open = True
            while is_open and reader.readline():
                fields = b"".join(iter(lambda: reader.readline().strip(b"\r\n") + b"\n", b"\n")).decode("latin-1")
                is_open = self._respond(connection, fields)

    def _respond(self, connection, fields):
        found = re.search(r"^range: *bytes=(\d+)-$", fields, re.IGNORECASE | re.MULTILINE)
        delivery = Delivery(int(found[1]) if found else 0, connection)
        self.deliveries.append(delivery)
        size, start = self._content.size, delivery.start
        lines = ["HTTP/1.1 206 Part" if found else "HTTP/1.1 200 OK", "Accept-Ranges: bytes",
                 f"ETag: {self._content.etag}", f"Content-Length: {size - start}"]
        if found:
            lines.append(f"Content-Range: bytes {start}-{size - 1}/{size}")
        head = "\r\n".join([*lines, "", ""]).encode()
        before = sockets.bytes_read(connection)
        connection.sendall(head)
        delivery.head = before + len(head)
        block = max(1, int(self._rate * WRITE))
        begin = time.monotonic()
        for offset in range(start, size, block):
            part = self._content.data[offset:offset + block]
            connection.sendall(part)
            delivery.sent += len(part)
            if self._watch(delivery):
                return False
            # Each delay is computed from the start of the response. So a late write does not lower the rate.
            time.sleep(max(0.0, begin + delivery.sent / self._rate - time.monotonic()))
        return True
