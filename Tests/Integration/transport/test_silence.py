"""Connections that several tasks share, and that fall silent at some point: no byte arrives any more, but the
connection stays open. After a request time-out on such a connection, no further request uses it."""

import itertools
import threading
from contextlib import ExitStack
from dataclasses import dataclass

import pytest

from backhaul import PRIORITY_NOW, Proxy, TaskState

from testbed.host import Host, until, wait_until_interrupted
from testbed.work_dirs import new_place
from transport.conftest import QUICK
from transport.scripted import ScriptedServer, drain
from transport.silence import BODY, OK, Silence, SilentServer, SilentTunnel, whole
from transport.test_proxies import CLEAN
from transport.violating import DATA, HEADERS, fields, frame, headers

#: The request time-out of tasks that meet the silence, in milliseconds.
SHORT = 4_000
STATUS = (":status", "200")

#: Points of HTTP/1.1.
HTTP_1 = {
    "before the head": Silence(),
    "after an interim response": Silence(part=lambda _: b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n"),
    "in the status line": Silence(part=lambda _: b"HTTP/1.1 2"),
    "in the head": Silence(part=lambda _: OK[:30]),
    "before the body": Silence(part=lambda _: OK),
    "in the body": Silence(part=lambda _: OK + BODY[:2]),
    "after a response": Silence(responses=1),
}
#: Points of HTTP/2.
HTTP_2 = {
    "before SETTINGS": Silence(sends_settings=False),
    "before the head": Silence(),
    "after an interim response": Silence(part=lambda stream: headers(stream, (":status", "103"))),
    "in a frame of the head": Silence(part=lambda stream: headers(stream, STATUS)[:10]),
    "between frames of the head": Silence(part=lambda stream: frame(HEADERS, 0, stream, fields(STATUS))),
    "before the body": Silence(part=lambda stream: headers(stream, STATUS)),
    "in a frame of the body": Silence(
        part=lambda stream: headers(stream, STATUS) + frame(DATA, 0, stream, BODY)[:11]),
    "between frames of the body": Silence(part=lambda stream: headers(stream, STATUS) + frame(DATA, 0, stream, b"fi")),
    "after a response": Silence(responses=1),
}
TLS = {"in the TLS handshake": Silence(shakes_hands=False)}


@dataclass(frozen=True)
class Row:
    silence: Silence
    #: What the server offers with ALPN; None without TLS.
    protocol: str | None = None
    #: "tunnel": a proxy forwards each connection. "forward": the server itself is a proxy for http URLs.
    proxy: str | None = None
    #: What the proxy sends as the response to the first CONNECT, before it falls silent.
    connect: bytes | None = None
    uploads: bool = False


def _rows():
    for point, silence in HTTP_1.items():
        yield f"HTTP/1.1 {point}", Row(silence)
        yield f"HTTP/1.1 through a proxy {point}", Row(silence, proxy="forward")
    for point, silence in {**TLS, **HTTP_1}.items():
        yield f"HTTP/1.1 over TLS {point}", Row(silence, "http/1.1")
    for point, silence in {**TLS, **HTTP_2}.items():
        yield f"HTTP/2 {point}", Row(silence, "h2")
        yield f"HTTP/2 through a tunnel {point}", Row(silence, "h2", proxy="tunnel")
    for name, part in {"before": b"", "in": b"HTTP/1.1 200 Conn", "after": b"HTTP/1.1 200 Connected\r\n\r\n"}.items():
        yield f"{name} the response to CONNECT", Row(Silence(responses=-1), "h2", proxy="tunnel", connect=part)
    yield "HTTP/2 in the body of an upload", Row(Silence(only_uploads=True, responses=-1), "h2", uploads=True)


ROWS = dict(_rows())


class RowRun:
    """The tasks of one row, which are in a session of their own."""

    def __init__(self, name, row, one, stack, authority, downloads):
        self.name, self.row, self._one, self._downloads = name, row, one, downloads
        context = authority.context() if row.protocol else None
        if context:
            context.set_alpn_protocols([row.protocol])
        self.server = stack.enter_context(SilentServer(row.silence, context))
        self.silent, self._url = self.server, self.server.url
        settings = {}
        if row.proxy == "tunnel":
            tunnel = stack.enter_context(SilentTunnel(row.connect))
            settings["proxy"] = Proxy(url=tunnel.url)
            self.silent = tunnel if row.connect is not None else self.server
        elif row.proxy == "forward":
            settings["proxy"] = Proxy(url=self.server.url)
            self._url = f"http://{self.server.port}.example.org"
        one.session(name, ca_file=authority.file, request_timeout_ms=SHORT, **QUICK, **settings)
        self._numbers = itertools.count()

    def enqueue(self, count):
        self._one.select_session(self.name)
        for number in itertools.islice(self._numbers, count):
            if self.row.uploads and number == 0:
                self._one.upload(f"{self._url}/{number}", body=bytes(200_000), method="PUT")
            else:
                self._one.download(f"{self._url}/{number}", self._downloads / f"{hash(self.name)} {number}")

    def events(self):
        self._one.select_session(self.name)
        return [event for event in self._one.wait_for() if event.task_id]


@pytest.fixture(scope="module")
def runs(authority, library):
    """Runs the tasks of all rows at the same time in one host. Returns the runs and the events of their tasks."""
    with ExitStack() as stack:
        place = stack.enter_context(new_place())
        (place / "downloads").mkdir()
        one = Host(place / "store", environment=CLEAN)
        stack.callback(one.end)
        one.open()
        made = {name: RowRun(name, row, one, stack, authority, place / "downloads") for name, row in ROWS.items()}
        for run in made.values():
            run.enqueue(1)
        for run in made.values():
            if run.row.silence.shakes_hands:
                until(lambda seen=run: seen.silent.events, bool)
        # The next tasks share the connection. Over HTTP/1.1, these tasks have connections of their own.
        for run in made.values():
            run.enqueue(2)
        for run in made.values():
            until(lambda seen=run: seen.silent.was_given_up, bool)
            run.enqueue(2)
        yield made, {name: run.events() for name, run in made.items()}


@pytest.mark.parametrize("name", ROWS)
def test_after_a_silence_all_tasks_for_the_server_finish_on_new_connections(runs, name):
    made, ended = runs
    assert [event.state for event in ended[name]] == [TaskState.SUCCEEDED] * 5, ended[name]
    # Later requests and retries did not use the silent connection.
    assert made[name].silent.events.count("request") <= 3, made[name].silent.events


@pytest.fixture
def silent(authority):
    """A server whose first connection uses HTTP/2, and is silent after SETTINGS."""
    context = authority.context()
    context.set_alpn_protocols(["h2"])
    with SilentServer(Silence(), context) as server:
        yield server


def retry_patiently(one):
    """Waits until the first attempt of the session's task has timed out. Then starts the next attempt, with a long
    time-out."""
    wait_until_interrupted(one)
    one.reconfigure(request_timeout_ms=60_000)
    one.set_priority(PRIORITY_NOW)


def ended(one, session):
    one.select_session(session)
    return [(event.state, event.attempts) for event in one.wait_for() if event.task_id]


def test_a_slow_request_continues_on_a_connection_on_which_another_request_has_timed_out(
        host, silent, authority, downloads):
    one = host()
    trusted = {"ca_file": authority.file}
    one.session("slow", request_timeout_ms=3_600_000, maximum_attempts=1, **trusted)
    one.download(silent.url + "/slow", downloads / "slow")
    until(lambda: silent.requests, lambda count: count == 1)
    one.session("quick", request_timeout_ms=1_000, first_delay_ms=60_000, **trusted)
    one.download(silent.url + "/quick", downloads / "quick")
    until(lambda: silent.requests, lambda count: count == 2)
    retry_patiently(one)
    assert ended(one, "quick") == [(TaskState.SUCCEEDED, 2)]
    assert silent.requests == 2
    silent.release(whole(1))
    assert ended(one, "slow") == [(TaskState.SUCCEEDED, 1)]


def test_after_a_request_was_cancelled_without_a_byte_the_next_request_uses_a_new_connection(
        host, silent, authority, downloads):
    """The first request gets a PING, so a second request follows on the same connection."""
    ping = b"\0\0\x08\x06\0\0\0\0\0" + bytes(8)
    one = host()
    one.session(request_timeout_ms=3_600_000, ca_file=authority.file, **QUICK)
    for count in (1, 2):
        task = one.download(silent.url + "/a", downloads / str(count))
        until(lambda: silent.requests, lambda seen, expected=count: seen == expected)
        if count == 1:
            silent.release(ping)
            until(lambda: silent.events, lambda events: "pong" in events)
        one.cancel([task])
        until(lambda: one.task(task).state, lambda state: state is TaskState.CANCELLED)
    one.download(silent.url + "/a", downloads / "a")
    assert (TaskState.SUCCEEDED, 1) in ended(one, "gallery")
    assert silent.requests == 2


def test_after_a_timeout_on_an_idle_connection_no_other_idle_connection_to_the_server_is_used(host, downloads):
    """When a router forgets a connection, it has often forgotten all of them."""
    count, barrier = 4, threading.Barrier(4)
    answered, later = [], []

    def respond(connection, head):
        if len(answered) < count:
            answered.append(connection)
            barrier.wait(60)
        elif connection in answered:
            drain(connection)
            return False
        else:
            later.append(head)
        connection.sendall(OK + BODY)
        return True

    with ScriptedServer(respond) as server:
        one = host()
        one.session(connections_per_origin=count, **QUICK)
        for number in range(count):
            one.download(f"{server.url}/{number}", downloads / str(number))
        assert ended(one, "gallery") == [(TaskState.SUCCEEDED, 1)] * count
        one.session("later", request_timeout_ms=1_000, first_delay_ms=60_000)
        one.download(server.url + "/later", downloads / "later")
        retry_patiently(one)
        assert (ended(one, "later"), len(later)) == ([(TaskState.SUCCEEDED, 2)], 1)
