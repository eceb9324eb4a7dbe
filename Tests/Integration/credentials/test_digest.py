"""Digest authentication at Apache, and at a server that limits how often a nonce can be used. A challenge is a demand
for a credential, such as a password."""

import base64

import pytest

from backhaul import BackhaulError, ChallengeKind, Scheme, Status, TaskState
from credentials.apache import Apache
from credentials.digests import DigestServer
from servers.content import Content
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events
from testbed.host import until

CREDENTIAL = {"user": "user", "password": "password"}


@pytest.fixture
def one(host):
    started = host()
    started.session(**ASK_FOR_CREDENTIALS)
    return started


def succeed(one, count):
    events = task_events(one.wait_for())
    assert [event.state for event in events] == [TaskState.SUCCEEDED] * count


@pytest.fixture(scope="module")
def apache():
    with Apache({str(number): Content(2_000, number).data for number in range(50)}) as running:
        yield running


def test_fifty_tasks_share_one_digest_credential_at_apache(one, apache, downloads):
    for number in range(50):
        one.download(f"{apache.url}/private/{number}", downloads / str(number))
    asked = challenge(one, 50)
    assert (asked.kind, asked.schemes, asked.realm, asked.origin) == (
        ChallengeKind.SERVER, Scheme.DIGEST, "staff only", apache.url)
    one.respond(asked.id, user="user", password="wrong")
    one.respond(challenge(one, 50, failures=1).id, **CREDENTIAL)
    succeed(one, 50)
    assert all((downloads / str(number)).read_bytes() == Content(2_000, number).data for number in range(50))
    # Apache writes its log after the response.
    log = until(apache.log, lambda log: log.count(("200", "user")) >= 50)
    assert log.count(("200", "user")) == 50
    # Each file needs at most two requests. The wrong password costs two requests in total. Up to six tasks ran before
    # the challenge, and each of them sent one more request.
    assert len(log) <= 50 * 2 + 2 + 6


@pytest.mark.parametrize("algorithm", ["MD5", "SHA-256"])
def test_digest_authentication_does_not_send_the_password(one, downloads, algorithm):
    with DigestServer("user", "open-sesame", algorithm=algorithm, offers_basic=True) as server:
        for number in range(20):
            one.download(f"{server.url}/{number}", downloads / str(number))
        asked = challenge(one, 20)
        assert asked.schemes == Scheme.DIGEST | Scheme.BASIC
        one.respond(asked.id, user="user", password="open-sesame")
        succeed(one, 20)
        assert (downloads / "7").read_bytes() == server.body("/7")
        sent = [field for scheme, _, _, field, _ in server.log if scheme]
        assert all(field.startswith("Digest ") for field in sent)
        encoded = base64.b64encode(b"user:open-sesame").decode()
        assert not any("open-sesame" in field or encoded in field for field in sent)


@pytest.mark.parametrize("algorithm", ["SHA-512-256", "SHA-1024", ""])
def test_a_digest_with_an_unknown_algorithm_is_passed_over_and_basic_is_used(one, downloads, algorithm):
    with DigestServer("user", "password", algorithm=algorithm, offers_basic=True) as server:
        one.download(f"{server.url}/a", downloads / "a")
        asked = challenge(one)
        assert asked.schemes == Scheme.BASIC | Scheme.OTHER
        one.respond(asked.id, **CREDENTIAL)
        succeed(one, 1)
        assert [(scheme, status) for scheme, status, *_ in server.log] == [("", 401), ("Basic", 200)]


def test_a_digest_with_an_unknown_algorithm_and_no_other_scheme_is_not_called_a_rejected_password(one, downloads):
    with DigestServer("user", "password", algorithm="SHA-512-256") as server:
        one.download(f"{server.url}/a", downloads / "a")
        asked = challenge(one)
        assert asked.schemes == Scheme.OTHER
        with pytest.raises(BackhaulError, match="offers another scheme"):
            one.respond(asked.id, **CREDENTIAL)
        assert len(server.log) == 1


def test_a_stale_nonce_does_not_count_as_a_failed_credential(one, downloads):
    with DigestServer("user", "password", uses=2) as server:
        for number in range(12):
            one.download(f"{server.url}/{number}", downloads / str(number))
        one.respond(challenge(one, 12).id, **CREDENTIAL)
        succeed(one, 12)
        assert one.challenges() == []


def test_if_a_server_calls_every_nonce_stale_a_new_challenge_opens_after_a_few_requests(one, downloads):
    with DigestServer("user", "password", uses=0) as server:
        one.download(f"{server.url}/a", downloads / "a")
        one.respond(challenge(one).id, **CREDENTIAL)
        again = challenge(one, failures=1)
        assert len(server.log) <= 8
        one.respond(again.id, refuse=True)
        assert task_events(one.wait_for())[0].status is Status.AUTHENTICATION_REQUIRED


def test_the_password_is_not_sent_if_the_server_changes_from_digest_to_basic(one, downloads):
    with DigestServer("user", "open-sesame", offers_basic=True) as server:
        one.download(f"{server.url}/a", downloads / "a")
        asked = challenge(one)
        server.offers_digest = False
        one.respond(asked.id, user="user", password="open-sesame")
        again = challenge(one, failures=1)
        assert again.schemes == Scheme.BASIC
        assert all(scheme == "" for scheme, *_ in server.log)
        one.respond(again.id, refuse=True)


def test_only_one_task_sends_a_wrong_password(one, downloads):
    with DigestServer("user", "right") as server:
        for number in range(30):
            one.download(f"{server.url}/{number}", downloads / str(number))
        asked = challenge(one, 30)
        before = len(server.log)
        one.respond(asked.id, user="user", password="guess")
        again = challenge(one, 30, failures=1)
        # The wrong password costs two requests: one without the password, to get a nonce, and one with the password.
        assert len(server.log) - before == 2
        one.respond(again.id, user="user", password="right")
        succeed(one, 30)


def test_a_session_does_not_send_the_credential_of_another_session(host, one, downloads):
    with DigestServer("user", "password") as server:
        one.download(f"{server.url}/a", downloads / "a")
        one.respond(challenge(one).id, **CREDENTIAL)
        succeed(one, 1)
        one.session("other", **ASK_FOR_CREDENTIALS)
        one.download(f"{server.url}/b", downloads / "b")
        one.respond(challenge(one).id, refuse=True)
        assert server.log[-1][0] == ""
