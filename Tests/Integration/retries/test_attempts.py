"""The stored record of each attempt, and the history: the list of ended tasks whose events were acknowledged. To
acknowledge an event is to confirm that it was processed."""

import pytest

import backhaul
from backhaul import HISTORY_NONE, Next, Policy, RetryPolicy, SessionConfiguration, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until
from testbed.settings import nested

pytestmark = pytest.mark.both_hostings

SOON = {"first_delay_ms": 1, "longest_delay_ms": 5}
CONTENT = Content(3_000_000)


def test_the_record_of_an_attempt_has_its_times_and_bytes_and_error_and_next_step(host, misbehaving, downloads):
    script = [Behaviour(status=503), Behaviour(drop_after=1_500_000)]
    url = misbehaving.serve("/a", CONTENT, script)
    one = host()
    one.session(**SOON)
    task = one.download(url, downloads / "a")
    ended = one.wait_for()[0]
    refused, broken, whole = one.attempts(task)
    assert [attempt.number for attempt in (refused, broken, whole)] == [1, 2, 3] and ended.attempts == 3
    assert [attempt.next for attempt in (refused, broken, whole)] == [Next.RETRY, Next.RETRY, Next.END]
    assert (refused.status, refused.http_status) == (Status.HTTP_STATUS, 503)
    assert (broken.status, broken.http_status) == (Status.CONNECTION_LOST, 200)
    assert (whole.status, whole.http_status, whole.error_message) == (Status.OK, 206, None)
    assert refused.error_message and broken.error_message
    assert (broken.offset, broken.end_offset) == (0, 1_500_000)
    assert (whole.offset, whole.end_offset) == (1_500_000, CONTENT.size)
    assert refused.started_ms <= broken.started_ms <= whole.started_ms
    assert refused.next_attempt_ms and broken.next_attempt_ms and not whole.next_attempt_ms
    assert {attempt.url for attempt in (refused, broken, whole)} == {url}
    assert whole.remote_address == "127.0.0.1" and whole.remote_port == misbehaving.port
    assert whole.protocol == "http/1.1" and whole.response_body_bytes == 1_500_000


def test_attempts_and_history_can_be_read_after_the_events_are_acknowledged(host, misbehaving, downloads):
    one = host()
    one.session(**SOON)
    good = one.download(misbehaving.serve("/a", CONTENT, [Behaviour(status=503)]), downloads / "a", key="k",
                        user_data=b"data")
    bad = one.download(misbehaving.serve("/b", CONTENT, otherwise=Behaviour(status=404)), downloads / "b")
    events = one.wait_for()
    listed = {task.id: task for task in one.tasks()}
    before = one.attempts(good)
    assert one.history() == []
    one.acknowledge(events)
    assert one.tasks() == []
    history = {task.id: task for task in one.history()}
    assert set(history) == {good, bad}
    for task in (good, bad):
        for name in ("url", "destination", "key", "user_data", "state", "status", "http_status", "attempts"):
            assert getattr(history[task], name) == getattr(listed[task], name), name
        assert history[task].ended_ms >= history[task].enqueued_ms
    assert history[good].path == str(downloads / "a") and history[bad].path is None
    assert one.attempts(good) == before and len(before) == 2
    with pytest.raises(backhaul.NotFound):
        one.attempts(good + 1_000)


def test_the_history_keeps_only_the_newest_tasks(host, misbehaving, downloads):
    one = host()
    one.session(**SOON, history_limit=5)
    url = misbehaving.serve("/a", Content(10))
    tasks = [one.download(url, downloads / str(number)) for number in range(12)]
    one.acknowledge(one.wait_for())
    kept = [task.id for task in one.history()]
    assert len(kept) == 5 and set(kept) < set(tasks)
    for task in set(tasks) - set(kept):
        with pytest.raises(backhaul.NotFound):
            one.attempts(task)


def test_a_session_without_a_history_deletes_the_attempts_of_a_task_whose_end_is_acknowledged(
        host, misbehaving, downloads):
    one = host()
    one.session(**SOON, history_limit=HISTORY_NONE)
    task = one.download(misbehaving.serve("/a", Content(10)), downloads / "a")
    events = one.wait_for()
    assert len(one.attempts(task)) == 1
    one.acknowledge(events)
    assert one.history() == []
    with pytest.raises(backhaul.NotFound):
        one.attempts(task)


def test_the_attempt_of_a_suspended_task_is_listed_as_stopped(host, misbehaving, downloads):
    one = host()
    one.session(**SOON)
    task = one.download(misbehaving.serve("/a", CONTENT, [Behaviour(pace=100_000)]), downloads / "a")
    until(lambda: misbehaving.log("/a"), lambda asked: asked and asked[0].sent > 10_000)
    one.suspend()
    [stopped] = until(lambda: one.attempts(task), lambda seen: seen)
    assert (stopped.next, stopped.status, stopped.next_attempt_ms) == (Next.STOPPED, Status.OK, 0)
    one.resume()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert [attempt.next for attempt in one.attempts(task)] == [Next.STOPPED, Next.END]


def test_an_attempt_of_a_killed_engine_is_listed_with_its_durable_bytes(host, misbehaving, downloads):
    content = Content(20_000_000)
    one = host()
    one.session(**SOON)
    task = one.download(misbehaving.serve("/a", content, [Behaviour(stall_after=5_000_000)]), downloads / "a")
    until(lambda: one.task(task).attempts and one.attempts(task), lambda seen: seen)
    one.kill_with_engine()
    other = host()
    other.attach()
    ended = other.wait_for()[0]
    assert (ended.state, ended.attempts) == (TaskState.SUCCEEDED, 2)
    killed, whole = other.attempts(task)
    assert (killed.number, killed.next, killed.status) == (1, Next.STOPPED, Status.OK)
    assert 0 < killed.end_offset <= 5_000_000 <= 5_000_000 + whole.response_body_bytes
    assert (whole.number, whole.next, whole.end_offset) == (2, Next.END, content.size)


def test_a_listing_of_many_attempts_has_the_first_attempt_and_the_newest_attempts(host, misbehaving, downloads):
    one = host()
    one.session(**SOON, maximum_attempts=130)
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=503))
    task = one.download(url, downloads / "a", policy=Policy(retry=RetryPolicy(first_delay_ms=1, longest_delay_ms=1)))
    assert one.wait_for()[0].attempts == 130
    assert [attempt.number for attempt in one.attempts(task)] == [1, *range(32, 131)]


def test_a_cancelled_task_is_in_the_history(host, misbehaving, downloads):
    one = host()
    one.session(**SOON)
    task = one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(silent=True)), downloads / "a")
    until(lambda: misbehaving.log("/a"), bool)
    one.cancel()
    one.acknowledge(one.wait_for())
    [kept] = one.history()
    assert (kept.id, kept.state, kept.status) == (task, TaskState.CANCELLED, Status.CANCELLED)


def test_a_new_configuration_ends_a_retry_delay(host, misbehaving, downloads):
    slow = {"first_delay_ms": 3_600_000, "longest_delay_ms": 3_600_000}
    one = host()
    one.session(**slow)
    task = one.download(misbehaving.serve("/a", CONTENT, [Behaviour(status=503)]), downloads / "a")
    until(lambda: one.task(task), lambda seen: seen.next_attempt_ms)
    one.set_configuration(SessionConfiguration("gallery", **nested(**SOON)))
    assert one.wait_for()[0].state is TaskState.SUCCEEDED


