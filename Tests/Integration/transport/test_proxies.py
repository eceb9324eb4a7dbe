"""Real proxies: squid for plain requests and tunnels, microsocks for SOCKS."""

from dataclasses import replace

import pytest

import backhaul
from backhaul import ChallengeKind, Status, TaskState

from servers.behaviour import redirect
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from servers.proxies import Socks, Squid
from servers.proxy import Proxy
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge
from testbed.host import until

#: Empty values for all proxy variables. They replace the values in the environment in which the tests run.
CLEAN = {name: "" for lower in ("http_proxy", "https_proxy", "all_proxy", "no_proxy")
         for name in (lower, lower.upper())}


@pytest.fixture(scope="module")
def squid(tmp_path_factory):
    with Squid(tmp_path_factory.mktemp("squid")) as running:
        yield running


@pytest.fixture(scope="module")
def guarded(tmp_path_factory):
    with Squid(tmp_path_factory.mktemp("guarded"), "porter", "key") as running:
        yield running


@pytest.fixture(params=["plain", "tunnel"])
def server(request, serve, authority):
    return serve(authority.context() if request.param == "tunnel" else None)


def test_the_configured_proxy_is_used(fetch, squid, server, authority):
    before = len(squid.lines())
    event = fetch(server.url + "/a", ca_file=authority.file, proxy=backhaul.Proxy(url=squid.url), environment=CLEAN)
    assert event.state is TaskState.SUCCEEDED
    assert server.log()[0].headers.get("via", "").endswith("(squid/5.7)") == (server.url.startswith("http:"))
    if server.url.startswith("http:"):
        # Squid writes its log after the response.
        assert "GET " + server.url in until(squid.lines, lambda lines: len(lines) > before)[before]


def test_the_proxy_of_the_environment_is_used_if_no_setting_overrides_it(fetch, squid, server, authority):
    environment = {**CLEAN, "http_proxy": squid.url, "https_proxy": squid.url}
    trusted = {"ca_file": authority.file}
    unreachable = "http://127.0.0.1:1"
    assert fetch(server.url + "/a", environment=environment, **trusted).state is TaskState.SUCCEEDED
    # The configuration overrides the environment.
    event = fetch(server.url + "/a", environment=environment, proxy=backhaul.Proxy(url=unreachable), **trusted)
    assert (event.status, event.state) == (Status.CONNECTION_FAILED, TaskState.FAILED)
    lost = {**CLEAN, "http_proxy": unreachable, "https_proxy": unreachable}
    assert fetch(server.url + "/a", environment=lost, **trusted).status is Status.CONNECTION_FAILED
    for around in (backhaul.Proxy(url="none"), backhaul.Proxy(bypass="127.0.0.0/8")):
        assert fetch(server.url + "/a", environment=lost, proxy=around, **trusted).state is TaskState.SUCCEEDED
    around = {**lost, "no_proxy": "example.org, 127.0.0.1"}
    assert fetch(server.url + "/a", environment=around, **trusted).state is TaskState.SUCCEEDED


def test_user_and_password_of_the_configuration_are_sent_to_the_proxy(fetch, guarded, server, authority):
    route = backhaul.Proxy(url=guarded.url, user="porter", password="key")
    options = {"ca_file": authority.file, "environment": CLEAN}
    event = fetch(server.url + "/a", proxy=route, **options)
    assert event.state is TaskState.SUCCEEDED
    assert "proxy-authorization" not in server.log()[0].headers
    for wrong in (backhaul.Proxy(url=guarded.url), replace(route, password="wrong")):
        event = fetch(server.url + "/a", proxy=wrong, **options)
        assert (event.state, event.http_status) == (TaskState.FAILED, 407)
        assert "wrong" not in event.error_message
    assert len(server.log()) == 1


def test_user_and_password_in_the_proxy_url_of_the_environment_are_sent_to_the_proxy(fetch, guarded, server, authority):
    url = guarded.url.replace("http://", "http://porter:key@")
    event = fetch(server.url + "/a", ca_file=authority.file,
                  environment={**CLEAN, "http_proxy": url, "https_proxy": url})
    assert event.state is TaskState.SUCCEEDED


def test_a_tunnel_with_a_password_is_not_shared_between_sessions(host, guarded, serve, authority, downloads):
    server = serve(authority.context())
    one = host(environment=CLEAN)
    found = []
    for number, password in enumerate(["key", "wrong", None, "key"]):
        route = backhaul.Proxy(url=guarded.url, user="porter" if password else None, password=password)
        one.session(f"session {number}", ca_file=authority.file, proxy=route, maximum_attempts=1)
        one.download(server.url + "/a", downloads / str(number))
        found += [event.http_status for event in one.wait_for() if event.task_id]
    assert found == [200, 407, 407, 200]


def test_a_credential_of_one_session_opens_no_tunnel_for_another_session(host, guarded, serve, authority, downloads):
    server = serve(authority.context())
    one = host(environment=CLEAN)
    one.session("asked", **ASK_FOR_CREDENTIALS, ca_file=authority.file, proxy=backhaul.Proxy(url=guarded.url))
    one.download(server.url + "/a", downloads / "asked")
    asked = challenge(one)
    assert (asked.kind, asked.origin) == (ChallengeKind.PROXY, guarded.url)
    one.respond(asked.id, user="porter", password="key")
    assert [event.state for event in one.wait_for() if event.task_id] == [TaskState.SUCCEEDED]
    one.session("another", ca_file=authority.file, proxy=backhaul.Proxy(url=guarded.url), maximum_attempts=1)
    one.download(server.url + "/a", downloads / "another")
    assert [event.http_status for event in one.wait_for() if event.task_id] == [407]


def test_a_bypassed_server_is_contacted_directly(host, serve, downloads):
    """The proxy gets no request. The server's 401 opens a challenge, which is a demand for a credential for this
    server."""
    server = MisbehavingServer()
    with server, Proxy("porter", "key") as proxy:
        url = server.serve("/a", Content(10), authorization="Basic dXNlcjpwYXNzd29yZA==")
        one = host(environment={**CLEAN, "http_proxy": proxy.url, "no_proxy": "127.0.0.1"})
        one.session(**ASK_FOR_CREDENTIALS)
        one.download(url, downloads / "a")
        asked = challenge(one)
        assert (asked.kind, asked.origin) == (ChallengeKind.SERVER, server.url)
        one.respond(asked.id, user="user", password="password")
        assert [event.state for event in one.wait_for() if event.task_id] == [TaskState.SUCCEEDED]
        assert proxy.log == []


def test_headers_for_the_server_never_reach_the_proxy_of_a_tunnel(fetch, serve, authority):
    server = serve(authority.context())
    with Proxy("porter", "key") as proxy:
        route = backhaul.Proxy(url=proxy.url, user="porter", password="key")
        event = fetch(server.url + "/a", ca_file=authority.file, proxy=route, environment=CLEAN,
                      headers=(("X-Key", "secret"),),
                      request={"headers": {"Authorization": "Bearer secret"}})
        assert event.state is TaskState.SUCCEEDED
        assert all({"authorization", "x-key", "cookie"}.isdisjoint(headers) for _, _, headers in proxy.log)
        assert proxy.authorized
        assert {"proxy-authorization", "proxy-connection"}.isdisjoint(server.log()[0].headers)


def test_the_error_of_a_refused_tunnel_names_the_proxy_and_its_status(fetch, squid, authority):
    # No server listens at the requested URL.
    route = backhaul.Proxy(url=squid.url)
    event = fetch("https://127.0.0.1:1/a", ca_file=authority.file, proxy=route, environment=CLEAN)
    assert (event.state, event.status) == (TaskState.FAILED, Status.CONNECTION_FAILED)
    assert event.error_message == f"the proxy {squid.url} refuses a tunnel to https://127.0.0.1:1 with status 503"


@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_a_download_through_a_socks_proxy_works_with_host_names_and_with_addresses(fetch, server, authority, scheme):
    with Socks() as socks:
        route = backhaul.Proxy(url=f"{scheme}://{socks.address}")
        options = {"ca_file": authority.file, "proxy": route, "environment": CLEAN}
        url = server.url.replace("127.0.0.1", "localhost")
        assert fetch(url + "/a", **options).state is TaskState.SUCCEEDED
        assert fetch(server.url + "/a", **options).state is TaskState.SUCCEEDED
    event = fetch(server.url + "/a", **options)
    assert event.status is Status.CONNECTION_FAILED


def test_user_and_password_are_sent_to_a_socks_proxy(fetch, server, authority):
    with Socks("porter", "key") as socks:
        route = backhaul.Proxy(url=f"socks5://{socks.address}", user="porter", password="key")
        options = {"ca_file": authority.file, "environment": CLEAN}
        assert fetch(server.url + "/a", proxy=route, **options).state is TaskState.SUCCEEDED
        event = fetch(server.url + "/a", proxy=replace(route, password="wrong"), **options)
        assert event.status is Status.CONNECTION_FAILED and "wrong" not in event.error_message
        assert len(server.log()) == 1


def test_a_redirect_to_a_bypassed_server_does_not_use_the_proxy(fetch, squid, serve):
    other = serve(address="127.0.0.2")
    with MisbehavingServer() as server:
        url = server.serve("/old", Content(10), [redirect(other.url + "/a")])
        event = fetch(url, proxy=backhaul.Proxy(url=squid.url, bypass="127.0.0.2"), environment=CLEAN)
        assert event.state is TaskState.SUCCEEDED
        assert "via" in server.log()[0].headers and "via" not in other.log()[0].headers
