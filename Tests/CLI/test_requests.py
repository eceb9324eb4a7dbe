"""Options of requests and sessions (named collections of transfers): what a server receives, and what the commands
print. A kept credential is stored, so that later daemons can use it."""

import subprocess

import pytest

from command_line import until
from servers.behaviour import Behaviour, redirect
from servers.certificates import make_certificates
from servers.chained import ChainedServer
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from servers.proxy import Proxy
from servers.receiving import ReceivingServer

pytestmark = pytest.mark.hosting("embedded")

CONTENT = Content(20_000)


@pytest.fixture
def certificates(tmp_path):
    folder = tmp_path / "certificates"
    folder.mkdir()
    return make_certificates(folder)


def got(backhaul, name="a"):
    return (backhaul.here / name).read_bytes() == CONTENT.data


def test_the_remote_header_name_option_uses_the_file_name_from_the_server(backhaul, server):
    named = Behaviour(headers={"Content-Disposition": 'attachment; filename="../report.pdf"'})
    backhaul("get", "-J", server.serve("/a", CONTENT, otherwise=named))
    assert got(backhaul, "report.pdf")


def test_a_repeated_command_with_the_if_changed_option_sends_the_entity_tag_of_the_file(backhaul, server):
    url = server.serve("/a", CONTENT)
    for _ in range(2):
        backhaul("get", "--if-changed", url)
    first, second = server.log("/a")
    assert (first.headers.get("if-none-match"), second.headers.get("if-none-match")) == (None, CONTENT.etag)


def test_the_range_option_transfers_a_part_of_a_file(backhaul, server):
    url = server.serve("/a", CONTENT)
    backhaul("get", "-r", "100-149", "-o", "slice", url)
    backhaul("get", "--range", "19990-", "-o", "rest", url)
    assert (backhaul.here / "slice").read_bytes() == CONTENT.data[100:150]
    assert (backhaul.here / "rest").read_bytes() == CONTENT.data[19_990:]
    assert [asked.range for asked in server.log("/a")] == ["bytes=100-149", "bytes=19990-"]
    backhaul("get", "-o", "slice", url, code=4)
    with ReceivingServer() as sink:
        backhaul("put", "--range", "10-19", "slice", f"{sink.url}/part")
        assert sink.received == {"part": CONTENT.data[110:120]}
        refused = backhaul("put", "--range", "10-50", "slice", f"{sink.url}/part", code=2)
    assert "has 50 bytes" in refused.stderr and "body_file" not in refused.stderr


def test_a_transfer_waits_for_another_one_and_takes_its_url_from_the_response(tmp_path):
    from command_line import CommandLine

    backhaul = CommandLine(tmp_path, "daemon")
    try:
        with ChainedServer() as api:
            create = api.answer("/create", 201, {"X-Token": "t1"}, {"urls": ["/put"]})
            api.answer("/put")
            api.answer("/commit")
            api.held.add("/create")
            (backhaul.here / "a").write_bytes(CONTENT.data)
            first = backhaul("put", "--no-wait", "-X", "POST", "--data-binary", "{}", create).stdout.split()[0]
            second = backhaul("put", "--no-wait", "--after", first, "--url-from", "json:/urls/0", "--header-from",
                              "X-Token: header:X-Token", "a", f"{api.url}/x").stdout.split()[0]
            backhaul("put", "--no-wait", "--after", second, "-X", "POST", "--data-binary", "", f"{api.url}/commit")
            why = backhaul("why", second).stdout
            assert f"task {first}" in why
            api.release()
            backhaul("wait")
            assert api.log() == [("POST", "/create"), ("PUT", "/put"), ("POST", "/commit")]
            assert api.requests[1][3] == CONTENT.data and api.requests[1][2]["X-Token"] == "t1"
            gone = backhaul("put", "--no-wait", "--after", "99", "a", f"{api.url}/put", code=3)
            assert "no task 99" in gone.stderr
    finally:
        backhaul.end()


@pytest.mark.parametrize(("words", "message"), [
    (["--url-from", "url"], "--url-from goes with --after TASK"),
    (["--after", "x"], "--after takes the number of a transfer"),
    (["--after", "1", "--after-failure", "stop"], "--after-failure takes fail, cancel or ignore"),
    (["--after", "1", "--url-from", "cookie"], "--url-from takes url, body, header:NAME or json:/POINTER"),
])
def test_a_malformed_option_for_other_transfers_is_refused(backhaul, words, message):
    assert message in backhaul("get", *words, "http://127.0.0.1:9/a", code=2).stderr


@pytest.mark.parametrize("wrong", ["5", "9-8", "-100", "1-2-3", "a-b", "0-9223372036854775807"])
def test_a_malformed_range_is_refused(backhaul, wrong):
    refused = backhaul("get", f"--range={wrong}", "http://127.0.0.1:9/a", code=2)
    assert f"--range takes FIRST-LAST or FIRST-, such as 0-499, not '{wrong}'" in refused.stderr


def test_an_error_page_is_stored_as_a_file_if_the_command_accepts_its_status(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(status=404, body=b"nothing"))
    backhaul("get", url, code=1)
    backhaul("get", "--accept-status", "200-299,404", "-o", "b", url)
    assert (backhaul.here / "b").read_bytes() == b"nothing"


def test_a_page_is_refused_if_the_command_accepts_only_other_media_types(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(headers={"Content-Type": "text/html"}))
    result = backhaul("get", "--accept-type", "image/*", "--accept-type", "application/zip", "--retry-delay", "0.01",
                      url, code=1)
    assert "--accept-type" in result.stderr
    backhaul("get", "--accept-type", "image/*", "--accept-type", "text/html", "-o", "b", url)
    assert (backhaul.here / "b").read_bytes() == CONTENT.data


def test_the_retry_status_option_sets_the_statuses_that_are_retried(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=404)])
    backhaul("get", "--retry-status", "404", "--retry-delay", "0.01", url)
    assert got(backhaul)


def test_a_transfer_is_not_retried_if_the_command_disables_retries(backhaul, server):
    backhaul("get", "--retry-errors", "none", server.serve("/a", CONTENT, [Behaviour(status=500)]), code=1)
    assert len(server.log("/a")) == 1


def test_a_transfer_fails_at_a_redirect_if_the_command_disables_redirects(backhaul, server):
    server.serve("/b", CONTENT)
    url = server.serve("/a", CONTENT, otherwise=redirect("/b"))
    backhaul("get", "--redirects", "none", url, code=1)
    backhaul("get", "-o", "a", url)
    assert got(backhaul)


def test_a_private_address_is_refused_if_the_command_excludes_private_addresses(backhaul, server):
    url = server.serve("/a", CONTENT)
    errors = backhaul("get", "--refuse-private-addresses", url, code=1).stderr
    assert "has the private address 127.0.0.1, which --refuse-private-addresses excludes" in errors
    assert server.log() == []


def test_a_file_above_the_maximum_size_is_refused(backhaul, server):
    errors = backhaul("get", "--max-filesize", "10k", server.serve("/a", CONTENT), code=1).stderr
    assert "TOO_LARGE" in errors


def test_a_session_with_a_persistent_cookie_jar_sends_its_cookies_with_later_requests(backhaul, server):
    cookie = Behaviour(headers={"Set-Cookie": "seat=12; Max-Age=3600"})
    backhaul("configure", "--cookie-jar", "persistent")
    backhaul("get", server.serve("/a", CONTENT, otherwise=cookie))
    backhaul("get", server.serve("/b", CONTENT))
    assert server.log("/b")[0].headers.get("cookie") == "seat=12"


def test_a_proxy_gets_the_password_from_the_password_file(backhaul, server, tmp_path):
    password = tmp_path / "password"
    password.write_text("way out\n")
    password.chmod(0o600)
    with Proxy("me", "way out") as proxy:
        backhaul("get", "--proxy", proxy.url, "--proxy-user", "me", "--proxy-password-file", password,
                 server.serve("/a", CONTENT))
        assert proxy.authorized
    assert got(backhaul)


def test_a_password_file_of_a_proxy_is_refused_if_other_users_may_read_it(backhaul, tmp_path):
    password = tmp_path / "password"
    password.write_text("way out\n")
    password.chmod(0o640)
    errors = backhaul("configure", "--proxy", "http://127.0.0.1:9", "--proxy-user", "me", "--proxy-password-file",
                      password, code=2).stderr
    assert f"{password} has a password, but other users may have access to the file (mode 0640)" in errors


def test_a_transfer_fails_if_the_key_of_the_server_is_not_pinned(backhaul, certificates):
    with MisbehavingServer(tls=certificates.server_context()) as server:
        url = server.serve("/a", CONTENT)
        pin = "sha256//" + "A" * 43 + "="
        errors = backhaul("get", "--cacert", certificates.authority, "--pinnedpubkey", pin, url, code=1).stderr
        assert "TLS_FAILED" in errors
        backhaul("get", "--cacert", certificates.authority, "-o", "a", url)
    assert got(backhaul)


def test_another_command_supplies_new_headers_after_the_server_has_refused_the_old_ones(tmp_path, server):
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


def test_the_next_daemon_uses_a_kept_credential(tmp_path, server):
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


def test_the_attempts_command_lists_the_status_code_of_each_attempt(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=500)])
    backhaul("get", "--retry-delay", "0.01", url)
    (task,) = backhaul.json("history")
    first, second = backhaul.json("attempts", task["id"])
    assert (first["http_status"], second["http_status"]) == (500, 200)
    assert second["response_body_bytes"] == CONTENT.size


def test_the_tasks_command_shows_that_a_task_waits_for_its_rate_limit(tmp_path, server):
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
def test_the_tasks_command_shows_that_a_task_waits_for_a_network(tmp_path):
    from command_line import CommandLine

    backhaul = CommandLine(tmp_path, "daemon")
    command = " ".join(backhaul.arguments())
    # All these commands run in one network namespace, which has no route.
    script = (f"{command} add http://192.0.2.1/a; for n in $(seq 200); do "
              f"{command} tasks --json | grep connectivity && break; sleep 0.05; done; {command} cancel --all")
    try:
        seen = subprocess.run(["unshare", "-rn", "sh", "-c", script], cwd=backhaul.here, env=backhaul.environment,
                              capture_output=True, text=True, timeout=60, check=False)
        assert '"reason":"connectivity"' in seen.stdout.replace(" ", ""), seen
    finally:
        backhaul.end()
