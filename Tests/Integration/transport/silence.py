"""A server whose first connection falls silent: the server reads on, but sends no further byte. The server responds on
all later connections."""

import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from collections.abc import Callable

from servers.accepting import AcceptingServer
from servers.proxy import join
from transport.scripted import read_head
from transport.violating import (
    ACK,
    DATA,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PREFACE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    frame,
    headers,
)

BODY = b"file"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n"


@dataclass(frozen=True)
class Silence:
    """When the first connection falls silent."""

    #: Whether the server sends its first bytes: the TLS handshake, or the SETTINGS frame of HTTP/2.
    shakes_hands: bool = True
    sends_settings: bool = True
    #: The number of whole responses before the silence.
    responses: int = 0
    #: Returns what the server sends for the next request before it falls silent. The argument is the stream, or None
    #: over HTTP/1.1.
    part: Callable = field(default=lambda stream: b"")
    #: Whether the silence concerns only uploads: the server responds to downloads, but allows no further body byte.
    only_uploads: bool = False


class SilentServer(AcceptingServer):
    """``with SilentServer(silence, context) as server: server.url``. The protocol is HTTP/2 if ALPN selects it."""

    def __init__(self, silence, context=None):
        super().__init__(context)
        self._silence = silence
        self._lock = threading.Lock()
        self._first = True
        #: What arrives on the first connection: "request", "reset" (RST_STREAM), "pong" (the reply to a PING), "end".
        self.events = []

    @property
    def requests(self):
        return self.events.count("request")

    @property
    def was_given_up(self):
        """Whether the client has given up a request on the first connection, or the connection itself."""
        return "reset" in self.events or "end" in self.events

    def release(self, data):
        """Sends data on the first connection."""
        self._connection.sendall(data)

    def _run(self, connection):
        with self._lock:
            silence, self._first = self._silence if self._first else None, False
        if silence and not silence.shakes_hands:
            with connection:
                self._read_to_end(connection)
            return
        # The silence is passed to `_serve` by the thread.
        threading.current_thread().silence = silence
        try:
            super()._run(connection)
        finally:
            if silence:
                self.events.append("end")

    def _serve(self, connection):
        silence = threading.current_thread().silence
        connection.settimeout(120)
        if silence:
            self._connection = connection
        if self._tls and connection.selected_alpn_protocol() == "h2":
            self._serve_http2(connection, silence)
        else:
            self._serve_http1(connection, silence)

    def _read_to_end(self, connection):
        with suppress(OSError):
            while connection.recv(65_536):
                pass
        self.events.append("end")

    def _serve_http1(self, connection, silence):
        responses = silence.responses if silence else None
        while True:
            head = read_head(connection)
            if silence:
                self.events.append("request")
            if responses == 0:
                connection.sendall(silence.part(None))
                while connection.recv(65_536):
                    pass
                return
            responses = responses and responses - 1
            _read_body(connection, head)
            connection.sendall(OK + BODY)

    def _serve_http2(self, connection, silence):
        reader = connection.makefile("rb")
        assert reader.read(len(PREFACE)) == PREFACE
        if silence is None or silence.sends_settings:
            connection.sendall(frame(SETTINGS, 0, 0))
        uploads, responses, is_silent = set(), silence.responses if silence else None, False
        while head := reader.read(9):
            kind, flags, stream = head[3], head[4], int.from_bytes(head[5:], "big") & 0x7FFF_FFFF
            size = int.from_bytes(head[:3], "big")
            reader.read(size)
            if silence and kind in (HEADERS, RST_STREAM, GOAWAY):
                self.events.append("request" if kind == HEADERS else "reset")
            elif silence and kind == PING:
                self.events.append("pong")
            if is_silent or silence and not silence.sends_settings:
                continue
            if kind == SETTINGS and not flags & ACK:
                connection.sendall(frame(SETTINGS, ACK, 0))
            elif kind == HEADERS and not flags & END_STREAM:
                uploads.add(stream)
            if silence and silence.only_uploads and stream in uploads:
                continue
            if kind == HEADERS and responses == 0:
                connection.sendall(silence.part(stream))
                is_silent = True
            elif kind == DATA and not flags & END_STREAM:
                for number in (0, stream):
                    connection.sendall(frame(WINDOW_UPDATE, 0, number, size.to_bytes(4, "big")))
            elif kind in (HEADERS, DATA) and flags & END_STREAM:
                responses = responses and responses - 1
                connection.sendall(whole(stream))


def whole(stream):
    """Returns a whole response over HTTP/2."""
    return headers(stream, (":status", "200"), ("content-length", "4")) + frame(DATA, END_STREAM, stream, BODY)


def _read_body(connection, head):
    left = 0
    for line in head.lower().split(b"\r\n"):
        if line.startswith(b"content-length:"):
            left = int(line.partition(b":")[2])
    while left > 0:
        left -= len(connection.recv(left))


class SilentTunnel(AcceptingServer):
    """A proxy that sends `part` as the response to the first CONNECT, and then falls silent. If `part` is None, the
    proxy opens all tunnels."""

    def __init__(self, part=None):
        super().__init__()
        self._part = part
        self._lock = threading.Lock()
        self.events = []

    @property
    def was_given_up(self):
        return "end" in self.events

    def _serve(self, connection):
        head = read_head(connection)
        with self._lock:
            part, self._part = self._part, None
        if part is not None:
            self.events.append("request")
            connection.sendall(part)
            while connection.recv(65_536):
                pass
            self.events.append("end")
            return
        host, _, port = head.split()[1].decode().rpartition(":")
        with suppress(OSError), socket.create_connection((host, int(port)), timeout=20) as server:
            connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
            join(connection, server)
