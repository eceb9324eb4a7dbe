"""Statuses that are accepted, refused and retried; Retry-After: RFC 9110, sections 10.2.3 and 15."""

from email.utils import formatdate
from time import time

from behaviours.script import UNCHANGED, Answer, Becomes, Content, Row, whole

FILE = Content(2_000)
GOOD = Becomes(file=FILE.data, http_status=200)
DRIPPING = Answer(404, {}, b"no", framing="chunked", drip=0.1)
#: The carriers of rows that take long.
DIRECT = ("h1", "h2")
#: A limit in seconds, less than the request time-out of the table's sessions.
SOON = 18


def then_good(*answers):
    return {"file": (*answers, whole(FILE))}


ROWS = [
    *(Row(f"status-{status}", f"always answers {status}: the task fails with the status, and there is no file",
          {"file": (Answer(status, {}, b"no"),)}, Becomes("failed", "HTTP_STATUS", status), asked=({},))
      for status in (400, 403, 404, 405, 406, 409, 410, 411, 413, 414, 415, 418, 422, 426, 451)),
    Row("status-501", "always answers 501: the task fails with the status, for trying again would not help",
        {"file": (Answer(501),)}, Becomes("failed", "HTTP_STATUS", 501), asked=({},), carriers=UNCHANGED),
    *(Row(f"status-{status}-passes", f"answers {status} once: it is tried again", then_good(Answer(status)), GOOD,
          asked=({}, {}), carriers=UNCHANGED if status in (502, 503, 504) else ("h1", "h2", "forward", "tunnel"))
      for status in (408, 425, 429, 500, 502, 503, 504)),
    Row("status-421", "says once that it is not the server for the request: it is sent again over another connection",
        then_good(Answer(421)), GOOD, asked=({}, {}), session={"maximum_attempts": 1},
        carriers=("h1", "h2", "tunnel"), source="RFC 9110, 15.5.20"),
    Row("status-421-post", "says once that it is not the server for a POST: it is sent again over another connection",
        {"file": (Answer(421), Answer(200, {}, b"done"))}, Becomes(response_body=b"done"),
        asked=({}, {"body": b"once"}),
        request={"method": "POST", "body": b"once"}, session={"maximum_attempts": 1}, carriers=("h1", "h2", "tunnel"),
        source="RFC 9110, 15.5.20"),
    Row("status-421-always", "always says that it is not the server for the request: the task fails with the status",
        {"file": (Answer(421),)}, Becomes("failed", "HTTP_STATUS", 421), asked=({}, {}),
        carriers=("h1", "h2", "tunnel"), source="RFC 9110, 15.5.20"),
    Row("status-413-later", "answers 413 with Retry-After once: it is tried again", then_good(
        Answer(413, {"Retry-After": "1"})), GOOD, asked=({}, {}), source="RFC 9110, 15.5.14"),
    Row("status-413-upload-later", "answers 413 to a PUT with Retry-After once: it is tried again",
        {"file": (Answer(413, {"Retry-After": "1"}), Answer(200, {}, b"done"))}, Becomes(response_body=b"done"),
        request={"body": b"content"}, asked=({}, {}), carriers=UNCHANGED, source="RFC 9110, 15.5.14"),
    Row("status-500-stays", "always answers 500: after maximum_attempts the task fails with the status",
        {"file": (Answer(500, {}, b"broken"),)}, Becomes("failed", "HTTP_STATUS", 500),
        session={"maximum_attempts": 3}, asked=({}, {}, {})),
    *(Row(f"status-{status}-success", f"answers {status}: its body is the file",
          {"file": (whole(FILE).but(status=status),)}, Becomes(file=FILE.data, http_status=status))
      for status in (201, 202, 203, 226, 299)),
    Row("status-drips", "answers 404 with an error page that drips and has no end: the task fails with the status",
        {"file": (DRIPPING,)}, Becomes("failed", "HTTP_STATUS", 404, within=SOON), asked=({},), carriers=DIRECT),
    Row("status-drips-announced", "answers 404 with an error page that drips and is to be 1 MB: the task fails with "
        "the status", {"file": (DRIPPING.but(framing="length", length=1_000_000),)},
        Becomes("failed", "HTTP_STATUS", 404, within=SOON), asked=({},), carriers=("h1",)),
    Row("status-endless", "answers 404 with an error page that has no end: the task fails with the status",
        {"file": (DRIPPING.but(drip=0),)}, Becomes("failed", "HTTP_STATUS", 404, within=SOON), asked=({},)),
    Row("status-stalls", "answers 404 and sends no more than the start of its error page: the task fails with the "
        "status", {"file": (Answer(404, {}, b"no" * 500, stall_after=10),)},
        Becomes("failed", "HTTP_STATUS", 404, within=SOON), asked=({},), carriers=DIRECT),
    Row("status-drips-upload", "answers 404 to a PUT with an error page that drips: the task fails with the status",
        {"file": (DRIPPING,)}, Becomes("failed", "HTTP_STATUS", 404, within=SOON), request={"body": b"content"},
        asked=({"body": b"content"},), carriers=("h2",)),
    Row("status-drips-passes", "answers 503 once with an error page that drips: it is tried again",
        then_good(DRIPPING.but(status=503)), Becomes(file=FILE.data, http_status=200, within=SOON), asked=({}, {}),
        carriers=("h1",)),
    Row("status-accepted", "answers 404, which the task accepts: its body is the file",
        {"file": (Answer(404, {}, b"nothing here"),)}, Becomes(file=b"nothing here", http_status=404),
        request={"policy": {"accepted_statuses": "200-299,404"}}),
    Row("status-not-accepted", "answers 200 to a task that accepts 201 alone: the task fails", {"file": (whole(FILE),)},
        Becomes("failed", "HTTP_STATUS", 200), request={"policy": {"accepted_statuses": "201"}}),
    Row("status-retried", "answers 404 once, which the task tries again: the file is there",
        then_good(Answer(404)), GOOD, request={"policy": {"statuses": "404"}}, asked=({}, {})),
    Row("status-not-retried", "answers 500 to a task that tries nothing again: it fails at once",
        then_good(Answer(500)),
        Becomes("failed", "HTTP_STATUS", 500), request={"policy": {"errors": "NONE"}}, asked=({},)),
    Row("status-205", "answers 205: the file is empty", {"file": (Answer(205),)}, Becomes(file=b"", http_status=205),
        carriers=UNCHANGED),
    Row("status-unknown-class", "answers 599: the task fails with the status", {"file": (Answer(599),)},
        Becomes("failed", "HTTP_STATUS", 599), asked=({},)),
    Row("retry-after-seconds", "answers 503 with Retry-After: 1: the next try comes no sooner",
        then_good(Answer(503, {"Retry-After": "1"})), GOOD, asked=({}, {}), carriers=UNCHANGED),
    Row("retry-after-date", "answers 503 with Retry-After as a date: the next try comes no sooner",
        then_good(lambda seen: Answer(503, {"Retry-After": formatdate(time() + 2, usegmt=True)})), GOOD,
        asked=({}, {}), carriers=UNCHANGED),
    Row("retry-after-past", "answers 503 with a date that is over: it is tried again at once",
        then_good(Answer(503, {"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})), GOOD, carriers=UNCHANGED),
    Row("retry-after-zero", "answers 429 with Retry-After: 0: it is tried again at once",
        then_good(Answer(429, {"Retry-After": "0"})), GOOD),
    Row("retry-after-nonsense", "answers 503 with a Retry-After that is none: the ordinary delay holds",
        then_good(Answer(503, {"Retry-After": "soon"})), GOOD, carriers=UNCHANGED),
    Row("retry-after-negative", "answers 503 with a negative Retry-After: the ordinary delay holds",
        then_good(Answer(503, {"Retry-After": "-10"})), GOOD, carriers=UNCHANGED),
    Row("method-head", "is asked with HEAD: the file is empty, whatever Content-Length says", {"file": (whole(FILE),)},
        Becomes(file=b"", http_status=200), request={"method": "HEAD"}, asked=({"method": "HEAD"},)),
    Row("method-delete", "is asked with DELETE and answers 204: the task succeeds", {"file": (Answer(204),)},
        Becomes(http_status=204), request={"method": "DELETE"}, asked=({"method": "DELETE"},)),
    Row("method-options", "is asked with a method of its own: it is sent as it is", {"file": (Answer(200, {},
        b"yes"),)},
        Becomes(file=b"yes"), request={"method": "PROPFIND"}, asked=({"method": "PROPFIND"},)),
    Row("headers-sent", "is sent the host's headers as they are", {"file": (whole(FILE),)}, GOOD,
        request={"headers": {"X-One": "1", "Accept": "image/png", "X-Empty": ""}},
        asked=({"x-one": "1", "accept": "image/png"},)),
    Row("headers-of-session", "is sent the session's headers, and a task's own in the place of one with the same name",
        {"file": (whole(FILE),)}, GOOD, session={"headers": {"X-One": "session", "X-Two": "session"}},
        request={"headers": {"x-one": "task"}}, asked=({"x-one": "task", "x-two": "session"},)),
]
