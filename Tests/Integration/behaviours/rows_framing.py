"""Where a body ends: RFC 9112, section 6; RFC 9113, section 8.1."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). "Drops" means that the server ends the connection inside the body.

import gzip

from behaviours.row import Content, Expected, Response, Row, whole

FILE = Content()
EMPTY = Content(0)
GOOD = Expected(file=FILE.data)
GZIPPED = gzip.compress(FILE.data)
#: The request time-out is longer than the time limit of a row, so a row fails if its task waits for the rest of a
#: body.
PATIENT = {"request_timeout_ms": 300_000}
#: A short request time-out. On a busy machine, any number of attempts may end with it.
IMPATIENT = {"request_timeout_ms": 400, "maximum_attempts": 0}

ROWS = [
    Row("body-length", "sends Content-Length: the file has that size", {"file": (whole(FILE),)}, GOOD,
        source="RFC 9112, 6.2"),
    Row("body-chunked", "sends a chunked body: the file is the content of the chunks",
        {"file": (whole(FILE, framing="chunked"),)}, GOOD,
        source="RFC 9112, 7.1"),
    Row("body-until-close", "marks the end of the body by closing the connection: the file has all bytes that arrived",
        {"file": (whole(FILE, framing="close"),)}, GOOD, source="RFC 9112, 6.3"),
    Row("body-empty", "sends an empty body: the file is empty", {"file": (whole(EMPTY),)}, Expected(file=b"")),
    Row("body-204", "responds with 204: the file is empty",
        {"file": (Response(204),)}, Expected(http_status=204, file=b""),
        source="RFC 9110, 15.3.5"),
    Row("body-short", "always sends fewer bytes than it announced: the task retries, then fails with "
        "`BH_CONNECTION_LOST`",
        {"file": (whole(FILE, etag=None, drop_after=10),)}, Expected("failed", "CONNECTION_LOST"),
        session={"maximum_attempts": 2}),
    Row("body-short-chunks", "drops the connection inside a chunked body: the task retries, because the received part "
        "is not the whole file",
        {"file": (whole(FILE, etag=None, framing="chunked", drop_after=100), whole(FILE))}, GOOD),
    Row("body-bad-chunk", "sends a chunk size that is not a number: the task fails",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n"),)},
        Expected("failed"), session={"maximum_attempts": 2}, transports=("h1",), source="RFC 9112, 7.1"),
    Row("body-two-lengths", "sends two different Content-Length fields: the task fails with `BH_BAD_RESPONSE`",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),)},
        Expected("failed", "BAD_RESPONSE"), session={"maximum_attempts": 2}, transports=("h1",),
        source="RFC 9112, 6.3"),
    Row("body-length-words", "sends a Content-Length that is not a number: the task fails with `BH_BAD_RESPONSE`",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabcd"),)},
        Expected("failed", "BAD_RESPONSE"), session={"maximum_attempts": 2}, transports=("h1",)),
    Row("body-length-negative", "sends a negative Content-Length: the task fails with `BH_BAD_RESPONSE`",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nabcd"),)},
        Expected("failed", "BAD_RESPONSE"), session={"maximum_attempts": 2}, transports=("h1",)),
    Row("body-length-huge", "announces more bytes than a file can have: the task fails at once with `BH_TOO_LARGE`",
        {"file": (Response(200, {"Content-Length": "99999999999999999999"}, b"abc"),)},
        Expected("failed", "TOO_LARGE"), session=PATIENT, transports=("h1",)),
    Row("body-length-huge-for-disk", "announces more bytes than the file system has space for: the task fails at once "
        "with `BH_TOO_LARGE`",
        {"file": (Response(200, {"Content-Length": str(2**63 - 1)}, b"abc"),)},
        Expected("failed", "TOO_LARGE", message=f"announced {2**63 - 1} bytes"), session=PATIENT, transports=("h1",)),
    Row("body-chunked-and-length", "sends both a chunked body and Content-Length: the task ignores Content-Length",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\n"
                               b"Connection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),)},
        Expected(file=b"abc"), transports=("h1",), source="RFC 9112, 6.3: Transfer-Encoding overrides Content-Length"),
    Row("body-trailers", "sends trailer fields: the task ignores them",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                               b"3\r\nabc\r\n0\r\n"
                               b"ETag: \"x\"\r\n\r\n"),)}, Expected(file=b"abc"), transports=("h1",)),
    Row("body-too-much", "sends more bytes than it announced: the file has only the announced number of bytes",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"),)}, Expected(file=b"abc"),
        transports=("h1",)),
    *(Row(f"transfer-coding-{name}", f"sends the transfer coding {coding!r}: the task fails with `BH_BAD_RESPONSE`",
          {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding.encode() + b"\r\n\r\n" + body),)},
          Expected("failed", "BAD_RESPONSE", message="Transfer-Encoding"), asked=({},), transports=("h1",),
          source="RFC 9112, 6.1")
      for name, coding, body in (
          ("gzip", "gzip", GZIPPED), ("x-gzip", "x-gzip", GZIPPED), ("deflate", "deflate", b"abc"),
          ("br", "br", b"abc"),
          ("gzip-chunked", "gzip, chunked", b"3\r\nabc\r\n0\r\n\r\n"),
          ("twice", "chunked, chunked", b"3\r\nabc\r\n0\r\n\r\n"),
          ("chunked-first", "chunked, gzip", b"3\r\nabc\r\n0\r\n\r\n"),
          ("control", "chun\x7fked", b"3\r\nabc\r\n0\r\n\r\n"), ("none", "", b"abc"))),
    Row("transfer-coding-identity", "sends the transfer coding `identity`: the file has all bytes up to the end of the "
        "connection",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\n\r\nabc"),)},
        Expected(file=b"abc"), asked=({},), transports=("h1",), source="RFC 2616, 3.6"),
    *(Row(f"transfer-coding-identity-{name}", f"sends the transfer coding `identity` and Content-Length{what}, and "
          "keeps the connection open: the file has that size",
          {"file": (Response(200, {"Transfer-Encoding": "identity"}, content.data),)}, Expected(file=content.data),
          asked=({},), session=PATIENT, transports=("h1",), source="RFC 2616, 4.4")
      for name, what, content in (("length", "", FILE), ("empty", " 0", EMPTY))),
    Row("transfer-coding-identity-short", "sends the transfer coding `identity` and fewer bytes than Content-Length: "
        "the task fails with `BH_CONNECTION_LOST`",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 9\r\n\r\nabc"),)},
        Expected("failed", "CONNECTION_LOST"), session={"maximum_attempts": 1}, transports=("h1",),
        source="RFC 2616, 4.4"),
    Row("transfer-coding-two-fields", "sends two fields `Transfer-Encoding: chunked`: the task fails with "
        "`BH_BAD_RESPONSE`",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
                               b"3\r\nabc\r\n0\r\n\r\n"),)},
        Expected("failed", "BAD_RESPONSE"), asked=({},), transports=("h1",), source="RFC 9112, 6.1"),
    *(Row(f"folded-{name.lower()}", f"folds {name} over two lines: the task fails with `BH_BAD_RESPONSE`",
          {"file": (Response(raw=b"HTTP/1.1 200 OK\r\n" + name.encode() + b":\r\n " + value + b"\r\n\r\n"
                                 b"3\r\nabc\r\n0\r\n\r\n"),)},
          Expected("failed", "BAD_RESPONSE"), asked=({},), transports=("h1",), source="RFC 9112, 5.2")
      for name, value in (("Transfer-Encoding", b"chunked"), ("Content-Length", b"3"))),
    Row("transfer-coding-case", "writes the transfer coding as CHUNKED: the file is the content of the chunks",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),)},
        Expected(file=b"abc"), transports=("h1",), source="RFC 9112, 7"),
    Row("body-chunk-syntax", "sends an invalid chunk size after a valid chunk: the task fails with `BH_BAD_RESPONSE`, "
        "and does not retry",
        {"file": (Response(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n"),)},
        Expected("failed", "BAD_RESPONSE"), asked=({},), transports=("h1",), source="RFC 9112, 7.1"),
    Row("body-205", "sends a body with 205: the task fails, and the error message says that 205 has no body",
        {"file": (Response(raw=b"HTTP/1.1 205 Reset Content\r\nContent-Length: 6\r\n\r\nabcdef"),)},
        Expected("failed", "BAD_RESPONSE", message="which has none"), session={"maximum_attempts": 2},
        transports=("h1",),
        source="RFC 9110, 15.3.6"),
    Row("body-coded", "sends a body with a Content-Encoding: the file has the encoded bytes, because the engine does "
        "not decode bodies",
        {"file": (Response(200, {"Content-Encoding": "gzip"}, b"not even gzip"),)}, Expected(file=b"not even gzip"),
        asked=({"accept-encoding": None},), transports=("h1", "h2", "tunnel")),
    Row("interim-100", "sends 100 before its final response: the task ignores the 100",
        {"file": (whole(FILE, interim=((100, {}),)),)}, GOOD, transports=("h1",), source="RFC 9110, 15.2"),
    Row("interim-103", "sends early hints (103): the task ignores them",
        {"file": (whole(FILE, interim=((103, {"link": "</style.css>; rel=preload"}),)),)}, GOOD,
        transports=("h1", "h2", "tunnel"), source="RFC 8297"),
    Row("silent", "sends no response: the task retries after the request time-out", {"file": (Response(silent=True),
        whole(FILE))},
        GOOD, session=IMPATIENT, transports=("h1", "h2", "tunnel")),
    Row("stalled", "stops sending inside the body: after the request time-out, the task requests the rest",
        {"file": (lambda seen: _rest(seen),)}, GOOD, session=IMPATIENT, transports=("h1", "h2", "tunnel")),
    Row("too-large", "announces more than `maximum_size` bytes: the task fails before it receives the body",
        {"file": (whole(FILE),)},
        Expected("failed", "TOO_LARGE"), request={"policy": {"maximum_size": 1_000}}),
    Row("too-large-chunked", "announces no length and sends more than `maximum_size` bytes: the task fails at this "
        "limit",
        {"file": (whole(FILE, framing="chunked"),)}, Expected("failed", "TOO_LARGE"),
        request={"policy": {"maximum_size": 1_000}}),
]


def _rest(seen):
    """Stalls until a request has a range. An attempt may time out before a byte has arrived."""
    from behaviours.row import rest

    return whole(FILE, stall_after=30_000) if seen.offset is None else rest(FILE)(seen)
