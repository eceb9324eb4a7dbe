"""A link with a given speed, between clients and a server. The link is a proxy, which passes on the bytes of the
connections. netem would limit the speed in the kernel, but the kernels of small test machines have no netem."""

import math
import select
import socket
import threading
import time
from contextlib import suppress

from servers.accepting import AcceptingServer

#: How often the link passes on bytes: the number of steps per second.
_STEPS = 50
#: The size of the link's socket buffers, in bytes. Because these buffers are small, clients have received nearly all
#: bytes that the link has passed on.
_BUFFER = 4_096


class Link(AcceptingServer):
    """``with Link(server.port, rate=1_000_000) as link: link.rate = 3_000``. The link has the address of the server and
    another port. `rate` is the limit for all clients together, in bytes per second. A new `rate` applies at once."""

    def __init__(self, port, address="127.0.0.1", rate=1_000_000):
        super().__init__(address=address)
        self.rate, self._target = rate, (address, port)
        #: Response bytes that the link has passed on, including the heads of responses.
        self.passed = 0
        #: The time of the last byte, and the time at which a connection last ended (time.monotonic).
        self.last_byte = self.last_end = 0.0
        self._changed = threading.Condition()
        #: The number of passed bytes from which on the link has another rate, and this rate.
        self._next_rate = math.inf, rate
        self._clients = 0
        self._running = True

    def __exit__(self, *details):
        self._running = False
        super().__exit__(*details)

    @property
    def connections(self):
        """The number of connected clients."""
        return self._clients

    def slow_down(self, more, rate):
        """Changes the rate as soon as `more` bytes have passed after this call."""
        with self._changed:
            self._next_rate = self.passed + more, rate

    def wait_until(self, condition, timeout=20):
        """Waits until `condition(link)` is true."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(self), timeout):
                raise TimeoutError(f"{self.passed} bytes have passed over {self.connections} connections")

    def _note_client(self, change):
        with self._changed:
            self._clients += change
            if change < 0:
                self.last_end = time.monotonic()
            self._changed.notify_all()

    def _serve(self, client):
        self._note_client(1)
        with suppress(OSError), client, socket.socket() as server:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
            server.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER)
            server.settimeout(20)
            server.connect(self._target)
            while self._running and self._pass_on(client, server):
                pass
        self._note_client(-1)

    def _pass_on(self, client, server):
        """Passes on the available bytes of both sides. Returns False if a side has ended the connection."""
        readable = select.select([client, server], [], [], 1)[0]
        if client in readable:
            asked = client.recv(65_536)
            if not asked:
                return False
            server.sendall(asked)
        if server in readable:
            share = self.rate / _STEPS / max(1, self.connections)
            block = server.recv(max(1, int(share)))
            if not block:
                return False
            client.sendall(block)
            with self._changed:
                self.passed += len(block)
                if self.passed >= self._next_rate[0]:
                    self.rate, self._next_rate = self._next_rate[1], (math.inf, 0)
                self.last_byte = time.monotonic()
                self._changed.notify_all()
            time.sleep(len(block) / self.rate * max(1, self.connections))
        return True
