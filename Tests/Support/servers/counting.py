"""An HTTP/1.1 server that counts its open requests and connections."""

import threading
import time

from servers.accepting import AcceptingServer


class CountingServer(AcceptingServer):
    """``with CountingServer(content, seconds) as server``: each response to a request has the content, and takes
    `seconds`. If `seconds` is None, it takes until `release`.

    `changes` are the times at which a request began or ended, each with the number of requests that were open from then
    on. `most_connections` is the largest number of connections at the same time.
    """

    def __init__(self, content, seconds=None):
        super().__init__()
        self._response = b"".join([b"HTTP/1.1 200 OK\r\nAccept-Ranges: bytes\r\nETag: ", content.etag.encode(),
                                   b"\r\nContent-Length: ", str(content.size).encode(), b"\r\n\r\n", content.data])
        self._seconds = seconds
        self._released = threading.Event()
        self._lock = threading.Lock()
        self._connections = 0
        self.most_connections = 0
        self.changes = [(time.monotonic(), 0)]

    def release(self):
        """Sends all responses."""
        self._released.set()

    @property
    def open_requests(self):
        return self.changes[-1][1]

    @property
    def most_requests(self):
        return max(count for _, count in self.changes)

    def average(self, last):
        """The average number of open requests from the first request to the one with the number `last`."""
        began = [index for index in range(1, len(self.changes)) if self.changes[index][1] > self.changes[index - 1][1]]
        part = self.changes[began[0]:began[last - 1] + 1]
        area = sum(before[1] * (after[0] - before[0]) for before, after in zip(part, part[1:]))
        return area / (part[-1][0] - part[0][0])

    def _serve(self, connection):
        self._count_connection(1)
        try:
            with connection.makefile("rb") as reader:
                while reader.readline():
                    while reader.readline().strip():
                        pass
                    self._count_request(1)
                    self._released.wait(self._seconds)
                    # A client that has the response may begin another request before this thread runs again.
                    self._count_request(-1)
                    connection.sendall(self._response)
        finally:
            self._count_connection(-1)

    def _count_request(self, change):
        with self._lock:
            self.changes.append((time.monotonic(), self.changes[-1][1] + change))

    def _count_connection(self, change):
        with self._lock:
            self._connections += change
            self.most_connections = max(self.most_connections, self._connections)
