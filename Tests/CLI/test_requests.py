"""Options of requests and sessions: what a server receives, and what the commands print."""

import subprocess

import pytest

from command_line import until
from servers.behaviour import Behaviour, redirect
from servers.certificates import make_certificates
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from servers.proxy import Proxy

CONTENT = Content(20_000)


@pytest.fixture
def hosting():
    return "embedded"


@pytest.fixture
def server():
    with MisbehavingServer() as one:
        yield one


@pytest.fixture
def certificates(tmp_path):
    folder = tmp_path / "certificates"
    folder.mkdir()
    return make_certificates(folder)


def got(backhaul, name="a"):
    return (backhaul.here / name).read_bytes() == CONTENT.data


def test_remote_header_name_uses_the_servers_file_name(backhaul, server):
    named = Behaviour(headers={"Content-Disposition": 'attachment; filename="../report.pdf"'})
    backhaul("get", "-J", server.serve("/a", CONTENT, otherwise=named))
    assert got(backhaul, "report.pdf")


def test_an_unchanged_file_is_not_fetched_again(backhaul, server):
    url = server.serve("/a", CONTENT)
    for _ in range(2):
        backhaul("get", "--if-changed", url)
    first, second = server.log("/a")
    assert (first.headers.get("if-none-match"), second.headers.get("if-none-match")) == (None, CONTENT.etag)


def test_accept_status_makes_an_error_page_a_file(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(status=404, body=b"nothing"))
    backhaul("get", url, code=1)
    backhaul("get", "--accept-status", "200-299,404", "-o", "b", url)
    assert (backhaul.here / "b").read_bytes() == b"nothing"


def test_retried_statuses_can_be_chosen(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=404)])
    backhaul("get", "--retry-status", "404", "--retry-delay", "0.01", url)
    assert got(backhaul)


def test_retries_can_be_disabled(backhaul, server):
    backhaul("get", "--retry-errors", "none", server.serve("/a", CONTENT, [Behaviour(status=500)]), code=1)
    assert len(server.log("/a")) == 1


def test_redirects_can_be_disabled(backhaul, server):
    server.serve("/b", CONTENT)
    url = server.serve("/a", CONTENT, otherwise=redirect("/b"))
    backhaul("get", "--redirects", "none", url, code=1)
    backhaul("get", "-o", "a", url)
    assert got(backhaul)


def test_a_file_above_the_maximum_size_is_refused(backhaul, server):
    said = backhaul("get", "--max-filesize", "10k", server.serve("/a", CONTENT), code=1).stderr
    assert "TOO_LARGE" in said


def test_cookies_are_stored_if_the_session_enables_that(backhaul, server):
    cookie = Behaviour(headers={"Set-Cookie": "seat=12; Max-Age=3600"})
    backhaul("get", "--cookie-jar", "persistent", server.serve("/a", CONTENT, otherwise=cookie))
    backhaul("get", server.serve("/b", CONTENT))
    assert server.log("/b")[0].headers.get("cookie") == "seat=12"


def test_the_password_is_sent_to_the_proxy(backhaul, server, tmp_path):
    password = tmp_path / "password"
    password.write_text("way out\n")
    with Proxy("me", "way out") as proxy:
        backhaul("get", "--proxy", proxy.url, "--proxy-user", "me", "--proxy-password-file", password,
                 server.serve("/a", CONTENT))
        assert proxy.authorized
    assert got(backhaul)


def test_a_server_key_that_is_not_pinned_is_refused(backhaul, certificates):
    with MisbehavingServer(tls=certificates.server_context()) as server:
        url = server.serve("/a", CONTENT)
        pin = "sha256//" + "A" * 43 + "="
        said = backhaul("get", "--cacert", certificates.authority, "--pinnedpubkey", pin, url, code=1).stderr
        assert "TLS_FAILED" in said
        backhaul("get", "--pinnedpubkey", "", "-o", "a", url)
    assert got(backhaul)


def test_expired_headers_are_requested_and_supplied_by_another_command(tmp_path, server):
    from command_line import CommandLine

    backhaul = CommandLine(tmp_path, "daemon")
    try:
        url = server.serve("/a", CONTENT, authorization="Bearer fresh", challenge="Bearer")
        backhaul("add", "--refresh", "headers", "-H", "Authorization: Bearer old", url)
        asked = until(lambda: backhaul.json("challenges"), "the challenge")[0]
        assert asked["kind"] == "refresh"
        backhaul("respond", "--header", "Authorization: Bearer fresh", asked["id"])
        backhaul("wait")
        assert got(backhaul)
    finally:
        backhaul.end()


def test_a_credential_may_be_kept_for_the_next_daemon(tmp_path, server):
    from command_line import CommandLine

    backhaul = CommandLine(tmp_path, "daemon")
    try:
        guarded = {"authorization": "Basic YW5uOnNlY3JldA==", "challenge": 'Basic realm="staff"'}
        backhaul("add", server.serve("/a", CONTENT, **guarded))
        asked = until(lambda: backhaul.json("challenges"), "the challenge")[0]
        backhaul("respond", "--user", "ann", "--password-file", "-", "--keep", asked["id"], stdin="secret\n")
        backhaul("wait")
        backhaul.end()
        backhaul("get", server.serve("/b", CONTENT, **guarded))
        assert got(backhaul, "b")
    finally:
        backhaul.end()


def test_attempts_are_listed_with_their_errors(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=500)])
    backhaul("get", "--retry-delay", "0.01", url)
    (task,) = backhaul.json("history")
    first, second = backhaul.json("attempts", task["id"])
    assert (first["http_status"], second["http_status"]) == (500, 200)
    assert second["response_body_bytes"] == CONTENT.size


def test_a_task_that_waits_for_its_rate_limit_lists_the_reason(tmp_path, server):
    from command_line import CommandLine

    backhaul = CommandLine(tmp_path, "daemon")
    try:
        backhaul("add", "--limit-rate", "100", server.serve("/a", CONTENT))
        task = until(lambda: [one for one in backhaul.json("tasks") if one["reason"] == "rate"], "the wait")[0]
        backhaul("rate", "0", task["id"])
        backhaul("wait")
        assert got(backhaul)
    finally:
        backhaul.end()


@pytest.mark.skipif(subprocess.run(["unshare", "-rn", "true"], capture_output=True, check=False).returncode != 0,
                    reason="no network namespace can be made here")
def test_a_task_without_a_network_is_listed_with_the_reason(tmp_path):
    from command_line import CommandLine

    backhaul = CommandLine(tmp_path, "daemon")
    command = " ".join(backhaul.arguments())
    # Several `backhaul tasks` run in one network namespace without a route.
    script = (f"{command} add http://192.0.2.1/a; for n in $(seq 200); do "
              f"{command} tasks --json | grep connectivity && break; sleep 0.05; done; {command} cancel --all")
    try:
        seen = subprocess.run(["unshare", "-rn", "sh", "-c", script], cwd=backhaul.here, env=backhaul.environment,
                              capture_output=True, text=True, timeout=60, check=False)
        assert '"reason":"connectivity"' in seen.stdout.replace(" ", ""), seen
    finally:
        backhaul.end()
