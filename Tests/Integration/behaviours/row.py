"""The types of a table of HTTP behaviours. Each row states what a test server sends, and how the task must end."""

import hashlib
import random
import re
from dataclasses import dataclass, field, replace
from email.utils import formatdate


@dataclass
class ReceivedRequest:
    """A request as a server received it."""

    method: str
    path: str
    #: Names are in lower case. The values of several fields with one name are joined with commas.
    headers: dict
    body: bytes = b""
    #: Whether the server still reads the body.
    is_arriving: bool = False

    @property
    def offset(self):
        """Returns the offset at which the requested range begins, or None."""
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", ""))
        return int(found[1]) if found else None


@dataclass(frozen=True)
class Early:
    """A final response that the server sends before it has the whole request body. The server sends the response after
    ``after`` bytes of the body. With ``after=0``, the server sends the response in place of 100 (Continue)."""

    #: What the server does after the response. "read": the server reads the rest of the body. "close": the server stops
    #: reading, and ends its side of the connection. HTTP/2 has no "close". "reset": over HTTP/2, the server sends
    #: RST_STREAM with NO_ERROR (RFC 9113, section 8.1). Over HTTP/1.1, the server resets the connection when the client
    #: has the response.
    then: str
    #: The number of bytes of the body that the server reads before the response. The default is the first flow-control
    #: window of a stream. HTTP/2 forbids the client to send more than this window. So if the server has read the
    #: window, no further byte is in flight when the server resets the stream.
    after: int = 65_535
    #: Whether RST_STREAM is sent in its own TLS record, after the response.
    is_apart: bool = False


@dataclass(frozen=True)
class Response:
    """A response of a server. In the value of a header field, ``{base}`` stands for the URL of the row (see `Row`) at
    the server that got the request. ``{other}`` stands for the URL of the row at another origin."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    #: How the end of the body is marked: "length" (Content-Length), "chunked", "close" (the body ends with the
    #: connection) or "none". HTTP/2 uses its own framing.
    framing: str = "length"
    #: The value of Content-Length, if it differs from the body's length.
    length: int | None = None
    #: The number of bytes after which the server cuts off the body.
    drop_after: int | None = None
    #: The error code of RST_STREAM with which the server cuts off the body over HTTP/2. 2 is INTERNAL_ERROR.
    stream_error: int = 2
    #: The number of bytes after which the server stops sending, and keeps the connection open.
    stall_after: int | None = None
    #: The interim responses before this response: (status, fields).
    interim: tuple = ()
    reason: str = "Because"
    #: The bytes that the server sends in place of the response, before it ends the connection. Only over HTTP/1.1.
    raw: bytes | None = None
    #: Whether the server sends no response.
    silent: bool = False
    #: If ``drip`` is a number, the server sends further bytes after the body, and never stops. The number is the pause
    #: in seconds before each of these bytes. The number 0 means no pause. If ``length`` is set, ``length`` must be
    #: larger than the number of bytes that the server sends during the test.
    drip: float | None = None
    #: How the server sends the response before it has the request's body. None means that the response follows the
    #: body. Only a Response in `Row.script` may have this field. If a function returns the Response, the server ignores
    #: this field.
    early: Early | None = None

    def with_changes(self, **changes):
        return replace(self, **changes)


class Content:
    """Bytes that a seed determines, and a strong entity tag for them."""

    def __init__(self, size=60_000, seed=1):
        self.data = random.Random(f"{seed}:{size}").randbytes(size)
        self.etag = f'"{seed}-{size}"'

    def __len__(self):
        return len(self.data)

    @property
    def sha256(self):
        return "sha-256:" + hashlib.sha256(self.data).hexdigest()


MODIFIED = "Wed, 21 Oct 2015 07:28:00 GMT"


def whole(content, *, etag="its own", modified=None, **changes):
    """Returns a valid 200 response. With ``etag=None``, the response has no entity tag."""
    headers = {"Date": formatdate(usegmt=True), "ETag": content.etag if etag == "its own" else etag,
               "Last-Modified": modified, **changes.pop("headers", {})}
    return Response(200, headers, content.data, **changes)


def rest(content, *, etag="its own", modified=None, shift=0, size=None, status=206, headers=None, through=None,
         **changes):
    """Returns a function that responds with the requested range, and ignores If-Range. The bytes begin ``shift`` bytes
    after the offset in Content-Range."""

    def respond(seen):
        start = seen.offset or 0
        end = len(content) if through is None else min(through, len(content))
        fields = {"Date": formatdate(usegmt=True), "ETag": content.etag if etag == "its own" else etag,
                  "Last-Modified": modified,
                  "Content-Range": f"bytes {start}-{end - 1}/{size or len(content)}", **(headers or {})}
        return Response(status, fields, content.data[start + shift:end + shift], **changes)

    return respond


def unsatisfiable(size, **headers):
    return Response(416, {"Content-Range": f"bytes */{size}", **headers})


def redirect(location, status=302, **headers):
    return Response(status, {"Location": location, **headers})


@dataclass(frozen=True)
class Expected:
    """The expected end of the task."""

    #: "succeeded", "failed" or "cancelled". None means that the state is not compared.
    state: str | None = "succeeded"
    #: The name of the expected status of a failed task.
    status: str = "OK"
    http_status: int | None = None
    #: The expected content of the file. None means that the content is not compared.
    file: bytes | None = None
    #: Text that the error message must contain.
    message: str = ""
    #: Text that the error message must not contain.
    message_without: str = ""
    response_body: bytes | None = None
    error_body: bytes | None = None
    #: Seconds within which the task must end. The limit finds tasks that never end; it does not measure speed.
    within: float = 60


H1, H2, FORWARD, TUNNEL = "h1", "h2", "forward", "tunnel"
#: In this order: HTTP/1.1; HTTP/2 over TLS; HTTP/1.1 that squid forwards; HTTP/2 over TLS in a tunnel through squid.
ALL_TRANSPORTS = (H1, H2, FORWARD, TUNNEL)
#: The transports on which no proxy changes the messages. A conforming proxy that reads the messages may respond itself,
#: repeat requests or correct messages.
UNCHANGED = (H1, H2, TUNNEL)


@dataclass(frozen=True)
class Row:
    """One behaviour of a server, and the expected end of the task."""

    name: str
    #: The text "the server … : the task …" for docs/http.md.
    what: str
    #: Maps a path below the row's URL to the responses, in their order. The server repeats the last response. Each
    #: response is a Response, or a function that returns a Response for a request.
    script: dict
    expected: Expected
    #: Fields of backhaul.Request except the URL, and values for the code that runs the row, such as "body_size" (the
    #: size of a file to send).
    request: dict = field(default_factory=dict)
    #: Fields of backhaul.SessionConfiguration.
    session: dict = field(default_factory=dict)
    #: The expected requests, in the order of arrival. None means that the requests are not compared. Each request is a
    #: dict of "method", "path", "body" and header fields. A value in the dict is the expected value. If the value is
    #: None, the field must be absent. If the value is a function, the function must return true for the received value.
    asked: tuple | None = None
    transports: tuple = ALL_TRANSPORTS
    #: The document that describes the behaviour.
    source: str = ""
    #: The path of the task's URL, below the row's URL.
    start: str = "file"
