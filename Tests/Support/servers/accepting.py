"""The base of servers that are written in Python: listeners, and a thread for each connection."""

import socket
import threading
from contextlib import closing, suppress

_BACKLOG = 256
#: The ports of all servers so far. No port is used twice, because the engine remembers facts about an origin. The
#: engine remembers these facts even after the server of the origin has ended.
_ports = set()


class AcceptingServer:
    """``with AServer() as server: server.url``. A subclass has `_serve`, which runs in a separate thread for
    each connection.

    The connection is closed when `_serve` returns, or when it raises OSError or EOFError. When the server ends, all
    connections end.
    """

    def __init__(self, tls=None, address="127.0.0.1"):
        self._tls, self._address = tls, address
        self._listeners = {}
        self._open = set()
        #: The number of accepted connections.
        self.accepted = 0

    def __enter__(self):
        self.port = self._listen(self._address)
        return self

    def __exit__(self, *_):
        for address in list(self._listeners):
            self._stop_listening(address)
        self.end_connections()

    def end_connections(self):
        """Ends all open connections."""
        for connection in list(self._open):
            # If the connection uses TLS, its own method `shutdown` also discards the TLS state, which another thread
            # may be using to read. So this call uses the method of the TCP socket.
            with suppress(OSError):
                socket.socket.shutdown(connection, socket.SHUT_RDWR)

    @property
    def url(self):
        return f"{'https' if self._tls else 'http'}://{self._address}:{self.port}"

    def _serve(self, connection):
        raise NotImplementedError

    def _listen(self, address, port=0):
        """Listens at the address, and returns the port."""
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        listener = socket.create_server((address, port), family=family, backlog=_BACKLOG)
        for _ in range(100):
            if port or listener.getsockname()[1] not in _ports:
                break
            listener.close()
            listener = socket.create_server((address, 0), family=family, backlog=_BACKLOG)
        _ports.add(listener.getsockname()[1])
        self._listeners[address] = listener
        threading.Thread(target=self._accept, args=(listener,), name=type(self).__name__, daemon=True).start()
        return listener.getsockname()[1]

    def _stop_listening(self, address):
        listener = self._listeners.pop(address)
        with suppress(OSError):
            listener.shutdown(socket.SHUT_RDWR)  # wakes `accept`; close alone does not wake it
        listener.close()

    def _accept(self, listener):
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                self.accepted += 1
                threading.Thread(target=self._run, args=(connection,), daemon=True).start()

    def _run(self, connection):
        with suppress(OSError, EOFError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self._tls:
                connection = self._tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
            self._open.add(connection)
            try:
                with closing(connection):
                    if self._tls:
                        connection.do_handshake()
                    self._serve(connection)
            finally:
                self._open.discard(connection)
