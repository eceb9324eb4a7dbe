"""The demo's server, which pauses before the end of each file until the test releases the server."""

import socket
import threading

# The demo's server supports ranges, entity tags, a speed limit and a log.
from demo_parts.server import Server


class PausingServer(Server):
    """Sends each file up to the offset `pause_at`, and the rest after a call of `release`."""

    def __init__(self, files, pause_at, bytes_per_second=1 << 30):
        self._pause_at, self._is_released, self._changed = pause_at, False, threading.Condition()
        self._connections = 0
        super().__init__(files, bytes_per_second)

    def wait(self, request, count):
        super().wait(request, count)
        with self._changed:
            self._changed.wait_for(lambda: self._is_released or request.offset + request.sent < self._pause_at)

    def is_paused(self):
        """Whether an open response has reached `pause_at`: the server has sent all bytes before this offset."""
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
        """Waits until the log has all requests of the clients that have ended. A client may end before the server has
        read the client's request."""
        # The server accepts connections in order. So when the connection `last` ends, the server has counted all
        # earlier connections.
        with socket.create_connection(self.server_address) as last:
            last.sendall(b"GET /none HTTP/1.0\r\n\r\n")
            while last.recv(1 << 12):
                pass
        with self._changed:
            self._changed.wait_for(lambda: self._connections == 0)

    def close(self):
        self.release()
        super().close()
