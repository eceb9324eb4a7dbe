"""Bytes that a server sends although they belong to no request."""

import random


def marked(mark):
    """Returns a text that is in each body below. No response of a server to a request has this text."""
    return f"junk {mark}".encode()


def _message(status, reason, body, *fields):
    head = [f"HTTP/1.1 {status} {reason}", *fields, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(head).encode() + body


def _ok(mark):
    return _message(200, "OK", marked(mark), f'ETag: "{mark}"')


def _created(mark):
    return _message(201, "Created", marked(mark))


def _missing(mark):
    return _message(404, "Not Found", marked(mark))


def _partial(mark):
    body = marked(mark)
    return _message(206, "Partial Content", body, f"Content-Range: bytes 0-{len(body) - 1}/{len(body)}")


def _chunked(mark):
    body = marked(mark)
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)


def _no_content(_):
    return b"HTTP/1.1 204 No Content\r\n\r\n"


def _unchanged(mark):
    return f'HTTP/1.1 304 Not Modified\r\nETag: "{mark}"\r\n\r\n'.encode()


def _interim(_):
    return b"HTTP/1.1 100 Continue\r\n\r\n"


def _line_end(_):
    return b"\r\n"


def _part_of_line(_):
    return b"HTTP/1.1 2"


def _second_half(mark):
    return b"the rest of a body, " + marked(mark)


def _random(mark):
    source = random.Random(mark)
    return source.randbytes(source.randint(1, 300))


def _record(mark):
    """Returns bytes in the form of a TLS record with application data."""
    body = random.Random(mark).randbytes(64)
    return b"\x17\x03\x03" + len(body).to_bytes(2, "big") + body


def _many(mark):
    return _ok(mark) + _missing(mark) + _created(mark)


def _too_late(mark):
    """Returns the response that servers send on a connection that was idle for too long."""
    return _message(408, "Request Timeout", marked(mark), "Connection: close")


_MAKERS = {
    "ok": _ok, "created": _created, "missing": _missing, "partial": _partial, "chunked": _chunked,
    "no-content": _no_content, "unchanged": _unchanged, "interim": _interim, "line-end": _line_end,
    "part-of-line": _part_of_line, "second-half": _second_half, "random": _random, "record": _record, "many": _many,
    "too-late": _too_late,
}
KINDS = tuple(_MAKERS)


def junk(kind, mark):
    """Returns the bytes of one of KINDS. The same mark gives the same bytes."""
    return _MAKERS[kind](mark)
