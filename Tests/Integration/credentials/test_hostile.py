"""Malicious challenges by servers and proxies, and a server that returns the credential in its response. A challenge is
a demand for a credential, such as a password."""

import base64
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from backhaul import BackhaulError, ChallengeKind, Status, TaskState
from servers.proxy import Proxy
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events
from testbed.host import until

PASSWORD = "open-sesame-4711"


def basic(user, password):
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


@contextmanager
def serving(respond, tls=None):
    """Runs a server. For each request, the server calls `respond` with the path and the header fields. `respond`
    returns a status, header fields and a body.
    """
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            status, fields, body = respond(self.path, self.headers)
            self.send_response(status)
            for name, value in {**fields, "Content-Length": len(body)}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    if tls:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def asking(realm):
    return 401, {"WWW-Authenticate": f'Basic realm="{realm}"'}, b""


def asking_for_a_digest(realm):
    return 401, {"WWW-Authenticate": f'Digest realm="{realm}", qop="auth", nonce="n"'}, b""


def asking_as_a_proxy(*_):
    return 407, {"Proxy-Authenticate": 'Basic realm="the way out"'}, b""


@pytest.fixture
def proxy():
    with Proxy("porter", "key") as running:
        yield running


def behind(host, proxy, exempt=""):
    one = host(environment={"http_proxy": proxy.url, "no_proxy": exempt, "NO_PROXY": exempt})
    one.session(**ASK_FOR_CREDENTIALS)
    return one


def stored(store):
    return b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())


def test_a_credential_that_a_server_returns_in_its_response_is_not_stored(host, store, downloads):
    wanted = basic("user", PASSWORD)

    def respond(_, fields):
        if fields["Authorization"] != wanted:
            return asking("r")
        return 404, {"Link": f"<{wanted}>", "Content-Type": PASSWORD}, f"you sent {wanted}: {PASSWORD}".encode()

    with serving(respond) as url:
        one = host()
        one.session(**ASK_FOR_CREDENTIALS)
        one.download(f"{url}/a", downloads / "a")
        one.respond(challenge(one).id, user="user", password=PASSWORD)
        [event] = task_events(one.wait_for())
    encoded = wanted.removeprefix("Basic ")
    assert event.http_status == 404
    assert event.error_body == f"you sent Basic {'*' * len(encoded)}: {'*' * len(PASSWORD)}".encode()
    kept = stored(store)
    assert b"you sent Basic **" in kept
    assert PASSWORD.encode() not in kept and encoded.encode() not in kept


def test_an_authorization_header_is_refused_as_the_response_to_a_proxy_challenge(host, proxy, nginx, served, downloads):
    one = behind(host, proxy)
    one.download(f"{nginx.url}/{served.names[0]}", downloads / "a")
    asked = challenge(one)
    with pytest.raises(BackhaulError, match="Proxy-Authorization") as refused:
        one.respond(asked.id, headers={"Authorization": "Bearer secret"})
    assert refused.value.status is Status.INVALID_ARGUMENT
    assert challenge(one).id == asked.id


def test_a_407_from_a_server_does_not_stop_downloads_from_other_servers(host, proxy, nginx, served, downloads):
    one = behind(host, proxy)
    one.download(f"{nginx.url}/{served.names[0]}", downloads / "a")
    one.respond(challenge(one).id, user="porter", password="key")
    assert task_events(one.wait_for(2))[0].state is TaskState.SUCCEEDED
    with serving(asking_as_a_proxy) as url:
        one.download(f"{url}/evil", downloads / "evil")
        asked = challenge(one, failures=1)
        assert asked.kind is ChallengeKind.PROXY
        for name in served.names[1:6]:
            one.download(f"{nginx.url}/{name}", downloads / name)
        until(lambda: [(downloads / name).exists() for name in served.names[1:6]], all)
        one.respond(asked.id, user="porter", password="key")
        again = challenge(one, failures=2)
        one.download(f"{nginx.url}/{served.names[6]}", downloads / "after")
        until((downloads / "after").exists, bool)
        one.respond(again.id, refuse=True)
        states = until(lambda: [task.state for task in one.tasks()], lambda seen: min(seen) >= TaskState.SUCCEEDED)
    assert states.count(TaskState.FAILED) == 1 and states.count(TaskState.SUCCEEDED) == 7


def test_a_407_from_a_server_that_is_reached_directly_opens_no_challenge(host, proxy, downloads):
    one = behind(host, proxy, exempt="127.0.0.1")
    with serving(asking_as_a_proxy) as url:
        one.download(f"{url}/a", downloads / "a")
        [event] = task_events(one.wait_for())
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 407)
    assert not proxy.log


def test_a_407_from_the_server_behind_a_tunnel_fails_the_task_and_opens_no_challenge(
        host, proxy, certificates, downloads):
    one = host(environment={"https_proxy": proxy.url, "no_proxy": "", "NO_PROXY": ""})
    one.session(**ASK_FOR_CREDENTIALS, ca_file=str(certificates.authority))
    with serving(asking_as_a_proxy, certificates.server_context()) as url:
        one.download(f"{url}/a", downloads / "a")
        one.respond(challenge(one).id, user="porter", password="key")
        [event] = task_events(one.wait_for())
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 407)
    assert [method for method, *_ in proxy.authorized] == ["CONNECT"]


def test_a_server_that_alternates_between_two_realms_causes_a_new_challenge_each_time(host, downloads):
    first = basic("a", "first")
    with serving(lambda _, fields: asking("B" if fields["Authorization"] == first else "A")) as url:
        one = host()
        one.session(**ASK_FOR_CREDENTIALS)
        one.download(f"{url}/a", downloads / "a")
        one.respond(challenge(one).id, user="a", password="first")
        asked = challenge(one)
        assert asked.realm == "B"
        one.respond(asked.id, user="b", password="second")
        asked = challenge(one, failures=1)
        one.respond(asked.id, refuse=True)
        assert task_events(one.wait_for())[0].status is Status.AUTHENTICATION_REQUIRED


@pytest.mark.parametrize("asking_with", [asking, asking_for_a_digest], ids=["basic", "digest"])
def test_a_server_that_invents_a_realm_for_each_response_gets_a_limited_number_of_credentials(
        host, downloads, asking_with):
    sent = []

    def respond(_, fields):
        sent.append(fields["Authorization"])
        return asking_with(f"realm {len(sent)}")

    with serving(respond) as url:
        one = host()
        one.session(**ASK_FOR_CREDENTIALS)
        one.download(f"{url}/a", downloads / "a")
        failures, last = [], None
        while True:
            asked = until(lambda: (one.challenges(), one.tasks()), lambda seen: seen[1][0].state is TaskState.FAILED
                          or seen[0] and seen[0][0].id != last)[0]
            if not asked:
                break
            [(last, count)] = [(item.id, item.failures) for item in asked]
            failures.append(count)
            one.respond(last, user="user", password=PASSWORD)
        [event] = task_events(one.wait_for())
    assert failures == [0, *range(15)]
    assert event.status is Status.AUTHENTICATION_REQUIRED
    assert len({field for field in sent if field}) <= 16
