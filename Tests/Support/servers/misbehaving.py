"""An HTTP/1.1 server that shows the faults of real servers on purpose, and logs its requests.

The server uses one thread for each connection and plain sockets. So a test decides every byte and every reset.
"""

import re
import socket
import struct
import threading
import time
from dataclasses import dataclass, field
from email.utils import formatdate

from servers.accepting import AcceptingServer
from servers.behaviour import GOOD, Behaviour
from servers.content import Content

_BLOCK = 16_384


@dataclass
class ReceivedRequest:
    """A request in the log."""

    path: str
    headers: dict
    status: int = 0
    #: Body bytes written to the connection.
    sent: int = 0
    #: Whether the response has ended. An incomplete response counts, too.
    ended: bool = False

    @property
    def range(self):
        return self.headers.get("range")

    @property
    def if_range(self):
        return self.headers.get("if-range")

    @property
    def offset(self):
        """The offset at which the requested range begins. It is 0 if the request has no range."""
        found = re.fullmatch(r"bytes=(\d+)-(\d*)", self.range or "bytes=0-")
        return int(found[1]) if found else None

    @property
    def last(self):
        """The offset of the last requested byte. None: all bytes up to the end are requested."""
        found = re.fullmatch(r"bytes=\d+-(\d+)", self.range or "")
        return int(found[1]) if found else None


@dataclass
class Resource:
    """A path with its content, and the responses to the next requests for this path."""

    content: Content
    #: Each behaviour is used for one request. When all behaviours are used, ``otherwise`` applies.
    behaviours: list = field(default_factory=list)
    otherwise: Behaviour = GOOD
    etag: object = None
    last_modified: object = None
    #: The Authorization field that a request must have. A request without this field gets a 401 with ``challenge``.
    authorization: object = None
    challenge: object = None

    def next(self, asked):
        if self.authorization not in (None, asked.headers.get("authorization")):
            return Behaviour(status=401, body=b"who?\n", headers={"WWW-Authenticate": self.challenge})
        return self.behaviours.pop(0) if self.behaviours else self.otherwise


class MisbehavingServer(AcceptingServer):
    """``with MisbehavingServer() as server: url = server.serve("/a", Content(1000), [Behaviour(drop_after=10)])``"""

    def __init__(self, tls=None, address="127.0.0.1"):
        super().__init__(tls, address)
        self._resources = {}
        self._log = []
        self._changed = threading.Condition()

    def serve(self, path, content, behaviours=(), *, otherwise=GOOD, etag="of the content", last_modified=None,
              authorization=None, challenge='Basic realm="staff"'):
        """Serves a path and returns its URL.

        By default, ``etag`` is made from the content. If ``etag`` is None, the response has no entity tag. If
        ``authorization`` is given, a request without this Authorization field gets a 401 with the ``challenge``.
        """
        with self._changed:
            self._resources[path] = Resource(content, list(behaviours), otherwise, etag, last_modified,
                                             authorization, challenge)
        return self.url + path

    def log(self, path=None):
        """Returns the requests so far, for one path or for all paths."""
        with self._changed:
            return [asked for asked in self._log if path in (None, asked.path)]

    def wait_until(self, condition, timeout=20):
        """Waits until ``condition(log)`` is true."""
        with self._changed:
            if not self._changed.wait_for(lambda: condition(list(self._log)), timeout):
                raise TimeoutError(f"the condition is still false after {len(self._log)} requests")

    def _serve(self, connection):
        reader = connection.makefile("rb")
        while (asked := _read_request(reader)) is not None:
            if not self._respond(connection, asked):
                break

    def _respond(self, connection, asked):
        """Responds to the request. Returns whether the connection can be used again."""
        with self._changed:
            resource = self._resources.get(asked.path)
            behaviour = resource.next(asked) if resource else Behaviour(status=404, body=b"there is nothing here\n")
            self._log.append(asked)
            self._changed.notify_all()
        try:
            return _Response(connection, asked, resource, behaviour, self._note).send()
        finally:
            asked.ended = True
            self._note()

    def _note(self):
        with self._changed:
            self._changed.notify_all()


def _read_request(reader):
    line = reader.readline(65_536).decode("latin-1").split()
    if len(line) != 3:
        return None
    headers = {}
    while (field_line := reader.readline(65_536).decode("latin-1").strip()):
        name, _, value = field_line.partition(":")
        headers[name.lower()] = value.strip()
    return ReceivedRequest(line[1], headers)


class _Response:
    """Sends the response to one request, as its behaviour says."""

    def __init__(self, connection, asked, resource, behaviour, note):
        self._connection, self._asked, self._resource = connection, asked, resource
        self._behaviour, self._note = behaviour, note

    def send(self):
        behaviour = self._behaviour
        if behaviour.silent:
            return self._stall()
        if behaviour.raw is not None:
            self._connection.sendall(behaviour.raw)
            return self._end()
        if behaviour.endless_header:
            return self._endless_header()
        status, headers, body = self._compose()
        self._asked.status = status
        self._connection.sendall(_head(status, headers))
        return self._send_body(body)

    def _compose(self):
        behaviour, resource = self._behaviour, self._resource
        if behaviour.status is not None:
            headers = {"Content-Length": str(len(behaviour.body) + behaviour.length_lie), **behaviour.headers}
            return behaviour.status, headers, behaviour.body
        content = behaviour.content or resource.content
        etag = content.etag if resource.etag == "of the content" else resource.etag
        # Without a Date a client cannot know whether Last-Modified is a strong validator (RFC 9110, section 8.8.2.2).
        headers = {"Date": formatdate(usegmt=True), "Accept-Ranges": "bytes", "ETag": etag,
                   "Content-Type": "application/octet-stream", "Last-Modified": resource.last_modified}
        status, body = self._range(content, etag, headers)
        if behaviour.chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif not behaviour.without_length:
            headers["Content-Length"] = str(len(body) + behaviour.length_lie)
        headers.update(behaviour.headers)
        return status, headers, body

    def _range(self, content, etag, headers):
        """Returns the status and the body for the requested range (RFC 9110, section 14)."""
        asked, behaviour = self._asked, self._behaviour
        current = behaviour.ignores_if_range or asked.if_range in (None, etag, self._resource.last_modified)
        if asked.range is None or asked.offset is None or behaviour.ignores_range or not current:
            return 200, content.data
        if asked.offset >= content.size:
            headers["Content-Range"] = f"bytes */{content.size}"
            return 416, b""
        last = content.size - 1 if asked.last is None else min(asked.last, content.size - 1)
        headers["Content-Range"] = f"bytes {asked.offset}-{last}/{content.size}"
        start = asked.offset + behaviour.shifted
        return 206, content.data[start:start + last + 1 - asked.offset]

    def _send_body(self, body):
        behaviour = self._behaviour
        limit = len(body)
        for stop in (behaviour.drop_after, behaviour.stall_after):
            limit = limit if stop is None else min(limit, stop)
        block = _BLOCK if behaviour.pace is None else max(1, min(_BLOCK, behaviour.pace // 20))
        for start in range(0, limit, block):
            self._send_block(body[start:min(limit, start + block)])
            if behaviour.pace is not None:
                time.sleep(block / behaviour.pace)
        if behaviour.stall_after is not None:
            return self._stall()
        if behaviour.drop_after is not None or behaviour.without_length or behaviour.length_lie:
            return self._end()
        if behaviour.chunked:
            self._connection.sendall(b"0\r\n\r\n")
        return True

    def _send_block(self, block):
        framed = b"%x\r\n%s\r\n" % (len(block), block) if self._behaviour.chunked else block
        self._connection.sendall(framed)
        self._asked.sent += len(block)
        self._note()

    def _stall(self):
        """Waits until the client disconnects or the server is closed. In both cases the connection ends, and ``recv``
        returns."""
        self._connection.recv(1)
        return False

    def _end(self):
        if self._behaviour.reset:
            # With a linger time of zero, `close` sends a reset (socket(7)).
            self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return False

    def _endless_header(self):
        self._connection.sendall(b"HTTP/1.1 200 OK\r\n")
        number = 0
        while True:
            number += 1
            self._connection.sendall(f"X-Endless-{number}: {'again and ' * 100}\r\n".encode())


def _head(status, headers):
    lines = [f"HTTP/1.1 {status} Because"]
    lines += [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
