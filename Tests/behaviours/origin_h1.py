"""A scripted HTTP/1.1 server on plain sockets, which decide about every byte."""

import socket
import struct
import threading
from contextlib import suppress

from behaviours.script import Seen

_BLOCK = 16_384


class Origin:
    """``with Origin(scripts) as origin: origin.url``"""

    def __init__(self, scripts, address="127.0.0.1"):
        self._scripts, self._address, self._open = scripts, address, set()

    def __enter__(self):
        self._listener = socket.create_server((self._address, 0), backlog=256)
        self.url = f"http://{self._address}:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, *_):
        for one in [self._listener, *self._open]:
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def _accept(self):
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self._open.add(connection)
                threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        with suppress(OSError, ValueError), connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            reader = connection.makefile("rb")
            while (seen := _read(reader, connection)) is not None:
                if not _send(connection, seen, self._scripts.answer(seen)):
                    break
        self._open.discard(connection)


def _read(reader, connection):
    line = reader.readline(_BLOCK).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while (field := reader.readline(_BLOCK * 8).decode("latin-1").strip()):
        name, _, value = field.partition(":")
        name = name.lower()
        headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    if headers.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
    return Seen(line[0], line[1], headers, _body(reader, headers))


def _body(reader, headers):
    if "chunked" not in headers.get("transfer-encoding", ""):
        return reader.read(int(headers.get("content-length", 0)))
    body = b""
    while (size := int(reader.readline(_BLOCK).split(b";")[0], 16)):
        body += reader.read(size)
        reader.readline(_BLOCK)
    reader.readline(_BLOCK)
    return body


def _send(connection, seen, answer):
    """Whether the connection may be used again."""
    if answer.silent:
        return _wait(connection)
    if answer.raw is not None:
        connection.sendall(answer.raw)
        return False
    for status, fields in answer.interim:
        connection.sendall(_head(status, "Interim", {name: [value] for name, value in fields.items()}))
    headers = dict(answer.headers)
    if answer.framing == "length" and answer.status not in (204, 304):
        headers.setdefault("Content-Length", [str(len(answer.body) if answer.length is None else answer.length)])
    elif answer.framing == "chunked":
        headers["Transfer-Encoding"] = ["chunked"]
    elif answer.framing == "close":
        headers["Connection"] = ["close"]
    connection.sendall(_head(answer.status, answer.reason, headers))
    if seen.method == "HEAD":
        return True
    return _send_body(connection, answer)


def _send_body(connection, answer):
    ends = [end for end in (answer.drop_after, answer.stall_after) if end is not None]
    body = answer.body[:min(ends)] if ends else answer.body
    for start in range(0, len(body), _BLOCK):
        block = body[start:start + _BLOCK]
        connection.sendall(b"%x\r\n%s\r\n" % (len(block), block) if answer.framing == "chunked" else block)
    if answer.stall_after is not None:
        return _wait(connection)
    if answer.drop_after is not None or answer.length is not None:
        return False
    if answer.framing == "chunked":
        connection.sendall(b"0\r\n\r\n")
    return answer.framing != "close"


def _wait(connection):
    connection.recv(1)
    return False


def _head(status, reason, headers):
    lines = [f"HTTP/1.1 {status} {reason}"]
    lines += [f"{name}: {value}" for name, values in headers.items() for value in values]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def reset(connection):
    """Lingering for zero seconds turns close into a reset (socket(7))."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
