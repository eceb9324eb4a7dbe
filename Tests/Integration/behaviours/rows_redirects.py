"""Redirects: RFC 9110, section 15.4."""

from behaviours.script import UNCHANGED, Answer, Becomes, Content, Row, redirect, whole

FILE = Content(2_000)
GOOD = Becomes(file=FILE.data, http_status=200)
#: A limit in seconds, less than the request time-out of the table's sessions.
SOON = 10
_MOVED = redirect("{base}/real").but(body=b"moved")
#: Bodies of a redirect: name, words, response.
UNENDED = (
    ("drips", "that drips and has no end", _MOVED.but(framing="chunked", drip=0.1)),
    ("endless", "that has no end", _MOVED.but(framing="chunked", drip=0)),
    ("stalls", "that is to be 1 KB and does not come", _MOVED.but(length=1_000, stall_after=0)),
)


def to(location, status=302, **more):
    return {"file": (redirect(location, status),), "real": (whole(FILE),), **more}


def upload(status, **more):
    return {"file": (redirect("{base}/real", status),), "real": (Answer(200, {}, b"done"),), **more}


SECRET = {"headers": {"Authorization": "Bearer secret", "X-Mine": "1"}}
KEPT = {"authorization": "Bearer secret", "x-mine": "1"}
DROPPED = {"authorization": None, "x-mine": None}

ROWS = [
    *(Row(f"redirect-{status}", f"answers {status} with a Location: the file is what lies there",
          to("{base}/real", status), GOOD, asked=({"path": "file"}, {"path": "real", "method": "GET"}))
      for status in (301, 302, 303, 307, 308)),
    Row("redirect-relative", "redirects to a relative reference: it is resolved against the URL", to("real"), GOOD,
        source="RFC 3986, 5"),
    Row("redirect-absolute-path", "redirects to a path from the root: it is resolved against the origin",
        {"file": (lambda seen: redirect(seen.path.rsplit("/", 1)[0] + "/real"),), "real": (whole(FILE),)}, GOOD),
    Row("redirect-query", "redirects to a query alone: it is resolved against the path",
        {"file": (redirect("?again=1"), whole(FILE))}, GOOD, asked=({"path": "file"}, {"path": "file?again=1"})),
    Row("redirect-fragment", "redirects to a URL with a fragment: it is not sent", to("{base}/real#part"), GOOD,
        asked=({}, {"path": "real"})),
    Row("redirect-dots", "redirects to a path with dots: they are resolved", to("{base}/a/b/../../real"), GOOD,
        asked=({}, {"path": "real"})),
    Row("redirect-same-origin-headers", "redirects within its origin: the host's headers go on", to("{base}/real"),
        GOOD,
        request=SECRET, asked=(KEPT, KEPT)),
    Row("redirect-other-origin-headers", "redirects to another origin: the host's headers stay behind",
        to("{other}/real"),
        GOOD, request=SECRET, asked=(KEPT, DROPPED),
        source="RFC 9110, 15.4: Authorization and what else is the origin's"),
    Row("redirect-back-headers", "redirects away and back: the host's headers stay behind for good",
        {"file": (redirect("{other}/away"),), "away": (redirect("{base}/real"),), "real": (whole(FILE),)}, GOOD,
        request=SECRET, asked=(KEPT, DROPPED, DROPPED)),
    Row("redirect-session-headers", "redirects to another origin: the session's headers stay behind, too",
        to("{other}/real"), GOOD, session={"headers": {"X-Session": "1"}},
        asked=({"x-session": "1"}, {"x-session": None})),
    Row("redirect-chain", "redirects nine times: all are followed",
        {"file": (redirect("{base}/1"),), **{str(n): (redirect("{base}/%d" % (n + 1)),) for n in range(1, 9)},
         "9": (whole(FILE),)}, GOOD),
    Row("redirect-loop", "redirects to itself: after the limit the task fails", {"file": (redirect("{base}/file"),)},
        Becomes("failed", "REDIRECT_REFUSED")),
    Row("redirect-limit", "redirects more often than maximum_redirects: the task fails",
        {"file": (redirect("{base}/1"),), "1": (redirect("{base}/2"),), "2": (whole(FILE),)},
        Becomes("failed", "REDIRECT_REFUSED"), request={"policy": {"maximum_redirects": 1}}),
    Row("redirect-within-limit", "redirects as often as maximum_redirects: it is followed",
        {"file": (redirect("{base}/1"),), "1": (redirect("{base}/2"),), "2": (whole(FILE),)}, GOOD,
        request={"policy": {"maximum_redirects": 2}}),
    Row("redirect-none", "redirects a task that follows none: it fails with the status", to("{base}/real"),
        Becomes("failed", "HTTP_STATUS", 302), request={"policy": {"redirects": "none"}}, asked=({},)),
    Row("redirect-none-accepted", "redirects a task that follows none and accepts 302: the answer's body is the file",
        {"file": (redirect("{base}/real").but(body=b"moved"),)}, Becomes(file=b"moved", http_status=302),
        request={"policy": {"redirects": "none", "accepted_statuses": "302"}}),
    Row("redirect-same-origin-only", "redirects a task of same-origin redirects within its origin: it is followed",
        to("{base}/real"), GOOD, request={"policy": {"redirects": "same_origin"}}),
    Row("redirect-other-origin-refused", "redirects a task of same-origin redirects elsewhere: it fails",
        to("{other}/real"), Becomes("failed", "REDIRECT_REFUSED"), request={"policy": {"redirects": "same_origin"}},
        asked=({},)),
    Row("redirect-without-location", "answers 302 without a Location: it is an answer like any other",
        {"file": (Answer(302, {}, b"nowhere"),)}, Becomes("failed", "HTTP_STATUS", 302)),
    Row("redirect-empty-location", "answers 302 with an empty Location: it is an answer like any other",
        {"file": (redirect(""),)}, Becomes("failed", "HTTP_STATUS", 302), carriers=UNCHANGED),
    Row("redirect-ftp", "redirects to ftp: the task fails", to("ftp://example.org/real"),
        Becomes("failed", "REDIRECT_REFUSED")),
    Row("redirect-file", "redirects to a local file: the task fails", to("file:///etc/passwd"),
        Becomes("failed", "REDIRECT_REFUSED")),
    Row("redirect-javascript", "redirects to a script: the task fails", to("javascript:alert(1)"),
        Becomes("failed", "REDIRECT_REFUSED")),
    Row("redirect-down", "redirects from https to http: the task fails, the encryption is not given up",
        to("http://127.0.0.1:9/real"), Becomes("failed", "REDIRECT_REFUSED"), carriers=("h2", "tunnel")),
    Row("redirect-with-password", "redirects to a URL with user and password: the task fails, or does not send them",
        to("http://user:password@127.0.0.1:9/real"), Becomes("failed", "REDIRECT_REFUSED", says_not="password@"),
        carriers=("h1", "forward")),
    Row("redirect-broken", "redirects to what is no URL: the task fails", to("http://[::1/real"),
        Becomes("failed", "REDIRECT_REFUSED"), carriers=("h1",)),
    Row("redirect-304", "answers 304 to a request without a condition: the task fails with the status",
        {"file": (Answer(304),)}, Becomes("failed", "HTTP_STATUS", 304), carriers=UNCHANGED,
        source="RFC 9110, 15.4.5"),
    Row("redirect-body", "sends a body with its redirect: it is no part of the file",
        {"file": (redirect("{base}/real").but(body=b"moved" * 1_000),), "real": (whole(FILE),)}, GOOD),
    *(Row(f"redirect-body-{name}", f"sends with its redirect a body {what}: it is followed at once",
          {"file": (moved,), "real": (whole(FILE),)}, Becomes(file=FILE.data, http_status=200, within=SOON),
          asked=({"path": "file"}, {"path": "real"}), carriers=("h1", "h2")) for name, what, moved in UNENDED),
    *(Row(f"redirect-{method.lower()}-{status}-body-{name}",
          f"answers {status} to a {method} with a body {what}: it is followed at once",
          {"file": (moved.but(status=status),), "real": (Answer(200, {}, b"done"),)},
          Becomes(response_body=b"done", within=SOON), request={"body": b"content", "method": method},
          asked=({"path": "file", "body": b"content"}, {"path": "real", "method": then}), carriers=("h1", "h2"))
      for method, status, then in (("PUT", 307, "PUT"), ("POST", 303, "GET")) for name, what, moved in UNENDED),
    Row("redirect-bytes", "has bytes in its Location that are no text: each is encoded for itself",
        {"file": (redirect("caf\udce9"),), "caf%e9": (whole(FILE),)}, GOOD, asked=({}, {"path": "caf%e9"}),
        carriers=("h1",), source="RFC 9110, 10.2.2"),
    *(Row(f"redirect-{name}", f"has {what} in its Location: it is not followed", {"file": (redirect(location),),
          "real": (whole(FILE),)}, Becomes("failed", "REDIRECT_REFUSED", says="control character"), asked=({},),
          carriers=("h1",), source="RFC 9110, 5.5")
      for name, what, location in (("control", "a control character", "re\x01al"), ("tab", "a tab", "re\tal"),
                                   ("delete", "a delete character", "{base}/re\x7fal"))),
    Row("redirect-two-places", "has two Location fields that differ: neither is followed",
        {"file": (redirect(["{base}/real", "{base}/other"]),), "real": (whole(FILE),)},
        Becomes("failed", "REDIRECT_REFUSED", says="two places"), asked=({},), carriers=("h1", "h2")),
    Row("redirect-name", "redirects to a server whose name has letters outside of ASCII: the message is about the "
        "server",
        {"file": (redirect("http://b\u00fccher.example/"),)},
        Becomes("failed", "REDIRECT_REFUSED", says="letters outside of ASCII", says_not="write"), asked=({},),
        carriers=("h1",)),
    Row("redirect-put-307", "answers 307 to a PUT: it is repeated there with its body", upload(307),
        Becomes(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT", "body": b"content"}, {"method": "PUT", "body": b"content", "path": "real"}),
        source="RFC 9110, 15.4.8"),
    Row("redirect-put-308", "answers 308 to a PUT: it is repeated there with its body", upload(308),
        Becomes(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT"}, {"method": "PUT", "body": b"content"}), source="RFC 9110, 15.4.9"),
    Row("redirect-put-303", "answers 303 to a PUT: what lies there is fetched with GET", upload(303),
        Becomes(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT"}, {"method": "GET", "body": b"", "content-length": None}), source="RFC 9110, 15.4.4"),
    Row("redirect-post-301", "answers 301 to a POST: what lies there is fetched with GET", upload(301),
        Becomes(response_body=b"done"), request={"body": b"content", "method": "POST"},
        asked=({"method": "POST"}, {"method": "GET", "body": b""}), source="RFC 9110, 15.4.2"),
    Row("redirect-post-302", "answers 302 to a POST: what lies there is fetched with GET", upload(302),
        Becomes(response_body=b"done"), request={"body": b"content", "method": "POST"},
        asked=({"method": "POST"}, {"method": "GET", "body": b""}), source="RFC 9110, 15.4.3"),
    Row("redirect-post-307", "answers 307 to a POST: it is repeated there with its body", upload(307),
        Becomes(response_body=b"done"), request={"body": b"content", "method": "POST"},
        asked=({"method": "POST"}, {"method": "POST", "body": b"content"}), source="RFC 9110, 15.4.8"),
    Row("redirect-put-302", "answers 302 to a PUT: it is repeated there, for only POST becomes GET", upload(302),
        Becomes(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT"}, {"method": "PUT", "body": b"content"}), source="RFC 9110, 15.4.3"),
]
