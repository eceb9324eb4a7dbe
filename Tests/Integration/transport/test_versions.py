"""The HTTP version that a session uses, and URLs with IPv6 addresses."""

import pytest

from backhaul import HTTPVersion, TaskState

from servers.content import Content
from servers.misbehaving import MisbehavingServer
from transport.conftest import QUICK
from transport.refusing import RefusingServer
from transport.scripted import ScriptedServer


@pytest.mark.parametrize("version, tls, spoken", [
    (HTTPVersion.DEFAULT, True, "HTTP/2.0"),
    (HTTPVersion.HTTP_1_1, True, "HTTP/1.1"),
    (HTTPVersion.HTTP_2, True, "HTTP/2.0"),
    (HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE, True, "HTTP/2.0"),
    (HTTPVersion.DEFAULT, False, "HTTP/1.1"),
    (HTTPVersion.HTTP_2, False, "HTTP/1.1"),
])
def test_the_configured_http_version_is_used(fetch, nginx, served, certificates, version, tls, spoken):
    name = served.names[5]
    url = f"{nginx.tls_url if tls else nginx.url}/{name}"
    before = len(nginx.log())
    assert fetch(url, http_version=version, ca_file=certificates.authority).state is TaskState.SUCCEEDED
    assert [asked.protocol for asked in nginx.log()[before:]] == [spoken]


def test_sessions_with_different_http_versions_share_no_connection(host, nginx, served, certificates, downloads):
    one = host()
    before = len(nginx.log())
    for number, version in enumerate([HTTPVersion.DEFAULT, HTTPVersion.HTTP_1_1, HTTPVersion.DEFAULT]):
        one.session(f"session {number}", http_version=version, ca_file=certificates.authority)
        one.download(f"{nginx.tls_url}/{served.names[5]}", downloads / str(number))
        one.wait_for()
    spoken = [asked.protocol for asked in nginx.log()[before:]]
    assert spoken == ["HTTP/2.0", "HTTP/1.1", "HTTP/2.0"]


def test_http_2_with_prior_knowledge_works_without_tls(fetch):
    with RefusingServer() as server:
        event = fetch(server.url + "/a", http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE)
        assert (event.state, server.requests) == (TaskState.SUCCEEDED, [("GET", b"")]), event


TASKS = 12


def succeeds(one, url, downloads):
    """Downloads from the URL in several tasks at the same time."""
    for number in range(TASKS):
        one.download(f"{url}/{number}", downloads / str(number))
    ended = [(event.state, event.attempts) for event in one.wait_for() if event.task_id]
    assert ended == [(TaskState.SUCCEEDED, 1)] * TASKS


def test_http_2_with_prior_knowledge_works_for_several_tasks_without_tls(host, downloads):
    with RefusingServer() as server:
        one = host()
        one.session(http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE, connections_per_origin=2, **QUICK)
        succeeds(one, server.url, downloads)
        # A second round begins when the connections of the first round are idle.
        one.session("again", http_version=HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE, connections_per_origin=2, **QUICK)
        (downloads / "again").mkdir()
        succeeds(one, server.url, downloads / "again")
        assert server.requests == [("GET", b"")] * TASKS * 2


def test_without_tls_no_upgrade_to_http_2_is_requested(host, downloads):
    def respond(connection, head):
        upgrade = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        whole = b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfile"
        connection.sendall(upgrade if b"upgrade:" in head.lower() else whole)
        return True

    with ScriptedServer(respond) as server:
        one = host()
        one.session(http_version=HTTPVersion.HTTP_2, **QUICK)
        succeeds(one, server.url, downloads)


def test_a_url_may_have_an_ipv6_address(fetch):
    with MisbehavingServer(address="::1") as server:
        server.serve("/a", Content(1_000))
        assert fetch(f"http://[::1]:{server.port}/a").state is TaskState.SUCCEEDED
