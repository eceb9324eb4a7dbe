"""An HTTP proxy that requires a credential. It forwards requests without TLS, and makes a tunnel for CONNECT."""

import base64
import socket
import threading
from contextlib import suppress
from urllib.parse import urlsplit

from servers.accepting import AcceptingServer

_BLOCK = 65_536


class Proxy(AcceptingServer):
    """``with Proxy("user", "password") as proxy: os.environ["http_proxy"] = proxy.url``"""

    def __init__(self, user, password, realm="the way out"):
        super().__init__()
        self._wanted = "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
        self._realm = realm
        self._log = []

    @property
    def log(self):
        """The method, the target and the header fields of each request. Field names are in lower case."""
        return list(self._log)

    @property
    def authorized(self):
        return [entry for entry in self._log if entry[2].get("proxy-authorization") == self._wanted]

    def _serve(self, connection):
        reader = connection.makefile("rb")
        while (line := reader.readline(_BLOCK)):
            method, target, _ = line.decode("latin-1").split()
            fields = []
            while (field := reader.readline(_BLOCK).decode("latin-1").strip()):
                name, _, value = field.partition(":")
                fields.append((name, value.strip()))
            headers = {name.lower(): value for name, value in fields}
            self._log.append((method, target, headers))
            if headers.get("proxy-authorization") != self._wanted:
                connection.sendall(f'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="{self._realm}"\r\n'
                                   "Content-Length: 4\r\n\r\nwho\n".encode())
            elif method == "CONNECT":
                host, _, port = target.rpartition(":")
                with socket.create_connection((host, int(port)), timeout=20) as server:
                    connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                    join(connection, server)
                return
            else:
                self._pass_on(connection, target, fields)
                return

    @staticmethod
    def _pass_on(connection, target, fields):
        address = urlsplit(target)
        path = address.path + ("?" + address.query if address.query else "")
        kept = [f"{name}: {value}" for name, value in fields if not name.lower().startswith("proxy-")]
        head = "\r\n".join([f"GET {path} HTTP/1.1", *kept, "Connection: close"]) + "\r\n\r\n"
        with socket.create_connection((address.hostname, address.port), timeout=20) as server:
            server.sendall(head.encode("latin-1"))
            while (block := server.recv(_BLOCK)):
                connection.sendall(block)


def join(left, right, before_send=lambda: None):
    """Copies bytes in both directions until a side ends. `before_send` is called before each block is sent."""
    def copy(source, sink):
        with suppress(OSError):
            while (block := source.recv(_BLOCK)):
                before_send()
                sink.sendall(block)
        for one in (source, sink):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)

    other = threading.Thread(target=copy, args=(right, left), daemon=True)
    other.start()
    copy(left, right)
    other.join()
