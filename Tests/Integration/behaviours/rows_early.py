"""Responses before the request's body has arrived: RFC 9110, section 10.1.1; RFC 9113, section 8.1."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`).

from behaviours.row import UNCHANGED, Early, Expected, Response, Row

#: The size of request bodies. It is larger than the windows of HTTP/2 and the buffers of a connection together.
SIZE = 8 << 20
PUT = {"body_size": SIZE}
POST = {**PUT, "method": "POST"}
OVER_2 = ("h2", "tunnel")
#: A server that stops reading also sends nothing. The task then ends only after the request time-out, so this time-out
#: is short.
QUICK = {"maximum_attempts": 2, "request_timeout_ms": 3_000}
DONE = Response(201, {}, b"stored")
STORED = Expected(http_status=201, response_body=b"stored", within=30)
NOT_STORED = Expected("failed", within=30)


def early(response, then, *others, **details):
    return {"file": (response.with_changes(early=Early(then, **details)), *others)}


def refused(name, what, then, status=413, times=1, **more):
    details = {key: more.pop(key) for key in ("after", "is_apart") if key in more}
    return Row(name, f"{what}: the task fails with the status", early(Response(status, {}, b"no"), then, **details),
               Expected("failed", "HTTP_STATUS", status, within=30), request=PUT, asked=({"method": "PUT"},) * times,
               **more)


def whole(body):
    return len(body) == SIZE


_ASKS = Response(401, {"WWW-Authenticate": 'Basic realm="x"'})
_THEN_WITH_CREDENTIAL = ({}, {"body": whole, "authorization": "Basic dXNlcjpwYXNzd29yZA=="})

ROWS = [
    refused("early-413-reset", "responds with 413 during the upload and resets the stream with NO_ERROR", "reset",
            transports=OVER_2, is_apart=True, source="RFC 9113, 8.1"),
    # In the next row, libcurl 7.88.1 drops the response in each attempt. The row has no proxy, because a proxy that
    # receives a reset drops the bytes that it has not forwarded.
    refused("early-413-reset-at-once", "responds to each of two requests with 413 during the upload, and resets the "
        "stream with NO_ERROR in the same TLS record",
        "reset", transports=("h2",), times=2, source="RFC 9113, 8.1"),
    refused("early-413-instead-of-100-reset", "responds with 413 before the body and resets the stream with NO_ERROR",
            "reset", transports=OVER_2, after=0, times=2, source="RFC 9113, 8.1"),
    refused("early-413-reads", "responds with 413 during the upload and reads the rest", "read", transports=UNCHANGED),
    refused("early-413-closes", "responds with 413 during the upload, stops reading and closes its side of the "
            "connection", "close", transports=("h1",), source="RFC 9112, 9.6"),
    refused("early-413-instead-of-100", "responds with 413 in place of 100 (Continue)", "read", transports=("h1",),
            after=0, source="RFC 9110, 10.1.1"),
    refused("early-401-reset", "responds with 401 during the upload, in a session without `asks_for_credentials`, and "
        "resets the stream with NO_ERROR",
        "reset", status=401, transports=OVER_2, is_apart=True, source="RFC 9113, 8.1"),
    *(Row(f"early-401-asks-{then}", f"demands a credential during the upload and {what}: the task sends the whole "
          "body again with the credential",
          early(_ASKS, then, DONE, is_apart=True), STORED, session={"asks_for_credentials": True},
          request={**PUT, "challenge_responses": ("credential",)}, asked=_THEN_WITH_CREDENTIAL, transports=transports)
      for then, what, transports in (("reset", "resets the stream with NO_ERROR", OVER_2),
                                     ("read", "reads the rest", UNCHANGED),
                                     ("close", "closes its side of the connection", ("h1",)))),
    Row("early-201-put-reads", "responds with 201 during a PUT and reads the rest: the task sends the whole body and "
        "succeeds",
        early(DONE, "read"), STORED, request=PUT, asked=({"method": "PUT", "body": whole},), transports=("h1",)),
    Row("early-201-post-reads", "responds with 201 during a POST and reads the rest: the task sends the whole body one "
        "time and succeeds",
        early(DONE, "read"), STORED, request=POST, asked=({"method": "POST", "body": whole},), transports=("h1",)),
    Row("early-201-post-reads-stream", "over HTTP/2, responds with 201 during a POST and reads the rest: the task "
        "does not send the POST again",
        early(DONE, "read"), Expected(None, within=30), request=POST, session=QUICK, asked=({"method": "POST"},),
        transports=OVER_2),
    Row("early-201-put-closes", "always responds with 201 during a PUT and stops reading: the task fails",
        early(DONE, "close"), NOT_STORED, request=PUT, session=QUICK, transports=("h1",)),
    Row("early-201-put-reset-apart", "always responds with 201 during a PUT and resets the stream in a "
        "later TLS record: the task fails",
        early(DONE, "reset", is_apart=True), NOT_STORED, request=PUT, session=QUICK, transports=OVER_2),
    Row("early-201-put-reset-tolerated", "responds with 201 during a PUT and resets the stream: a task that tolerates "
        "early responses succeeds", early(DONE, "reset", is_apart=True), STORED, request=PUT,
        session={**QUICK, "tolerances": 2}, asked=({},), transports=OVER_2),
    Row("early-201-post-reset-apart", "responds with 201 during a POST and resets the stream in a later TLS "
        "record: the task fails, and does not send the POST again",
        early(DONE, "reset", DONE, is_apart=True), NOT_STORED, request=POST, session=QUICK,
        asked=({"method": "POST"},), transports=OVER_2),
    *(Row(f"early-{status}-put-reset", f"always responds with {status} during a PUT and resets the stream or "
          "connection: the task fails", early(DONE.with_changes(status=status), "reset"), NOT_STORED, request=PUT,
          session=QUICK, transports=UNCHANGED) for status in (200, 201)),
    Row("early-201-put-reset-passes", "responds with 201 during the first PUT and resets the stream or connection: the "
        "task sends the PUT again, because PUT is idempotent", early(DONE, "reset", DONE), STORED, request=PUT,
        asked=({}, {"method": "PUT", "body": whole}), transports=UNCHANGED),
    *(Row(f"early-{status}-post-reset", f"responds with {status} during a POST and resets the stream or connection: "
          "the task fails, because the server may have processed the POST",
          early(DONE.with_changes(status=status), "reset", DONE),
          NOT_STORED, request=POST, asked=({"method": "POST"},), transports=UNCHANGED) for status in (200, 201)),
    Row("early-201-post-closes", "responds with 201 during a POST and stops reading: the task fails, and does not "
        "send the POST again",
        early(DONE, "close", DONE), NOT_STORED, request=POST, session=QUICK, asked=({"method": "POST"},),
        transports=("h1",)),
]
