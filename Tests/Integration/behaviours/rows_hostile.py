"""Hostile servers."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). "Drops" means that the server ends the connection inside the body.

from behaviours.row import Content, Expected, Response, Row, redirect, whole

FILE = Content(2_000)
GOOD = Expected(file=FILE.data)
ONCE = {"maximum_attempts": 1}


def raw(data, expected, name, what, **more):
    return Row(name, what, {"file": (Response(raw=data),)}, expected, session=ONCE, transports=("h1",), **more)


ROWS = [
    raw(b"", Expected("failed", "CONNECTION_LOST"), "hostile-empty", "closes the connection without a response: the "
        "task fails with `BH_CONNECTION_LOST`"),
    raw(b"SSH-2.0-OpenSSH_9.2\r\n", Expected("failed"), "hostile-not-http", "speaks a protocol other than HTTP: the "
        "task fails"),
    raw(b"HTTP/0.9 200 OK\r\n\r\nabc", Expected("failed"), "hostile-http-09", "speaks HTTP/0.9: the task fails"),
    raw(b"HTTP/1.1 20 OK\r\nContent-Length: 3\r\n\r\nabc", Expected("failed"), "hostile-short-status",
        "sends a status of two digits: the task fails"),
    raw(b"HTTP/1.1 abc OK\r\nContent-Length: 3\r\n\r\nabc", Expected("failed"), "hostile-status-words",
        "sends a status that is not a number: the task fails"),
    raw(b"HTTP/1.1 200 \x1b[31mred\r\nContent-Length: 3\r\n\r\nabc", Expected(file=b"abc"), "hostile-reason",
        "sends control characters in its reason phrase: the task succeeds"),
    raw(b"HTTP/1.1 403 \x1b[31mred\r\nContent-Length: 0\r\n\r\n",
        Expected("failed", "HTTP_STATUS", 403, message_without="\x1b"), "hostile-reason-refused",
        "sends control characters in the reason phrase of 403: the error message does not contain these characters"),
    raw(b"HTTP/1.1 200 OK\r\n" + b"X-Flood: %s\r\n" % (b"a" * 1_000) * 2_000 + b"Content-Length: 3\r\n\r\nabc",
        Expected("failed"), "hostile-header-flood", "sends two megabytes of header fields: the task fails, because "
        "the size of a header is limited"),
    raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 300_000 + b"\r\nContent-Length: 3\r\n\r\nabc", Expected("failed"),
        "hostile-header-line", "sends a header line of 300 KB: the task "
        "fails, because the length of a line is limited"),
    raw(b"HTTP/1.1 200 OK\r\n folded: 1\r\nContent-Length: 3\r\n\r\nabc", Expected("failed"), "hostile-folded",
        "starts its header with a folded line: the task fails", source="RFC 9112, 5.2"),
    raw(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\nX-Nul: a\x00b\r\n\r\nabc", Expected("failed"), "hostile-nul",
        "sends a NUL character in a header field: the task fails"),
    raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Nul: a\x00b\r\n\r\n",
        Expected("failed", "BAD_RESPONSE"), "hostile-trailer-nul",
        "sends a NUL character in a trailer field: the task fails with `BH_BAD_RESPONSE`"),
    raw(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n folded\r\n\r\n",
        Expected(file=b"abc"), "hostile-trailer-folded", "starts its trailer with a folded line: the line is ignored"),
    raw(b"HTTP/1.1 200 OK\r\nX-Long: " + b"a" * 120_000 + b"\r\nContent-Length: 3\r\n\r\nabc",
        Expected("failed", "BAD_RESPONSE", message="100 KiB", message_without="memory"), "hostile-header-line-words",
        "sends a header line of 120 KB: the task fails, and the error message names the limit of 100 KiB"),
    raw(b"HTTP/1.1 200 OK\nContent-Length: 3\n\nabc", Expected(file=b"abc"), "hostile-bare-lf",
        "ends its lines with LF instead of CRLF: the task succeeds", source="RFC 9112, 2.2"),
    *(raw(b"HTTP/1.1 %d Odd\r\nContent-Length: 6\r\n%s\r\n\r\nerror\n" % (status, line),
          Expected("failed", "HTTP_STATUS", status), f"hostile-field-http-{name}",
          f"responds with {status}, and sends a field line that begins with `{line.decode()}`: the task fails with "
          "`BH_HTTP_STATUS`, because only the first line is a status line", source="RFC 9112, 2.1")
      for name, status, line in (
          ("404", 404, b"HTTP/1.1 200 OK: x"), ("500", 500, b"HTTP/1.1 200 OK: x"), ("h2", 404, b"HTTP/2 200: x"))),
    Row("hostile-field-http-401", "responds with 401, and sends a field line that begins with `HTTP/1.1 200 OK`: the "
        "task demands a credential, or fails with `BH_HTTP_STATUS`",
        {"file": (Response(raw=b"HTTP/1.1 401 No\r\nContent-Length: 6\r\nHTTP/1.1 200 OK: x\r\n\r\nerror\n"),)},
        Expected("failed", "HTTP_STATUS", 401), session=ONCE, transports=("h1",), source="RFC 9112, 2.1"),
    Row("hostile-field-http-302", "redirects, and sends a field line that begins with `HTTP/1.1 200 OK`: the task "
        "follows the redirect",
        {"file": (Response(raw=b"HTTP/1.1 302 Found\r\nLocation: other\r\nContent-Length: 6\r\n"
                               b"HTTP/1.1 200 OK: x\r\n\r\nerror\n"),), "other": (whole(FILE),)},
        GOOD, session=ONCE, transports=("h1",), source="RFC 9112, 2.1"),
    *(raw(b"HTTP/1.1 200 OK\r\n%s\r\nHTTP/1.1 200 OK: x\r\n\r\n3\r\nabc\r\n0\r\n\r\n" % lines,
          Expected("failed", "BAD_RESPONSE"), f"hostile-field-http-{name}",
          f"sends {what} before a field line that begins with `HTTP/1.1 200 OK`: the task fails with `BH_BAD_RESPONSE`",
          source="RFC 9112, 6.3")
      for name, what, lines in (
          ("coding", "`Transfer-Encoding: gzip`", b"Transfer-Encoding: gzip"),
          ("lengths", "two lengths", b"Content-Length: 3\r\nContent-Length: 4"),
          ("blank", "a length with a blank before the colon", b"Content-Length : 3"))),
    *(raw(b"HTTP/1.1 200 OK\r\n%s\r\n\r\nabcdefghij" % line, Expected("failed", "BAD_RESPONSE"),
          f"hostile-bare-cr-{name}", f"sends a CR {what}: the task fails with `BH_BAD_RESPONSE`",
          source="RFC 9112, 2.2")
      for name, what, line in (
          ("length", "inside its Content-Length", b"Content-Length: 5\r0"),
          ("line", "at the start of a header line", b"X-A: b\r\n\rX-Y: z\r\nContent-Length: 3"),
          ("end", "before the CR LF of a header line", b"Content-Length: 3\r"))),
    *(raw(b"HTTP/1.1 404 No\r\n%s\r\n\r\nabc" % line, Expected("failed", "BAD_RESPONSE"), f"hostile-length-{name}",
          f"sends {what} with 404: the task fails with `BH_BAD_RESPONSE`", source="RFC 9112, 6.3")
      for name, what, line in (
          ("plus", "`Content-Length: +3`", b"Content-Length: +3"),
          ("list", "`Content-Length: 3, 4`", b"Content-Length: 3, 4"),
          ("rest", "`Content-Length: 3;`", b"Content-Length: 3;"))),
    *(raw(b"%s\r\nContent-Length: 3\r\n\r\nabc" % line, Expected("failed", "BAD_RESPONSE"), f"hostile-status-{name}",
          f"sends the status line `{line.decode()}`: the task fails with `BH_BAD_RESPONSE`", source="RFC 9112, 4")
      for name, line in (
          ("four-digits", b"HTTP/1.1 2000 OK"), ("sign", b"HTTP/1.1 +200 OK"), ("joined", b"HTTP/1.1200 OK"),
          ("lower-case", b"http/1.1 404 No"), ("version", b"HTTP/x 404 No"), ("h2", b"HTTP/2 200 OK"))),
    raw(b"\r\nHTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", Expected("failed", "BAD_RESPONSE"),
        "hostile-empty-line", "sends an empty line before its status line: the task fails with `BH_BAD_RESPONSE`, "
        "because libcurl cannot read such a response"),
    Row("hostile-folded-location", "folds the Location of its redirect over two lines: the task follows the redirect",
        {"file": (Response(raw=b"HTTP/1.1 302 Found\r\nLocation:\r\n other\r\nContent-Length: 0\r\n\r\n"),),
         "other": (whole(FILE),)},
        GOOD, asked=({}, {}), session=ONCE, transports=("h1",), source="RFC 9112, 5.2"),
    Row("hostile-redirect-flood", "redirects to a new URL each time: the task fails at the limit of redirects",
        {"file": (redirect("{base}/file?1"), redirect("{base}/file?2"), redirect("{base}/file?3"))},
        Expected("failed", "REDIRECT_REFUSED")),
    Row("hostile-location", "sends control characters in its Location: the task fails, and the error message does not "
        "contain these characters",
        {"file": (Response(302, {"Location": "gopher://a\x1b[31m/"}),)}, Expected("failed", message_without="\x1b"),
        session=ONCE,
        transports=("h1",)),
    Row("hostile-long-location", "redirects to a URL of 20 KB: the task fails",
        {"file": (redirect("/" + "a" * 20_000),)},
        Expected("failed"), session=ONCE, transports=("h1", "h2", "tunnel")),
    Row("hostile-interim-flood", "sends a hundred interim responses: the body of the final response is the file",
        {"file": (whole(FILE, interim=((103, {"link": "</a>"}),) * 100),)}, GOOD, transports=("h1",)),
    Row("hostile-entity-tag", "sends an ETag with quotes inside, then drops: the task does not use the ETag as a "
        "validator, and starts over",
        {"file": (whole(FILE, etag='"a"b"', drop_after=1_000), whole(FILE, etag='"a"b"'))}, GOOD,
        asked=({}, {"range": None})),
    Row("hostile-media-type", "sends a media type of 4 KB: the task succeeds",
        {"file": (whole(FILE, headers={"Content-Type": "text/" + "x" * 4_000}),)}, GOOD),
]
