"""The faults that a misbehaving server can apply to one request, as plain values."""

from dataclasses import dataclass, field

from servers.content import Content


@dataclass(frozen=True)
class Behaviour:
    """One response. If no field is set, the response is correct: it supports ranges and If-Range, and has validators
    and the right length."""

    #: The status in place of 200, 206 or 416. The response then has the body ``body``.
    status: int | None = None
    #: The body of a response with ``status``.
    body: bytes = b""
    #: Header fields to add or replace. If a value is None, the header field is left out.
    headers: dict = field(default_factory=dict)
    #: The content that replaces the resource.
    content: Content | None = None
    #: Whether the server responds to a range request with 200 and the complete content.
    ignores_range: bool = False
    #: Whether the server sends a range without a check of If-Range.
    ignores_if_range: bool = False
    #: The distance, in bytes, from the requested offset to the offset of the first sent byte. Content-Range has the
    #: requested range.
    shifted: int = 0
    #: By how many bytes Content-Length exceeds the body. If this number is negative, Content-Length is too small.
    length_lie: int = 0
    #: Whether Content-Length is left out. In this case the body ends with the connection.
    without_length: bool = False
    #: Whether the body has Transfer-Encoding: chunked.
    chunked: bool = False
    #: The number of bytes of the body after which the connection ends.
    drop_after: int | None = None
    #: Whether the connection ends with a reset.
    reset: bool = False
    #: The number of bytes of the body after which the server stops sending. The connection stays open.
    stall_after: int | None = None
    #: Whether the server sends nothing, not even a status line.
    silent: bool = False
    #: The rate, in bytes per second, at which the body is sent.
    pace: int | None = None
    #: The bytes that are sent in place of a response, before the connection ends.
    raw: bytes | None = None
    #: Whether the server sends a header that never ends.
    endless_header: bool = False


GOOD = Behaviour()


def redirect(location, status=302):
    return Behaviour(status=status, headers={"Location": location})


def retry_after(value, status=503):
    return Behaviour(status=status, headers={"Retry-After": value}, body=b"later\n")
