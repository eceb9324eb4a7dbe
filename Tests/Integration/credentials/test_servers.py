"""Servers that require a credential: nginx with Basic, and a server that requires a token.

A second host of a session can be a producer, which may add and control tasks, or an observer, which may only read.
"""

import os

import pytest

import backhaul
from backhaul import ChallengeKind, EventKind, Reason, Scheme, Status, TaskState
from servers.behaviour import Behaviour, redirect
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events
from testbed.checkpoints import wait_for_checkpoint
from testbed.host import until

pytestmark = pytest.mark.both_hostings

CREDENTIAL = {"user": "user", "password": "password"}


def enqueue_protected_files(nginx, served, downloads, count):
    return [(f"{nginx.url}/private/{name}", downloads / name) for name in served.names[:count]]


def waiting_for(host, nginx, served, downloads, count, **options):
    """Returns a host and a challenge. All tasks of the host wait for the challenge."""
    one = host()
    one.session(**{**ASK_FOR_CREDENTIALS, **options})
    for url, destination in enqueue_protected_files(nginx, served, downloads, count):
        one.download(url, destination)
    return one, challenge(one, count)


def test_fifty_tasks_share_one_challenge_and_one_credential(host, nginx, served, downloads):
    before = len(nginx.log())
    one, asked = waiting_for(host, nginx, served, downloads, 50)
    assert (asked.kind, asked.schemes, asked.realm, asked.origin) == (
        ChallengeKind.SERVER, Scheme.BASIC, "staff only", nginx.url)
    assert len(nginx.log()) - before <= 50
    [event] = one.wait_for(1)
    assert event.kind is EventKind.CHALLENGE and event.challenge == asked
    one.respond(asked.id, **CREDENTIAL)
    events = one.wait_for()
    assert [event.state for event in task_events(events)] == [TaskState.SUCCEEDED] * 50
    assert {name: sha256_of(downloads / name) for name in os.listdir(downloads)} == {
        name: served.digests[name] for name in served.names[:50]}


def test_the_reason_of_a_task_that_waits_for_a_challenge_names_the_server_and_the_realm(host, nginx, served, downloads):
    one, _ = waiting_for(host, nginx, served, downloads, 2)
    for task in one.tasks():
        assert task.reason is Reason.CREDENTIAL
        assert nginx.url in task.reason_text and "staff only" in task.reason_text


def test_a_wrong_credential_causes_one_request_and_opens_a_new_challenge(host, nginx, served, downloads):
    one, asked = waiting_for(host, nginx, served, downloads, 50)
    before = len(nginx.log())
    one.respond(asked.id, user="user", password="guess")
    again = challenge(one, 50, failures=1)
    assert again.id > asked.id
    assert len(nginx.log()) - before == 1
    with pytest.raises(backhaul.NotFound):
        one.respond(asked.id, **CREDENTIAL)
    one.respond(again.id, **CREDENTIAL)
    assert all(event.state is TaskState.SUCCEEDED for event in task_events(one.wait_for()))


def test_a_wrong_credential_is_sent_once_even_if_other_files_of_the_server_need_none(host, nginx, served, downloads):
    one, asked = waiting_for(host, nginx, served, downloads, 4)
    before = len(nginx.log())
    for name in served.names[4:12]:
        one.download(f"{nginx.url}/{name}", downloads / name)
    one.respond(asked.id, user="user", password="guess")
    again = challenge(one, 4, failures=1)
    assert [line.status for line in nginx.log()[before:] if line.status == 401] == [401]
    one.respond(again.id, **CREDENTIAL)
    assert all(event.state is TaskState.SUCCEEDED for event in task_events(one.wait_for()))


def test_tasks_fail_if_the_host_refuses_their_challenge(host, nginx, served, downloads):
    one, asked = waiting_for(host, nginx, served, downloads, 10)
    one.respond(asked.id, refuse=True)
    events = one.wait_for()
    assert [event.status for event in task_events(events)] == [Status.AUTHENTICATION_REQUIRED] * 10
    assert not os.listdir(downloads)
    assert one.challenges() == []


def test_a_producer_in_another_process_can_respond_to_a_challenge(host, nginx, served, downloads):
    one, asked = waiting_for(host, nginx, served, downloads, 5)
    other = host()
    other.attach(role=backhaul.Role.PRODUCE)
    assert [item.id for item in other.challenges()] == [asked.id]
    other.respond(asked.id, **CREDENTIAL)
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 5


def test_an_observer_cannot_respond_to_a_challenge(host, nginx, served, downloads):
    _, asked = waiting_for(host, nginx, served, downloads, 1)
    other = host()
    other.attach(role=backhaul.Role.OBSERVE)
    assert [item.id for item in other.challenges()] == [asked.id]
    with pytest.raises(backhaul.BackhaulError) as refusal:
        other.respond(asked.id, **CREDENTIAL)
    assert refusal.value.status is Status.WRONG_ROLE


def test_an_open_challenge_is_still_listed_after_its_event_is_acknowledged(host, nginx, served, downloads):
    one, asked = waiting_for(host, nginx, served, downloads, 3)
    [event] = one.wait_for(1)
    one.acknowledge_through(event.id)
    [info] = one.all_sessions()
    assert (info.events, info.open_challenges) == (0, 1)
    assert backhaul.Attention.CHALLENGE in info.attention
    assert [item.id for item in one.challenges()] == [asked.id]


def test_after_a_kill_of_the_engine_the_next_engine_still_has_the_open_challenge(host, nginx, served, downloads):
    one, asked = waiting_for(host, nginx, served, downloads, 20)
    before = len(nginx.log())
    one.kill_with_engine()
    again = host()
    again.attach()
    assert challenge(again, 20).id == asked.id
    assert len(nginx.log()) == before
    again.respond(asked.id, **CREDENTIAL)
    assert all(event.state is TaskState.SUCCEEDED for event in task_events(again.wait_for()))


def test_a_401_fails_a_task_if_its_session_never_asks_the_host_for_a_credential(nginx, served, downloads, one):
    one.download(*enqueue_protected_files(nginx, served, downloads, 1)[0])
    [event] = task_events(one.wait_for())
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 401)


def test_a_token_is_sent_only_to_its_own_server(host, misbehaving, downloads):
    content = Content(10_000)
    url = misbehaving.serve("/api", content, authorization="Bearer token", challenge='Bearer realm="api"')
    one = host()
    one.session(**ASK_FOR_CREDENTIALS)
    one.download(url, downloads / "api")
    asked = challenge(one)
    assert asked.schemes == Scheme.BEARER
    with pytest.raises(backhaul.InvalidArgument, match="Bearer"):
        one.respond(asked.id, **CREDENTIAL)
    one.respond(asked.id, headers={"Authorization": "Bearer token"})
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    with MisbehavingServer() as other:
        away = misbehaving.serve("/away", content, [redirect(other.serve("/target", content))] * 2)
        one.download(away, downloads / "away")
        until(lambda: (downloads / "away").exists(), bool)
        # The origin that accepts the token gets the token without another challenge.
        assert misbehaving.log("/away")[0].headers["authorization"] == "Bearer token"
        assert other.log("/target") and all("authorization" not in asked.headers for asked in other.log())


def test_a_download_resumes_after_a_kill_when_the_host_gives_the_credential_again(host, store, misbehaving, downloads):
    content = Content(6_000_000)
    url = misbehaving.serve("/a", content, [Behaviour(stall_after=4_000_000)],
                            authorization="Basic dXNlcjpwYXNzd29yZA==")
    one = host()
    one.session(**ASK_FOR_CREDENTIALS)
    one.download(url, downloads / "a")
    one.respond(challenge(one).id, **CREDENTIAL)
    wait_for_checkpoint(store, synced=1)
    one.kill_with_engine()
    again = host()
    again.attach()
    # The credential was only in the memory of the killed engine, so the host must give it again.
    again.respond(challenge(again).id, **CREDENTIAL)
    event = task_events(again.wait_for())[0]
    assert event.state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == content.sha256
    assert misbehaving.log()[-1].offset > 0
    assert event.attempts == 4


def test_no_file_of_the_store_contains_a_credential(host, nginx, served, downloads, store):
    one, asked = waiting_for(host, nginx, served, downloads, 10)
    one.respond(asked.id, user="user", password="a wrong password")
    again = challenge(one, 10, failures=1)
    assert _secrets(store, "a wrong password") == []
    one.respond(again.id, **CREDENTIAL)
    one.wait_for()
    assert _secrets(store, "dXNlcjpwYXNzd29yZA", "a wrong password") == []
    one.kill_with_engine()
    assert _secrets(store, "dXNlcjpwYXNzd29yZA", "a wrong password") == []


def _secrets(store, *secrets):
    found = []
    for folder, _, names in os.walk(store):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path):
                text = open(path, "rb").read()
                found += [(path, secret) for secret in secrets if secret.encode() in text]
    return found
