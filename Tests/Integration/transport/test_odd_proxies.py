"""Proxies with an odd response to CONNECT. The engine reports no internal error, writes no byte of the proxy's
response into a file, and sends few requests."""

import os
import socket
from contextlib import suppress

import pytest

from backhaul import Proxy, Status, TaskState

from servers.content import Content, sha256_of
from servers.proxy import join
from transport.scripted import ScriptedServer, cut, drain
from transport.test_proxies import CLEAN

OK = b"HTTP/1.1 200 Connected\r\n"
TRIES = 2

ODD = {
    "NUL in a field": OK + b"X-Nul: a\0b\r\n\r\n",
    "NUL in the status line": b"HTTP/1.1 200 Con\0nected\r\n\r\n",
    "folded first line": OK + b" folded: 1\r\n\r\n",
    "no status line": b"X-A: 1\r\n\r\n",
    "empty line": b"\r\n",
    "nothing": b"",
    "another protocol": b"SSH-2.0-OpenSSH_9.2\r\n",
    "HTTP/0.9": b"<html>the proxy's page</html>\n",
    "HTTP/9.9": b"HTTP/9.9 200 OK\r\n\r\n",
    "HTTP/2": b"HTTP/2 200\r\n\r\n",
    "status of two digits": b"HTTP/1.1 20 OK\r\n\r\n",
    "status of words": b"HTTP/1.1 abc OK\r\n\r\n",
    "status 999": b"HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n",
    "status 000": b"HTTP/1.1 000 Odd\r\nContent-Length: 0\r\n\r\n",
    "101": b"HTTP/1.1 101 Switching\r\nUpgrade: other\r\n\r\n",
    "100 for ever": b"HTTP/1.1 100 Continue\r\n\r\n" * 2_000,
    "header line of 200 KB": OK + b"X-Long: " + b"a" * 200_000 + b"\r\n\r\n",
    "5,000 lines": OK + b"X-Line: 1\r\n" * 5_000 + b"\r\n",
    "2 MB of lines": OK + (b"X-Line: " + b"a" * 1_000 + b"\r\n") * 2_000 + b"\r\n",
    "200 with a length": OK + b"Content-Length: 5\r\n\r\nproxy",
    "200 with chunks": OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nproxy\r\n0\r\n\r\n",
    "200 with a page": OK + b"\r\n<html>the proxy's page</html>",
    "302": b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 5\r\n\r\nproxy",
    "304": b"HTTP/1.1 304 Not Modified\r\n\r\n",
    "403 with a page": b"HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nproxy",
    "200 with a field like the status line 407": OK + b"HTTP/1.1 407 Who: x\r\n\r\n",
    "407 with a field like the status line 200": b"HTTP/1.1 407 Who\r\nHTTP/1.1 200 OK: x\r\n\r\n",
    "CR inside a field": OK + b"X-A: a\rb\r\n\r\n",
    "407 without a question": b"HTTP/1.1 407 Who\r\nContent-Length: 0\r\n\r\n",
    "503 with a cut page": b"HTTP/1.1 503 Later\r\nContent-Length: 500\r\n\r\nproxy",
}


@pytest.fixture
def through(fetch, serve, authority):
    """Returns a function that fetches through a proxy from a server with TLS, and returns the event."""
    server = serve(authority.context())

    def run(proxy, user=None, **options):
        route = Proxy(url=proxy.url, user=user, password=user)
        return fetch(server.url + "/a", ca_file=authority.file, proxy=route, environment=CLEAN,
                     **{"maximum_attempts": TRIES, **options})

    return run


def responding(data, greeting=b""):
    def respond(connection, _):
        connection.sendall(data)
        cut(connection)

    return ScriptedServer(respond, greeting=greeting)


@pytest.mark.parametrize("data", ODD.values(), ids=ODD)
def test_an_odd_response_to_connect_fails_the_task(through, downloads, data):
    with responding(data) as proxy:
        event = through(proxy)
        assert (event.state, os.listdir(downloads)) == (TaskState.FAILED, [])
        assert event.status in (Status.BAD_RESPONSE, Status.CONNECTION_FAILED, Status.CONNECTION_LOST,
                                Status.TLS_FAILED, Status.HTTP_STATUS), event
        assert 1 <= event.attempts == len(proxy.requests) <= TRIES


@pytest.mark.parametrize("name", ODD)
def test_the_error_message_names_the_proxy_with_the_odd_response(through, name):
    with responding(ODD[name]) as proxy:
        assert proxy.url in through(proxy, maximum_attempts=1).error_message


@pytest.mark.parametrize("data", [
    b"HTTP/1.1 407 Who\r\nHTTP/1.1 200 OK: x\r\n\r\n", b"HTTP/1.1 503 Later\r\nHTTP/1.1 200 OK: x\r\n\r\n",
], ids=["407", "503"])
def test_a_tunnel_that_only_libcurl_reads_as_open_is_not_used(through, downloads, data):
    """libcurl 7.88.1 reads each line of a response to CONNECT as a status line."""
    with tunneling(data) as proxy:
        event = through(proxy)
        assert (event.status, os.listdir(downloads)) == (Status.BAD_RESPONSE, []), event
        assert proxy.url in event.error_message


def test_a_407_response_to_connect_fails_the_task_and_the_error_message_names_the_proxy(through):
    refusal = b'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="a"\r\nContent-Length: 4\r\n\r\nwho\n'
    with responding(refusal) as proxy:
        event = through(proxy)
        assert (event.status, event.http_status, event.attempts) == (Status.HTTP_STATUS, 407, 1)
        assert event.error_message == (
            f"the proxy {proxy.url} responded with status 407; "
            "set asks_for_credentials of the stored configuration, or proxy.user and proxy.password")


def test_a_407_response_without_a_usable_challenge_ends_the_attempt_before_the_body(through):
    """A proxy that waits with the body does not delay the result, because the transfer needs only the head."""
    refusal = b'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="a"\r\nContent-Length: 4\r\n\r\nw'

    def respond(connection, _):
        connection.sendall(refusal)
        drain(connection)

    with ScriptedServer(respond) as proxy:
        event = through(proxy, request_timeout_ms=600_000)
        assert (event.status, event.http_status, event.attempts) == (Status.HTTP_STATUS, 407, 1)


@pytest.mark.parametrize("framing", [b"Content-Length: 1000000", b"Transfer-Encoding: chunked"],
                         ids=["length", "chunks"])
def test_after_a_407_response_with_a_long_body_a_basic_credential_is_sent_over_a_new_connection(through, framing):
    refusal = b'HTTP/1.1 407 Who\r\nProxy-Authenticate: Basic realm="a"\r\n' + framing + b"\r\n\r\n"

    def respond(connection, head):
        if b"Proxy-Authorization: " in head:
            return open_tunnel(connection, head, OK + b"\r\n")
        with suppress(OSError):
            connection.sendall(refusal + (b"10000\r\n" + b"a" * 65_536 + b"\r\n") * 14)
        return drain(connection)

    with ScriptedServer(respond) as proxy:
        event = through(proxy, user="porter")
        assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event
        assert [b"Proxy-Authorization: Basic " in head for head in proxy.requests] == [False, True]
        assert proxy.accepted == 2


def open_tunnel(connection, head, data):
    host, _, port = head.split()[1].decode().rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), timeout=20) as server:
        connection.sendall(data)
        join(connection, server)


def tunneling(data, greeting=b""):
    """Returns a proxy that opens the tunnel after its odd response."""
    def respond(connection, head):
        open_tunnel(connection, head, data)

    return ScriptedServer(respond, greeting=greeting)


@pytest.mark.parametrize("data", [
    OK + b"Content-Length: 5\r\n\r\n", OK + b"Transfer-Encoding: chunked\r\n\r\n",
    OK + b"Content-Length: 5\r\nContent-Length: 6\r\n\r\n", b"HTTP/1.0 200 OK\r\n\r\n", b"HTTP/1.1 204 No\r\n\r\n",
], ids=["length", "chunks", "two lengths", "HTTP/1.0", "204"])
def test_a_successful_response_to_connect_has_no_body(through, downloads, data):
    """RFC 9110, section 9.3.6: Content-Length and Transfer-Encoding of a successful response are ignored."""
    with tunneling(data) as proxy:
        event = through(proxy)
        assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event
        assert [sha256_of(downloads / name) for name in os.listdir(downloads)] == [Content(1_000).sha256]


@pytest.mark.parametrize("data", [
    b"HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n" + OK + b"\r\n", b"HTTP/1.1 100 Continue\r\n\r\n" + OK + b"\r\n",
    OK + b"\r\n" + OK + b"\r\n", OK + b"X-A: 1\r\n folded: 2\r\n\r\n",
], ids=["103", "100", "twice", "folded"])
def test_a_download_is_complete_or_fails_if_an_odd_response_has_opened_its_tunnel(through, downloads, data):
    with tunneling(data) as proxy:
        event = through(proxy)
        files = [sha256_of(downloads / name) for name in os.listdir(downloads)]
        assert files == ([Content(1_000).sha256] if event.state is TaskState.SUCCEEDED else [])
        assert event.status is not Status.INTERNAL and len(proxy.requests) <= TRIES


RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nproxy"


@pytest.mark.parametrize("greeting", [OK + b"\r\n", RESPONSE, b"hello\r\n"], ids=["tunnel", "response", "words"])
def test_no_file_has_bytes_that_the_proxy_sends_before_connect(through, downloads, greeting):
    with tunneling(OK + b"\r\n", greeting) as proxy:
        event = through(proxy)
        files = [sha256_of(downloads / name) for name in os.listdir(downloads)]
        assert files == ([Content(1_000).sha256] if event.state is TaskState.SUCCEEDED else [])
        assert event.status is not Status.INTERNAL and proxy.accepted <= 4 * TRIES
