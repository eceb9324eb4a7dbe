"""An HTTP/2 response that breaks a rule of RFC 9113 ends its task soon. If the server breaks off a transfer with
RST_STREAM or GOAWAY, the transfer is retried.
"""

import os
import struct

import pytest

from backhaul import RetryErrors, Status, TaskState

from testbed.host import until
from transport.conftest import QUICK
from transport.scripted import drain
from transport.violating import (
    CONTINUATION,
    DATA,
    END_HEADERS,
    END_STREAM,
    GOAWAY,
    HEADERS,
    PING,
    PUSH_PROMISE,
    RST_STREAM,
    SETTINGS,
    WINDOW_UPDATE,
    ViolatingServer,
    fields,
    frame,
    headers,
)

STATUS = (":status", "200")


def whole(stream, *pairs, body=b"abc"):
    return headers(stream, STATUS, *pairs) + frame(DATA, END_STREAM, stream, body)


def number(value):
    return struct.pack(">I", value)


def begun(stream):
    """Returns the beginning of a response whose body continues."""
    return headers(stream, STATUS) + frame(DATA, 0, stream, b"abc")


def large(stream, pairs):
    """Returns a response whose field block needs many frames."""
    block = fields(STATUS, *pairs)
    parts = [block[start:start + 16_384] for start in range(0, len(block), 16_384)]
    return frame(HEADERS, 0, stream, parts[0]) + b"".join(
        frame(CONTINUATION, END_HEADERS if part is parts[-1] else 0, stream, part) for part in parts[1:]) + frame(
        DATA, END_STREAM, stream, b"abc")


#: Malformed responses (RFC 9113, section 8.1.1). Each function returns the frames of one response for a stream.
MALFORMED = {
    "upper-case name": lambda stream: whole(stream, ("X-Upper", "1")),
    "late pseudo-header": lambda stream: headers(stream, ("x-early", "1"), STATUS) + frame(DATA, END_STREAM, stream),
    "no status": lambda stream: headers(stream, ("x-a", "1")) + frame(DATA, END_STREAM, stream, b"abc"),
    "two statuses": lambda stream: whole(stream, STATUS),
    "status of words": lambda stream: headers(stream, (":status", "abc")) + frame(DATA, END_STREAM, stream),
    "unknown pseudo-header": lambda stream: whole(stream, (":other", "1")),
    "pseudo-header of requests": lambda stream: whole(stream, (":path", "/")),
    "empty name": lambda stream: whole(stream, ("", "1")),
    "blank in a name": lambda stream: whole(stream, ("x a", "1")),
    "NUL in a value": lambda stream: whole(stream, ("x-nul", "a\0b")),
    "line feed in a value": lambda stream: whole(stream, ("x-lines", "a\r\nb: c")),
    "connection": lambda stream: whole(stream, ("connection", "close")),
    "transfer-encoding": lambda stream: whole(stream, ("transfer-encoding", "chunked")),
    "longer content-length": lambda stream: whole(stream, ("content-length", "4")),
    "shorter content-length": lambda stream: whole(stream, ("content-length", "2")),
    "two content-lengths": lambda stream: whole(stream, ("content-length", "3"), ("content-length", "4")),
    "content-length of words": lambda stream: whole(stream, ("content-length", "many")),
    "trailer without an end": lambda stream: begun(stream) + headers(stream, ("x-a", "1")),
    "trailer with a status": lambda stream: begun(stream) + headers(stream, STATUS, flags=END_HEADERS | END_STREAM),
    "interim response that ends": lambda stream: headers(stream, (":status", "103"), flags=END_HEADERS | END_STREAM),
    "WINDOW_UPDATE overflow": lambda stream: frame(WINDOW_UPDATE, 0, stream, number(2**31 - 1)) * 2,
    "header list of 300 KB": lambda stream: large(stream, [(f"x-{i}", "a" * 3_000) for i in range(100)]),
    "2,000 fields": lambda stream: large(stream, [(f"x-{i}", "a") for i in range(2_000)]),
}


@pytest.mark.parametrize("response", MALFORMED.values(), ids=MALFORMED)
def test_a_malformed_response_ends_its_task_after_three_attempts_at_most(fetch, authority, downloads, response):
    """For most of these responses, libcurl reports the same as for RST_STREAM with PROTOCOL_ERROR."""
    with ViolatingServer(authority.context(), response) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=0)
        assert (event.state, event.status) == (TaskState.FAILED, Status.BAD_RESPONSE), event
        assert (len(server.requests), os.listdir(downloads)) == (event.attempts, [])
        assert event.attempts in (1, 3)
        assert server.url in event.error_message


#: Each function returns frames that cause a connection error before the response (RFC 9113, section 5.4.1).
FATAL = {
    "DATA on stream 0": lambda _: frame(DATA, 0, 0, b"abc"),
    "HEADERS on stream 0": lambda _: headers(0, STATUS),
    "HEADERS on an even stream": lambda _: headers(2, STATUS),
    "HEADERS on a stream of no request": lambda stream: headers(stream + 100, STATUS),
    "HPACK garbage": lambda stream: frame(HEADERS, END_HEADERS, stream, b"\xff" * 20),
    "HPACK index of nothing": lambda stream: frame(HEADERS, END_HEADERS, stream, b"\xc5"),
    "HPACK table too large": lambda stream: frame(HEADERS, END_HEADERS, stream, b"\x3f\xe1\xff\x7f\x88"),
    "too large HEADERS": lambda stream: frame(HEADERS, END_HEADERS | END_STREAM, stream, bytes(16_385)),
    "WINDOW_UPDATE of 0": lambda stream: frame(WINDOW_UPDATE, 0, stream, number(0)),
    "WINDOW_UPDATE overflow": lambda _: frame(WINDOW_UPDATE, 0, 0, number(2**31 - 1)) * 2,
    "WINDOW_UPDATE of 3 bytes": lambda stream: frame(WINDOW_UPDATE, 0, stream, b"abc"),
    "PING of 3 bytes": lambda _: frame(PING, 0, 0, b"abc"),
    "SETTINGS of 3 bytes": lambda _: frame(SETTINGS, 0, 0, b"abc"),
    "SETTINGS on a stream": lambda stream: frame(SETTINGS, 0, stream),
    "CONTINUATION without HEADERS": lambda stream: frame(CONTINUATION, END_HEADERS, stream, b"\x88"),
    "HEADERS without CONTINUATION": lambda stream: headers(stream, STATUS, flags=0) + frame(DATA, 0, stream, b"abc"),
    "field of 90 KB": lambda stream: large(stream, [("x-long", "a" * 90_000)]),
    "PUSH_PROMISE": lambda stream: frame(PUSH_PROMISE, END_HEADERS, stream, number(2) + b"\x82\x84\x87\x01\x01a"),
    "HTTP/1.1": lambda _: b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc",
}


@pytest.mark.parametrize("response", FATAL.values(), ids=FATAL)
def test_a_connection_error_before_the_response_ends_its_task_at_once(fetch, authority, downloads, response):
    with ViolatingServer(authority.context(), response) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=2)
        assert (event.state, event.status, event.attempts) == (TaskState.FAILED, Status.BAD_RESPONSE, 1), event
        assert (len(server.requests), os.listdir(downloads)) == (1, [])


def measured(stream):
    """Returns the beginning of a response with a length."""
    return headers(stream, STATUS, ("content-length", "1000")) + frame(DATA, 0, stream, b"abc")


#: A request time-out that no test waits for.
HOUR = 3_600_000


@pytest.mark.parametrize("name", FATAL)
def test_a_connection_error_in_the_body_ends_the_attempt_without_the_timeout(fetch, authority, downloads, name):
    """After such an error, nghttp2 sends GOAWAY and reads no more. libcurl 7.88.1 reports the error only when it reads
    again."""
    with ViolatingServer(authority.context(), lambda stream: measured(stream) + FATAL[name](stream)) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=2, request_timeout_ms=HOUR)
        assert event.status in (Status.CONNECTION_LOST, Status.BAD_RESPONSE), event
        assert (len(server.requests), os.listdir(downloads)) == (event.attempts, [])


@pytest.mark.parametrize("name", ["DATA on stream 0", "HPACK garbage", "CONTINUATION without HEADERS", "PUSH_PROMISE"])
@pytest.mark.parametrize("prefix", [lambda _: b"", measured], ids=["before the header", "in the body"])
def test_a_connection_error_ends_the_attempts_of_all_tasks_on_the_connection_without_the_timeout(
        host, authority, downloads, name, prefix):
    with ViolatingServer(authority.context(), prefix, prefix, lambda stream: prefix(stream) + FATAL[name](stream),
                         whole) as server:
        one = host()
        one.session(ca_file=authority.file, request_timeout_ms=HOUR,
                    errors=RetryErrors.LOST | RetryErrors.BAD_RESPONSE, **QUICK)
        for number in range(3):
            one.download(f"{server.url}/{number}", downloads / str(number))
            until(lambda: len(server.requests), lambda count, expected=number: count > expected)
        events = [event for event in one.wait_for() if event.task_id]
        assert [event.state for event in events] == [TaskState.SUCCEEDED] * 3, events
        assert {(downloads / name).read_bytes() for name in os.listdir(downloads)} == {b"abc"}


#: If the client does not allow larger frames, a frame has 16,384 bytes at most (RFC 9113, section 6.5.2). These frames
#: have one byte more.
LARGE = {
    "DATA": lambda stream: frame(DATA, END_STREAM, stream, bytes(16_385)),
    "trailer": lambda stream: frame(HEADERS, END_HEADERS | END_STREAM, stream, bytes(16_385)),
    "PING": lambda _: frame(PING, 0, 0, bytes(16_385)),
    "unknown": lambda _: frame(99, 0, 0, bytes(16_385)),
}


@pytest.mark.parametrize("response", LARGE.values(), ids=LARGE)
def test_a_frame_that_is_too_large_in_a_body_of_unknown_length_creates_no_file(fetch, authority, downloads, response):
    with ViolatingServer(authority.context(), lambda stream: begun(stream) + response(stream)) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=2, request_timeout_ms=HOUR)
        assert (event.state, os.listdir(downloads)) == (TaskState.FAILED, [])


@pytest.mark.parametrize("response", LARGE.values(), ids=LARGE)
def test_a_frame_that_is_too_large_in_a_body_of_known_length_creates_no_file(fetch, authority, downloads, response):
    def respond(stream):
        return (headers(stream, STATUS, ("content-length", "16388")) + frame(DATA, 0, stream, b"abc")
                + response(stream))

    with ViolatingServer(authority.context(), respond) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=2, request_timeout_ms=HOUR)
        assert (event.state, len(server.requests), os.listdir(downloads)) == (TaskState.FAILED, event.attempts, [])


#: What a server that supports only HTTP/2 does when a request uses HTTP/1.1.
REFUSALS = {
    "close": lambda _: None,
    "HTTP/2 all the same": lambda connection: connection.sendall(frame(SETTINGS, 0, 0)),
    "silence": drain,
}


@pytest.mark.parametrize("refuse", REFUSALS.values(), ids=REFUSALS)
def test_a_server_that_supports_only_http_2_gets_http_2_again_after_an_incomplete_body(
        fetch, authority, downloads, refuse):
    """If a body over HTTP/2 ends too early, the next request uses HTTP/1.1. A server that supports only HTTP/2 does not
    accept this request. Then the third request uses HTTP/2 again."""
    def cut(stream):
        return begun(stream) + LARGE["DATA"](stream)

    with ViolatingServer(authority.context(), cut, whole, refuse=refuse) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=4, request_timeout_ms=10_000)
        assert (event.state, event.attempts, len(server.requests)) == (TaskState.SUCCEEDED, 3, 2), event
        assert [(downloads / name).read_bytes() for name in os.listdir(downloads)] == [b"abc"]


NO_ERROR, PROTOCOL_ERROR, INTERNAL_ERROR, FLOW_CONTROL_ERROR, STREAM_CLOSED, FRAME_SIZE_ERROR = 0, 1, 2, 3, 5, 6
CANCEL, COMPRESSION_ERROR, ENHANCE_YOUR_CALM = 8, 9, 11
BROKEN = {
    "RST_STREAM INTERNAL_ERROR": lambda stream: frame(RST_STREAM, 0, stream, number(INTERNAL_ERROR)),
    "RST_STREAM CANCEL": lambda stream: frame(RST_STREAM, 0, stream, number(CANCEL)),
    "RST_STREAM ENHANCE_YOUR_CALM": lambda stream: frame(RST_STREAM, 0, stream, number(ENHANCE_YOUR_CALM)),
    "RST_STREAM PROTOCOL_ERROR": lambda stream: frame(RST_STREAM, 0, stream, number(PROTOCOL_ERROR)),
    "RST_STREAM FLOW_CONTROL_ERROR": lambda stream: frame(RST_STREAM, 0, stream, number(FLOW_CONTROL_ERROR)),
    "RST_STREAM STREAM_CLOSED": lambda stream: frame(RST_STREAM, 0, stream, number(STREAM_CLOSED)),
    "RST_STREAM FRAME_SIZE_ERROR": lambda stream: frame(RST_STREAM, 0, stream, number(FRAME_SIZE_ERROR)),
    "RST_STREAM COMPRESSION_ERROR": lambda stream: frame(RST_STREAM, 0, stream, number(COMPRESSION_ERROR)),
    "RST_STREAM NO_ERROR": lambda stream: frame(RST_STREAM, 0, stream, number(NO_ERROR)),
    "GOAWAY NO_ERROR": lambda _: frame(GOAWAY, 0, 0, number(0) + number(NO_ERROR)),
    "GOAWAY INTERNAL_ERROR": lambda _: frame(GOAWAY, 0, 0, number(0) + number(INTERNAL_ERROR)),
}


@pytest.mark.parametrize("prefix", [lambda _: b"", begun], ids=["before the header", "in the body"])
@pytest.mark.parametrize("response", BROKEN.values(), ids=BROKEN)
def test_a_transfer_that_the_server_breaks_with_rst_stream_or_goaway_is_retried(
        fetch, authority, downloads, response, prefix):
    def broken(stream):
        return prefix(stream) + response(stream)

    with ViolatingServer(authority.context(), broken, broken, whole) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=0)
        assert (event.state, len(server.requests)) == (TaskState.SUCCEEDED, 3), event
        assert [(downloads / name).read_bytes() for name in os.listdir(downloads)] == [b"abc"]


def test_a_transfer_that_the_server_always_breaks_fails_with_connection_lost(fetch, authority, downloads):
    with ViolatingServer(authority.context(), BROKEN["RST_STREAM INTERNAL_ERROR"]) as server:
        event = fetch(server.url + "/a", ca_file=authority.file, maximum_attempts=3)
        assert (event.status, event.attempts, len(server.requests)) == (Status.CONNECTION_LOST, 3, 3)
        assert os.listdir(downloads) == []
