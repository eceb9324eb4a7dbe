"""Tests of the servers in this folder. A behaviour describes one response of a server, usually a faulty one."""

import http.client
import socket
import ssl
import urllib.error
import urllib.request

import pytest

from servers.behaviour import Behaviour, redirect
from servers.certificates import make_certificates
from servers.content import Content, write_files
from servers.misbehaving import MisbehavingServer
from servers.nginx import Nginx

CONTENT = Content(100_000)


@pytest.fixture
def server():
    with MisbehavingServer() as running:
        yield running


def get(url, **headers):
    request = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(request, timeout=20) as response:
            return response.status, dict(response.headers), response.read()
    except urllib.error.HTTPError as response:
        return response.code, dict(response.headers), response.read()


def test_without_a_behaviour_the_server_sends_the_whole_content(server):
    status, headers, body = get(server.serve("/a", CONTENT))
    assert (status, body, headers["ETag"]) == (200, CONTENT.data, CONTENT.etag)


def test_the_server_sends_a_range_only_if_the_entity_tag_matches(server):
    url = server.serve("/a", CONTENT)
    status, headers, body = get(url, Range="bytes=90000-", If_Range=CONTENT.etag)
    assert (status, body) == (206, CONTENT.data[90_000:])
    assert headers["Content-Range"] == "bytes 90000-99999/100000"
    assert get(url, Range="bytes=90000-", If_Range='"other"')[0] == 200
    status, headers, _ = get(url, Range="bytes=100000-")
    assert (status, headers["Content-Range"]) == (416, "bytes */100000")


def test_the_server_uses_each_behaviour_for_one_request(server):
    url = server.serve("/a", CONTENT, [Behaviour(status=503), redirect("/b")])
    server.serve("/b", Content(5, seed=7))
    assert get(url)[0] == 503
    assert get(url)[2] == Content(5, seed=7).data
    assert get(url)[2] == CONTENT.data
    assert [asked.path for asked in server.log()] == ["/a", "/a", "/b", "/a"]


def test_the_server_drops_the_connection_after_a_given_number_of_bytes(server):
    url = server.serve("/a", CONTENT, [Behaviour(drop_after=1_000)])
    with pytest.raises(http.client.IncompleteRead) as caught:
        get(url)
    assert caught.value.partial == CONTENT.data[:1_000]
    assert server.log("/a")[0].sent == 1_000


def test_the_server_resets_the_connection(server):
    url = server.serve("/a", CONTENT, [Behaviour(drop_after=0, reset=True)])
    with pytest.raises(ConnectionResetError):
        get(url)


def test_the_server_stalls_until_the_client_disconnects(server):
    server.serve("/a", CONTENT, [Behaviour(stall_after=10)])
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as client:
        client.sendall(b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n")
        server.wait_until(lambda log: log and log[0].sent == 10)
        assert not server.log()[0].ended
    server.wait_until(lambda log: log[0].ended)


def test_the_server_can_send_a_chunked_body_and_a_false_length(server):
    assert get(server.serve("/a", CONTENT, otherwise=Behaviour(chunked=True)))[2] == CONTENT.data
    assert get(server.serve("/b", CONTENT, otherwise=Behaviour(length_lie=-1)))[2] == CONTENT.data[:-1]


def test_the_server_supports_tls(tmp_path):
    certificates = make_certificates(tmp_path)
    with MisbehavingServer(certificates.server_context()) as server:
        url = server.serve("/a", CONTENT)
        context = ssl.create_default_context(cafile=certificates.authority)
        with urllib.request.urlopen(url, context=context, timeout=20) as response:
            assert response.read() == CONTENT.data


def test_nginx_serves_files_with_and_without_tls_and_stops_when_its_context_manager_exits(tmp_path):
    files = write_files(tmp_path / "files", [10_000])
    certificates = make_certificates(tmp_path)
    with Nginx(tmp_path / "nginx", files.folder, certificates) as nginx:
        assert get(nginx.url + "/00000.bin", Range="bytes=9990-")[0] == 206
        context = ssl.create_default_context(cafile=certificates.authority)
        with urllib.request.urlopen(nginx.tls_url + "/00000.bin", context=context, timeout=20) as response:
            assert len(response.read()) == 10_000
        assert [(asked.path, asked.status, asked.range) for asked in nginx.log()] == [
            ("/00000.bin", 206, "bytes=9990-"), ("/00000.bin", 200, "")]
    with pytest.raises(OSError):
        get(nginx.url + "/00000.bin")
