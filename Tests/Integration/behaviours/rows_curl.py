"""Cases from curl's own tests of resuming, redirects and cookies"""
# No other row covers these cases. Each source names its test.

from behaviours.script import UNCHANGED, Answer, Becomes, Content, Row, redirect, rest, whole

FILE = Content()
CUT = 40_000
DROPPED = whole(FILE, drop_after=CUT)
GOOD = Becomes(file=FILE.data)
KEEPS = {"cookies": "memory"}
RANGE = {"range": lambda value: value.startswith("bytes="), "if-range": FILE.etag}


def test(number):
    return f"curl, tests/data/test{number}"


def to(location, real="real", status=302):
    return {"file": (redirect(location, status),), real: (whole(FILE),)}


def sets(*cookies, then="real"):
    return {"file": (Answer(302, {"Location": "{base}/" + then, "Set-Cookie": list(cookies)}),), then: (whole(FILE),)}


ROWS = [
    Row("curl-38", "does not know ranges and answers 200: nothing is appended to what is there",
        {"file": (DROPPED, whole(FILE))}, GOOD, asked=({"range": None}, RANGE), source=test(38)),
    Row("curl-188", "redirects the request for the rest: the range goes along",
        {"file": (DROPPED, redirect("{base}/file?again"), rest(FILE))}, GOOD,
        asked=({"range": None}, RANGE, {**RANGE, "path": "file?again"}), source=test(188)),
    Row("curl-189", "redirects the request for the rest to another origin: its bytes are not mixed with those that are "
        "there", {"file": (DROPPED, redirect("{other}/real")), "real": (rest(FILE), whole(FILE))}, GOOD,
        source=test(189)),
    Row("curl-1273", "had sent all and says 416 without Content-Range: it is not taken for whole",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), Answer(416), whole(FILE))}, GOOD,
        carriers=("h1",), source=test(1273)),
    Row("curl-1042", "had sent all and answers a range behind the end with 200: it is fetched whole",
        {"file": (whole(FILE, framing="chunked", drop_after=len(FILE)), whole(FILE))}, GOOD, carriers=("h1",),
        source=test(1042)),
    Row("curl-42", "redirects to a reference that climbs further than the root: it stays there",
        {"file": (lambda seen: redirect("../../../../.." + seen.path.rsplit("/", 1)[0] + "/real"),),
         "real": (whole(FILE),)}, GOOD, asked=({}, {"path": "real"}), source=test(42)),
    Row("curl-54", "answers 302 with a blank Location and a body: it is an answer like any other",
        {"file": (redirect(" ").but(body=b"nowhere"),)}, Becomes("failed", "HTTP_STATUS", 302), carriers=("h1",),
        source=test(54)),
    Row("curl-276", "redirects to a URL with another URL and more question marks in its query: they stay as they are",
        to("real?site=http://another/?second/276"), GOOD, asked=({}, {"path": "real?site=http://another/?second/276"}),
        source=test(276)),
    Row("curl-1138", "redirects to a URL with UTF-8 in it: it is sent encoded", to("real?name=پول"), GOOD,
        asked=({}, {"path": lambda path: path.lower() == "real?name=%d9%be%d9%88%d9%84"}), carriers=("h1",),
        source=test(1138)),
    Row("curl-location-of-200", "sends a Location with 200: it redirects nobody",
        {"file": (whole(FILE, headers={"Location": "{other}/elsewhere"}),)}, GOOD, asked=({},), source=test(1138)),
    Row("curl-317", "redirects to another origin: a header of a name that nobody knows stays behind, too",
        to("{other}/real"), GOOD, request={"headers": {"X-Api-Key": "secret", "Authorization": "Basic c2VjcmV0"}},
        asked=({"x-api-key": "secret"}, {"x-api-key": None, "authorization": None}), source=test(317)),
    Row("curl-330", "redirects to another origin: a Cookie header of the host's stays behind", to("{other}/real"), GOOD,
        request={"headers": {"Cookie": "mine=1"}}, asked=({"cookie": "mine=1"}, {"cookie": None}), source=test(330)),
    Row("curl-cookie-origin", "redirects to another port of the same name: a cookie goes along, as browsers do",
        {"file": (Answer(302, {"Location": "{other}/real", "Set-Cookie": "a=1; Path=/"}),), "real": (whole(FILE),)},
        GOOD, session=KEEPS, asked=({"cookie": None}, {"cookie": "a=1"}), source="RFC 6265, 8.5"),
    Row("curl-31", "sends cookies with blanks in all places and some that are none: what is meant is sent",
        sets("  spaced =  value ; Path=/ ", "bad-domain=1; Domain=.foo.moo", "=empty"), GOOD, session=KEEPS,
        asked=({}, {"cookie": lambda value: "spaced=value" in value and "bad-domain" not in value}), carriers=UNCHANGED,
        source=test(31)),
    Row("curl-329", "sets a cookie with Max-Age=0 beside an Expires to come: Max-Age counts",
        sets("a=1; Path=/; Expires=Fri, 02 Feb 2035 11:56:27 GMT; Max-Age=0", "b=2; Path=/"), GOOD, session=KEEPS,
        asked=({}, {"cookie": "b=2"}), source=test(329)),
    Row("curl-1228", "sets a cookie for a path that the next one only begins like: it is not sent there",
        {"file": (lambda seen: Answer(302, {
            "Location": "{base}/depths", "Set-Cookie": [f"a=1; Path={seen.path.rsplit('/', 1)[0]}/depth", "b=2"]}),),
         "depths": (whole(FILE),)}, GOOD, session=KEEPS, asked=({}, {"cookie": "b=2"}), source=test(1228)),
    Row("curl-1151", "sets a cookie larger than 8 KiB: it is not kept", sets("large=" + "x" * 8_300, "b=2"), GOOD,
        session=KEEPS, asked=({}, {"cookie": "b=2"}), carriers=("h1",), source=test(1151)),
    Row("curl-1105", "sets the same cookie twice: the later one is sent", sets("a=1; Path=/", "a=2; Path=/"), GOOD,
        session=KEEPS, asked=({}, {"cookie": "a=2"}), source=test(1105)),
]
