"""Further cases from wget's tests of resuming, redirects, names and cookies."""

# A row has a name, a text for docs/http.md, and the responses of the server. The row also has the expected end of the
# task, and the expected requests (`asked`). In the texts, the host is the program that embeds the library. "Drops"
# means that the server ends the connection inside the body.

from behaviours.row import MODIFIED, UNCHANGED, Content, Expected, Response, Row, redirect, rest, unsatisfiable, whole

FILE, OTHER = Content(), Content(seed=2)
SHORTER = Content(20_000, seed=3)
CUT = 40_000
DROPPED = whole(FILE, drop_after=CUT)
GOOD = Expected(file=FILE.data)
KEEPS = {"cookies": "memory"}


def test(name):
    return f"wget, {name}"


def visits(*cookies, last):
    """Returns the responses of a server by path. Each cookie has a path, which sets the cookie and redirects to the
    next path. The last path sends the response `last`."""
    places = ["file", *(f"visit{number}" for number in range(1, len(cookies))), "real"]
    return {**{here: (Response(302, {"Location": "{base}/" + then, "Set-Cookie": cookie}),)
               for here, then, cookie in zip(places, places[1:], cookies)}, "real": (last,)}


ROWS = [
    Row("wget-c-partial", "drops, then responds with a larger file and a new ETag: the download starts over",
        {"file": (DROPPED, whole(Content(90_000, seed=4)))}, Expected(file=Content(90_000, seed=4).data),
        asked=({"range": None}, {"range": lambda value: value.startswith("bytes="), "if-range": FILE.etag}),
        source=test("tests/Test-c-partial.px")),
    Row("wget-c-shorter", "drops, then responds with 416, because the file is now shorter than the received part: the "
        "download starts over",
        {"file": (DROPPED, unsatisfiable(len(SHORTER), ETag=SHORTER.etag), whole(SHORTER))},
        Expected(file=SHORTER.data), asked=({}, {"range": lambda value: value.startswith("bytes=")}, {"range": None}),
        source=test("tests/Test-c-shorter.px")),
    Row("wget-c-full", "sends all bytes, drops before the final chunk of size 0, then responds with 416 without a "
        "size: the download starts over",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), Response(416, {"ETag": FILE.etag}),
                  whole(FILE))},
        GOOD, transports=("h1",), asked=({}, {"range": f"bytes={len(FILE)}-"}, {"range": None}),
        source=test("testenv/Test-c-full.py")),
    Row("wget-start-pos", "announces `Accept-Ranges: none`, drops, and responds to the next request with 200: the "
        "download starts over with this response",
        {"file": (DROPPED.with_changes(headers={**DROPPED.headers, "Accept-Ranges": "none"}), whole(FILE))}, GOOD,
        source=test("tests/Test--start-pos.px")),
    Row("wget-204", "responds with 204 and an ETag: the file is empty", {"file": (Response(204, {"ETag": '"x"'}),)},
        Expected(http_status=204, file=b""), transports=UNCHANGED, source=test("tests/Test-204.px")),
    Row("wget-504", "responds with 504 to the first two requests: the third attempt succeeds",
        {"file": (Response(504), Response(504), whole(FILE))},
        GOOD, transports=UNCHANGED, asked=({}, {}, {}), source=test("testenv/Test-504.py")),
    Row("wget-redirect-encoded", "redirects to a path with commas, parentheses and encoded spaces: the path is sent "
        "unchanged",
        {"file": (redirect("{base}/SVG,%20Scalable%20Graphics/rec%20(tiny)/"),),
         "SVG,%20Scalable%20Graphics/rec%20(tiny)/": (whole(FILE),)}, GOOD,
        asked=({}, {"path": "SVG,%20Scalable%20Graphics/rec%20(tiny)/"}),
        source=test("testenv/Test-redirect-crash.py")),
    Row("wget-name-after-redirect", "sends one file name with its redirect and a second name with the file: the file "
        "gets the second name",
        {"file": (redirect("{base}/real", 302, **{"Content-Disposition": 'attachment; filename="early.txt"'}),),
         "real": (whole(FILE, headers={"Content-Disposition": 'attachment; filename="late.txt"'}),)},
        Expected(file=FILE.data, message="late.txt", message_without="early.txt"), request={"named_by_server": True},
        source=test("tests/Test-HTTP-Content-Disposition.px")),
    Row("wget-name-not-asked-for", "sends a file name to a task whose destination has a file name: the server's file "
        "name is ignored",
        {"file": (whole(FILE, headers={"Content-Disposition": 'attachment; filename="theirs.txt"'}),)},
        Expected(file=FILE.data, message_without="theirs.txt"), source=test("tests/Test--no-content-disposition.px")),
    Row("wget-name-after-401", "sends one file name with its 401 response and a second name with the file: the file "
        "gets the second name",
        {"file": (Response(401, {"WWW-Authenticate": 'Basic realm="x"',
                                 "Content-Disposition": 'attachment; filename="refusal.txt"'}, b"who?"),
                  whole(FILE, headers={"Content-Disposition": 'attachment; filename="hello.txt"'}))},
        Expected(file=FILE.data, message="hello.txt", message_without="refusal"),
        session={"asks_for_credentials": True},
        request={"named_by_server": True, "challenge_responses": ("credential",)},
        source=test("testenv/Test-auth-with-content-disposition.py")),
    Row("wget-no-challenge", "demands no credential: the host's Authorization field is sent with the first request",
        {"file": (whole(FILE),)}, GOOD, request={"headers": {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}},
        asked=({"authorization": "Basic dXNlcjpwYXNzd29yZA=="},), source=test("testenv/Test-auth-no-challenge.py")),
    Row("wget-cookie-401", "sets a cookie in its 401 response: the request with the credential has the cookie",
        {"file": (Response(401, {"WWW-Authenticate": 'Basic realm="x"', "Set-Cookie": "sess=0213; Path=/"}),
                  whole(FILE))}, GOOD, session={"asks_for_credentials": True, **KEEPS},
        request={"challenge_responses": ("credential",)},
        asked=({"cookie": None}, {"cookie": "sess=0213", "authorization": "Basic dXNlcjpwYXNzd29yZA=="}),
        source=test("testenv/Test-cookie-401.py")),
    Row("wget-cookie-expires", "sets two cookies, then makes the first cookie expire: the next request has only the "
        "second cookie",
        visits("old=1; Path=/", "new=2", "old=1; Path=/; Expires=Tue, 06 Nov 2001 12:32:43 GMT", last=whole(FILE)),
        GOOD, session=KEEPS, source=test("testenv/Test-cookie-expires.py"),
        asked=({"cookie": None}, {"cookie": "old=1"},
               {"cookie": lambda value: sorted(value.split("; ")) == ["new=2", "old=1"]}, {"cookie": "new=2"})),
    Row("wget-cookie-domain", "sets one cookie for another domain and one for its own domain: only the cookie for its "
        "own domain is sent",
        {"file": (Response(302, {"Location": "{base}/real",
                                 "Set-Cookie": ["bad=1; Path=/; Domain=.example.com", "good=2"]}),),
         "real": (whole(FILE),)}, GOOD, session=KEEPS, asked=({}, {"cookie": "good=2"}),
        source=test("testenv/Test-cookie-domain-mismatch.py")),
    Row("wget-timestamps", "responds with 304 and Last-Modified to a request without a condition: the task fails with "
        "the status and makes no file",
        {"file": (Response(304, {"Last-Modified": MODIFIED}),)}, Expected("failed", "HTTP_STATUS", 304),
        transports=UNCHANGED, source=test("tests/Test-N-current.px")),
    Row("wget-same-name-other-bytes", "drops, then sends other bytes with the same ETag: the checksum does not match, "
        "and the download starts over",
        {"file": (DROPPED, rest(OTHER, etag=FILE.etag), whole(FILE))}, GOOD, request={"checksum": FILE.sha256},
        source=test("testenv/Test-metalink-xml-continue.py")),
]
