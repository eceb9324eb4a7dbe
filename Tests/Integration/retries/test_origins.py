"""The server of an *origin* (scheme, host and port) asks for a pause with Retry-After. All tasks for this origin wait
until the pause is over. Then the origin starts slowly."""

import time

import pytest

from backhaul import Reason, Request, Status, TaskState
from servers.behaviour import redirect, retry_after
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from testbed.host import until
from testbed.settings import policy

CONTENT = Content(100)
MINUTE = retry_after("60", 429)


@pytest.fixture
def other():
    with MisbehavingServer() as server:
        yield server


def waiting(one, task):
    return until(lambda: one.task(task), lambda seen: seen.reason is Reason.ORIGIN)


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


def test_a_pause_of_a_redirects_target_does_not_stop_other_tasks_for_the_server_that_redirects(
        host, misbehaving, other, downloads):
    one = host()
    one.session(connections_per_origin=1)
    file = other.serve("/file", CONTENT, [MINUTE])
    away = misbehaving.serve("/away", CONTENT, otherwise=redirect(file))
    waiting(one, one.download(away, downloads / "first"))
    second = one.download(away, downloads / "second")
    assert waiting(one, second).attempts == 0
    one.download(misbehaving.serve("/here", CONTENT), downloads / "here")
    assert one.wait_for(1)[0].state is TaskState.SUCCEEDED
    assert len(other.log("/file")) == 1


def test_a_task_whose_resource_timeout_ends_before_the_pause_fails_at_the_timeout(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1)
    waiting(one, one.download(misbehaving.serve("/first", CONTENT, [MINUTE]), downloads / "first"))
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", policy=policy(resource_timeout_ms=500))
    assert one.wait_for(1)[0].status is Status.RESOURCE_TIMEOUT
