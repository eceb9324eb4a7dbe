"""The demo's server, which stops before the end of each file until the test releases it."""

import socket
import threading

# The demo's server supports ranges, entity tags, a speed limit and a log.
from demo_parts.server import Server


class PausingServer(Server):
    """Sends each file up to `pause_at`, and the rest after `release`."""

    def __init__(self, files, pause_at, bytes_per_second=1 << 30):
        self._pause_at, self._is_released, self._changed = pause_at, False, threading.Condition()
        self._connections = 0
        super().__init__(files, bytes_per_second)

    def wait(self, request, count):
        super().wait(request, count)
        with self._changed:
            self._changed.wait_for(lambda: self._is_released or request.offset + request.sent < self._pause_at)

    def is_paused(self):
        """Whether a client has received all bytes before `pause_at` of an open response."""
        return any(request.open and request.offset + request.sent >= self._pause_at for request in self.requests())

    def release(self):
        with self._changed:
            self._is_released = True
            self._changed.notify_all()

    def process_request(self, *connection):
        with self._changed:
            self._connections += 1
        super().process_request(*connection)

    def process_request_thread(self, *connection):
        super().process_request_thread(*connection)
        with self._changed:
            self._connections -= 1
            self._changed.notify_all()

    def wait_until_idle(self):
        """Waits until each request of clients that have ended is in the log, even if the server reads it late."""
        # The server accepts connections in order, so it has counted all earlier ones when this one ends.
        with socket.create_connection(self.server_address) as last:
            last.sendall(b"GET /none HTTP/1.0\r\n\r\n")
            while last.recv(1 << 12):
                pass
        with self._changed:
            self._changed.wait_for(lambda: self._connections == 0)

    def close(self):
        self.release()
        super().close()
