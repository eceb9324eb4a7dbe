"""The calendar (the date and time of the machine) is set while tasks wait. The engine, which runs the tasks, measures
times by the boot clock. This clock does not change when the calendar is set.

Debug builds let tests set the calendar (BACKHAUL_CLOCK) and the id of the machine's boot (BACKHAUL_BOOT).
"""

import pytest

from backhaul import Status, TaskState
from servers.behaviour import Behaviour, retry_after
from servers.content import Content, sha256_of
from testbed.host import until

CONTENT = Content(50_000)
HOUR = 3_600_000
QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@pytest.fixture
def start(host, debug_library, calendar):
    def start(boot=None):
        switches = {"BACKHAUL_LIBRARY": str(debug_library), "BACKHAUL_CLOCK": str(calendar.path)}
        return host(environment={**switches, **({"BACKHAUL_BOOT": boot} if boot else {})})
    return start


def waits_for_a_retry(one):
    """Waits until all tasks wait for their second attempts. On a slow machine, a task may have ended before this
    function sees that it waits."""
    return until(one.tasks, lambda tasks: tasks and all(
        task.attempts and (task.next_attempt or task.state.has_ended) for task in tasks))


def test_no_task_times_out_when_the_calendar_is_set_forward_from_1970(start, calendar, misbehaving, downloads):
    calendar.start_in_1970()
    url = misbehaving.serve("/a", CONTENT, [retry_after("2")])
    one = start()
    one.session(resource_timeout_ms=HOUR, **QUICK)
    one.download(url, downloads / "a")
    waits_for_a_retry(one)
    calendar.move(0)
    ended = one.wait_for()[0]
    assert ended.state is TaskState.SUCCEEDED, ended.error_message
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_task_that_is_enqueued_directly_after_the_calendar_was_set_does_not_time_out(
        start, calendar, misbehaving, downloads):
    calendar.start_in_1970()
    url = misbehaving.serve("/a", CONTENT)
    one = start()
    one.session(resource_timeout_ms=HOUR, **QUICK)
    # No task waits, so the enqueue is the first work after the change for which the engine reads the calendar.
    calendar.move(0)
    one.download(url, downloads / "a")
    ended = one.wait_for()[0]
    assert ended.state is TaskState.SUCCEEDED, ended.error_message


@pytest.mark.parametrize("boot", [None, "another-boot"])
def test_no_task_times_out_if_the_calendar_is_set_forward_before_a_restart(
        start, calendar, misbehaving, downloads, boot):
    calendar.start_in_1970()
    url = misbehaving.serve("/a", CONTENT, [Behaviour(stall_after=10)])
    one = start()
    one.session(resource_timeout_ms=HOUR, **QUICK)
    one.download(url, downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 10)
    one.kill()
    calendar.move(0)
    again = start(boot)
    again.attach()
    ended = again.wait_for()[0]
    assert ended.state is TaskState.SUCCEEDED, ended.error_message


def test_a_calendar_that_is_set_back_does_not_extend_the_resource_timeout(start, calendar, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(silent=True)])
    one = start()
    one.session(resource_timeout_ms=3_000, **QUICK)
    one.download(url, downloads / "a")
    # On a slow machine, the time-out may come before the request.
    until(lambda: misbehaving.log() or one.tasks()[0].state.has_ended, bool)
    calendar.move(-24 * HOUR)
    ended = one.wait_for(timeout=20)[0]
    assert ended.status == Status.RESOURCE_TIMEOUT


def test_a_retry_is_not_delayed_when_the_calendar_is_set_back(start, calendar, misbehaving, downloads):
    urls = [misbehaving.serve(f"/{name}", CONTENT, [retry_after("4")]) for name in "ab"]
    one = start()
    one.session(**QUICK)
    for name, url in zip("ab", urls):
        one.download(url, downloads / name)
    waits_for_a_retry(one)
    calendar.move(-24 * HOUR)
    events = one.wait_for(timeout=20)
    assert [event.state for event in events if event.task_id] == [TaskState.SUCCEEDED] * 2
