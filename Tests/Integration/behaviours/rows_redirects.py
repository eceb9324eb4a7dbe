"""Redirects: RFC 9110, section 15.4."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). In the texts, the host is the program that embeds the library.

from behaviours.row import UNCHANGED, Content, Expected, Response, Row, redirect, rest, whole

FILE, LARGE = Content(2_000), Content()
HTML = {"Content-Type": "text/html; charset=utf-8"}
#: The transports without a proxy.
DIRECT = ("h1", "h2")
GOOD = Expected(file=FILE.data, http_status=200)
#: A time limit for a task, in seconds. It is less than the request time-out of the table's sessions.
SOON = 18
_MOVED = redirect("{base}/real").with_changes(body=b"moved")
#: Redirects whose body does not end. Each entry has a suffix for the row's name, words for the row's text, and the
#: response.
UNENDED = (
    ("drips", "that arrives slowly and never ends", _MOVED.with_changes(framing="chunked", drip=0.1)),
    ("endless", "that never ends", _MOVED.with_changes(framing="chunked", drip=0)),
    ("stalls", "of 1 KB that never arrives", _MOVED.with_changes(length=1_000, stall_after=0)),
)


def to(location, status=302, **more):
    return {"file": (redirect(location, status),), "real": (whole(FILE),), **more}


def upload(status, **more):
    return {"file": (redirect("{base}/real", status),), "real": (Response(200, {}, b"done"),), **more}


SECRET = {"headers": {"Authorization": "Bearer secret", "X-Mine": "1"}}
KEPT = {"authorization": "Bearer secret", "x-mine": "1"}
DROPPED = {"authorization": None, "x-mine": None}


def continued(seen_range):
    return seen_range.startswith("bytes=") and 0 < int(seen_range[6:-1]) <= 40_000


ROWS = [
    *(Row(f"redirect-{status}", f"responds with {status} and a Location: the task follows the redirect",
          to("{base}/real", status), GOOD, asked=({"path": "file"}, {"path": "real", "method": "GET"}))
      for status in (301, 302, 303, 307, 308)),
    Row("redirect-relative", "redirects to a relative reference: the reference is resolved against the URL of the "
        "request",
        to("real"), GOOD,
        source="RFC 3986, 5"),
    Row("redirect-absolute-path", "redirects to an absolute path: the path is resolved against the origin",
        {"file": (lambda seen: redirect(seen.path.rsplit("/", 1)[0] + "/real"),), "real": (whole(FILE),)}, GOOD),
    Row("redirect-query", "redirects to a query without a path: the path stays the same",
        {"file": (redirect("?again=1"), whole(FILE))}, GOOD, asked=({"path": "file"}, {"path": "file?again=1"})),
    Row("redirect-fragment", "redirects to a URL with a fragment: the fragment is not sent",
        to("{base}/real#part"), GOOD,
        asked=({}, {"path": "real"})),
    Row("redirect-dots", "redirects to a path with `..` segments: the segments are resolved",
        to("{base}/a/b/../../real"), GOOD,
        asked=({}, {"path": "real"})),
    Row("redirect-same-origin-headers", "redirects to the same origin: the host's header fields are sent again",
        to("{base}/real"),
        GOOD,
        request=SECRET, asked=(KEPT, KEPT)),
    Row("redirect-other-origin-headers", "redirects to another origin: the host's header fields are not sent there",
        to("{other}/real"),
        GOOD, request=SECRET, asked=(KEPT, DROPPED),
        source="RFC 9110, 15.4: Authorization and other fields belong to one origin"),
    Row("redirect-back-headers", "redirects to another origin and back: the host's header fields are sent only with "
        "the first request",
        {"file": (redirect("{other}/away"),), "away": (redirect("{base}/real"),), "real": (whole(FILE),)}, GOOD,
        request=SECRET, asked=(KEPT, DROPPED, DROPPED)),
    Row("redirect-session-headers", "redirects to another origin: the session's header fields are not sent there",
        to("{other}/real"), GOOD, session={"headers": {"X-Session": "1"}},
        asked=({"x-session": "1"}, {"x-session": None})),
    Row("redirect-chain", "redirects nine times: the task follows all redirects",
        {"file": (redirect("{base}/1"),), **{str(n): (redirect(f"{{base}}/{n + 1}"),) for n in range(1, 9)},
         "9": (whole(FILE),)}, GOOD),
    Row("redirect-loop", "redirects to the same URL each time: the task fails at the limit of redirects",
        {"file": (redirect("{base}/file"),)},
        Expected("failed", "REDIRECT_REFUSED")),
    Row("redirect-page-in-place-of-file", "redirects a task for a .zip file to a page of another origin: the task does "
        "not receive the page, retries, and succeeds with the file",
        {"a.zip": (redirect("{other}/portal"), whole(FILE)), "portal": (Response(200, HTML, b"log in"),)},
        Expected(file=FILE.data), start="a.zip",
        asked=({"path": "a.zip"}, {"path": "portal"}, {"path": "a.zip"}), transports=DIRECT),
    Row("redirect-page-always", "always redirects a task for a .zip file to a page of another origin: after three "
        "attempts, the task fails with `BH_UNEXPECTED_TYPE`",
        {"a.zip": (redirect("{other}/portal"),), "portal": (Response(200, HTML, b"log in"),)},
        Expected("failed", "UNEXPECTED_TYPE", 200), start="a.zip", transports=("h1",)),
    Row("redirect-login-page", "always redirects a task to a login page of the same origin: after three attempts, the "
        "task fails with `BH_UNEXPECTED_TYPE`",
        {"file": (redirect("{base}/users/sign_in?next=file"),), "users/sign_in": (Response(200, HTML, b"log in"),)},
        Expected("failed", "UNEXPECTED_TYPE", 200, message="/users/sign_in, "), transports=DIRECT),
    Row("redirect-page-resumed", "drops, then redirects to a page of another origin: the task does not receive the "
        "page, and continues with the bytes that it has when the server sends the rest",
        {"file": (whole(LARGE, drop_after=40_000), redirect("{other}/portal"), rest(LARGE)),
         "portal": (Response(200, HTML, b"log in"),)}, Expected(file=LARGE.data),
        asked=({"path": "file"}, {"path": "file"}, {"path": "portal"}, {"path": "file", "range": continued}),
        transports=DIRECT),
    Row("redirect-page-wanted", "redirects a task to a page of another origin, and the URL names no file: the page "
        "becomes the file", {"file": (redirect("{other}/page"),), "page": (Response(200, HTML, b"a page"),)},
        Expected(file=b"a page"), transports=DIRECT),
    Row("redirect-page-accepted", "redirects a task for a .zip file that accepts text/html to a page of another "
        "origin: the page becomes the file",
        {"a.zip": (redirect("{other}/page"),), "page": (Response(200, HTML, b"a page"),)},
        Expected(file=b"a page"), start="a.zip", request={"policy": {"accepted_types": "text/*"}}, transports=DIRECT),
    Row("redirect-limit", "redirects more than `maximum_redirects` times: the task fails",
        {"file": (redirect("{base}/1"),), "1": (redirect("{base}/2"),), "2": (whole(FILE),)},
        Expected("failed", "REDIRECT_REFUSED"), request={"policy": {"maximum_redirects": 1}}),
    Row("redirect-within-limit", "redirects `maximum_redirects` times: the task follows all redirects",
        {"file": (redirect("{base}/1"),), "1": (redirect("{base}/2"),), "2": (whole(FILE),)}, GOOD,
        request={"policy": {"maximum_redirects": 2}}),
    Row("redirect-none", "redirects a task that follows no redirects: the task fails with the status",
        to("{base}/real"),
        Expected("failed", "HTTP_STATUS", 302), request={"policy": {"redirects": "none"}}, asked=({},)),
    Row("redirect-none-accepted", "redirects a task that follows no redirects and accepts 302: the response's body "
        "becomes the file",
        {"file": (redirect("{base}/real").with_changes(body=b"moved"),)}, Expected(file=b"moved", http_status=302),
        request={"policy": {"redirects": "none", "accepted_statuses": "302"}}),
    Row("redirect-same-origin-only", "redirects to the same origin, and the task permits only same-origin redirects: "
        "the task follows the redirect",
        to("{base}/real"), GOOD, request={"policy": {"redirects": "same_origin"}}),
    Row("redirect-other-origin-refused", "redirects to another origin, and the task permits only same-origin "
        "redirects: the task fails",
        to("{other}/real"), Expected("failed", "REDIRECT_REFUSED"), request={"policy": {"redirects": "same_origin"}},
        asked=({},)),
    Row("redirect-without-location", "responds with 302 without a Location: the task fails with the status",
        {"file": (Response(302, {}, b"nowhere"),)}, Expected("failed", "HTTP_STATUS", 302)),
    Row("redirect-empty-location", "responds with 302 and an empty Location: the task fails with the status",
        {"file": (redirect(""),)}, Expected("failed", "HTTP_STATUS", 302), transports=UNCHANGED),
    Row("redirect-ftp", "redirects to an `ftp:` URL: the task fails", to("ftp://example.org/real"),
        Expected("failed", "REDIRECT_REFUSED")),
    Row("redirect-file", "redirects to a `file:` URL: the task fails", to("file:///etc/passwd"),
        Expected("failed", "REDIRECT_REFUSED")),
    Row("redirect-javascript", "redirects to a `javascript:` URL: the task fails", to("javascript:alert(1)"),
        Expected("failed", "REDIRECT_REFUSED")),
    Row("redirect-down", "redirects from https to http: the task fails, because plain HTTP is not encrypted",
        to("http://127.0.0.1:9/real"), Expected("failed", "REDIRECT_REFUSED"), transports=("h2", "tunnel")),
    Row("redirect-with-password", "redirects to a URL with user and password: the task fails, and the error message "
        "does not contain the password",
        to("http://user:password@127.0.0.1:9/real"),
        Expected("failed", "REDIRECT_REFUSED", message_without="password@"),
        transports=("h1", "forward")),
    Row("redirect-with-split-password", "redirects to a URL whose password contains a slash: the task fails, and the "
        "error message does not contain the password",
        to("http://user:pass/word@127.0.0.1:9/real"),
        Expected("failed", "REDIRECT_REFUSED", message_without="pass"), transports=("h1",)),
    Row("redirect-signed-refused", "redirects to a signed `ftp:` URL: the task fails, and the error message does not "
        "contain the query",
        to("ftp://example.org/real?X-Signature=0f0e0d0c"),
        Expected("failed", "REDIRECT_REFUSED", message="ftp://example.org/real", message_without="0f0e0d0c"),
        transports=("h1",)),
    Row("redirect-signed-denied", "redirects to a signed URL, and repeats this URL in the body of its 403: the stored "
        "body has asterisks in place of the query's values",
        {"file": (redirect("{base}/denied?X-Signature=0f0e0d0c"),),
         "denied": (Response(403, {}, b"denied: X-Signature=0f0e0d0c"),)},
        Expected("failed", "HTTP_STATUS", 403, error_body=b"denied: X-Signature=********"), transports=("h1",)),
    Row("redirect-broken", "redirects to an invalid URL: the task fails", to("http://[::1/real"),
        Expected("failed", "REDIRECT_REFUSED"), transports=("h1",)),
    Row("redirect-304", "responds with 304 to a request without a condition: the task fails with the status",
        {"file": (Response(304),)}, Expected("failed", "HTTP_STATUS", 304), transports=UNCHANGED,
        source="RFC 9110, 15.4.5"),
    Row("redirect-body", "sends a body with its redirect: the file does not contain this body",
        {"file": (redirect("{base}/real").with_changes(body=b"moved" * 1_000),), "real": (whole(FILE),)}, GOOD),
    *(Row(f"redirect-body-{name}", f"sends a redirect with a body {what}: the task follows the redirect at once",
          {"file": (moved,), "real": (whole(FILE),)}, Expected(file=FILE.data, http_status=200, within=SOON),
          asked=({"path": "file"}, {"path": "real"}), transports=("h1", "h2")) for name, what, moved in UNENDED),
    *(Row(f"redirect-{method.lower()}-{status}-body-{name}",
          f"responds to a {method} with {status} and a body {what}: the task follows the redirect at once",
          {"file": (moved.with_changes(status=status),), "real": (Response(200, {}, b"done"),)},
          Expected(response_body=b"done", within=SOON), request={"body": b"content", "method": method},
          asked=({"path": "file", "body": b"content"}, {"path": "real", "method": then}), transports=("h1", "h2"))
      for method, status, then in (("PUT", 307, "PUT"), ("POST", 303, "GET")) for name, what, moved in UNENDED),
    Row("redirect-bytes", "sends a Location with bytes that are not ASCII: the task percent-encodes these bytes",
        {"file": (redirect("caf\udce9"),), "caf%e9": (whole(FILE),)}, GOOD, asked=({}, {"path": "caf%e9"}),
        transports=("h1",), source="RFC 9110, 10.2.2"),
    *(Row(f"redirect-{name}", f"sends a Location with {what}: the task does not follow the redirect, and fails",
          {"file": (redirect(location),),
          "real": (whole(FILE),)}, Expected("failed", "REDIRECT_REFUSED", message="control character"), asked=({},),
          transports=("h1",), source="RFC 9110, 5.5")
      for name, what, location in (("control", "a control character", "re\x01al"), ("tab", "a tab", "re\tal"),
                                   ("delete", "a delete character", "{base}/re\x7fal"))),
    Row("redirect-two-places", "sends two different Location fields: the task fails, and follows no redirect",
        {"file": (redirect(["{base}/real", "{base}/other"]),), "real": (whole(FILE),)},
        Expected("failed", "REDIRECT_REFUSED", message="two places"), asked=({},), transports=("h1", "h2")),
    Row("redirect-name", "redirects to a server whose name has a letter that IDNA does not allow: the task fails, and "
        "the error message names the cause",
        {"file": (redirect("http://a\uff0fb.example/"),)},
        Expected("failed", "REDIRECT_REFUSED", message="invalid international name"), asked=({},),
        transports=("h1",)),
    Row("redirect-put-307", "responds with 307 to a PUT: the task sends the PUT and its body to the new URL",
        upload(307),
        Expected(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT", "body": b"content"}, {"method": "PUT", "body": b"content", "path": "real"}),
        source="RFC 9110, 15.4.8"),
    Row("redirect-put-308", "responds with 308 to a PUT: the task sends the PUT and its body to the new URL",
        upload(308),
        Expected(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT"}, {"method": "PUT", "body": b"content"}), source="RFC 9110, 15.4.9"),
    Row("redirect-names-file", "redirects a URL without an extension to a URL with one: the file gets the second name",
        {"file": (redirect("{base}/tool-1.2.zip?key=1"),), "tool-1.2.zip": (whole(FILE),)},
        Expected(file=FILE.data, message="tool-1.2.zip"), request={"named_by_server": True}),
    Row("redirect-to-storage-key", "redirects to a URL without an extension: the file gets the name in the first URL",
        {"file": (redirect("{base}/0f3c9e"),), "0f3c9e": (whole(FILE),)},
        Expected(file=FILE.data, message="file", message_without="0f3c9e"), request={"named_by_server": True}),
    Row("redirect-put-303", "responds with 303 to a PUT: the task sends GET to the new URL", upload(303),
        Expected(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT"}, {"method": "GET", "body": b"", "content-length": None}), source="RFC 9110, 15.4.4"),
    Row("redirect-post-301", "responds with 301 to a POST: the task sends GET to the new URL", upload(301),
        Expected(response_body=b"done"), request={"body": b"content", "method": "POST"},
        asked=({"method": "POST"}, {"method": "GET", "body": b""}), source="RFC 9110, 15.4.2"),
    Row("redirect-post-302", "responds with 302 to a POST: the task sends GET to the new URL", upload(302),
        Expected(response_body=b"done"), request={"body": b"content", "method": "POST"},
        asked=({"method": "POST"}, {"method": "GET", "body": b""}), source="RFC 9110, 15.4.3"),
    Row("redirect-post-307", "responds with 307 to a POST: the task sends the POST and its body to the new URL",
        upload(307),
        Expected(response_body=b"done"), request={"body": b"content", "method": "POST"},
        asked=({"method": "POST"}, {"method": "POST", "body": b"content"}), source="RFC 9110, 15.4.8"),
    Row("redirect-put-302", "responds with 302 to a PUT: the task sends the PUT to the new URL, because 302 changes "
        "only POST to GET", upload(302),
        Expected(response_body=b"done"), request={"body": b"content"},
        asked=({"method": "PUT"}, {"method": "PUT", "body": b"content"}), source="RFC 9110, 15.4.3"),
]
