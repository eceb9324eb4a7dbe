"""A scripted HTTP/1.1 server on plain sockets. A row, which is one case of the table of HTTP behaviours, decides every
byte that the server sends."""

import select
import socket
import ssl
import struct
from contextlib import suppress

from servers import sockets
from servers.accepting import AcceptingServer

from behaviours.row import ReceivedRequest

_BLOCK = 16_384


class Origin(AcceptingServer):
    """``with Origin(scripts) as origin: origin.url``"""

    def __init__(self, scripts, address="127.0.0.1"):
        super().__init__(address=address)
        self._scripts = scripts

    def __enter__(self):
        super().__enter__()
        # The server leaves some large bodies unread. Such a body must not fit into the socket buffers of client and
        # server together.
        self._listeners[self._address].setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 256 * 1024)
        return self

    def _serve(self, connection):
        with suppress(ValueError):
            serve(connection, self._scripts)


def serve(connection, scripts):
    """Responds to the requests of a connection, which may use TLS."""
    reader = connection.makefile("rb")
    while (seen := _read_head(reader)) is not None:
        early = scripts.early(seen)
        if early is None or early.after:
            _send_continue(connection, seen)
        if early is None:
            seen.body = _body(reader, seen.headers)
        elif not _send_early(connection, reader, seen, early, scripts):
            break
        else:
            continue
        if not _send(connection, seen, scripts.response(seen)):
            break


def _read_head(reader):
    line = reader.readline(_BLOCK).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while (field := reader.readline(_BLOCK * 8).decode("latin-1").strip()):
        name, _, value = field.partition(":")
        name = name.lower()
        headers[name] = f"{headers[name]}, {value.strip()}" if name in headers else value.strip()
    return ReceivedRequest(line[0], line[1], headers)


def _send_continue(connection, seen):
    if seen.headers.get("expect", "").lower() == "100-continue":
        connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")


def _body(reader, headers):
    if "chunked" not in headers.get("transfer-encoding", ""):
        return reader.read(int(headers.get("content-length", 0)))
    body = b""
    while (size := int(reader.readline(_BLOCK).split(b";")[0], 16)):
        body += reader.read(size)
        reader.readline(_BLOCK)
    reader.readline(_BLOCK)
    return body


def _send_early(connection, reader, seen, early, scripts):
    """Responds before the body is complete. Returns whether the connection can be used again."""
    size = int(seen.headers["content-length"])
    seen.body = reader.read(min(early.after, size))
    # The code that runs the row waits until `is_arriving` is false for all requests in the log. So the server sets
    # `is_arriving` before `scripts.response` adds this request to the log.
    seen.is_arriving = early.then == "read"
    can_be_used = _send(connection, seen, scripts.response(seen))
    # HTTP/1.1 has no RST_STREAM. Over TLS, the server ends the connection in place of a reset.
    match "close" if isinstance(connection, ssl.SSLSocket) and early.then == "reset" else early.then:
        case "read":
            try:
                # If the client ends the connection, `read` returns only a part of the remaining body.
                seen.body += reader.read(size - len(seen.body))
            finally:
                seen.is_arriving = False
            return can_be_used and len(seen.body) == size
        case "close":
            connection.shutdown(socket.SHUT_WR)
            # Waits until the client ends the connection. `recv` cannot be used, because it would return the unread
            # bytes.
            _wait_for_hangup(connection)
        case "reset":
            sockets.settled(connection)
            reset(connection)
            # The descriptor stays open until the reader of the connection is closed.
            reader.close()
    return False


def _wait_for_hangup(connection):
    poll = select.poll()
    poll.register(connection, select.POLLHUP | select.POLLERR)
    poll.poll(60_000)


def _send(connection, seen, response):
    """Sends the response. Returns whether the connection can be used again."""
    if response.silent:
        return _wait(connection)
    if response.raw is not None:
        connection.sendall(response.raw)
        return False
    for status, fields in response.interim:
        connection.sendall(_head(status, "Interim", {name: [value] for name, value in fields.items()}))
    headers = dict(response.headers)
    if response.framing == "length" and response.status not in (204, 304):
        headers.setdefault("Content-Length", [str(len(response.body) if response.length is None else response.length)])
    elif response.framing == "chunked":
        headers["Transfer-Encoding"] = ["chunked"]
    elif response.framing == "close":
        headers["Connection"] = ["close"]
    connection.sendall(_head(response.status, response.reason, headers))
    if seen.method == "HEAD":
        return True
    return _send_body(connection, response)


def _send_body(connection, response):
    ends = [end for end in (response.drop_after, response.stall_after) if end is not None]
    body = response.body[:min(ends)] if ends else response.body
    for start in range(0, len(body), _BLOCK):
        block = body[start:start + _BLOCK]
        connection.sendall(b"%x\r\n%s\r\n" % (len(block), block) if response.framing == "chunked" else block)
    if response.drip is not None:
        return _drip(connection, response)
    if response.stall_after is not None:
        return _wait(connection)
    if response.drop_after is not None or response.length is not None:
        return False
    if response.framing == "chunked":
        connection.sendall(b"0\r\n\r\n")
    return response.framing != "close"


def _drip(connection, response):
    """Sends bytes until the client ends the connection."""
    data = b"." if response.drip else b"." * _BLOCK
    while not select.select([connection], [], [], response.drip)[0]:
        connection.sendall(b"%x\r\n%s\r\n" % (len(data), data) if response.framing == "chunked" else data)
    return False


def _wait(connection):
    connection.recv(1)
    return False


def _head(status, reason, headers):
    lines = [f"HTTP/1.1 {status} {reason}"]
    lines += [f"{name}: {value}" for name, values in headers.items() for value in values]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("utf-8", "surrogateescape")


def reset(connection):
    """Sets a linger time of zero, so that `close` sends a reset (socket(7))."""
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
