"""One accepted connection: its requests as they arrive, and send calls whose bytes are chosen one by one."""

import fcntl
import socket
import ssl
import struct
import termios
import time

from desync.responses import Request

_BLOCK = 65_536
_LIMIT = 10


class Wire:
    """A connection, with or without TLS. `opened` in the result of `receive`: the handshake ended with it."""

    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(_LIMIT)
        self.socket = connection
        self.is_open = True
        self.has_ended = False
        self._tls = None
        self._is_shaking = False
        self._text = bytearray()

    @property
    def is_encrypted(self):
        return self._tls is not None

    @property
    def is_shaking(self):
        return self._is_shaking

    def encrypt(self, context):
        """The peer's next bytes are the begin of a handshake."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._is_shaking = True

    def shake(self):
        """Goes on with the handshake. When it ends, returns its last bytes, which the caller sends; else None."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self.send(self._outgoing.read())
            return None
        self._is_shaking = False
        return self._outgoing.read()

    def sealed(self, data):
        """The bytes as they go over the socket."""
        if self._tls is None:
            return data
        if data:
            self._tls.write(data)
        return self._outgoing.read()

    def send(self, data):
        """One send call."""
        if data:
            self.socket.sendall(data)

    def receive(self):
        """Takes what has arrived. False at the end of the connection."""
        data = self.socket.recv(_BLOCK)
        if not data:
            self.has_ended = True
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
        if self._tls is None or self._is_shaking:
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
        while _count(self.socket, termios.TIOCOUTQ) and time.monotonic() < deadline:
            time.sleep(0.0005)

    @property
    def unread(self):
        """Whether something has arrived that was not taken as part of a whole request."""
        pending = self._incoming.pending if self._tls is not None else 0
        return bool(self._text or pending or _count(self.socket, termios.FIONREAD))

    def close(self):
        """No more bytes: an orderly end."""
        self.is_open = False
        self.socket.close()

    def reset(self):
        self.is_open = False
        # Lingering for zero seconds turns close into a reset (socket(7)).
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def _count(connection, request):
    return struct.unpack("i", fcntl.ioctl(connection, request, bytes(4)))[0]
