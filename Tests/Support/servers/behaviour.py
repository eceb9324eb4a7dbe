"""The faults that a misbehaving server can apply to one request, as plain values."""

from dataclasses import dataclass, field
from typing import Optional

from servers.content import Content


@dataclass(frozen=True)
class Behaviour:
    """One response. Without any field it is correct: ranges, If-Range, validators, the right length."""

    #: Replaces 200, 206 or 416; the body is then ``body``.
    status: Optional[int] = None
    #: The body of a response with its own status.
    body: bytes = b""
    #: Header fields to add or replace; a value of None leaves the field out.
    headers: dict = field(default_factory=dict)
    #: The resource is replaced by this content.
    content: Optional[Content] = None
    #: Responds to a range request with 200 and the complete content.
    ignores_range: bool = False
    #: Serves a range without checking If-Range.
    ignores_if_range: bool = False
    #: Sends the bytes from this offset, whatever the requested range, with the Content-Range that was requested.
    shifted: int = 0
    #: Content-Length is this much larger than the body (smaller if negative).
    length_lie: int = 0
    #: No Content-Length; the body ends with the connection.
    without_length: bool = False
    #: Uses Transfer-Encoding: chunked.
    chunked: bool = False
    #: Ends the connection after so many bytes of the body.
    drop_after: Optional[int] = None
    #: Ends it with a reset instead of an orderly end.
    reset: bool = False
    #: Stops sending after so many bytes of the body, and keeps the connection open.
    stall_after: Optional[int] = None
    #: Sends nothing, not even a status line.
    silent: bool = False
    #: The rate in bytes per second.
    pace: Optional[int] = None
    #: Bytes to send in place of a response; then the connection ends.
    raw: Optional[bytes] = None
    #: Sends a header that never ends.
    endless_header: bool = False


GOOD = Behaviour()


def redirect(location, status=302):
    return Behaviour(status=status, headers={"Location": location})


def retry_after(value, status=503):
    return Behaviour(status=status, headers={"Retry-After": value}, body=b"later\n")
