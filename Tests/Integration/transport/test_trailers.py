"""Odd lines before or after an HTTP/1.1 body never cause an internal error. If they make a task fail, its status is
BAD_RESPONSE."""

import os

import pytest

from backhaul import Status, TaskState

from transport.scripted import ScriptedServer, cut

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKS = OK + b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"


def responding(data):
    def respond(connection, _):
        connection.sendall(data)
        cut(connection)

    return ScriptedServer(respond)


@pytest.mark.parametrize("trailer", [
    b"X-Nul: a\0b\r\n", b"\0\r\n", b" folded: 1\r\n", b"X-A: 1\r\n folded: 2\r\n", b"no field\r\n", b": nameless\r\n",
    b"X-Long: " + b"a" * 200_000 + b"\r\n", b"X-Line: 1\r\n" * 5_000, b"HTTP/1.1 200 OK\r\n", b"\xff\xfe: 1\r\n",
], ids=["NUL", "NUL alone", "folded first", "folded", "no field", "nameless", "200 KB", "5,000 lines", "status line",
        "no text"])
def test_a_response_with_an_odd_trailer_is_stored_completely_or_is_a_bad_response(fetch, downloads, trailer):
    with responding(CHUNKS + trailer + b"\r\n") as server:
        event = fetch(server.url + "/a", maximum_attempts=3)
        files = [(downloads / name).read_bytes() for name in os.listdir(downloads)]
        assert (event.status, files) in [(Status.OK, [b"abc"]), (Status.BAD_RESPONSE, [])], event
        assert (event.attempts, len(server.requests)) == (1, 1)


@pytest.mark.parametrize("field", [
    pytest.param(b" folded: 1\r\n", id="blank"), pytest.param(b"\tfolded: 1\r\n", id="tab"),
    pytest.param(b" \r\n", id="blank alone"), pytest.param(b"X-Nul: a\0b\r\n", id="NUL"),
    pytest.param(b"\0\r\n", id="NUL alone", marks=pytest.mark.xfail(
        strict=True, reason="libcurl 7.88.1 reports an empty reply, which is tried again")),
])
@pytest.mark.parametrize("status", [b"200 OK", b"404 Not Found", b"302 Found", b"103 Early"])
def test_a_response_with_an_odd_first_header_line_is_a_bad_response(fetch, downloads, field, status):
    with responding(b"HTTP/1.1 " + status + b"\r\n" + field + b"Content-Length: 3\r\n\r\nabc") as server:
        event = fetch(server.url + "/a", maximum_attempts=3)
        assert (event.state, event.status, os.listdir(downloads)) == (TaskState.FAILED, Status.BAD_RESPONSE, []), event
        assert (event.attempts, len(server.requests)) == (1, 1)
        assert server.url in event.error_message
