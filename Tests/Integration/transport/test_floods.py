"""A server that sends invalid bytes without end affects only the transfer from this server.

During the flood another session of the same engine downloads from another server, and the test calls functions of
the library.
"""

import ctypes
import re
import signal
import struct
import time

import daemons
import pytest

from backhaul import Hosting, HTTPVersion, Proxy, Status, TaskState

from servers.content import Content
from testbed.host import until
from transport.conftest import QUICK
from transport.flooding import Flood, FloodingHTTP2Server, FloodingServer
from transport.usage import peak, processor_seconds, watch_peak
from transport.violating import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PRIORITY,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    fields,
    frame,
    headers,
)

MEGABYTE = 1_000_000
#: The largest growth of the engine's resident memory, in bytes. It is enough for the buffers of the flooded
#: transfer and of the other transfer.
LARGEST_GROWTH = 16 * MEGABYTE
#: The most processor time, in seconds, that the engine's process may use before a function of the library returns. The
#: measured time was 0.1 s. The engine's `FrameFloodGuard` ends a flood after 0.3 s.
LONGEST_VERB_SECONDS = 1
#: The most processor time, in seconds, that the engine's process may use before the download of the other session has
#: ended. The measured time was 0.5 s, and 3 s on a machine with many busy processes: the flood continues while the
#: other server waits for a processor. An engine that is blocked uses any time.
LONGEST_DOWNLOAD_SECONDS = 15
SIZE = 2 * MEGABYTE
#: The statuses with which a flooded task may fail.
NAMED = {Status.BAD_RESPONSE, Status.CONNECTION_LOST, Status.REQUEST_TIMEOUT, Status.TOO_LARGE}

HEAD = b"HTTP/1.1 200 OK\r\n"
CHUNKS = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
STATUS = (":status", "200")


def number(value):
    return struct.pack(">I", value)


REDIRECT = headers(1, (":status", "302"), ("location", "/b"), flags=END_HEADERS | END_STREAM)


HTTP_1 = {
    "chunks of one byte": Flood(CHUNKS, b"1\r\na\r\n"),
    "a chunk's extension": Flood(CHUNKS + b"3;a=", b"a"),
    "a chunk's size": Flood(CHUNKS, b"0"),
    "trailer lines": Flood(CHUNKS + b"3\r\nabc\r\n0\r\n", b"X-A: b\r\n"),
    "header lines": Flood(HEAD, b"X-A: b\r\n"),
    "responses of 100": Flood(b"", b"HTTP/1.1 100 Continue\r\n\r\n"),
    "responses of 103": Flood(b"", b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n"),
    "empty lines": Flood(b"", b"\r\n"),
}
#: Floods over TLS with one byte in each record.
RECORDS = {
    "a body": Flood(HEAD + b"\r\n", b"a", record=1),
    "a chunk's extension": Flood(CHUNKS + b"3;a=", b"a", record=1),
    "header lines": Flood(HEAD, b"X-A: b\r\n", record=1),
}
HTTP_2 = {
    "empty DATA": lambda stream: Flood(headers(stream, STATUS), frame(DATA, 0, stream)),
    "DATA of one byte": lambda stream: Flood(headers(stream, STATUS), frame(DATA, 0, stream, b"a")),
    "PRIORITY": lambda stream: Flood(headers(stream, STATUS), frame(PRIORITY, 0, stream, number(0) + b"a")),
    "PING": lambda stream: Flood(headers(stream, STATUS), frame(PING, 0, 0, bytes(8))),
    "PING, answers unread": lambda stream: Flood(headers(stream, STATUS), frame(PING, 0, 0, bytes(8)), reads=False),
    "SETTINGS": lambda stream: Flood(headers(stream, STATUS), frame(SETTINGS, 0, 0)),
    "SETTINGS, answers unread": lambda stream: Flood(headers(stream, STATUS), frame(SETTINGS, 0, 0), reads=False),
    "SETTINGS of many": lambda stream: Flood(
        headers(stream, STATUS), frame(SETTINGS, 0, 0, struct.pack(">HI", 3, 100) * 2_700)),
    "unknown": lambda stream: Flood(headers(stream, STATUS), frame(99, 0, 0)),
    "WINDOW_UPDATE": lambda stream: Flood(headers(stream, STATUS), frame(WINDOW_UPDATE, 0, 0, number(1))),
    "CONTINUATION": lambda stream: Flood(frame(HEADERS, 0, stream, fields(STATUS)), frame(CONTINUATION, 0, stream)),
    "CONTINUATION of fields": lambda stream: Flood(
        frame(HEADERS, 0, stream, fields(STATUS)), frame(CONTINUATION, 0, stream, fields(("x-a", "b" * 1_000)))),
    # The stream of the redirect has already ended when the server sends RST_STREAM for this stream.
    "RST_STREAM": lambda stream: REDIRECT if stream == 1 else Flood(
        headers(stream, STATUS), frame(RST_STREAM, 0, 1, number(8))),
    "GOAWAY": lambda stream: Flood(headers(stream, STATUS), frame(GOAWAY, 0, 0, number(stream) + number(0))),
    "interim responses": lambda stream: Flood(b"", headers(stream, (":status", "103"))),
}


BASIC = b'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="a"\r\n'
DIGEST = b'HTTP/1.1 407 Who\r\nProxy-Authenticate: Digest realm="a", nonce="b", qop="auth"\r\n'
LONG = b"Content-Length: 1000000000\r\n\r\n"
#: Floods in the body of a proxy's 407 response.
REFUSALS = {
    "Basic, a length": Flood(BASIC + LONG, b"a"),
    "Basic, chunks": Flood(BASIC + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
    "Digest, a length": Flood(DIGEST + LONG, b"a"),
    "Digest, chunks": Flood(DIGEST + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n"),
}


class BusyEngine(AssertionError):
    """The engine uses processor time and does not reply."""


class Engine:
    """The daemon of a host, and the processor time that the daemon uses. Unlike elapsed time, processor time does not
    depend on other programs of the machine."""

    def __init__(self, one):
        self.one, self.process = one, one.engine().process_id

    @property
    def seconds(self):
        return processor_seconds(self.process)

    def call(self, name, *arguments, limit=LONGEST_VERB_SECONDS, **options):
        """Calls a method of the host. Fails if the engine uses `limit` seconds of processor time before the method
        returns."""
        end = self.seconds + limit
        self.one.begin(name, *arguments, **options)
        while not self.one.has_result_within(0.05):
            if self.seconds > end:
                raise BusyEngine(f"it has used {limit} s of processor time, and {name} has not returned")
        return self.one.finish()

    def end(self):
        self.one.end()
        daemons.end(self.process, signal.SIGKILL, time.monotonic() + 10)


@pytest.fixture
def survive(shared_hosts, misbehaving, downloads):
    """Returns a function that downloads with one engine from a flooding server and from another server. The function
    returns the task of the flooded download. `url` is the URL of the flooded download, if the server is a proxy."""
    engine = Engine(shared_hosts.host(Hosting.DAEMON))

    def run(server, url=None, **options):
        try:
            return survived(server, url or server.url + "/a", options)
        except AssertionError:
            # No other test may get a host with an outstanding reply, or an engine with a flooded task. So the host and
            # the engine are ended.
            engine.end()
            raise

    def survived(server, url, options):
        before, session = watch_peak(engine.process), shared_hosts.new_session()
        engine.call("session", session, **QUICK, **options)
        flooded = engine.call("download", url, downloads / "a")
        until(lambda: server.flood, lambda flood: flood.sent or flood.ended)

        engine.call("session", shared_hosts.new_session(), **QUICK, maximum_attempts=1)
        engine.call("download", misbehaving.serve("/b", Content(SIZE)), downloads / "b")
        events = engine.call("wait_for", timeout=60, limit=LONGEST_DOWNLOAD_SECONDS)
        assert [(event.state, event.attempts) for event in events if event.task_id] == [(TaskState.SUCCEEDED, 1)]

        engine.call("select_session", session)
        [task] = engine.call("tasks")
        if not task.state.has_ended:
            engine.call("cancel", [flooded])
        task = until(lambda: engine.call("task", flooded), lambda task: task.state.has_ended)
        until_still(server.flood)
        assert peak(engine.process) - before < LARGEST_GROWTH
        return task

    return run


def until_still(flood):
    """Waits until the client reads no more of the flood."""
    before = []

    def count_equal_readings():
        before.append(flood.sent)
        return before[-20:].count(before[-1])

    until(count_equal_readings, lambda count: count == 20)


def curl_version():
    """Returns the version of the libcurl that the engine uses."""
    function = ctypes.CDLL("libcurl.so.4").curl_version
    function.restype = ctypes.c_char_p
    return [int(part) for part in re.findall(rb"\d+", function())[:3]]


#: The floods that can block the engine. Their frames have no bytes of a body. While such frames arrive, one call of
#: libcurl before 8.7.0 continues to read, and does not return to the engine.
BLOCKING = {"empty DATA", "PRIORITY", "unknown", "WINDOW_UPDATE", "GOAWAY"}
#: A mark for tests that are expected to fail, because the flood blocks the engine. Such a test may also succeed,
#: because on a busy machine a flood may be too slow to keep the engine's event loop busy.
BLOCKS = pytest.mark.xfail(
    curl_version() < [8, 7, 0], strict=False, raises=BusyEngine,
    reason="only the records of TLS limit what one call of libcurl reads")


def assert_named_or_cancelled(task):
    assert task.state is TaskState.CANCELLED or task.status in NAMED, task


@pytest.mark.parametrize("flood", HTTP_1.values(), ids=HTTP_1)
def test_a_flood_over_http_1_affects_no_other_transfer(survive, flood):
    with FloodingServer(flood) as server:
        assert_named_or_cancelled(survive(server))


@pytest.mark.parametrize("flood", RECORDS.values(), ids=RECORDS)
def test_a_flood_of_tiny_tls_records_affects_no_other_transfer(survive, authority, flood):
    with FloodingServer(flood, authority.context()) as server:
        assert_named_or_cancelled(survive(server, ca_file=authority.file, http_version=HTTPVersion.HTTP_1_1))


@pytest.mark.parametrize("flood", HTTP_2.values(), ids=HTTP_2)
def test_a_flood_over_http_2_affects_no_other_transfer(survive, authority, flood):
    with FloodingHTTP2Server(flood, authority.context()) as server:
        assert_named_or_cancelled(survive(server, ca_file=authority.file))


@pytest.mark.parametrize("flood", [
    pytest.param(flood, id=name, marks=[BLOCKS] if name in BLOCKING else []) for name, flood in HTTP_2.items()
    # "RST_STREAM" is left out. Without TLS, the client follows the redirect over another connection. The request on
    # that connection also has stream 1, so the server would send the redirect again, and never the flood.
    if name != "RST_STREAM"
])
def test_a_flood_over_http_2_without_tls_affects_no_other_transfer(survive, flood):
    with FloodingHTTP2Server(flood) as server:
        assert_named_or_cancelled(survive(server, http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE))


@pytest.mark.parametrize("target", ["https://127.0.0.1:1/a", "http://127.0.0.1:1/a"], ids=["tunnel", "plain"])
@pytest.mark.parametrize("user", [None, "porter"])
@pytest.mark.parametrize("flood", REFUSALS.values(), ids=REFUSALS)
def test_a_flood_in_the_body_of_a_407_response_affects_no_other_transfer(survive, flood, user, target):
    """libcurl 7.88.1 reads the body of a 407 response to CONNECT byte by byte, and returns only when no byte is there.
    """
    with FloodingServer(flood) as server:
        proxy = Proxy(url=server.url, user=user, password="key" if user else None)
        task = survive(server, target, proxy=proxy, maximum_attempts=1)
        assert (task.state, task.status, task.http_status) == (TaskState.FAILED, Status.HTTP_STATUS, 407)
        assert len(server.requests) <= 2
