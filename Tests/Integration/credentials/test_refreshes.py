"""Headers and URLs that expire: the host gives new ones, and the downloads continue.

The engine runs the transfers. A challenge that demands new headers or a new URL is called a refresh. If the host
requests default handling of a refresh, the engine sends the old headers.
"""

import time

import pytest

import backhaul
from backhaul import ChallengeKind, Reason, Status, TaskState
from credentials.tokens import TokenServer
from servers.content import Content, sha256_of
from testbed.challenges import challenge, task_events
from testbed.host import until

SOON = {"first_delay_ms": 20, "longest_delay_ms": 100}


@pytest.fixture
def server():
    with TokenServer() as running:
        yield running


@pytest.fixture
def one(host):
    started = host()
    started.session(**SOON)
    return started


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


def respond_until_finished(one, respond):
    """Responds to every challenge until all tasks have ended. Returns the number of challenges, and the tasks'
    events."""
    responded = set()

    def respond_and_list():
        for asked in one.challenges():
            if asked.id not in responded:
                responded.add(asked.id)
                respond(asked)
        return one.tasks()

    until(respond_and_list, lambda tasks: all(task.state >= TaskState.SUCCEEDED for task in tasks), timeout=60)
    return len(responded), task_events(one.wait_for())


@pytest.mark.both_hostings
def test_a_download_whose_token_expires_three_times_requests_three_new_tokens(one, server, downloads):
    content = Content(8_000_000)
    url = server.serve("/a", content)
    server.allow("0", size=2_500_000)
    one.download(url, downloads / "a", headers={**bearer("0"), "X-Kept": "yes"}, refresh="headers")
    tokens = iter("123")

    def respond(asked):
        assert (asked.kind, asked.origin, asked.failures, asked.waiting_tasks) == (
            ChallengeKind.REFRESH, server.url, 0, 1)
        token = next(tokens)
        server.allow(token, size=2_500_000)
        one.respond(asked.id, headers=bearer(token))

    count, [event] = respond_until_finished(one, respond)
    assert (count, event.state) == (3, TaskState.SUCCEEDED)
    assert sha256_of(downloads / "a") == content.sha256
    served = [asked for asked in server.log if asked.status != 401]
    assert [asked.token for asked in served] == ["0", "1", "2", "3"]
    assert [asked.offset > 0 for asked in served] == [False, True, True, True]
    assert all(asked.headers["x-kept"] == "yes" for asked in server.log)


@pytest.mark.both_hostings
def test_five_thousand_uploads_with_one_expired_token_cause_one_challenge(one, server):
    url = server.serve("/a", Content(100))
    one.enqueue([
        backhaul.Request(f"{url}?{number}", headers=bearer("old"), body=b"%d" % number, refresh="headers")
        for number in range(5_000)])
    asked = challenge(one, 5_000)
    assert asked.kind is ChallengeKind.REFRESH
    assert len(server.log) <= 7
    server.allow("new")
    one.respond(asked.id, headers=bearer("new"))
    events = task_events(one.wait_for(timeout=60))
    assert [event.state for event in events] == [TaskState.SUCCEEDED] * 5_000
    assert len(server.refused) <= 7


def test_expired_headers_cause_a_demand_for_new_headers_before_any_request_is_sent(one, server, downloads):
    url = server.serve("/a", Content(100))
    server.allow("new")
    for name in "abc":
        one.download(url, downloads / name, headers=bearer("old"), refresh="headers", expires=time.time() - 1)
    asked = challenge(one, 3)
    assert server.log == []
    [task, *_] = one.tasks()
    assert task.reason is Reason.CREDENTIAL and "expired" in task.reason_text
    one.respond(asked.id, headers=bearer("new"), expires=time.time() + 3_600)
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 3
    assert {asked.token for asked in server.log} == {"new"}


def test_only_one_waiting_task_sends_a_wrong_token_and_the_next_challenge_counts_one_failure(one, server, downloads):
    url = server.serve("/a", Content(100))
    for number in range(50):
        one.download(url, downloads / str(number), headers=bearer("old"), refresh="headers")
    asked = challenge(one, 50)
    before = len(server.log)
    one.respond(asked.id, headers=bearer("wrong"))
    again = challenge(one, 50, failures=1)
    assert again.id > asked.id and len(server.log) == before + 1
    server.allow("right")
    one.respond(again.id, headers=bearer("right"))
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 50


def test_a_new_task_sends_its_own_headers_after_other_tasks_got_new_headers(one, server, downloads):
    url = server.serve("/a", Content(100))
    server.allow("first")
    one.download(url, downloads / "a", headers=bearer("old"), refresh="headers")
    one.respond(challenge(one).id, headers=bearer("first"))
    until((downloads / "a").exists, bool)
    server.allow("second")
    one.download(url, downloads / "b", headers=bearer("second"), refresh="headers")
    until((downloads / "b").exists, bool)
    assert [asked.token for asked in server.log][-1] == "second"


def test_a_refusal_by_the_host_fails_the_tasks_and_default_handling_sends_the_old_headers(one, server, downloads):
    url = server.serve("/a", Content(100))
    for name in "ab":
        one.download(url, downloads / name, headers=bearer("old"), refresh="headers")
    one.respond(challenge(one, 2).id, refuse=True)
    assert [event.status for event in task_events(one.wait_for())] == [Status.AUTHENTICATION_REQUIRED] * 2
    one.acknowledge_through(one.wait_for()[-1].id)
    for name in "cd":
        one.download(url, downloads / name, headers=bearer("old"), refresh="headers", expires=time.time() - 1)
    one.respond(challenge(one, 2).id, default=True)
    events = task_events(one.wait_for())
    assert [(event.status, event.http_status) for event in events] == [(Status.HTTP_STATUS, 401)] * 2
    assert [event.error_body for event in events] == [b"no\n"] * 2


def test_the_next_engine_uses_the_new_headers_that_the_host_gave(host, server, downloads):
    one = host()
    one.session(first_delay_ms=60_000)
    content = Content(3_000_000)
    url = server.serve("/a", content)
    one.download(url, downloads / "a", headers=bearer("old"), refresh="headers")
    server.allow("new", size=2_000_000)
    one.respond(challenge(one).id, headers=bearer("new"))
    until(one.tasks, lambda tasks: tasks[0].reason is Reason.RETRY)
    server.allow("new")
    one.kill_with_engine()
    again = host()
    again.attach()
    again.resume()
    assert task_events(again.wait_for())[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == content.sha256
    assert server.log[-1].token == "new" and server.log[-1].offset > 0


def test_each_task_with_a_refused_url_opens_a_challenge_and_continues_at_the_new_url(one, server, downloads):
    content = Content(6_000_000)
    server.refusal = (403, {})
    with TokenServer() as elsewhere:
        url = server.serve("/signed", content)
        other = elsewhere.serve("/other/place", content)
        server.allow("a", size=4_000_000)
        server.allow("b", size=4_000_000)
        elsewhere.allow("new")
        tasks = [one.download(f"{url}?token={name}", downloads / name, refresh="url") for name in "ab"]
        asked = until(one.challenges, lambda found: len(found) == 2)
        assert {item.task_id for item in asked} == set(tasks)
        assert all(item.kind is ChallengeKind.REFRESH and item.url.startswith(url) for item in asked)
        for item in asked:
            one.respond(item.id, url=f"{other}?token=new")
        assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 2
        assert [item.offset >= 2_000_000 for item in elsewhere.log] == [True, True]
    assert {sha256_of(downloads / name) for name in "ab"} == {content.sha256}


def test_a_later_task_with_the_same_destination_and_key_continues_the_bytes_of_a_failed_task(one, server, downloads):
    content = Content(6_000_000)
    server.refusal = (403, {})
    url = server.serve("/signed", content)
    server.allow("old", size=4_000_000)
    one.download(f"{url}?token=old", downloads / "a", key="k")
    events = one.wait_for()
    assert task_events(events)[0].http_status == 403
    one.acknowledge([event.id for event in events])
    server.allow("new")
    one.download(f"{url}?token=new", downloads / "a", key="k")
    assert task_events(one.wait_for())[0].state is TaskState.SUCCEEDED
    assert server.log[-1].token == "new" and server.log[-1].offset >= 2_000_000
    assert sha256_of(downloads / "a") == content.sha256
    assert [path.name for path in downloads.iterdir()] == ["a"]


@pytest.mark.parametrize("etag", ['W/"weak"', '"another"'])
def test_a_download_starts_from_the_beginning_if_the_new_url_has_another_validator(one, server, downloads, etag):
    content = Content(6_000_000)
    server.refusal = (403, {})
    with TokenServer() as elsewhere:
        url = server.serve("/signed", content)
        changed = Content(6_000_000, seed=9)
        other = elsewhere.serve("/signed", changed, etag=etag)
        server.allow("a", size=4_000_000)
        elsewhere.allow("new")
        one.download(f"{url}?token=a", downloads / "a", refresh="url")
        one.respond(until(one.challenges, bool)[0].id, url=f"{other}?token=new")
        assert task_events(one.wait_for())[0].state is TaskState.SUCCEEDED
        assert sha256_of(downloads / "a") == changed.sha256


def test_an_invalid_response_to_a_demand_for_new_headers_is_refused(one, server, downloads):
    url = server.serve("/a", Content(100))
    one.download(url, downloads / "a", headers=bearer("old"), refresh="headers")
    asked = challenge(one)
    for wrong in ({"user": "u", "password": "secret"}, {"url": url}, {"headers": {"Range": "bytes=0-"}},
                  {"headers": bearer("new"), "expires": time.time() - 5}):
        with pytest.raises(backhaul.InvalidArgument) as refused:
            one.respond(asked.id, **wrong)
        assert "secret" not in str(refused.value)
    assert challenge(one).id == asked.id
