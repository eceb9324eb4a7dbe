"""Tests of kept credentials, expired credentials and default handling.

The host can request that the engine, which runs the tasks, keeps the credential in its store. If the host gives no
credential and requests default handling, the waiting tasks end with the server's response.
"""

import time

import pytest

import backhaul
from backhaul import Status, TaskState
from credentials.digests import DigestServer
from credentials.tokens import TokenServer
from servers.content import Content
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events
from testbed.host import until

CREDENTIAL = {"user": "user", "password": "password"}


@pytest.fixture
def server():
    with TokenServer() as running:
        running.refusal = (401, {"WWW-Authenticate": 'Bearer realm="api"'})
        yield running


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def opened(host, **options):
    one = host()
    one.session(**{**ASK_FOR_CREDENTIALS, **options})
    return one


def restarted(host, one):
    one.kill_with_engine()
    again = host()
    again.attach()
    return again


def stored(store):
    return b"".join(path.read_bytes() for path in store.rglob("*") if path.is_file())


@pytest.mark.both_hostings
def test_the_next_engine_uses_a_kept_credential(host, server, downloads):
    url = server.serve("/a", Content(100))
    server.allow("good")
    one = opened(host)
    one.download(url, downloads / "a")
    one.respond(challenge(one).id, headers=bearer("good"), keep=True)
    until((downloads / "a").exists, bool)
    again = restarted(host, one)
    before = len(server.log)
    again.download(url, downloads / "b")
    until((downloads / "b").exists, bool)
    assert [asked.token for asked in server.log[before:]] == ["good"]


def test_a_kept_password_is_never_sent_with_basic_if_the_server_offers_digest(host, downloads):
    with DigestServer("user", "password", offers_basic=True) as server:
        one = opened(host)
        one.download(f"{server.url}/a", downloads / "a")
        one.respond(challenge(one).id, keep=True, **CREDENTIAL)
        until((downloads / "a").exists, bool)
        again = restarted(host, one)
        again.download(f"{server.url}/b", downloads / "b")
        until((downloads / "b").exists, bool)
        assert {scheme for scheme, *_ in server.log} == {"", "Digest"}


def test_a_kept_credential_is_deleted_if_the_server_refuses_it(host, server, store, downloads):
    url = server.serve("/a", Content(100))
    server.allow("kept-secret")
    one = opened(host)
    one.download(url, downloads / "a")
    one.respond(challenge(one).id, headers=bearer("kept-secret"), keep=True)
    until((downloads / "a").exists, bool)
    server.forbid("kept-secret")
    one.download(url, downloads / "b")
    challenge(one, failures=1)
    again = restarted(host, one)
    asked = challenge(again, failures=1)
    server.allow("new")
    again.respond(asked.id, headers=bearer("new"))
    until((downloads / "b").exists, bool)
    # The host did not request to keep the new credential, so the engine did not keep it.
    last = restarted(host, again)
    last.download(url, downloads / "c")
    challenge(last)
    assert [asked.token for asked in server.log[-2:]] == ["new", None]


def test_a_credential_is_stored_only_if_the_host_requests_it(host, server, store, downloads):
    url = server.serve("/a", Content(100))
    server.allow("memory-only")
    one = opened(host)
    one.download(url, downloads / "a")
    one.respond(challenge(one).id, headers=bearer("memory-only"))
    until((downloads / "a").exists, bool)
    assert b"memory-only" not in stored(store)


def test_an_expired_credential_opens_a_challenge_before_any_request_is_sent(host, server, downloads):
    url = server.serve("/a", Content(100))
    server.allow("short")
    one = opened(host)
    one.download(url, downloads / "a")
    # The credential must be accepted and used before it expires, even on a busy machine.
    expires = time.time() + 10
    one.respond(challenge(one).id, headers=bearer("short"), expires=expires)
    until((downloads / "a").exists, bool)
    until(time.time, lambda now: now > expires)
    before = len(server.log)
    for name in "bcd":
        one.download(url, downloads / name)
    asked = challenge(one, 3)
    assert len(server.log) == before
    server.allow("next")
    one.respond(asked.id, headers=bearer("next"))
    until(lambda: [(downloads / name).exists() for name in "bcd"], all)
    assert {asked.token for asked in server.log[before:]} == {"next"}


def test_with_default_handling_of_a_challenge_the_waiting_tasks_fail_with_the_http_status(host, server, downloads):
    private = server.serve("/files/private", Content(100))
    one = opened(host)
    for name in "ab":
        one.download(private, downloads / name)
    one.respond(challenge(one, 2).id, default=True)
    events = task_events(one.wait_for())
    assert [(event.status, event.http_status) for event in events] == [(Status.HTTP_STATUS, 401)] * 2
    assert [event.error_body for event in events] == [b"no\n"] * 2
    # Default handling applied only to the tasks that waited for the challenge. A later task opens a new challenge.
    one.download(private, downloads / "c")
    one.respond(challenge(one).id, headers=bearer("x"))


def test_a_task_that_needs_no_credential_succeeds_after_default_handling_of_a_challenge(host, downloads):
    with TokenServer() as server:
        server.refusal = (401, {"WWW-Authenticate": 'Bearer realm="api"'})
        private = server.serve("/files/private", Content(100))
        public = server.serve("/files/public", Content(100))
        one = opened(host)
        one.download(private, downloads / "a")
        challenge(one)
        one.download(f"{public}?token=open", downloads / "b")
        server.allow("open")
        one.respond(challenge(one, 2).id, default=True)
        events = task_events(one.wait_for())
        assert {event.state for event in events} == {TaskState.SUCCEEDED, TaskState.FAILED}


def test_the_option_keep_is_refused_if_the_host_gives_no_credential(host, server, downloads):
    one = opened(host)
    one.download(server.serve("/a", Content(100)), downloads / "a")
    asked = challenge(one)
    for wrong in ({"refuse": True}, {"default": True}, {"url": server.url}):
        with pytest.raises(backhaul.InvalidArgument):
            one.respond(asked.id, keep=True, **wrong)
    assert challenge(one).id == asked.id
