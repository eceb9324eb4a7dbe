"""Rows of the table, and the answers that their servers give, as plain values."""

import hashlib
import random
import re
from dataclasses import dataclass, field, replace
from email.utils import formatdate


@dataclass
class Seen:
    """A request as a server got it."""

    method: str
    path: str
    #: Names in lower case; of several fields with one name the values with commas between.
    headers: dict
    body: bytes = b""
    #: Whether the server still reads the body.
    is_arriving: bool = False

    @property
    def offset(self):
        """Where the asked range begins, or None."""
        found = re.fullmatch(r"bytes=(\d+)-", self.headers.get("range", ""))
        return int(found[1]) if found else None


@dataclass(frozen=True)
class Early:
    """A final response before the request's body has arrived: after so many bytes of it, or with ``after=0`` in the
    place of 100 (Continue)."""

    #: "read" (the server reads the rest), "close" (it reads no more and ends its side of the connection) or "reset":
    #: RST_STREAM with NO_ERROR after the response (RFC 9113, section 8.1), or a reset of the connection of HTTP/1.1
    #: when the client has the response. HTTP/2 has no "close".
    then: str
    #: The window of a stream: none of the body is under way when the server resets the stream.
    after: int = 65_535
    #: RST_STREAM is in a TLS record of its own, behind the response.
    is_apart: bool = False


@dataclass(frozen=True)
class Answer:
    """What a server sends. ``{base}`` and ``{other}`` in a field's value are URLs of this row, at the server that is
    asked and at another origin."""

    status: int = 200
    headers: dict = field(default_factory=dict)
    body: bytes = b""
    #: "length" (Content-Length), "chunked", "close" (its end is the end of the body) or "none". HTTP/2 has its own.
    framing: str = "length"
    #: Instead of the body's length in Content-Length.
    length: int | None = None
    #: The body breaks off after so many bytes.
    drop_after: int | None = None
    #: After so many bytes the server goes silent.
    stall_after: int | None = None
    #: Interim answers before this one: (status, fields).
    interim: tuple = ()
    reason: str = "Because"
    #: These bytes and the end of the connection instead of an answer. HTTP/1.1 alone.
    raw: bytes | None = None
    #: Nothing at all.
    silent: bool = False
    #: After the body one byte more each so many seconds, without end; 0: without a pause. Not with a length that the
    #: body has.
    drip: float | None = None
    #: Not from a function of the request.
    early: Early | None = None

    def but(self, **changes):
        return replace(self, **changes)


class Content:
    """Bytes that a seed determines, with a strong entity tag of their own."""

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
    """A good 200. ``etag=None``: without one."""
    headers = {"Date": formatdate(usegmt=True), "ETag": content.etag if etag == "its own" else etag,
               "Last-Modified": modified, **changes.pop("headers", {})}
    return Answer(200, headers, content.data, **changes)


def rest(content, *, etag="its own", modified=None, shift=0, size=None, status=206, headers=None, through=None,
         **changes):
    """The part that was asked for, whatever If-Range says; ``shift``: from another offset than it claims."""

    def answer(seen):
        start = seen.offset or 0
        end = len(content) if through is None else min(through, len(content))
        fields = {"Date": formatdate(usegmt=True), "ETag": content.etag if etag == "its own" else etag,
                  "Last-Modified": modified,
                  "Content-Range": f"bytes {start}-{end - 1}/{size or len(content)}", **(headers or {})}
        return Answer(status, fields, content.data[start + shift:end + shift], **changes)

    return answer


def unsatisfiable(size, **headers):
    return Answer(416, {"Content-Range": f"bytes */{size}", **headers})


def redirect(location, status=302, **headers):
    return Answer(status, {"Location": location, **headers})


@dataclass(frozen=True)
class Becomes:
    """What the task must be in the end."""

    #: "succeeded", "failed" or "cancelled"; None: not looked at.
    state: str | None = "succeeded"
    #: Name of the status of a task that failed.
    status: str = "OK"
    http_status: int | None = None
    #: What the file holds; None: not looked at.
    file: bytes | None = None
    #: Part of the error's sentence.
    says: str = ""
    #: No part of it.
    says_not: str = ""
    response_body: bytes | None = None
    #: Seconds within which the task must end. The limit finds tasks that do not end, and measures nothing.
    within: float = 60


H1, H2, FORWARD, TUNNEL = "h1", "h2", "forward", "tunnel"
#: HTTP/1.1; HTTP/2 over TLS; HTTP/1.1 forwarded by squid; HTTP/2 over TLS in a tunnel through squid.
EVERY = (H1, H2, FORWARD, TUNNEL)
#: What a conforming proxy changes on its way: it answers itself, repeats, or mends.
UNCHANGED = (H1, H2, TUNNEL)


@dataclass(frozen=True)
class Row:
    """One behaviour."""

    name: str
    #: "the server … : the task …"
    what: str
    #: Path below the row's URL -> its answers in turn, the last one again and again; a function of the request or an
    #: Answer each.
    script: dict
    becomes: Becomes
    #: Fields of backhaul.Request, but the URL; "body_size": of a file to send.
    request: dict = field(default_factory=dict)
    #: Fields of backhaul.SessionConfiguration.
    session: dict = field(default_factory=dict)
    #: For each request in the order of arrival: a dict of "method", "path" and header fields that it must have (None:
    #: must not have; a function: must hold for its value). None: not looked at.
    asked: tuple | None = None
    carriers: tuple = EVERY
    #: Where the behaviour is described.
    source: str = ""
    #: Where the task's URL points below the row's.
    start: str = "file"
