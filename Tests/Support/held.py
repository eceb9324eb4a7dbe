"""The demo's server, which keeps the end of each file back until a test has done what it does in the middle."""

import threading

# Ranges, entity tags, a speed limit and a log are all that is needed here.
from demo_parts.server import Server


class HeldServer(Server):
    """Sends each file as far as `held_at`, and what lies behind once it is released."""

    def __init__(self, files, held_at, bytes_per_second=1 << 30):
        self._held_at, self._is_released, self._changed = held_at, False, threading.Condition()
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

    def close(self):
        self.release()
        super().close()
