"""The server of an *origin* (scheme, host and port) asks for a pause with Retry-After. All tasks for this origin wait
until the pause is over. Then the origin starts slowly."""

import time

import pytest

from backhaul import Reason, Request, Status, TaskState
from servers.behaviour import Behaviour, redirect, retry_after
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from testbed.host import until
from testbed.settings import policy

CONTENT = Content(100)
MINUTE = retry_after("60", 429)
#: The server sends some bytes and then nothing.
STALLED = Behaviour(stall_after=10)


@pytest.fixture
def other():
    with MisbehavingServer() as server:
        yield server


def waiting(one, task):
    return until(lambda: one.task(task), lambda seen: seen.reason is Reason.ORIGIN)


def has_paused(one, task):
    """Waits until the response to the task has asked for a pause. A short pause may already be over."""
    until(lambda: [attempt.http_status for attempt in one.attempts(task)], lambda statuses: 429 in statuses)


@pytest.mark.both_hostings
def test_all_tasks_for_an_origin_wait_after_one_response_with_retry_after(host, misbehaving, other, downloads):
    one = host()
    one.session(connections_per_origin=1)
    first = one.download(misbehaving.serve("/first", CONTENT, [MINUTE]), downloads / "first")
    assert waiting(one, first).http_status == 429
    # The other tasks are enqueued later, in this session and in another one.
    url = misbehaving.serve("/later", CONTENT)
    later = one.download(url, downloads / "later")
    seen = waiting(one, later)
    assert (seen.state, seen.attempts) == (TaskState.WAITING, 0)
    assert [wait.reason for wait in one.waits(later)] == [Reason.ORIGIN]
    assert seen.next_attempt_ms > time.time() * 1_000 and "has asked for a pause" in seen.reason_text
    # Neither a resume nor the end of the task that got the response ends the pause.
    one.suspend()
    until(lambda: one.task(later), lambda task: task.state is TaskState.SUSPENDED)
    one.resume()
    waiting(one, first)
    waiting(one, later)
    one.cancel([first])
    waiting(one, later)
    assert one.download(other.serve("/a", CONTENT), downloads / "a") and one.wait_for(2)
    assert misbehaving.log("/later") == []


def test_after_the_pause_the_tasks_start_and_no_wait_counts_as_an_attempt(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1)
    urls = [misbehaving.serve("/first", CONTENT, [retry_after("2", 503)])]
    urls += [misbehaving.serve(f"/{number}", CONTENT) for number in range(9)]
    tasks = one.enqueue([Request(url, downloads / f"{number}") for number, url in enumerate(urls)])
    assert {event.state for event in one.wait_for(10)} == {TaskState.SUCCEEDED}
    pause = one.attempts(tasks[0].task_id)[0]
    for task in tasks[1:]:
        [attempt] = one.attempts(task.task_id)
        assert attempt.started_ms >= pause.started_ms + 1_000


def test_after_the_pause_one_task_runs_until_the_origin_responds(host, misbehaving, other, downloads):
    one = host()
    one.session(connections_per_origin=4)
    silent = Behaviour(silent=True)
    has_paused(one, one.download(misbehaving.serve("/first", CONTENT, [retry_after("1", 429)], otherwise=silent),
                                 downloads / "first"))
    for number in range(3):
        one.download(misbehaving.serve(f"/{number}", CONTENT, otherwise=silent), downloads / f"{number}")
    misbehaving.wait_until(lambda log: len(log) == 2)
    one.download(other.serve("/other", CONTENT), downloads / "other")
    assert one.wait_for(1)[0].state is TaskState.SUCCEEDED
    assert len(misbehaving.log()) == 2


def test_downloads_that_run_during_the_pause_do_not_block_the_tasks_after_it(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=4)
    for number in range(2):
        one.download(misbehaving.serve(f"/{number}", CONTENT, otherwise=STALLED), downloads / f"{number}")
    misbehaving.wait_until(lambda log: len(log) == 2 and all(asked.sent == 10 for asked in log))
    one.download(misbehaving.serve("/first", CONTENT, [retry_after("1", 429)]), downloads / "first")
    one.download(misbehaving.serve("/later", CONTENT), downloads / "later")
    assert {event.state for event in one.wait_for(2)} == {TaskState.SUCCEEDED}


def test_a_redirect_to_another_origin_is_a_response_of_the_origin_that_redirects(host, misbehaving, other, downloads):
    one = host()
    one.session(connections_per_origin=4)
    stalled = other.serve("/stalled", CONTENT, otherwise=STALLED)
    away = redirect(stalled)
    first = misbehaving.serve("/first", CONTENT, [retry_after("1", 429)], otherwise=away)
    has_paused(one, one.download(first, downloads / "first"))
    one.download(misbehaving.serve("/second", CONTENT, otherwise=away), downloads / "second")
    other.wait_until(lambda log: len(log) == 2)


def test_a_pause_of_a_redirects_target_does_not_stop_other_tasks_for_the_server_that_redirects(
        host, misbehaving, other, downloads):
    one = host()
    one.session(connections_per_origin=1)
    file = other.serve("/file", CONTENT, [MINUTE])
    away = misbehaving.serve("/away", CONTENT, otherwise=redirect(file))
    waiting(one, one.download(away, downloads / "first"))
    second = one.download(away, downloads / "second")
    assert waiting(one, second).attempts == 0
    assert [wait.reason for wait in one.waits(second)] == [Reason.ORIGIN]
    one.download(misbehaving.serve("/here", CONTENT), downloads / "here")
    assert one.wait_for(1)[0].state is TaskState.SUCCEEDED
    assert len(other.log("/file")) == 1


def test_a_task_whose_resource_timeout_ends_before_the_pause_fails_at_the_timeout(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1)
    hour = retry_after("3600", 429)
    has_paused(one, one.download(misbehaving.serve("/first", CONTENT, [hour]), downloads / "first",
                                 policy=policy(resource_timeout_ms=10_000)))
    # These tasks fill the memory for tasks of the server, so the first task is in the store at its time-out.
    one.enqueue([Request(misbehaving.url + "/more", downloads / f"{number}") for number in range(600)])
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", policy=policy(resource_timeout_ms=500))
    assert {event.status for event in one.wait_for(2)} == {Status.RESOURCE_TIMEOUT}


def test_a_shorter_resource_timeout_of_the_session_ends_the_tasks_of_a_paused_origin(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1)
    waiting(one, one.download(misbehaving.serve("/first", CONTENT, [retry_after("3600", 429)]), downloads / "first"))
    waiting(one, one.download(misbehaving.serve("/a", CONTENT), downloads / "a"))
    one.reconfigure(resource_timeout_ms=1_000)
    assert {event.status for event in one.wait_for(2)} == {Status.RESOURCE_TIMEOUT}
