"""What a misbehaving server may do to one request, as plain values."""

from dataclasses import dataclass, field
from typing import Optional

from servers.content import Content


@dataclass(frozen=True)
class Behaviour:
    """One answer. Without any field it is a good answer: ranges, If-Range, validators, the right length."""

    #: Instead of 200, 206 or 416; the body is then ``body``.
    status: Optional[int] = None
    #: Body of an answer with a status of its own.
    body: bytes = b""
    #: Added header fields, or replaced ones; a value of None leaves the field out.
    headers: dict = field(default_factory=dict)
    #: The resource has become this one.
    content: Optional[Content] = None
    #: Answers a range with 200 and everything.
    ignores_range: bool = False
    #: Answers a range without looking at If-Range.
    ignores_if_range: bool = False
    #: Sends the bytes from here whatever was asked for, under the Content-Range that was asked for.
    shifted: int = 0
    #: Content-Length is this much larger than the body (smaller when negative).
    length_lie: int = 0
    #: No Content-Length; the end of the connection ends the body.
    without_length: bool = False
    #: Transfer-Encoding: chunked.
    chunked: bool = False
    #: Ends the connection after so many bytes of the body.
    drop_after: Optional[int] = None
    #: … with a reset instead of an orderly end.
    reset: bool = False
    #: Sends nothing more after so many bytes of the body, and keeps the connection.
    stall_after: Optional[int] = None
    #: Sends nothing at all: not even a status line.
    silent: bool = False
    #: Bytes a second.
    pace: Optional[int] = None
    #: Sent as they are instead of an answer; then the connection ends.
    raw: Optional[bytes] = None
    #: A header that never ends.
    endless_header: bool = False


GOOD = Behaviour()


def redirect(location, status=302):
    return Behaviour(status=status, headers={"Location": location})


def retry_after(value, status=503):
    return Behaviour(status=status, headers={"Retry-After": value}, body=b"later\n")
