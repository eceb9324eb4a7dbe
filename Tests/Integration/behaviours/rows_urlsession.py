"""Further cases from TestURLSession in swift-corelibs-foundation."""

# A row has a name, a text for docs/http.md, and the responses of the server. The row also has the expected end of the
# task, and the expected requests (`asked`). In the texts, the host is the program that embeds the library.

from behaviours.row import UNCHANGED, Content, Expected, Response, Row, redirect, whole

FILE = Content(2_000)
GOOD = Expected(file=FILE.data)
ONCE = {"maximum_attempts": 1}
KEEPS = {"cookies": "memory"}


def test(name):
    return f"swift-corelibs-foundation, TestURLSession.test_{name}"


def to(location, status=302):
    return {"file": (redirect(location, status),), "real": (whole(FILE),)}


def raw(name, what, data, expected, **more):
    return Row(name, what, {"file": (Response(raw=data),)}, expected, session=ONCE, transports=("h1",), **more)


ROWS = [
    Row("urlsession-300", "responds with 300 and a Location: the task follows the redirect",
        to("{base}/real", 300), GOOD, asked=({}, {"path": "real"}), transports=UNCHANGED,
        source=test("httpRedirectionWithCode300")),
    Row("urlsession-300-choices", "responds with 300 without a Location: the task fails with the status",
        {"file": (Response(300, {}, b"choose"),)}, Expected("failed", "HTTP_STATUS", 300), asked=({},),
        source=test("httpRedirectionWithCode300")),
    *(Row(f"urlsession-{status}", f"responds with {status} (an obsolete redirect) and a Location: the task fails "
          "with the status",
          to("{base}/real", status), Expected("failed", "HTTP_STATUS", status), asked=({},), transports=UNCHANGED,
          source=test("httpRedirectionWithCode305_308")) for status in (305, 306)),
    Row("urlsession-post-empty-303", "responds with 303 to an empty POST: the task sends GET to the new URL",
        {"file": (redirect("{base}/real", 303),), "real": (Response(200, {}, b"done"),)},
        Expected(response_body=b"done"),
        request={"body": b"", "method": "POST"}, asked=({"method": "POST", "body": b""}, {"method": "GET"}),
        source=test("httpRedirectionWithCode303")),
    Row("urlsession-encoded-query", "redirects to a percent-encoded query: the query is sent unchanged",
        to("{base}/real?param%3D1%26x=a%20b%2Bc"), GOOD, asked=({}, {"path": "real?param%3D1%26x=a%20b%2Bc"}),
        source=test("httpRedirectionWithEncodedQuery")),
    Row("urlsession-complete-relative-path", "redirects to an absolute path with `..` segments: the segments are "
        "resolved",
        {"file": (lambda seen: redirect(seen.path.rsplit("/", 1)[0] + "/a/.././real"),), "real": (whole(FILE),)}, GOOD,
        asked=({}, {"path": "real"}), source=test("httpRedirectionWithCompleteRelativePath")),
    Row("urlsession-incomplete-relative-path", "redirects to a reference that begins with `./`: the reference is "
        "resolved in the URL's directory",
        to("./real"), GOOD, asked=({}, {"path": "real"}), source=test("httpRedirectionWithInCompleteRelativePath")),
    Row("urlsession-redirect-silent", "redirects, then sends no response at the new URL: after the request time-out, "
        "the task retries from the first URL",
        {"file": (redirect("{base}/real"),), "real": (Response(silent=True), whole(FILE))}, GOOD,
        session={"request_timeout_ms": 5_000}, transports=UNCHANGED,
        asked=({"path": "file"}, {"path": "real"}, {"path": "file"}, {"path": "real"}),
        source=test("httpRedirectionTimeout")),
    Row("urlsession-redirect-cookies", "sets a cookie in each of two redirects: the last request has both cookies",
        {"file": (redirect("{base}/two", 302, **{"Set-Cookie": "a=1; Path=/"}),),
         "two": (redirect("{base}/real", 302, **{"Set-Cookie": "b=2; Path=/"}),), "real": (whole(FILE),)}, GOOD,
        session=KEEPS, source=test("redirectionWithSetCookies"),
        asked=({"cookie": None}, {"cookie": "a=1"},
               {"cookie": lambda value: sorted(value.split("; ")) == ["a=1", "b=2"]})),
    Row("urlsession-own-cookie-alone", "sets a cookie in a session that stores no cookies: only the host's own Cookie "
        "field is sent",
        {"file": (redirect("{base}/real", 302, **{"Set-Cookie": "theirs=1; Path=/"}),), "real": (whole(FILE),)}, GOOD,
        request={"headers": {"Cookie": "mine=1"}}, asked=({"cookie": "mine=1"}, {"cookie": "mine=1"}),
        source=test("setCookieHeadersCanBeIgnored")),
    raw("urlsession-no-space", "sends header fields without a space after the colon: the fields are accepted",
        b"HTTP/1.1 200 OK\r\nContent-Length:3\r\nETag:\"x\"\r\n\r\nabc", Expected(file=b"abc"),
        source=test("dataTaskAcceptsResponseHeaderValueWithoutWhitespace")),
    raw("urlsession-no-length", "sends a body without a length and closes the connection: the file has all bytes that "
        "arrived",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabc", Expected(file=b"abc"),
        source=test("missingContentLengthButStillABody")),
    raw("urlsession-999", "sends the status 999, which belongs to no class: the task fails with the status",
        b"HTTP/1.1 999 Odd\r\nContent-Length: 3\r\n\r\nabc", Expected("failed", "HTTP_STATUS", 999),
        source=test("outOfRangeButCorrectlyFormattedHTTPCode")),
    *(raw(f"urlsession-illegal-{name}", f"{what}: the response is invalid, so the task fails and makes no file",
        data, Expected("failed"),
          source=test("illegalHTTPServerResponses"))
      for name, what, data in (
          ("status", "sends a status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 3\r\n\r\nabc"),
          ("no-status", "sends no status", b"HTTP/1.1 OK\r\nContent-Length: 3\r\n\r\nabc"),
          ("version", "sends an invalid HTTP version", b"HTTP/x.y 200 OK\r\nContent-Length: 3\r\n\r\nabc"),
          ("no-header", "sends a body without a header", b"just some text that has no header at all\r\n"),
      )),
    Row("urlsession-401-more-fields", "writes `basic` in lower case, and sends WWW-Authenticate between other fields: "
        "the host gets a challenge, and the task succeeds",
        {"file": (Response(401, {"X-Before": "1", "WWW-Authenticate": "basic Realm=\"staff\"", "X-After": "2"}, b"no"),
                  whole(FILE))}, GOOD, session={"asks_for_credentials": True},
        request={"challenge_responses": ("credential",)},
        asked=({"authorization": None}, {"authorization": "Basic dXNlcjpwYXNzd29yZA=="}),
        source=test("basicAuthWithUnauthorizedHeader")),
    Row("urlsession-post-empty", "accepts a POST with an empty body: the POST has `Content-Length: 0`",
        {"file": (Response(204),)},
        Expected(http_status=204), request={"body": b"", "method": "POST"}, transports=("h1",),
        asked=({"method": "POST", "body": b"", "content-length": "0"},), source=test("postWithEmptyBody")),
]
