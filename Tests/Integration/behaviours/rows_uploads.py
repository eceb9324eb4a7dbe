"""Uploads: RFC 9110, sections 9.3 and 10.1.1; RFC 7578."""

# A row has a name, a text for docs/http.md, and the responses of the server. The row also has the expected end of the
# task, and the expected requests (`asked`). In the texts, the host is the program that embeds the library.

from behaviours.row import Expected, Response, Row, redirect

DONE = Response(201, {}, b"stored")
GOOD = Expected(http_status=201, response_body=b"stored")
BODY = b"content of a small file"
HTML = {"Content-Type": "text/html"}
LOGIN = {"file": (redirect("{base}/login/form"),), "login/form": (Response(200, HTML, b"who?"),)}
NO_LOGIN = Expected("failed", "UNEXPECTED_TYPE", 200, message="/login/form, ")
DIRECT = ("h1", "h2")

ROWS = [
    Row("put", "accepts a PUT: the event has the response", {"file": (DONE,)}, GOOD, request={"body": BODY},
        asked=({"method": "PUT", "body": BODY, "content-length": str(len(BODY)), "transfer-encoding": None},)),
    Row("put-empty", "accepts a PUT with an empty body: the PUT has `Content-Length: 0`", {"file": (DONE,)}, GOOD,
        request={"body": b""},
        asked=({"method": "PUT", "body": b"", "content-length": "0"},), transports=("h1", "forward")),
    Row("post", "accepts a POST: the POST has the host's Content-Type", {"file": (DONE,)}, GOOD,
        request={"body": b"{}", "method": "POST", "headers": {"Content-Type": "application/json"}},
        asked=({"method": "POST", "body": b"{}", "content-type": "application/json"},)),
    Row("patch", "accepts a PATCH: the PATCH is sent with its body",
        {"file": (DONE,)}, GOOD, request={"body": b"{}", "method": "PATCH"},
        asked=({"method": "PATCH", "body": b"{}"},)),
    Row("form", "accepts a form with a field and a file: the task sends the form as multipart/form-data",
        {"file": (DONE,)}, GOOD, request={"form": True},
        asked=({"method": "POST", "content-type": lambda value: value.startswith("multipart/form-data; boundary="),
                "body": lambda body: b'name="field"' in body and b"value" in body and b'filename="a.txt"' in body
                and b"text of a" in body},), source="RFC 7578"),
    Row("put-500-passes", "responds with 500 to the first PUT: the task sends the PUT again, because PUT is idempotent",
        {"file": (Response(500), DONE)}, GOOD, request={"body": BODY}, asked=({"body": BODY}, {"body": BODY}),
        source="RFC 9110, 9.2.2"),
    Row("post-500", "responds with 500 to a POST: the task fails, because the server may have processed the POST",
        {"file": (Response(500), DONE)}, Expected("failed", "HTTP_STATUS", 500),
        request={"body": BODY, "method": "POST"}, asked=({},), source="RFC 9110, 9.2.2"),
    Row("post-500-allowed", "responds with 500 to a POST that the task may repeat: the task sends the POST again",
        {"file": (Response(500), DONE)}, GOOD, request={"body": BODY, "method": "POST", "retries": True},
        asked=({}, {})),
    Row("post-429", "responds with 429 to the first POST: the task sends the POST again, because the server has not "
        "processed it", {"file": (Response(429), DONE)}, GOOD, request={"body": BODY, "method": "POST"},
        asked=({"body": BODY}, {"body": BODY}), source="RFC 6585, 4"),
    Row("put-unanswered", "reads the whole PUT and never responds: after three attempts, the task fails with "
        "`BH_REQUEST_TIMEOUT`", {"file": (Response(silent=True),)},
        Expected("failed", "REQUEST_TIMEOUT", message="request_timeout_ms"),
        request={"body": BODY}, session={"request_timeout_ms": 400, "maximum_attempts": 0}, transports=DIRECT),
    Row("put-login-page", "redirects a PUT to a login page: after three attempts, the task fails with "
        "`BH_UNEXPECTED_TYPE`", LOGIN, NO_LOGIN, request={"body": BODY}, transports=DIRECT),
    Row("post-login-page", "redirects a POST to a login page: the task fails with `BH_UNEXPECTED_TYPE`", LOGIN,
        NO_LOGIN, request={"body": BODY, "method": "POST"}, asked=({"method": "POST"}, {"method": "GET"}),
        transports=DIRECT),
    Row("post-result-page", "redirects a POST to a page with the result, of the same origin: the task succeeds",
        {"file": (redirect("{base}/result", 303),), "result": (Response(200, HTML, b"stored"),)},
        Expected(http_status=200, response_body=b"stored"), request={"body": BODY, "method": "POST"},
        asked=({"method": "POST"}, {"method": "GET"}), transports=DIRECT),
    Row("put-portal", "redirects the first PUT to a page of another host, such as a portal's: the task retries, and "
        "succeeds", {"file": (redirect("{other}/welcome"), DONE), "welcome": (Response(200, HTML, b"welcome"),)}, GOOD,
        request={"body": BODY}, transports=DIRECT),
    Row("put-403", "responds with 403 to a PUT: the task fails with the status", {"file": (Response(403, {}, b"no"),)},
        Expected("failed", "HTTP_STATUS", 403), request={"body": BODY}, asked=({},)),
    Row("put-large-response", "responds with a body of more than 64 KiB: the event has the first 64 KiB of this body",
        {"file": (Response(200, {}, b"x" * 100_000),)}, Expected(response_body=b"x" * 65_536), request={"body": BODY}),
    Row("put-no-response", "responds with 204 to a PUT: the task succeeds without a response body",
        {"file": (Response(204),)}, Expected(http_status=204),
        request={"body": BODY}),
    Row("post-to-file", "responds to a POST whose task has a destination: the response's body becomes the file",
        {"file": (Response(200, {},
        b"found"),)},
        Expected(file=b"found"), request={"body": b"query", "method": "POST", "to_file": True},
        asked=({"method": "POST", "body": b"query"},)),
    Row("upload-401", "demands a credential for an upload: the task sends the upload again with the credential",
        {"file": (Response(401, {"WWW-Authenticate": 'Basic realm="x"'}), DONE)}, GOOD,
        session={"asks_for_credentials": True}, request={"body": BODY, "challenge_responses": ("credential",)},
        asked=({}, {"body": BODY, "authorization": "Basic dXNlcjpwYXNzd29yZA=="})),
]
