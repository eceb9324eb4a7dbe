"""The demo's server, which keeps the end of each file back until a test has done what it does in the middle."""

import socket
import threading

# Ranges, entity tags, a speed limit and a log are all that is needed here.
from demo_parts.server import Server


class HeldServer(Server):
    """Sends each file as far as `held_at`, and what lies behind once it is released."""

    def __init__(self, files, held_at, bytes_per_second=1 << 30):
        self._held_at, self._is_released, self._changed = held_at, False, threading.Condition()
        self._connections = 0
        super().__init__(files, bytes_per_second)

    def wait(self, request, count):
        super().wait(request, count)
        with self._changed:
            self._changed.wait_for(lambda: self._is_released or request.offset + request.sent < self._held_at)

    def is_holding(self):
        """Whether somebody has all that is sent before the release."""
        return any(request.open and request.offset + request.sent >= self._held_at for request in self.requests())

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
        """Returns when every request of clients that are gone is in the log, also when it is read late."""
        # Connections are accepted in order: those made before this one are counted when it ends.
        with socket.create_connection(self.server_address) as last:
            last.sendall(b"GET /none HTTP/1.0\r\n\r\n")
            while last.recv(1 << 12):
                pass
        with self._changed:
            self._changed.wait_for(lambda: self._connections == 0)

    def close(self):
        self.release()
        super().close()
