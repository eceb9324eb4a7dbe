"""Proxies that require a credential, for plain requests and for tunnels. The demand for a credential is called a
challenge. A host gives the credential or refuses the challenge."""

import pytest

from backhaul import ChallengeKind, Scheme, Status, TaskState
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from servers.proxy import Proxy
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events


@pytest.fixture
def proxy():
    with Proxy("porter", "key") as running:
        yield running


@pytest.fixture(params=["plain", "tunnel"])
def proxied(request, nginx, proxy):
    """Returns the URL of the files, and the environment that routes requests for them through the proxy."""
    name, url = ("http_proxy", nginx.url) if request.param == "plain" else ("https_proxy", nginx.tls_url)
    return url, {name: proxy.url, "no_proxy": "", "NO_PROXY": ""}


def through(host, proxied, certificates, served, downloads, count, folder=""):
    url, environment = proxied
    one = host(environment=environment)
    one.session(**ASK_FOR_CREDENTIALS, ca_file=str(certificates.authority))
    for name in served.names[:count]:
        one.download(f"{url}{folder}/{name}", downloads / name)
    return one


def test_one_proxy_credential_is_used_for_all_tasks(host, proxied, proxy, certificates, served, downloads):
    one = through(host, proxied, certificates, served, downloads, 20)
    asked = challenge(one, 20)
    assert (asked.kind, asked.schemes, asked.realm, asked.origin) == (
        ChallengeKind.PROXY, Scheme.BASIC, "the way out", proxy.url)
    assert len(proxy.log) <= 7
    one.respond(asked.id, user="porter", password="key")
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 20
    assert all(sha256_of(downloads / name) == served.digests[name] for name in served.names[:20])


def test_headers_for_a_proxy_are_not_sent_through_the_tunnel_to_the_server(host, proxy, certificates, downloads):
    with MisbehavingServer(certificates.server_context()) as server:
        url = server.serve("/a", Content(5_000), authorization="Bearer inside")
        one = host(environment={"https_proxy": proxy.url, "no_proxy": "", "NO_PROXY": ""})
        one.session(**ASK_FOR_CREDENTIALS, ca_file=str(certificates.authority))
        one.download(url, downloads / "a", headers={"Authorization": "Bearer inside", "X-Inside": "yes"})
        one.respond(challenge(one).id, headers={"Proxy-Authorization": "Basic cG9ydGVyOmtleQ==", "X-Porter": "yes"})
        assert task_events(one.wait_for())[0].state is TaskState.SUCCEEDED
        [asked] = server.log()
        assert asked.headers["x-inside"] == "yes"
        assert {"proxy-authorization", "x-porter"}.isdisjoint(asked.headers)
        assert proxy.authorized[-1][2]["x-porter"] == "yes"
        assert all({"authorization", "x-inside"}.isdisjoint(headers) for _, _, headers in proxy.log)


def test_all_tasks_fail_if_the_host_refuses_the_challenge_after_a_wrong_credential(
        host, proxied, proxy, certificates, served, downloads):
    one = through(host, proxied, certificates, served, downloads, 5)
    one.respond(challenge(one, 5).id, user="porter", password="wrong")
    before = len(proxy.log)
    one.respond(challenge(one, 5, failures=1).id, refuse=True)
    events = task_events(one.wait_for())
    assert [event.status for event in events] == [Status.AUTHENTICATION_REQUIRED] * 5
    assert len(proxy.log) <= before + 1


def test_the_server_and_the_proxy_have_separate_challenges(host, proxied, proxy, certificates, served, downloads):
    one = through(host, proxied, certificates, served, downloads, 3, "/private")
    first = challenge(one, 3)
    assert first.kind is ChallengeKind.PROXY
    one.respond(first.id, user="porter", password="key")
    second = challenge(one, 3)
    assert second.kind is ChallengeKind.SERVER
    one.respond(second.id, user="user", password="password")
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 3
    server = "dXNlcjpwYXNzd29yZA=="
    for method, _, headers in proxy.log:
        if method == "CONNECT":
            assert "authorization" not in headers
    assert all(server not in headers.get("proxy-authorization", "") for _, _, headers in proxy.log)


def test_a_407_fails_a_task_if_its_session_never_asks_the_host_for_a_credential(
        host, proxied, served, downloads, certificates):
    url, environment = proxied
    one = host(environment=environment)
    one.session(ca_file=str(certificates.authority))
    one.download(f"{url}/{served.names[0]}", downloads / "a")
    [event] = task_events(one.wait_for())
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 407)
