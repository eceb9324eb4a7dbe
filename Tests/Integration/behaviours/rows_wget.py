"""Cases from wget's own tests of resuming, redirects, names and cookies"""
# No other row covers these cases. Each source names its test.

from behaviours.script import MODIFIED, UNCHANGED, Answer, Becomes, Content, Row, redirect, rest, unsatisfiable, whole

FILE, OTHER = Content(), Content(seed=2)
SHORTER = Content(20_000, seed=3)
CUT = 40_000
DROPPED = whole(FILE, drop_after=CUT)
GOOD = Becomes(file=FILE.data)
KEEPS = {"cookies": "memory"}


def test(name):
    return f"wget, {name}"


def visits(*cookies, last):
    """Returns a script with one path for each Set-Cookie, each of which redirects to the next. The last request fetches
    the file."""
    places = ["file", *(f"visit{number}" for number in range(1, len(cookies))), "real"]
    return {**{here: (Answer(302, {"Location": "{base}/" + then, "Set-Cookie": cookie}),)
               for here, then, cookie in zip(places, places[1:], cookies)}, "real": (last,)}


ROWS = [
    Row("wget-c-partial", "has grown since the connection dropped, under a new ETag: it is fetched whole",
        {"file": (DROPPED, whole(Content(90_000, seed=4)))}, Becomes(file=Content(90_000, seed=4).data),
        asked=({"range": None}, {"range": lambda value: value.startswith("bytes="), "if-range": FILE.etag}),
        source=test("tests/Test-c-partial.px")),
    Row("wget-c-shorter", "has become shorter than what is there: 416 tells its size, and it is fetched whole",
        {"file": (DROPPED, unsatisfiable(len(SHORTER), ETag=SHORTER.etag), whole(SHORTER))},
        Becomes(file=SHORTER.data), asked=({}, {"range": lambda value: value.startswith("bytes=")}, {"range": None}),
        source=test("tests/Test-c-shorter.px")),
    Row("wget-c-full", "had sent all, and refuses a range behind the end without a size: it is fetched again",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), Answer(416, {"ETag": FILE.etag}), whole(FILE))},
        GOOD, carriers=("h1",), asked=({}, {"range": f"bytes={len(FILE)}-"}, {"range": None}),
        source=test("testenv/Test-c-full.py")),
    Row("wget-start-pos", "announces Accept-Ranges: none and drops: the range is asked for, its 200 is the file",
        {"file": (DROPPED.but(headers={**DROPPED.headers, "Accept-Ranges": "none"}), whole(FILE))}, GOOD,
        source=test("tests/Test--start-pos.px")),
    Row("wget-204", "has no content for a destination: the file is empty", {"file": (Answer(204, {"ETag": '"x"'}),)},
        Becomes(http_status=204, file=b""), carriers=UNCHANGED, source=test("tests/Test-204.px")),
    Row("wget-504", "answers 504 twice: the third try is the file", {"file": (Answer(504), Answer(504), whole(FILE))},
        GOOD, carriers=UNCHANGED, asked=({}, {}, {}), source=test("testenv/Test-504.py")),
    Row("wget-redirect-encoded", "redirects to a path with commas, parentheses and encoded spaces: they stay",
        {"file": (redirect("{base}/SVG,%20Scalable%20Graphics/rec%20(tiny)/"),),
         "SVG,%20Scalable%20Graphics/rec%20(tiny)/": (whole(FILE),)}, GOOD,
        asked=({}, {"path": "SVG,%20Scalable%20Graphics/rec%20(tiny)/"}),
        source=test("testenv/Test-redirect-crash.py")),
    Row("wget-name-after-redirect", "redirects and names the file there: it has the name that was given last",
        {"file": (redirect("{base}/real", 302, **{"Content-Disposition": 'attachment; filename="early.txt"'}),),
         "real": (whole(FILE, headers={"Content-Disposition": 'attachment; filename="late.txt"'}),)},
        Becomes(file=FILE.data, says="late.txt", says_not="early.txt"), request={"named_by_server": True},
        source=test("tests/Test-HTTP-Content-Disposition.px")),
    Row("wget-name-not-asked-for", "names the file though nobody has asked: the host's destination counts",
        {"file": (whole(FILE, headers={"Content-Disposition": 'attachment; filename="theirs.txt"'}),)},
        Becomes(file=FILE.data, says_not="theirs.txt"), source=test("tests/Test--no-content-disposition.px")),
    Row("wget-name-after-401", "names the file behind a challenge: it has that name, and the challenge's page none",
        {"file": (Answer(401, {"WWW-Authenticate": 'Basic realm="x"',
                               "Content-Disposition": 'attachment; filename="refusal.txt"'}, b"who?"),
                  whole(FILE, headers={"Content-Disposition": 'attachment; filename="hello.txt"'}))},
        Becomes(file=FILE.data, says="hello.txt", says_not="refusal"), session={"asks_for_credentials": True},
        request={"named_by_server": True, "answers": ("credential",)},
        source=test("testenv/Test-auth-with-content-disposition.py")),
    Row("wget-no-challenge", "answers without ever asking: a header that the host gave was sent at once",
        {"file": (whole(FILE),)}, GOOD, request={"headers": {"Authorization": "Basic dXNlcjpwYXNzd29yZA=="}},
        asked=({"authorization": "Basic dXNlcjpwYXNzd29yZA=="},), source=test("testenv/Test-auth-no-challenge.py")),
    Row("wget-cookie-401", "sets a cookie with its challenge: the answer to it comes with the cookie",
        {"file": (Answer(401, {"WWW-Authenticate": 'Basic realm="x"', "Set-Cookie": "sess=0213; Path=/"}),
                  whole(FILE))}, GOOD, session={"asks_for_credentials": True, **KEEPS},
        request={"answers": ("credential",)},
        asked=({"cookie": None}, {"cookie": "sess=0213", "authorization": "Basic dXNlcjpwYXNzd29yZA=="}),
        source=test("testenv/Test-cookie-401.py")),
    Row("wget-cookie-expires", "lets one of two cookies expire: the other goes on being sent",
        visits("old=1; Path=/", "new=2", "old=1; Path=/; Expires=Tue, 06 Nov 2001 12:32:43 GMT", last=whole(FILE)),
        GOOD, session=KEEPS, source=test("testenv/Test-cookie-expires.py"),
        asked=({"cookie": None}, {"cookie": "old=1"},
               {"cookie": lambda value: sorted(value.split("; ")) == ["new=2", "old=1"]}, {"cookie": "new=2"})),
    Row("wget-cookie-domain", "sets a cookie for another domain beside one of its own: its own alone is sent",
        {"file": (Answer(302, {"Location": "{base}/real",
                               "Set-Cookie": ["bad=1; Path=/; Domain=.example.com", "good=2"]}),),
         "real": (whole(FILE),)}, GOOD, session=KEEPS, asked=({}, {"cookie": "good=2"}),
        source=test("testenv/Test-cookie-domain-mismatch.py")),
    Row("wget-timestamps", "says 304 to a task without a condition, though it had Last-Modified: no empty file is made",
        {"file": (Answer(304, {"Last-Modified": MODIFIED}),)}, Becomes("failed", "HTTP_STATUS", 304),
        carriers=UNCHANGED, source=test("tests/Test-N-current.px")),
    Row("wget-same-name-other-bytes", "sends other bytes of the same size under the same ETag after a drop: the "
        "checksum sees it, and it begins anew",
        {"file": (DROPPED, rest(OTHER, etag=FILE.etag), whole(FILE))}, GOOD, request={"checksum": FILE.sha256},
        source=test("testenv/Test-metalink-xml-continue.py")),
]
