"""One accepted connection: its requests as they arrive, and send calls whose bytes are chosen one by one."""

import fcntl
import socket
import ssl
import struct
import termios
import time
from contextlib import suppress

from desync.responses import Request

_BLOCK = 65_536
_LIMIT = 10


class Wire:
    """A connection, with or without TLS."""

    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(_LIMIT)
        self.socket = connection
        self.is_open = True
        self._tls = None
        self.is_shaking = False
        self._text = bytearray()

    def encrypt(self, context):
        """The peer's next bytes are the begin of a handshake."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.is_shaking = True

    def shake(self):
        """Goes on with the handshake. When it ends, returns its last bytes, which the caller sends; else None."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self.send(self._outgoing.read())
            return None
        self.is_shaking = False
        return self._outgoing.read()

    def sealed(self, data):
        """The bytes as they go over the socket."""
        if self._tls is None:
            return data
        if data:
            self._tls.write(data)
        return self._outgoing.read()

    def question(self):
        """A TLS 1.3 record that asks for a client certificate after the handshake, and is no junk."""
        with suppress(ssl.SSLError):
            self._tls.verify_client_post_handshake()
            self._tls.do_handshake()
        return self._outgoing.read()

    def send(self, data):
        """One send call."""
        if data:
            self.socket.sendall(data)

    def receive(self):
        """Takes what has arrived. False at the end of the connection."""
        data = self.socket.recv(_BLOCK)
        if not data:
            return False
        if self._tls is None:
            self._text += data
        else:
            self._incoming.write(data)
        return True

    def next_request(self):
        """A whole request that has arrived, or None."""
        self._decrypt()
        end = self._text.find(b"\r\n\r\n")
        if end < 0:
            return None
        lines = bytes(self._text[:end]).decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        size = int(headers.get("content-length", 0))
        if headers.get("expect", "").lower() == "100-continue" and len(self._text) == end + 4:
            self.send(self.sealed(b"HTTP/1.1 100 Continue\r\n\r\n"))
        if len(self._text) < end + 4 + size:
            return None
        body = bytes(self._text[end + 4:end + 4 + size])
        del self._text[:end + 4 + size]
        return Request(method, target, headers, body)

    def _decrypt(self):
        if self._tls is None or self.is_shaking:
            return
        try:
            while (data := self._tls.read(_BLOCK)):
                self._text += data
        except ssl.SSLWantReadError:
            pass
        # Alerts and the like of the reader's own.
        self.send(self._outgoing.read())

    def settle(self):
        """Waits until the peer's kernel has all that was sent. On loopback it then has each byte for its process."""
        deadline = time.monotonic() + _LIMIT
        while _unacknowledged(self.socket) and time.monotonic() < deadline:
            time.sleep(0.0005)

    def close(self):
        """No more bytes: an orderly end."""
        self.is_open = False
        self.socket.close()

    def reset(self):
        self.is_open = False
        # Lingering for zero seconds turns close into a reset (socket(7)).
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def _unacknowledged(connection):
    """Bytes sent that the peer's kernel has not acknowledged: SIOCOUTQ (tcp(7))."""
    return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]
