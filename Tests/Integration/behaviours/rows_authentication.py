"""Authentication: RFC 9110, section 11; RFC 7617."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). In the texts, the host is the program that embeds the library. A challenge is a demand for a
# credential, new header fields or a new URL. `challenge_responses` lists the host's responses to challenges.

from behaviours.row import Content, Expected, Response, Row, redirect, rest, whole

FILE, LARGE = Content(2_000), Content()
HTML = {"Content-Type": "text/html"}
GOOD = Expected(file=FILE.data)
BASIC = Response(401, {"WWW-Authenticate": 'Basic realm="staff"'}, b"who?")


def continued(seen_range):
    return seen_range.startswith("bytes=") and 0 < int(seen_range[6:-1]) <= 40_000


ROWS = [
    Row("401-unasked", "responds with 401 in a session without `asks_for_credentials`: the task fails with the status",
        {"file": (BASIC,)}, Expected("failed", "HTTP_STATUS", 401), asked=({"authorization": None},)),
    Row("401-without-challenge", "responds with 401 without WWW-Authenticate: the host gets a challenge nevertheless",
        {"file": (Response(401),)}, Expected("failed", "AUTHENTICATION_REQUIRED", 401),
        session={"asks_for_credentials": True},
        request={"challenge_responses": ("refuse",)}, source="RFC 9110, 15.5.2, requires the field"),
    Row("401-answered", "demands Basic authentication, and the host gives user and password: the task sends them and "
        "succeeds",
        {"file": (BASIC, whole(FILE))}, GOOD, session={"asks_for_credentials": True},
        request={"challenge_responses": ("credential",)},
        asked=({"authorization": None}, {"authorization": "Basic dXNlcjpwYXNzd29yZA=="})),
    Row("401-refused", "demands Basic authentication, and the host refuses the challenge: the task fails with "
        "`BH_AUTHENTICATION_REQUIRED`", {"file": (BASIC,)},
        Expected("failed", "AUTHENTICATION_REQUIRED", 401), session={"asks_for_credentials": True},
        request={"challenge_responses": ("refuse",)}, asked=({},)),
    Row("401-default", "demands Basic authentication, and the host chooses default handling: the task repeats the "
        "request without a credential, then fails with the status",
        {"file": (BASIC,)}, Expected("failed", "HTTP_STATUS", 401), session={"asks_for_credentials": True},
        request={"challenge_responses": ("default",)}, asked=({}, {"authorization": None})),
    Row("401-bearer", "demands a Bearer token, and the host gives a header field: the task sends the field and "
        "succeeds",
        {"file": (Response(401, {"WWW-Authenticate": 'Bearer realm="api", error="invalid_token"'}), whole(FILE))}, GOOD,
        session={"asks_for_credentials": True}, request={"challenge_responses": ("bearer",)},
        asked=({}, {"authorization": "Bearer fresh"})),
    Row("401-twice", "rejects the first credential: the host gets a new challenge",
        {"file": (BASIC, BASIC, whole(FILE))},
        GOOD, session={"asks_for_credentials": True}, request={"challenge_responses": ("credential", "credential")}),
    Row("401-realm-quoted", "sends a realm with quotes and commas: the engine reads the field as one challenge",
        {"file": (Response(401, {"WWW-Authenticate": 'Basic realm="a, \\"b\\" c", charset="UTF-8"'}), whole(FILE))},
        GOOD,
        session={"asks_for_credentials": True}, request={"challenge_responses": ("credential",)},
        source="RFC 9110, 11.6.1"),
    Row("401-after-redirect", "redirects to another origin that demands a credential: the credential is sent only to "
        "that origin",
        {"file": (redirect("{other}/real"),), "real": (BASIC, whole(FILE))}, GOOD,
        session={"asks_for_credentials": True}, request={"challenge_responses": ("credential",)},
        asked=({"path": "file", "authorization": None}, {"path": "real", "authorization": None},
               {"path": "file", "authorization": None}, {"path": "real",
               "authorization": "Basic dXNlcjpwYXNzd29yZA=="})),
    Row("401-own-header", "rejects the host's Authorization field in a session without `asks_for_credentials`: the "
        "task fails with the status",
        {"file": (BASIC,)}, Expected("failed", "HTTP_STATUS", 401),
        request={"headers": {"Authorization": "Bearer old"}},
        asked=({"authorization": "Bearer old"},)),
    Row("403-refreshed", "responds with 403 to a task whose header fields can expire: the host gets a challenge and "
        "gives new header fields, and the task succeeds",
        {"file": (Response(403), whole(FILE))}, GOOD,
        request={"headers": {"Authorization": "Bearer old"}, "refresh": "headers", "challenge_responses": ("bearer",)},
        asked=({"authorization": "Bearer old"}, {"authorization": "Bearer fresh"})),
    Row("401-refreshed-url", "responds with 401 to a task whose URL can expire: the host gets a challenge and gives a "
        "new URL, and the task succeeds",
        {"file": (Response(401), whole(FILE)), "new": (whole(FILE),)}, GOOD,
        request={"refresh": "url", "challenge_responses": ("url",)}, asked=({"path": "file"}, {"path": "new"})),
    *(Row(f"{status}-refreshed-url", f"drops, then responds with {status} to a task whose URL can expire: the host "
          "gives a new URL, and the task continues with the bytes that it has",
          {"file": (whole(LARGE, drop_after=40_000), Response(status)), "new": (rest(LARGE),)},
          Expected(file=LARGE.data), request={"refresh": "url", "challenge_responses": ("url",)},
          asked=({"path": "file"}, {"path": "file"}, {"path": "new", "range": continued}), transports=("h1", "h2"))
      for status in (404, 410)),
    *(Row(f"400-{name}-refreshed-url", f"responds with 400 and {name} in its body to a task whose URL can expire: the "
          "host gives a new URL, and the task succeeds",
          {"file": (Response(400, {}, body),), "new": (whole(FILE),)}, GOOD,
          request={"refresh": "url", "challenge_responses": ("url",)}, asked=({"path": "file"}, {"path": "new"}),
          transports=("h1", "h2"))
      for name, body in (("ExpiredToken", b"<Error><Code>ExpiredToken</Code></Error>"),
                         ("AuthenticationFailed", b'{"error": {"code": "AuthenticationFailed"}}'),
                         ("expired", b"Request has expired"))),
    Row("400-refreshed-upload", "responds with 400 and ExpiredToken to a PUT whose URL can expire: the host gives a "
        "new URL, and the task sends the body again",
        {"file": (Response(400, {}, b"<Code>ExpiredToken</Code>"),), "new": (Response(200, {}, b"done"),)},
        Expected(response_body=b"done"),
        request={"body": b"content", "refresh": "url", "challenge_responses": ("url",)},
        asked=({"path": "file"}, {"path": "new", "body": b"content"}), transports=("h1", "h2")),
    Row("400-other-reason", "responds with 400 for another reason to a task whose URL can expire: the task fails with "
        "the status", {"file": (Response(400, {}, b"<Code>InvalidArgument</Code>"),)},
        Expected("failed", "HTTP_STATUS", 400), request={"refresh": "url"}, asked=({},), transports=("h1", "h2")),
    Row("login-refreshed-url", "redirects a task whose URL can expire to a login page: the host gives a new URL, and "
        "the task succeeds",
        {"file": (redirect("{base}/login/form"),), "login/form": (Response(200, HTML, b"who?"),),
         "new": (whole(FILE),)}, GOOD, request={"refresh": "url", "challenge_responses": ("url",)},
        asked=({"path": "file"}, {"path": "login/form"}, {"path": "new"}), transports=("h1", "h2")),
    Row("refresh-digest", "drops, then responds with 403 to a task with a checksum whose URL can expire; the new URL "
        "sends other validators: the task continues with the bytes that it has",
        {"file": (whole(LARGE, etag=None, drop_after=40_000), Response(403)), "new": (rest(LARGE, etag='"other"'),)},
        Expected(file=LARGE.data),
        request={"checksum": LARGE.sha256, "refresh": "url", "challenge_responses": ("url",)},
        asked=({"path": "file"}, {"path": "file"}, {"path": "new", "range": continued}), transports=("h1", "h2")),
    Row("refresh-before-start", "receives no request until the host has replaced the expired header fields",
        {"file": (whole(FILE),)}, GOOD,
        request={"headers": {"Authorization": "Bearer old"}, "refresh": "headers", "expired": True,
        "challenge_responses": ("bearer",)},
        asked=({"authorization": "Bearer fresh"},)),
    Row("secret-in-error", "repeats the credential in its error page: the event and the error message do not contain "
        "the credential",
        {"file": (BASIC, Response(403, {}, b"Basic dXNlcjpwYXNzd29yZA== is not welcome"))},
        Expected("failed", "HTTP_STATUS", 403, message_without="dXNlcjpwYXNzd29yZA"),
        session={"asks_for_credentials": True},
        request={"challenge_responses": ("credential",)}),
]
