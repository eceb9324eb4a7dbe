"""One accepted connection. It returns the requests that arrive. The caller decides which bytes are sent together, in
one system call."""

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


class PeerConnection:
    """A connection, with or without TLS."""

    def __init__(self, connection):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.settimeout(_LIMIT)
        self.socket = connection
        self.is_open = True
        self._tls = None
        self.is_in_handshake = False
        self._text = bytearray()

    def encrypt(self, context):
        """Starts TLS. The next bytes of the peer must begin a handshake."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self.is_in_handshake = True

    def continue_handshake(self):
        """Continues the handshake. While the handshake is incomplete, returns None. When the handshake is complete,
        returns the handshake's last bytes, which the caller must send."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            self.send(self._outgoing.read())
            return None
        self.is_in_handshake = False
        return self._outgoing.read()

    def encoded_record(self, data):
        """Returns the bytes as they must be sent over the socket: encrypted if TLS has started."""
        if self._tls is None:
            return data
        if data:
            self._tls.write(data)
        return self._outgoing.read()

    def certificate_request(self):
        """Returns a TLS 1.3 record that requests a client certificate after the handshake. TLS permits this record."""
        with suppress(ssl.SSLError):
            self._tls.verify_client_post_handshake()
            self._tls.do_handshake()
        return self._outgoing.read()

    def send(self, data):
        """Sends the bytes in one call."""
        if data:
            self.socket.sendall(data)

    def receive(self):
        """Reads bytes that have arrived. Returns False at the end of the connection."""
        data = self.socket.recv(_BLOCK)
        if not data:
            return False
        if self._tls is None:
            self._text += data
        else:
            self._incoming.write(data)
        return True

    def next_request(self):
        """Returns the next request, or None if no complete request has arrived."""
        self._decrypt()
        end = self._text.find(b"\r\n\r\n")
        if end < 0:
            return None
        lines = bytes(self._text[:end]).decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
        size = int(headers.get("content-length", 0))
        if headers.get("expect", "").lower() == "100-continue" and len(self._text) == end + 4:
            self.send(self.encoded_record(b"HTTP/1.1 100 Continue\r\n\r\n"))
        if len(self._text) < end + 4 + size:
            return None
        body = bytes(self._text[end + 4:end + 4 + size])
        del self._text[:end + 4 + size]
        return Request(method, target, headers, body)

    def _decrypt(self):
        if self._tls is None or self.is_in_handshake:
            return
        try:
            while (data := self._tls.read(_BLOCK)):
                self._text += data
        except ssl.SSLWantReadError:
            pass
        # Sends what the TLS library produced while it was reading, such as alerts.
        self.send(self._outgoing.read())

    def settle(self):
        """Waits until the peer's kernel has all sent bytes. On loopback the peer's process can then read all these
        bytes."""
        deadline = time.monotonic() + _LIMIT
        while _unacknowledged(self.socket) and time.monotonic() < deadline:
            time.sleep(0.0005)

    def close(self):
        """Closes the connection. If the connection has unread bytes, the kernel sends a reset (RFC 9293, 3.6.1)."""
        self.is_open = False
        self.socket.close()

    def reset(self):
        self.is_open = False
        # With a linger time of zero, `close` sends a reset (socket(7)).
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()


def _unacknowledged(connection):
    """Returns the number of sent bytes that the peer's kernel has not acknowledged: SIOCOUTQ (tcp(7))."""
    return struct.unpack("i", fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))[0]
