"""A link between a program and a server that can be cut, as by a broken network: bytes wait, and connections stay."""

import socket
import threading
from contextlib import suppress

from servers.accepting import AcceptingServer


class Relay(AcceptingServer):
    """``with Relay(path) as relay``: forwards each connection to the Unix socket at the path."""

    def __init__(self, path):
        super().__init__()
        self._path = path
        self._is_whole = threading.Event()
        self._is_whole.set()

    def cut(self):
        self._is_whole.clear()

    def mend(self):
        self._is_whole.set()

    def _serve(self, connection):
        with socket.socket(socket.AF_UNIX) as server:
            server.connect(self._path)
            back = threading.Thread(target=self._pump, args=(server, connection), daemon=True)
            back.start()
            self._pump(connection, server)
            back.join()

    def _pump(self, source, target):
        with suppress(OSError):
            while data := source.recv(65_536):
                self._is_whole.wait()
                target.sendall(data)
        for side in (source, target):
            with suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
