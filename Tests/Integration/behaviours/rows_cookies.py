"""Cookies: RFC 6265."""

# A row has a name, a text for docs/http.md, the responses of the server, the expected end of the task, and the expected
# requests (`asked`). In the texts, the host is the program that embeds the library.

from behaviours.row import Content, Expected, Response, Row, redirect, whole

FILE = Content(2_000)
GOOD = Expected(file=FILE.data)
KEEPS = {"cookies": "memory"}


def sets(cookie, then="{base}/real"):
    return {"file": (redirect(then, 302).with_changes(headers={"Location": then, "Set-Cookie": cookie}),),
    "real": (whole(FILE),)}


ROWS = [
    Row("cookie-none", "sets a cookie in a session that stores no cookies: the cookie is not sent back",
        sets("a=1"), GOOD,
        asked=({"cookie": None}, {"cookie": None})),
    Row("cookie-loop", "redirects until it gets its cookie back, from a session that stores no cookies: the task "
        "fails, and the error message names the option for cookies",
        {"file": (redirect("{base}/file").with_changes(headers={"Location": "{base}/file", "Set-Cookie": "a=1"}),)},
        Expected("failed", "REDIRECT_REFUSED", message="cookies is Cookies.NONE"), transports=("h1",)),
    Row("cookie-redirect", "sets a cookie in its redirect: the next request has the cookie",
        sets("a=1"), GOOD, session=KEEPS,
        asked=({"cookie": None}, {"cookie": "a=1"})),
    Row("cookie-path", "sets a cookie for another path: the cookie is not sent", sets("a=1; Path=/elsewhere"), GOOD,
        session=KEEPS,
        asked=({}, {"cookie": None}), source="RFC 6265, 5.1.4"),
    Row("cookie-root", "sets a cookie for all paths: the cookie is sent", sets("a=1; Path=/"), GOOD, session=KEEPS,
        asked=({}, {"cookie": "a=1"})),
    Row("cookie-expired", "sets a cookie that has expired: the cookie is not sent",
        sets("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT"), GOOD, session=KEEPS, asked=({}, {"cookie": None})),
    Row("cookie-removed", "sets a cookie and then removes it: the cookie is not sent any more",
        {"file": (Response(302, {"Location": "{base}/b", "Set-Cookie": "a=1"}),),
         "b": (Response(302, {"Location": "{base}/real", "Set-Cookie": "a=1; Max-Age=0"}),), "real": (whole(FILE),)},
         GOOD,
        session=KEEPS, asked=({}, {"cookie": "a=1"}, {"cookie": None})),
    Row("cookie-other-domain", "sets a cookie for another domain: the cookie is rejected",
        sets("a=1; Domain=example.org"), GOOD,
        session=KEEPS, asked=({}, {"cookie": None}), source="RFC 6265, 5.3"),
    Row("cookie-secure-over-http", "sets a Secure cookie over plain HTTP on loopback: the cookie is sent, because "
        "loopback counts as secure",
        sets("a=1; Secure"), GOOD, session=KEEPS, asked=({}, {"cookie": "a=1"}), transports=("h1", "forward")),
    Row("cookie-secure-over-tls", "sets a Secure cookie over TLS: the cookie is sent",
        sets("a=1; Secure; HttpOnly"), GOOD,
        session=KEEPS, asked=({}, {"cookie": "a=1"}), transports=("h2", "tunnel")),
    Row("cookie-several", "sets two cookies: both cookies are sent",
        {"file": (Response(302, {"Location": "{base}/real", "Set-Cookie": ["a=1", "b=2"]}),), "real": (whole(FILE),)},
        GOOD,
        session=KEEPS, asked=({}, {"cookie": lambda value: sorted(value.split("; ")) == ["a=1", "b=2"]})),
    Row("cookie-own-header", "receives the host's own Cookie field unchanged", {"file": (whole(FILE),)}, GOOD,
        request={"headers": {"Cookie": "mine=1"}}, asked=({"cookie": "mine=1"},)),
]
