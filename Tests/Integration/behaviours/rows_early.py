"""Responses before the request's body has arrived: RFC 9110, section 10.1.1; RFC 9113, section 8.1."""

from behaviours.script import UNCHANGED, Answer, Becomes, Early, Row

#: More than the windows of HTTP/2 and the buffers of a connection hold together.
SIZE = 8 << 20
PUT = {"body_size": SIZE}
POST = {**PUT, "method": "POST"}
OVER_2 = ("h2", "tunnel")
#: A server that stops reading is also silent, so the request time-out is short.
QUICK = {"maximum_attempts": 2, "request_timeout_ms": 3_000}
DONE = Answer(201, {}, b"stored")
STORED = Becomes(http_status=201, response_body=b"stored", within=30)
NOT_STORED = Becomes("failed", within=30)


def early(answer, then, *others, **details):
    return {"file": (answer.but(early=Early(then, **details)), *others)}


def refused(name, what, then, status=413, times=1, **more):
    details = {key: more.pop(key) for key in ("after", "is_apart") if key in more}
    return Row(name, f"{what}: the task fails with the status", early(Answer(status, {}, b"no"), then, **details),
               Becomes("failed", "HTTP_STATUS", status, within=30), request=PUT, asked=({"method": "PUT"},) * times,
               **more)


def whole(body):
    return len(body) == SIZE


_ASKS = Answer(401, {"WWW-Authenticate": 'Basic realm="x"'})
_ANSWERED = ({}, {"body": whole, "authorization": "Basic dXNlcjpwYXNzd29yZA=="})

ROWS = [
    refused("early-413-reset", "answers 413 in mid-body and resets the stream without an error", "reset",
            carriers=OVER_2, is_apart=True, source="RFC 9113, 8.1"),
    # libcurl 7.88.1 drops the response in this case. A proxy that receives a reset drops the bytes that it has not
    # forwarded, in each attempt.
    refused("early-413-reset-at-once", "answers 413 in mid-body and resets the stream without an error, in one TLS "
            "record; asked once more over HTTP/1.1", "reset", carriers=("h2",), times=2, source="RFC 9113, 8.1"),
    refused("early-413-instead-of-100-reset", "answers 413 before the body and resets the stream without an error",
            "reset", carriers=OVER_2, after=0, times=2, source="RFC 9113, 8.1"),
    refused("early-413-reads", "answers 413 in mid-body and reads on", "read", carriers=UNCHANGED),
    refused("early-413-closes", "answers 413 in mid-body, reads no more and ends its side of the connection", "close",
            carriers=("h1",), source="RFC 9112, 9.6"),
    refused("early-413-instead-of-100", "answers 413 in the place of 100", "read", carriers=("h1",), after=0,
            source="RFC 9110, 10.1.1"),
    refused("early-401-reset", "answers 401 in mid-body to a task without a credential and resets the stream without "
            "an error", "reset", status=401, carriers=OVER_2, is_apart=True, source="RFC 9113, 8.1"),
    *(Row(f"early-401-asks-{then}", f"asks for a credential in mid-body and {what}: the body is sent again with it",
          early(_ASKS, then, DONE, is_apart=True), STORED, session={"asks_for_credentials": True},
          request={**PUT, "answers": ("credential",)}, asked=_ANSWERED, carriers=carriers)
      for then, what, carriers in (("reset", "resets the stream without an error", OVER_2),
                                   ("read", "reads on", UNCHANGED),
                                   ("close", "ends its side of the connection", ("h1",)))),
    Row("early-201-put-reads", "answers 201 to a PUT in mid-body and reads on: the whole body is sent",
        early(DONE, "read"), STORED, request=PUT, asked=({"method": "PUT", "body": whole},), carriers=("h1",)),
    Row("early-201-post-reads", "answers 201 to a POST in mid-body and reads on: the whole body is sent, once",
        early(DONE, "read"), STORED, request=POST, asked=({"method": "POST", "body": whole},), carriers=("h1",)),
    Row("early-201-post-reads-stream", "answers 201 to a POST in mid-body and reads on: it is not sent again",
        early(DONE, "read"), Becomes(None, within=30), request=POST, session=QUICK, asked=({"method": "POST"},),
        carriers=OVER_2),
    Row("early-201-put-closes", "answers 201 to a PUT in mid-body and reads no more, always: that is no success",
        early(DONE, "close"), NOT_STORED, request=PUT, session=QUICK, carriers=("h1",)),
    Row("early-201-put-reset-apart", "answers 201 to a PUT in mid-body and resets the stream, always: that is no "
        "success",
        early(DONE, "reset", is_apart=True), NOT_STORED, request=PUT, session=QUICK, carriers=OVER_2),
    Row("early-201-put-reset-tolerated", "answers 201 to a PUT in mid-body and resets the stream: a session that "
        "tolerates early responses takes it", early(DONE, "reset", is_apart=True), STORED, request=PUT,
        session={**QUICK, "tolerances": 2}, asked=({},), carriers=OVER_2),
    Row("early-201-post-reset-apart", "answers 201 to a POST in mid-body and resets the stream: it is not sent again",
        early(DONE, "reset", DONE, is_apart=True), NOT_STORED, request=POST, session=QUICK,
        asked=({"method": "POST"},), carriers=OVER_2),
    *(Row(f"early-{status}-put-reset", f"answers {status} to a PUT in mid-body and resets the stream or connection, "
          "always: that is no success", early(DONE.but(status=status), "reset"), NOT_STORED, request=PUT,
          session=QUICK, carriers=UNCHANGED) for status in (200, 201)),
    Row("early-201-put-reset-passes", "answers 201 to a PUT in mid-body and resets the stream or connection, once: the "
        "body is sent again, for PUT is idempotent", early(DONE, "reset", DONE), STORED, request=PUT,
        asked=({}, {"method": "PUT", "body": whole}), carriers=UNCHANGED),
    *(Row(f"early-{status}-post-reset", f"answers {status} to a POST in mid-body and resets the stream or connection: "
          "it is not sent again, for the server may have done it", early(DONE.but(status=status), "reset", DONE),
          NOT_STORED, request=POST, asked=({"method": "POST"},), carriers=UNCHANGED) for status in (200, 201)),
    Row("early-201-post-closes", "answers 201 to a POST in mid-body and reads no more: it is not sent again",
        early(DONE, "close", DONE), NOT_STORED, request=POST, session=QUICK, asked=({"method": "POST"},),
        carriers=("h1",)),
]
