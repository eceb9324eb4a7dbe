"""Cookies: RFC 6265."""

from behaviours.script import Answer, Becomes, Content, Row, redirect, whole

FILE = Content(2_000)
GOOD = Becomes(file=FILE.data)
KEEPS = {"cookies": "memory"}


def sets(cookie, then="{base}/real"):
    return {"file": (redirect(then, 302).but(headers={"Location": then, "Set-Cookie": cookie}),),
    "real": (whole(FILE),)}


ROWS = [
    Row("cookie-none", "sets a cookie in a session without: it is not sent back", sets("a=1"), GOOD,
        asked=({"cookie": None}, {"cookie": None})),
    Row("cookie-redirect", "sets a cookie with its redirect: the next request has it", sets("a=1"), GOOD, session=KEEPS,
        asked=({"cookie": None}, {"cookie": "a=1"})),
    Row("cookie-path", "sets a cookie for another path: it is not sent", sets("a=1; Path=/elsewhere"), GOOD,
        session=KEEPS,
        asked=({}, {"cookie": None}), source="RFC 6265, 5.1.4"),
    Row("cookie-root", "sets a cookie for all paths: it is sent", sets("a=1; Path=/"), GOOD, session=KEEPS,
        asked=({}, {"cookie": "a=1"})),
    Row("cookie-expired", "sets a cookie that is over: it is not sent",
        sets("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT"), GOOD, session=KEEPS, asked=({}, {"cookie": None})),
    Row("cookie-removed", "sets a cookie and removes it: it is not sent",
        {"file": (Answer(302, {"Location": "{base}/b", "Set-Cookie": "a=1"}),),
         "b": (Answer(302, {"Location": "{base}/real", "Set-Cookie": "a=1; Max-Age=0"}),), "real": (whole(FILE),)},
         GOOD,
        session=KEEPS, asked=({}, {"cookie": "a=1"}, {"cookie": None})),
    Row("cookie-other-domain", "sets a cookie for another domain: it is refused", sets("a=1; Domain=example.org"), GOOD,
        session=KEEPS, asked=({}, {"cookie": None}), source="RFC 6265, 5.3"),
    Row("cookie-secure-over-http", "sets a secure cookie without TLS on loopback: it is sent, for nobody listens there",
        sets("a=1; Secure"), GOOD, session=KEEPS, asked=({}, {"cookie": "a=1"}), carriers=("h1", "forward")),
    Row("cookie-secure-over-tls", "sets a secure cookie over TLS: it is sent", sets("a=1; Secure; HttpOnly"), GOOD,
        session=KEEPS, asked=({}, {"cookie": "a=1"}), carriers=("h2", "tunnel")),
    Row("cookie-several", "sets two cookies: both are sent",
        {"file": (Answer(302, {"Location": "{base}/real", "Set-Cookie": ["a=1", "b=2"]}),), "real": (whole(FILE),)},
        GOOD,
        session=KEEPS, asked=({}, {"cookie": lambda value: sorted(value.split("; ")) == ["a=1", "b=2"]})),
    Row("cookie-own-header", "gets the cookies that the host gave in a header", {"file": (whole(FILE),)}, GOOD,
        request={"headers": {"Cookie": "mine=1"}}, asked=({"cookie": "mine=1"},)),
]
