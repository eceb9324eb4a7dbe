"""Runs the rows of a table of HTTP behaviours. Each row states what a test server sends, and how the task must end.
One host runs the tasks of all rows. A *transport* is HTTP/1.1 or HTTP/2, directly or through a proxy."""

import json
import time

from backhaul import Application, BackhaulError, EventKind, Hosting, Part, Proxy, RetryErrors, Status

from behaviours import origin_h1, origin_h2
from behaviours.origin import Scripts
from behaviours.row import FORWARD, H1, H2, TUNNEL
from testbed.settings import nested, policy

#: The settings of the sessions: a retry follows after 1 or 2 ms, and a request times out after 20 s. A row may change
#: these settings.
QUICK = {"first_delay_ms": 1, "longest_delay_ms": 2, "request_timeout_ms": 20_000, "maximum_attempts": 8}


class Origins:
    """The servers and proxies for all transports."""

    def __init__(self, certificates, squid):
        self.scripts, self.certificates, self.squid = Scripts(), certificates, squid
        self._origins = [origin_h1.Origin(self.scripts), origin_h1.Origin(self.scripts),
                         origin_h2.Origin(self.scripts, certificates), origin_h2.Origin(self.scripts, certificates)]

    def __enter__(self):
        for origin in self._origins:
            origin.__enter__()
        plain, other_plain, tls, other_tls = (origin.url for origin in self._origins)
        self.urls = {H1: (plain, other_plain), FORWARD: (plain, other_plain), H2: (tls, other_tls),
                     TUNNEL: (tls, other_tls)}
        return self

    def __exit__(self, *_):
        for origin in self._origins:
            origin.__exit__()

    def proxy(self, transport):
        return self.squid.url if transport in (FORWARD, TUNNEL) else "none"


class RowRunner:
    """One application with a session for each transport and configuration."""

    def __init__(self, origins, store, downloads):
        self.origins, self._downloads = origins, downloads
        self._application = Application("org.example.table", store=store, hosting=Hosting.EMBEDDED)
        self._sessions, self._count = {}, 0

    def close(self):
        self._application.close()

    def run(self, row, transport):
        """Runs one row. Returns the event of the task's end, and the requests that the servers received."""
        self._count += 1
        key = f"{row.name}-{transport}-{self._count}"
        here, elsewhere = (f"{url}/{key}" for url in self.origins.urls[transport])
        self.origins.scripts.register(key, row.script, {"base": here, "other": elsewhere})
        session, cursor = self._session(row, transport)
        options = self._request(row, key)
        responses = list(row.request.get("challenge_responses", ()))
        task = session.enqueue([_request(f"{here}/{row.start}", options)])[0].task_id
        event = self._wait_for_end(session, cursor, task, responses, here, row.expected.within)
        if any("body" in wanted for wanted in row.asked or ()):
            self._wait_for_bodies(key)
        return event, [self._below(request, key) for request in self.origins.scripts.requests(key)]

    def _wait_for_bodies(self, key):
        """Waits until the bodies of all requests have arrived or were cut off. A body may end after its task has
        ended."""
        deadline = time.monotonic() + 20
        while any(one.is_arriving for one in self.origins.scripts.requests(key)):
            assert time.monotonic() < deadline, "a body has no end"
            time.sleep(0.01)

    def _session(self, row, transport):
        name = f"{transport} {json.dumps(row.session, sort_keys=True)}"
        # A row with credentials or cookies has its own session, because all tasks of a session share the session's
        # credentials and cookies.
        if (row.request.get("challenge_responses") or row.session.get("asks_for_credentials")
                or row.session.get("cookies")):
            name = f"{name} {row.name}"
        name = f"{abs(hash(name))}"
        if name not in self._sessions:
            settings = nested(ca_file=self.origins.certificates.authority,
                              proxy=Proxy(url=self.origins.proxy(transport)), **{**QUICK, **row.session})
            self._sessions[name] = self._application.session(name, **settings)
        return self._sessions[name], 0

    def _request(self, row, key):
        given = dict(row.request)
        given.pop("challenge_responses", None)
        folder = self._downloads / key
        folder.mkdir()
        rules = dict(given.pop("policy", {}))
        if given.pop("retries", False):
            rules["unsafe_methods"] = True
        if "errors" in rules:
            rules["errors"] = RetryErrors[rules["errors"]]
        if rules:
            given["policy"] = policy(**rules)
        if given.pop("form", False):
            file = folder.parent / f"{key}.txt"
            file.write_text("text of a")
            given["parts"] = [Part("field", value=b"value"), Part("upload", file=file, file_name="a.txt")]
        if (size := given.pop("body_size", None)) is not None:
            given["body_file"] = folder.parent / f"{key}.body"
            given["body_file"].write_bytes(b"x" * size)
        if given.pop("expired", False):
            given["expires"] = time.time() - 60
        to_file = given.pop("to_file", False)
        if given.get("named_by_server"):
            given["destination"] = folder
        elif not given.keys() & {"body", "body_file", "parts"} or to_file:
            given["destination"] = folder / "file"
        return given

    def _wait_for_end(self, session, cursor, task, responses, here, limit):
        """Responds to each challenge until the task has ended. Returns the event of the task's end."""
        deadline = time.monotonic() + limit
        while (left := deadline - time.monotonic()) > 0:
            for event in session.poll(cursor, timeout=min(5, left)).items:
                if event.kind is EventKind.CHALLENGE and event.challenge is not None:
                    assert responses, f"unexpected challenge: {event.challenge}"
                    _respond(session, event.challenge, responses.pop(0), here)
                if event.kind is EventKind.TASK_ENDED and event.task_id == task:
                    session.acknowledge_through(event.id)
                    return event
                cursor = event.id
        info = session.task(task)
        # The task is cancelled, because it would delay the tasks of the next rows.
        session.cancel(tasks=[task])
        raise AssertionError(f"the task did not end within {limit} s: {info}")

    @staticmethod
    def _below(request, key):
        """Returns the request with its path relative to the row's URL."""
        request.path = request.path.removeprefix(f"/{key}/")
        return request


def _request(url, options):
    from backhaul import Request

    return Request(url, **options)


def _respond(session, challenge, response, here):
    match response:
        case "credential":
            session.respond(challenge, user="user", password="password")
        case "bearer":
            session.respond(challenge, headers={"Authorization": "Bearer fresh"})
        case "url":
            session.respond(challenge, url=f"{here}/new")
        case "default":
            session.respond(challenge, default=True)
        case "refuse":
            session.respond(challenge, refuse=True)


def refused(call):
    """Returns the status of a refused call, or OK if the call succeeds."""
    try:
        call()
    except BackhaulError as error:
        return error.status
    return Status.OK
