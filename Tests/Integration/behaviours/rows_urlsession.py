"""Cases from TestURLSession of swift-corelibs-foundation"""
# These cases are covered by no other row, and each source names its test. Where a background task must be stricter than
# a request in the foreground, the expected result says so.

from behaviours.script import UNCHANGED, Answer, Becomes, Content, Row, redirect, whole

FILE = Content(2_000)
GOOD = Becomes(file=FILE.data)
ONCE = {"maximum_attempts": 1}
KEEPS = {"cookies": "memory"}


def test(name):
    return f"swift-corelibs-foundation, TestURLSession.test_{name}"


def to(location, status=302):
    return {"file": (redirect(location, status),), "real": (whole(FILE),)}


def raw(name, what, data, becomes, **more):
    return Row(name, what, {"file": (Answer(raw=data),)}, becomes, session=ONCE, carriers=("h1",), **more)


ROWS = [
    Row("urlsession-300", "answers 300 and prefers one place in its Location: the file is what lies there",
        to("{base}/real", 300), GOOD, asked=({}, {"path": "real"}), carriers=UNCHANGED,
        source=test("httpRedirectionWithCode300")),
    Row("urlsession-300-choices", "answers 300 and leaves the choice to others: the task fails with the status",
        {"file": (Answer(300, {}, b"choose"),)}, Becomes("failed", "HTTP_STATUS", 300), asked=({},),
        source=test("httpRedirectionWithCode300")),
    *(Row(f"urlsession-{status}", f"answers {status}, which redirects nobody any more: the task fails with the status",
          to("{base}/real", status), Becomes("failed", "HTTP_STATUS", status), asked=({},), carriers=UNCHANGED,
          source=test("httpRedirectionWithCode305_308")) for status in (305, 306)),
    Row("urlsession-post-empty-303", "answers 303 to an empty POST: what lies there is fetched with GET",
        {"file": (redirect("{base}/real", 303),), "real": (Answer(200, {}, b"done"),)}, Becomes(response_body=b"done"),
        request={"body": b"", "method": "POST"}, asked=({"method": "POST", "body": b""}, {"method": "GET"}),
        source=test("httpRedirectionWithCode303")),
    Row("urlsession-encoded-query", "redirects to an encoded query: it is sent as it is, and not encoded twice",
        to("{base}/real?param%3D1%26x=a%20b%2Bc"), GOOD, asked=({}, {"path": "real?param%3D1%26x=a%20b%2Bc"}),
        source=test("httpRedirectionWithEncodedQuery")),
    Row("urlsession-complete-relative-path", "redirects to a path from the root with dots in it: they are resolved",
        {"file": (lambda seen: redirect(seen.path.rsplit("/", 1)[0] + "/a/.././real"),), "real": (whole(FILE),)}, GOOD,
        asked=({}, {"path": "real"}), source=test("httpRedirectionWithCompleteRelativePath")),
    Row("urlsession-incomplete-relative-path", "redirects to a reference that begins with a dot: it is beside the URL",
        to("./real"), GOOD, asked=({}, {"path": "real"}), source=test("httpRedirectionWithInCompleteRelativePath")),
    Row("urlsession-redirect-silent", "redirects to a place that says nothing: after the time-out it begins anew",
        {"file": (redirect("{base}/real"),), "real": (Answer(silent=True), whole(FILE))}, GOOD,
        session={"request_timeout_ms": 400}, carriers=UNCHANGED,
        asked=({"path": "file"}, {"path": "real"}, {"path": "file"}, {"path": "real"}),
        source=test("httpRedirectionTimeout")),
    Row("urlsession-redirect-cookies", "sets cookies in each of two redirects: the last request has both",
        {"file": (redirect("{base}/two", 302, **{"Set-Cookie": "a=1; Path=/"}),),
         "two": (redirect("{base}/real", 302, **{"Set-Cookie": "b=2; Path=/"}),), "real": (whole(FILE),)}, GOOD,
        session=KEEPS, source=test("redirectionWithSetCookies"),
        asked=({"cookie": None}, {"cookie": "a=1"},
               {"cookie": lambda value: sorted(value.split("; ")) == ["a=1", "b=2"]})),
    Row("urlsession-own-cookie-alone", "sets a cookie in a session without: only the host's own is ever sent",
        {"file": (redirect("{base}/real", 302, **{"Set-Cookie": "theirs=1; Path=/"}),), "real": (whole(FILE),)}, GOOD,
        request={"headers": {"Cookie": "mine=1"}}, asked=({"cookie": "mine=1"}, {"cookie": "mine=1"}),
        source=test("setCookieHeadersCanBeIgnored")),
    raw("urlsession-no-space", "leaves no space behind the colons of its fields: they are as good",
        b"HTTP/1.1 200 OK\r\nContent-Length:3\r\nETag:\"x\"\r\n\r\nabc", Becomes(file=b"abc"),
        source=test("dataTaskAcceptsResponseHeaderValueWithoutWhitespace")),
    raw("urlsession-no-length", "sends a body without any length and closes: the file is what came",
        b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nabc", Becomes(file=b"abc"),
        source=test("missingContentLengthButStillABody")),
    raw("urlsession-999", "has a status of three digits that no class has: the task fails with it",
        b"HTTP/1.1 999 Odd\r\nContent-Length: 3\r\n\r\nabc", Becomes("failed", "HTTP_STATUS", 999),
        source=test("outOfRangeButCorrectlyFormattedHTTPCode")),
    *(raw(f"urlsession-illegal-{name}", f"{what}: it is no answer, and its bytes are no file", data, Becomes("failed"),
          source=test("illegalHTTPServerResponses"))
      for name, what, data in (
          ("status", "has a status of four digits", b"HTTP/1.1 2000 OK\r\nContent-Length: 3\r\n\r\nabc"),
          ("no-status", "has no status", b"HTTP/1.1 OK\r\nContent-Length: 3\r\n\r\nabc"),
          ("version", "speaks a version that is none", b"HTTP/x.y 200 OK\r\nContent-Length: 3\r\n\r\nabc"),
          ("no-header", "sends a body alone", b"just some text that has no header at all\r\n"),
      )),
    Row("urlsession-401-more-fields", "asks in small letters and with other fields around the challenge: the "
        "host is asked, and the file is there",
        {"file": (Answer(401, {"X-Before": "1", "WWW-Authenticate": "basic Realm=\"staff\"", "X-After": "2"}, b"no"),
                  whole(FILE))}, GOOD, session={"asks_for_credentials": True}, request={"answers": ("credential",)},
        asked=({"authorization": None}, {"authorization": "Basic dXNlcjpwYXNzd29yZA=="}),
        source=test("basicAuthWithUnauthorizedHeader")),
    Row("urlsession-post-empty", "takes a POST without content: it is sent with a length of 0",
        {"file": (Answer(204),)},
        Becomes(http_status=204), request={"body": b"", "method": "POST"}, carriers=("h1",),
        asked=({"method": "POST", "body": b"", "content-length": "0"},), source=test("postWithEmptyBody")),
]
