"""Accepted, refused and retried statuses; Retry-After: RFC 9110, sections 10.2.3 and 15."""

# A row has a name, a text for docs/http.md, and the responses of the server. The row also has the expected end of the
# task, and the expected requests (`asked`). In the texts, the host is the program that embeds the library.

from email.utils import formatdate
from time import monotonic, time

from behaviours.row import UNCHANGED, Content, Expected, Response, Row, whole

FILE = Content(2_000)
GOOD = Expected(file=FILE.data, http_status=200)
DRIPPING = Response(404, {}, b"no", framing="chunked", drip=0.1)
#: The transports of rows that take long: the transports without a proxy.
DIRECT = ("h1", "h2")
#: A time limit for a task, in seconds. It is less than the request time-out of the table's sessions.
SOON = 18


def then_good(*responses):
    return {"file": (*responses, whole(FILE))}


def not_before(seconds, response):
    """Sends ``response``, which may be a function, and then the file. If the second request comes earlier than
    ``seconds`` after the first, it gets a 400 instead."""
    first = []

    def refuse(seen):
        first[:] = [monotonic()]
        return response(seen) if callable(response) else response

    def send(seen):
        return whole(FILE) if monotonic() - first[0] >= seconds else Response(400)

    return {"file": (refuse, send)}


ROWS = [
    *(Row(f"status-{status}", f"always responds with {status}: the task fails with the status, does not retry, and "
          "makes no file",
          {"file": (Response(status, {}, b"no"),)}, Expected("failed", "HTTP_STATUS", status), asked=({},))
      for status in (400, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 418, 422, 426, 451)),
    *(Row(f"status-{status}-passes", f"responds with {status}, a status of content networks, to the first request: the "
          "task retries, and succeeds", then_good(Response(status)), GOOD, asked=({}, {}), transports=DIRECT)
      for status in (520, 523, 530)),
    *(Row(f"status-{status}-later", f"responds with {status} and Retry-After to the first request: the task retries, "
          "and succeeds", then_good(Response(status, {"Retry-After": "1"})), GOOD, asked=({}, {}), transports=DIRECT)
      for status in (403, 501)),
    Row("status-404-later", "responds with 404 and Retry-After: the task fails with the status",
        {"file": (Response(404, {"Retry-After": "1"}),)}, Expected("failed", "HTTP_STATUS", 404), asked=({},),
        transports=DIRECT),
    Row("status-501", "always responds with 501: the task fails with the status, and does not retry",
        {"file": (Response(501),)}, Expected("failed", "HTTP_STATUS", 501), asked=({},), transports=UNCHANGED),
    *(Row(f"status-{status}-passes", f"responds with {status} to the first request: the task retries, and succeeds",
          then_good(Response(status)), GOOD,
          asked=({}, {}), transports=UNCHANGED if status in (502, 503, 504) else ("h1", "h2", "forward", "tunnel"))
      for status in (408, 425, 429, 500, 502, 503, 504)),
    Row("status-421", "responds with 421 (Misdirected Request) to the first request: the task sends the request again "
        "over another connection",
        then_good(Response(421)), GOOD, asked=({}, {}), session={"maximum_attempts": 1},
        transports=("h1", "h2", "tunnel"), source="RFC 9110, 15.5.20"),
    Row("status-421-post", "responds with 421 (Misdirected Request) to the first POST: the task sends the POST again "
        "over another connection",
        {"file": (Response(421), Response(200, {}, b"done"))}, Expected(response_body=b"done"),
        asked=({}, {"body": b"once"}),
        request={"method": "POST", "body": b"once"}, session={"maximum_attempts": 1}, transports=("h1", "h2", "tunnel"),
        source="RFC 9110, 15.5.20"),
    Row("status-421-always", "always responds with 421 (Misdirected Request): the task fails with the status",
        {"file": (Response(421),)}, Expected("failed", "HTTP_STATUS", 421), asked=({}, {}),
        transports=("h1", "h2", "tunnel"), source="RFC 9110, 15.5.20"),
    Row("status-413-later", "responds with 413 and Retry-After to the first request: the task retries, and succeeds",
        then_good(Response(413, {"Retry-After": "1"})), GOOD, asked=({}, {}), source="RFC 9110, 15.5.14"),
    Row("status-413-upload-later", "responds with 413 and Retry-After to the first PUT: the task retries, and succeeds",
        {"file": (Response(413, {"Retry-After": "1"}), Response(200, {}, b"done"))}, Expected(response_body=b"done"),
        request={"body": b"content"}, asked=({}, {}), transports=UNCHANGED, source="RFC 9110, 15.5.14"),
    Row("status-500-stays", "always responds with 500: after `maximum_attempts` attempts, the task fails with the "
        "status",
        {"file": (Response(500, {}, b"broken"),)}, Expected("failed", "HTTP_STATUS", 500),
        session={"maximum_attempts": 3}, asked=({}, {}, {})),
    *(Row(f"status-{status}-success", f"responds with {status}: the response's body becomes the file",
          {"file": (whole(FILE).with_changes(status=status),)}, Expected(file=FILE.data, http_status=status))
      for status in (201, 202, 203, 226, 299)),
    Row("status-202-later", "responds with 202 and Retry-After to the first request: the task retries, and succeeds",
        then_good(Response(202, {"Retry-After": "1"}, b"in progress")), GOOD, asked=({}, {}), transports=DIRECT),
    Row("status-202-accepted", "responds with 202 and Retry-After to a task that accepts 202: the response's body "
        "becomes the file", {"file": (Response(202, {"Retry-After": "1"}, b"in progress"),)},
        Expected(file=b"in progress", http_status=202), request={"policy": {"accepted_statuses": "200,202"}},
        asked=({},), transports=DIRECT),
    Row("status-drips", "responds with 404 and an error page that arrives slowly and never ends: the task fails with "
        "the status",
        {"file": (DRIPPING,)}, Expected("failed", "HTTP_STATUS", 404, within=SOON), asked=({},), transports=DIRECT),
    Row("status-drips-announced", "responds with 404 and an error page of 1 MB that arrives slowly: the task fails "
        "with the status", {"file": (DRIPPING.with_changes(framing="length", length=1_000_000),)},
        Expected("failed", "HTTP_STATUS", 404, within=SOON), asked=({},), transports=("h1",)),
    Row("status-endless", "responds with 404 and an error page that never ends: the task fails with the status",
        {"file": (DRIPPING.with_changes(drip=0),)}, Expected("failed", "HTTP_STATUS", 404, within=SOON), asked=({},)),
    Row("status-stalls", "responds with 404 and stops sending inside the error page: the task fails with the status",
        {"file": (Response(404, {}, b"no" * 500, stall_after=10),)},
        Expected("failed", "HTTP_STATUS", 404, within=SOON), asked=({},), transports=DIRECT),
    Row("status-drips-upload", "responds to a PUT with 404 and an error page that arrives slowly: the task fails with "
        "the status",
        {"file": (DRIPPING,)}, Expected("failed", "HTTP_STATUS", 404, within=SOON), request={"body": b"content"},
        asked=({"body": b"content"},), transports=("h2",)),
    Row("status-drips-passes", "responds to the first request with 503 and an error page that arrives slowly: the task "
        "retries, and succeeds",
        then_good(DRIPPING.with_changes(status=503)), Expected(file=FILE.data, http_status=200, within=SOON),
        asked=({}, {}),
        transports=("h1",)),
    Row("status-accepted", "responds with 404 to a task that accepts 404: the response's body becomes the file",
        {"file": (Response(404, {}, b"nothing here"),)}, Expected(file=b"nothing here", http_status=404),
        request={"policy": {"accepted_statuses": "200-299,404"}}),
    Row("status-not-accepted", "responds with 200 to a task that accepts only 201: the task fails with the status",
        {"file": (whole(FILE),)},
        Expected("failed", "HTTP_STATUS", 200), request={"policy": {"accepted_statuses": "201"}}),
    *(Row(f"type-{name}", f"sends {text} to a task that accepts {accepted}: {end}",
          {"file": (whole(FILE, headers={"Content-Type": kind}),)}, expected,
          request={"policy": {"accepted_types": accepted}}, transports=DIRECT)
      for name, text, kind, accepted, end, expected in (
          ("accepted", "image/png", "image/png", "application/zip, image/*", "the task succeeds", GOOD),
          ("parameters", "a type with a parameter", "Image/PNG; q=1", "image/png", "the parameter does not count",
           GOOD),
          ("default", "no Content-Type", None, "application/octet-stream", "this is the default type", GOOD),
          ("refused", "text/html", "text/html", "image/*, application/zip",
           "the task makes three attempts, then fails with `BH_UNEXPECTED_TYPE`",
           Expected("failed", "UNEXPECTED_TYPE", 200, message="accepted_types")))),
    Row("status-retried", "responds with 404 to the first request of a task that retries on 404: the task retries, and "
        "succeeds",
        then_good(Response(404)), GOOD, request={"policy": {"statuses": "404"}}, asked=({}, {})),
    Row("status-not-retried", "responds with 500 to a task that never retries: the task fails at once",
        then_good(Response(500)),
        Expected("failed", "HTTP_STATUS", 500), request={"policy": {"errors": "NONE"}}, asked=({},)),
    Row("status-205", "responds with 205: the file is empty",
        {"file": (Response(205),)}, Expected(file=b"", http_status=205),
        transports=UNCHANGED),
    Row("status-unknown-class", "responds with 599: the task fails with the status", {"file": (Response(599),)},
        Expected("failed", "HTTP_STATUS", 599), asked=({},)),
    Row("retry-after-seconds", "responds with 503 and `Retry-After: 1`: the task waits at least one second before the "
        "next attempt",
        not_before(1, Response(503, {"Retry-After": "1"})), GOOD, asked=({}, {}), transports=UNCHANGED),
    Row("retry-after-date", "responds with 503 and a date in Retry-After: the task waits at least until this date "
        "before the next attempt",
        # The date has whole seconds, so the delay is longer than one second.
        not_before(1, lambda seen: Response(503, {"Retry-After": formatdate(time() + 2, usegmt=True)})), GOOD,
        asked=({}, {}), transports=UNCHANGED),
    Row("retry-after-old-clock", "responds with 503 and a Retry-After that is one second after its Date, in the past: "
        "the task waits at least one second before the next attempt",
        not_before(1, Response(503, {"Date": "Wed, 21 Oct 2015 07:28:00 GMT",
                                     "Retry-After": "Wed, 21 Oct 2015 07:28:01 GMT"})), GOOD,
        asked=({}, {}), transports=DIRECT),
    Row("retry-after-past", "responds with 503 and a past date in Retry-After: the task retries after the ordinary "
        "backoff",
        then_good(Response(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})), GOOD, transports=UNCHANGED),
    Row("retry-after-zero", "responds with 429 and `Retry-After: 0`: the task retries after the ordinary backoff",
        then_good(Response(429, {"Retry-After": "0"})), GOOD),
    Row("retry-after-nonsense", "responds with 503 and an invalid Retry-After: the task retries after the ordinary "
        "backoff",
        then_good(Response(503, {"Retry-After": "soon"})), GOOD, transports=UNCHANGED),
    Row("retry-after-negative", "responds with 503 and a negative Retry-After: the task retries after the ordinary "
        "backoff",
        then_good(Response(503, {"Retry-After": "-10"})), GOOD, transports=UNCHANGED),
    Row("method-head", "receives a HEAD request: the file is empty, even if the response has a Content-Length",
        {"file": (whole(FILE),)},
        Expected(file=b"", http_status=200), request={"method": "HEAD"}, asked=({"method": "HEAD"},)),
    Row("method-delete", "receives a DELETE request and responds with 204: the task succeeds",
        {"file": (Response(204),)},
        Expected(http_status=204), request={"method": "DELETE"}, asked=({"method": "DELETE"},)),
    Row("method-options", "receives a request with a less common method (PROPFIND): the method is sent unchanged",
        {"file": (Response(200, {},
        b"yes"),)},
        Expected(file=b"yes"), request={"method": "PROPFIND"}, asked=({"method": "PROPFIND"},)),
    Row("headers-sent", "receives the host's header fields unchanged", {"file": (whole(FILE),)}, GOOD,
        request={"headers": {"X-One": "1", "Accept": "image/png", "X-Empty": ""}},
        asked=({"x-one": "1", "accept": "image/png"},)),
    Row("headers-of-session", "receives the session's header fields; if the task has a field of the same name, "
        "receives the task's field instead",
        {"file": (whole(FILE),)}, GOOD, session={"headers": {"X-One": "session", "X-Two": "session"}},
        request={"headers": {"x-one": "task"}}, asked=({"x-one": "task", "x-two": "session"},)),
]
