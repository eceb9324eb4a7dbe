"""Further cases from curl's tests of resuming, redirects and cookies."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). In the texts, the host is the program that embeds the library. "Drops" means that the server ends
# the connection inside the body.

from behaviours.row import UNCHANGED, Content, Expected, Response, Row, redirect, rest, whole

FILE, OTHER = Content(), Content(seed=2)
CUT = 40_000
DROPPED = whole(FILE, drop_after=CUT)
GOOD = Expected(file=FILE.data)
KEEPS = {"cookies": "memory"}
RANGE = {"range": lambda value: value.startswith("bytes="), "if-range": FILE.etag}


def test(number):
    return f"curl, tests/data/test{number}"


def to(location, real="real", status=302):
    return {"file": (redirect(location, status),), real: (whole(FILE),)}


def sets(*cookies, then="real"):
    return {"file": (Response(302, {"Location": "{base}/" + then, "Set-Cookie": list(cookies)}),), then: (whole(FILE),)}


ROWS = [
    Row("curl-38", "drops, then ignores the range and responds with 200: the download starts over with this response",
        {"file": (DROPPED, whole(FILE))}, GOOD, asked=({"range": None}, RANGE), source=test(38)),
    Row("curl-188", "drops, then redirects the range request: the task sends the range request to the new URL",
        {"file": (DROPPED, redirect("{base}/file?again"), rest(FILE))}, GOOD,
        asked=({"range": None}, RANGE, {**RANGE, "path": "file?again"}), source=test(188)),
    Row("curl-189", "drops, then redirects the range request to another origin: the download starts over, and the file "
        "has bytes of only one origin",
        {"file": (DROPPED, redirect("{other}/real")),
         "real": (rest(OTHER, etag=FILE.etag), whole(OTHER, etag=FILE.etag))}, Expected(file=OTHER.data),
        asked=({"path": "file", "range": None}, {**RANGE, "path": "file"}, {**RANGE, "path": "real"},
               {"path": "file", "range": None}, {"path": "real", "range": None}), source=test(189)),
    Row("curl-1273", "sends all bytes, drops before the final chunk of size 0, then responds with 416 without "
        "Content-Range: the download starts over",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), Response(416), whole(FILE))}, GOOD,
        transports=("h1",), source=test(1273)),
    Row("curl-1042", "sends all bytes, drops before the final chunk of size 0, then responds to the range request with "
        "200: the download starts over",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), whole(FILE))}, GOOD, transports=("h1",),
        source=test(1042)),
    Row("curl-42", "redirects to a reference with too many `..` segments: the reference is resolved from the root",
        {"file": (lambda seen: redirect("../../../../.." + seen.path.rsplit("/", 1)[0] + "/real"),),
         "real": (whole(FILE),)}, GOOD, asked=({}, {"path": "real"}), source=test(42)),
    Row("curl-54", "responds with 302, a blank Location and a body: the task fails with the status",
        {"file": (redirect(" ").with_changes(body=b"nowhere"),)}, Expected("failed", "HTTP_STATUS", 302),
        transports=("h1",),
        source=test(54)),
    Row("curl-276", "redirects to a query that contains a URL and more question marks: the query is sent unchanged",
        to("real?site=http://another/?second/276"), GOOD, asked=({}, {"path": "real?site=http://another/?second/276"}),
        source=test(276)),
    Row("curl-1138", "redirects to a URL with UTF-8 letters: the letters are sent percent-encoded",
        to("real?name=پول"), GOOD,
        asked=({}, {"path": lambda path: path.lower() == "real?name=%d9%be%d9%88%d9%84"}), transports=("h1",),
        source=test(1138)),
    Row("curl-location-of-200", "sends a Location with 200: the task ignores the Location",
        {"file": (whole(FILE, headers={"Location": "{other}/elsewhere"}),)}, GOOD, asked=({},), source=test(1138)),
    Row("curl-317", "redirects to another origin: the host's field X-Api-Key is not sent there",
        to("{other}/real"), GOOD, request={"headers": {"X-Api-Key": "secret", "Authorization": "Basic c2VjcmV0"}},
        asked=({"x-api-key": "secret"}, {"x-api-key": None, "authorization": None}), source=test(317)),
    Row("curl-330", "redirects to another origin: the host's own Cookie field is not sent there",
        to("{other}/real"), GOOD,
        request={"headers": {"Cookie": "mine=1"}}, asked=({"cookie": "mine=1"}, {"cookie": None}), source=test(330)),
    Row("curl-cookie-origin", "sets a cookie, then redirects to another port of the same host name: the cookie is sent "
        "to that port, as in browsers",
        {"file": (Response(302, {"Location": "{other}/real", "Set-Cookie": "a=1; Path=/"}),), "real": (whole(FILE),)},
        GOOD, session=KEEPS, asked=({"cookie": None}, {"cookie": "a=1"}), source="RFC 6265, 8.5"),
    Row("curl-31", "sets cookies with spaces, and invalid cookies: only the valid cookies are sent, without the spaces",
        sets("  spaced =  value ; Path=/ ", "bad-domain=1; Domain=.foo.moo", "=empty"), GOOD, session=KEEPS,
        asked=({}, {"cookie": lambda value: "spaced=value" in value and "bad-domain" not in value}),
        transports=UNCHANGED,
        source=test(31)),
    Row("curl-329", "sets a cookie with Max-Age=0 and an Expires in the future: Max-Age overrides Expires, so the "
        "cookie is not sent",
        sets("a=1; Path=/; Expires=Fri, 02 Feb 2035 11:56:27 GMT; Max-Age=0", "b=2; Path=/"), GOOD, session=KEEPS,
        asked=({}, {"cookie": "b=2"}), source=test(329)),
    Row("curl-1228", "sets a cookie for /depth and redirects to /depths: the cookie is not sent there",
        {"file": (lambda seen: Response(302, {
            "Location": "{base}/depths", "Set-Cookie": [f"a=1; Path={seen.path.rsplit('/', 1)[0]}/depth", "b=2"]}),),
         "depths": (whole(FILE),)}, GOOD, session=KEEPS, asked=({}, {"cookie": "b=2"}), source=test(1228)),
    Row("curl-1151", "sets a cookie larger than 8 KiB: the cookie is not stored",
        sets("large=" + "x" * 8_300, "b=2"), GOOD,
        session=KEEPS, asked=({}, {"cookie": "b=2"}), transports=("h1",), source=test(1151)),
    Row("curl-1105", "sets the same cookie twice: the second value is sent", sets("a=1; Path=/", "a=2; Path=/"), GOOD,
        session=KEEPS, asked=({}, {"cookie": "a=2"}), source=test(1105)),
]
