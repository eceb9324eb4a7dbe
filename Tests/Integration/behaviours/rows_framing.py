"""Where a body ends: RFC 9112, section 6; RFC 9113, section 8.1."""

import gzip

from behaviours.script import Answer, Becomes, Content, Row, whole

FILE = Content()
EMPTY = Content(0)
GOOD = Becomes(file=FILE.data)
GZIPPED = gzip.compress(FILE.data)
#: A task that waits for the rest of a body does not end before its test ends.
PATIENT = {"request_timeout_ms": 300_000}

ROWS = [
    Row("body-length", "sends Content-Length: the file has that size", {"file": (whole(FILE),)}, GOOD,
        source="RFC 9112, 6.2"),
    Row("body-chunked", "sends chunks: the file is what they hold", {"file": (whole(FILE, framing="chunked"),)}, GOOD,
        source="RFC 9112, 7.1"),
    Row("body-until-close", "ends the body with the connection: the file is what came",
        {"file": (whole(FILE, framing="close"),)}, GOOD, source="RFC 9112, 6.3"),
    Row("body-empty", "sends an empty body: the file is empty", {"file": (whole(EMPTY),)}, Becomes(file=b"")),
    Row("body-204", "has no content: the file is empty", {"file": (Answer(204),)}, Becomes(http_status=204, file=b""),
        source="RFC 9110, 15.3.5"),
    Row("body-short", "sends less than it announced, always: it is tried again, then fails as a lost connection",
        {"file": (whole(FILE, etag=None, drop_after=10),)}, Becomes("failed", "CONNECTION_LOST"),
        session={"maximum_attempts": 2}),
    Row("body-short-chunks", "breaks off in the middle of chunks: it is no file",
        {"file": (whole(FILE, etag=None, framing="chunked", drop_after=100), whole(FILE))}, GOOD),
    Row("body-bad-chunk", "sends a chunk whose size is no number: it is no file",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nabc\r\n"),)},
        Becomes("failed"), session={"maximum_attempts": 2}, carriers=("h1",), source="RFC 9112, 7.1"),
    Row("body-two-lengths", "sends two different lengths: the answer breaks the rules",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd"),)},
        Becomes("failed", "BAD_RESPONSE"), session={"maximum_attempts": 2}, carriers=("h1",), source="RFC 9112, 6.3"),
    Row("body-length-words", "sends a length that is no number: the answer breaks the rules",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nabcd"),)},
        Becomes("failed", "BAD_RESPONSE"), session={"maximum_attempts": 2}, carriers=("h1",)),
    Row("body-length-negative", "sends a negative length: the answer breaks the rules",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: -4\r\n\r\nabcd"),)},
        Becomes("failed", "BAD_RESPONSE"), session={"maximum_attempts": 2}, carriers=("h1",)),
    Row("body-length-huge", "announces more bytes than a file can have: it is too large, at once",
        {"file": (Answer(200, {"Content-Length": "99999999999999999999"}, b"abc"),)},
        Becomes("failed", "TOO_LARGE"), session=PATIENT, carriers=("h1",)),
    Row("body-length-huge-for-disk", "announces more bytes than the file system has: it is too large, at once",
        {"file": (Answer(200, {"Content-Length": str(2**63 - 1)}, b"abc"),)},
        Becomes("failed", "TOO_LARGE", says=f"announced {2**63 - 1} bytes"), session=PATIENT, carriers=("h1",)),
    Row("body-chunked-and-length", "sends chunks and a length: the chunks hold",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 99\r\nConnection: close"
                             b"\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),)}, Becomes(file=b"abc"), carriers=("h1",),
        source="RFC 9112, 6.3: Transfer-Encoding overrides Content-Length"),
    Row("body-trailers", "sends trailer fields: they change nothing",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
                             b"3\r\nabc\r\n0\r\n"
                             b"ETag: \"x\"\r\n\r\n"),)}, Becomes(file=b"abc"), carriers=("h1",)),
    Row("body-too-much", "sends more than it announced: what was announced is the file",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcdef"),)}, Becomes(file=b"abc"),
        carriers=("h1",)),
    *(Row(f"transfer-coding-{name}", f"sends the transfer coding {coding!r}: the response breaks the rules",
          {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: " + coding.encode() + b"\r\n\r\n" + body),)},
          Becomes("failed", "BAD_RESPONSE", says="Transfer-Encoding"), asked=({},), carriers=("h1",),
          source="RFC 9112, 6.1")
      for name, coding, body in (
          ("gzip", "gzip", GZIPPED), ("x-gzip", "x-gzip", GZIPPED), ("deflate", "deflate", b"abc"),
          ("br", "br", b"abc"),
          ("gzip-chunked", "gzip, chunked", b"3\r\nabc\r\n0\r\n\r\n"),
          ("twice", "chunked, chunked", b"3\r\nabc\r\n0\r\n\r\n"),
          ("chunked-first", "chunked, gzip", b"3\r\nabc\r\n0\r\n\r\n"), ("identity", "identity", b"abc"),
          ("none", "", b"abc"))),
    Row("transfer-coding-two-fields", "sends chunked in two fields: the response breaks the rules",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n"
                             b"3\r\nabc\r\n0\r\n\r\n"),)},
        Becomes("failed", "BAD_RESPONSE"), asked=({},), carriers=("h1",), source="RFC 9112, 6.1"),
    *(Row(f"folded-{name.lower()}", f"folds {name} over two lines: the response breaks the rules",
          {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\n" + name.encode() + b":\r\n " + value + b"\r\n\r\n"
                               b"3\r\nabc\r\n0\r\n\r\n"),)},
          Becomes("failed", "BAD_RESPONSE"), asked=({},), carriers=("h1",), source="RFC 9112, 5.2")
      for name, value in (("Transfer-Encoding", b"chunked"), ("Content-Length", b"3"))),
    Row("transfer-coding-case", "writes the transfer coding as CHUNKED: the file is what the chunks hold",
        {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: CHUNKED\r\n\r\n3\r\nabc\r\n0\r\n\r\n"),)},
        Becomes(file=b"abc"), carriers=("h1",), source="RFC 9112, 7"),
    Row("body-chunk-syntax", "sends chunks whose sizes are none: the response breaks the rules, and is not asked for "
        "again", {"file": (Answer(raw=b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nxyz\r\n"),)},
        Becomes("failed", "BAD_RESPONSE"), asked=({},), carriers=("h1",), source="RFC 9112, 7.1"),
    Row("body-205", "sends a body with 205: the message says that there is none",
        {"file": (Answer(raw=b"HTTP/1.1 205 Reset Content\r\nContent-Length: 6\r\n\r\nabcdef"),)},
        Becomes("failed", "BAD_RESPONSE", says="which has none"), session={"maximum_attempts": 2}, carriers=("h1",),
        source="RFC 9110, 15.3.6"),
    Row("body-coded", "sends a Content-Encoding: the file is the bytes as sent, so that no bomb can burst",
        {"file": (Answer(200, {"Content-Encoding": "gzip"}, b"not even gzip"),)}, Becomes(file=b"not even gzip"),
        asked=({"accept-encoding": None},), carriers=("h1", "h2", "tunnel")),
    Row("interim-100", "sends 100 before its answer: nothing changes",
        {"file": (whole(FILE, interim=((100, {}),)),)}, GOOD, carriers=("h1",), source="RFC 9110, 15.2"),
    Row("interim-103", "sends early hints: nothing changes",
        {"file": (whole(FILE, interim=((103, {"link": "</style.css>; rel=preload"}),)),)}, GOOD,
        carriers=("h1", "h2", "tunnel"), source="RFC 8297"),
    Row("silent", "says nothing: after the request time-out it is tried again", {"file": (Answer(silent=True),
        whole(FILE))},
        GOOD, session={"request_timeout_ms": 400}, carriers=("h1", "h2", "tunnel")),
    Row("stalled", "falls silent in the middle: after the request time-out it goes on from there",
        {"file": (whole(FILE, stall_after=30_000), lambda seen: _rest(seen))}, GOOD,
        session={"request_timeout_ms": 400}, carriers=("h1", "h2", "tunnel")),
    Row("too-large", "announces more than maximum_size: the task fails before the body", {"file": (whole(FILE),)},
        Becomes("failed", "TOO_LARGE"), request={"policy": {"maximum_size": 1_000}}),
    Row("too-large-chunked", "sends more than maximum_size without a length: the task fails at the limit",
        {"file": (whole(FILE, framing="chunked"),)}, Becomes("failed", "TOO_LARGE"),
        request={"policy": {"maximum_size": 1_000}}),
]


def _rest(seen):
    from behaviours.script import rest

    return rest(FILE)(seen)
