"""A link between a program and a server that can be cut, as by a broken network: bytes wait, and connections stay."""

import socket
import threading

from servers.accepting import AcceptingServer
from servers.proxy import join


class Relay(AcceptingServer):
    """``with Relay(path) as relay``: forwards each connection to the Unix socket at the path."""

    def __init__(self, path, **options):
        super().__init__(**options)
        self._path = path
        self._is_whole = threading.Event()
        self._is_whole.set()

    def cut(self):
        self._is_whole.clear()

    def restore(self):
        self._is_whole.set()

    def _serve(self, connection):
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(self._path)
            join(connection, server, self._is_whole.wait)
