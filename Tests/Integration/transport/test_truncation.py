"""If a body over TLS ends with its connection, the body is complete only after close_notify (RFC 9112, section 9.8)."""

import os
import socket
import ssl

import pytest

import backhaul
from backhaul import Status, TaskState, Tolerances

from servers.content import Content, sha256_of
from servers.proxy import Proxy
from transport.scripted import ScriptedServer, close, cut, drain, reset
from transport.test_proxies import CLEAN

CONTENT = Content(150_000)
PART = 100_000
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
UNTIL_CLOSE = HEAD + b"\r\n"
WITH_LENGTH = HEAD + b"Content-Length: %d\r\n\r\n" % CONTENT.size
CHUNKED = HEAD + b"Transfer-Encoding: chunked\r\n\r\n"
TOLERANT = {"tolerances": Tolerances.MISSING_CLOSE_NOTIFY}


@pytest.fixture(params=[ssl.TLSVersion.TLSv1_2, ssl.TLSVersion.TLSv1_3], ids=["TLS 1.2", "TLS 1.3"])
def start(request, authority):
    """Returns a function that starts a server. The server sends the responses in order, and repeats the last response.
    Each response is a pair: the bytes, and a function that ends the connection."""
    context = authority.context()
    context.minimum_version = context.maximum_version = request.param
    started = []

    def start(*responses):
        left = list(responses)

        def respond(connection, _):
            data, end = left.pop(0) if len(left) > 1 else left[0]
            connection.sendall(data)
            end(connection)

        started.append(ScriptedServer(respond, context).__enter__())
        return started[-1]

    yield start
    for server in started:
        server.__exit__()


@pytest.fixture(params=["direct", "tunnel"])
def download(request, fetch, authority, downloads):
    """Returns a function that downloads with the default rules for retries, either directly or through the tunnel of a
    proxy. The function returns the event, and the digests of the files in the folder."""
    def run(server, **options):
        def fetched(**route):
            event = fetch(server.url + "/a", ca_file=authority.file, environment=CLEAN,
                          **{"maximum_attempts": 0, **route, **options})
            return event, [sha256_of(downloads / name) for name in os.listdir(downloads)]

        if request.param == "direct":
            return fetched()
        before = server.accepted
        with Proxy("porter", "key") as proxy:
            result = fetched(proxy=backhaul.Proxy(url=proxy.url, user="porter", password="key"))
            assert len(proxy.authorized) == server.accepted - before
            return result

    return run


def chunks(data):
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (data[:70_000], data[70_000:]))


@pytest.mark.parametrize("fields", [b"", b'ETag: "a"\r\nAccept-Ranges: bytes\r\n'], ids=["plain", "entity tag"])
@pytest.mark.parametrize("size", [PART, CONTENT.size, 0], ids=["in the middle", "at the end", "before the body"])
def test_a_task_fails_after_a_few_attempts_if_close_notify_is_missing(start, download, size, fields):
    server = start((HEAD + fields + b"\r\n" + CONTENT.data[:size], cut))
    event, files = download(server)
    assert (event.state, event.status, files) == (TaskState.FAILED, Status.TLS_TRUNCATED, [])
    assert server.url in event.error_message and "close_notify" in event.error_message
    assert 1 < event.attempts == len(server.requests) <= 4


def test_a_body_that_is_complete_at_the_second_attempt_is_accepted(start, download):
    server = start((UNTIL_CLOSE + CONTENT.data[:PART], cut), (UNTIL_CLOSE + CONTENT.data, close))
    event, files = download(server)
    assert (event.state, event.attempts, files) == (TaskState.SUCCEEDED, 2, [CONTENT.sha256])


def test_a_session_that_tolerates_a_missing_close_notify_accepts_the_body(start, download):
    server = start((UNTIL_CLOSE + CONTENT.data, cut))
    event, files = download(server, **TOLERANT)
    assert (event.state, event.attempts, files) == (TaskState.SUCCEEDED, 1, [CONTENT.sha256])


@pytest.mark.parametrize("data", [CONTENT.data, b""], ids=["body", "empty body"])
def test_a_body_with_close_notify_is_complete_at_the_first_attempt(start, download, data):
    server = start((UNTIL_CLOSE + data, close))
    event, files = download(server)
    assert (event.state, event.attempts, len(server.requests)) == (TaskState.SUCCEEDED, 1, 1)
    assert files == [Content(0).sha256 if not data else CONTENT.sha256]


@pytest.mark.parametrize("response", [
    WITH_LENGTH + CONTENT.data, CHUNKED + chunks(CONTENT.data) + b"0\r\n\r\n",
], ids=["length", "chunks"])
def test_a_body_with_a_length_or_chunks_needs_no_close_notify(start, download, response):
    server = start((response, cut))
    event, files = download(server)
    assert (event.state, event.attempts, files) == (TaskState.SUCCEEDED, 1, [CONTENT.sha256])


@pytest.mark.parametrize("options", [{}, TOLERANT], ids=["strict", "tolerant"])
@pytest.mark.parametrize("broken, whole", [
    (WITH_LENGTH + CONTENT.data[:PART], WITH_LENGTH + CONTENT.data),
    (CHUNKED + chunks(CONTENT.data[:PART]), CHUNKED + chunks(CONTENT.data) + b"0\r\n\r\n"),
    (CHUNKED + chunks(CONTENT.data)[:-5], CHUNKED + chunks(CONTENT.data) + b"0\r\n\r\n"),
    (CHUNKED + chunks(CONTENT.data), CHUNKED + chunks(CONTENT.data) + b"0\r\n\r\n"),
], ids=["length", "chunks", "in a chunk", "last chunk"])
def test_an_attempt_fails_with_connection_lost_if_its_body_is_incomplete(start, download, broken, whole, options):
    server = start((broken, close), (broken, cut), (broken, cut), (whole, cut))
    event, files = download(server, maximum_attempts=3, **options)
    assert (event.state, event.status, files) == (TaskState.FAILED, Status.CONNECTION_LOST, [])
    assert event.attempts == len(server.requests) == 3
    event, files = download(server, **options)
    assert (event.state, event.attempts, files) == (TaskState.SUCCEEDED, 1, [CONTENT.sha256])


@pytest.mark.parametrize("response", [UNTIL_CLOSE, WITH_LENGTH, CHUNKED], ids=["until close", "length", "chunks"])
@pytest.mark.parametrize("options", [{}, TOLERANT], ids=["strict", "tolerant"])
def test_a_reset_never_completes_a_body(start, fetch, authority, downloads, response, options):
    part = chunks(CONTENT.data[:PART]) if response == CHUNKED else CONTENT.data[:PART]
    server = start((response + part, reset))
    event = fetch(server.url + "/a", ca_file=authority.file, environment=CLEAN, maximum_attempts=3, **options)
    assert (event.state, event.attempts, os.listdir(downloads)) == (TaskState.FAILED, 3, [])
    assert event.status is Status.CONNECTION_LOST


def scramble(connection):
    """Sends bytes that are no TLS record."""
    socket.socket.sendall(connection, b"no TLS record")
    drain(connection)


def test_an_invalid_tls_record_in_the_body_breaks_the_connection_and_the_task_is_retried(start, download):
    server = start((WITH_LENGTH + CONTENT.data[:PART], scramble), (WITH_LENGTH + CONTENT.data, drain))
    event, files = download(server)
    assert (event.state, event.attempts, files) == (TaskState.SUCCEEDED, 2, [CONTENT.sha256]), event


def test_the_error_message_for_an_invalid_tls_record_in_the_body_does_not_ask_for_an_http_server(start, download):
    event, files = download(start((WITH_LENGTH + CONTENT.data[:PART], scramble)), maximum_attempts=1)
    assert (event.status, event.attempts, files) == (Status.CONNECTION_LOST, 1, [])
    assert "TLS record" in event.error_message and "http server" not in event.error_message
