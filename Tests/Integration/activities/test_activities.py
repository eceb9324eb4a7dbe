"""Activities that enqueue a request or send an event.

Most activities of these tests have an interval of one second. If a session needs its host and no host runs, the
engine launches the program of the application.
"""

import threading
import time

import pytest

from backhaul import Activity, Attention, BackhaulError, EventKind, Hosting, Request, Status, TaskState
from servers.content import Content, sha256_of
from servers.paced import PacedServer
from testbed.host import HostEnded, until

CONTENT = Content(20_000)
HOUR = 3_600_000


def soon(milliseconds=300):
    """Returns the time after this number of milliseconds, as a Unix time in seconds."""
    return time.time() + milliseconds / 1_000


def at_once(identifier="sync", *, interval_ms=1_000, tolerance_ms=200, **options):
    """An activity with the quality of service "user_initiated", so it waits for no condition, such as external
    power."""
    return Activity(identifier, interval_ms, tolerance_ms, **{"quality_of_service": "user_initiated", **options})


def fetching(url, downloads, **options):
    return at_once(request=Request(url, downloads / "feed", if_exists="replace"), **options)


def ends(events):
    return [event for event in events if event.task_id]


@pytest.mark.both_hostings
def test_the_engine_enqueues_the_request_of_an_activity_in_each_window(host, misbehaving, downloads):
    url = misbehaving.serve("/feed", CONTENT)
    one = host()
    one.session()
    one.set_activity(fetching(url, downloads, first=soon()))
    # Each task causes two events. The first reports that the task has ended, and the second that all tasks of the
    # session have ended. The second is withdrawn if the next window opens before the host reads it.
    events = one.wait_for(4)
    assert [event.state for event in ends(events)[:2]] == [TaskState.SUCCEEDED] * 2
    assert sha256_of(downloads / "feed") == CONTENT.sha256
    info, = one.activities()
    assert info.last_task >= ends(events)[1].task_id
    assert info.last_started_ms > 0 and info.next_ms > info.last_started_ms - 1_000
    assert info.next_ends_ms == info.next_ms + 200
    assert (info.url, info.repeats, info.interval_ms) == (url, True, 1_000)


@pytest.mark.both_hostings
def test_an_activity_without_a_request_sends_an_event(one):
    one.set_activity(at_once("clean-up"))
    first, = one.wait_for(1)
    session, = one.all_sessions()
    assert session.attention & Attention.ACTIVITY
    one.acknowledge([first])
    second, = one.wait_for(1)
    assert [(event.kind, event.activity) for event in (first, second)] == [(EventKind.ACTIVITY, "clean-up")] * 2
    one.acknowledge([second])


def test_an_activity_that_does_not_repeat_starts_after_its_stated_first_time_and_is_then_removed(one):
    begin = soon()
    one.set_activity(Activity("late", 60_000, 700, first=begin, repeats=False, quality_of_service="background"))
    event, = one.wait_for(1)
    # If this machine meets all conditions of the activity, the activity starts before the end of its window.
    assert begin * 1_000 - 1 <= event.time_ms <= begin * 1_000 + 20_000
    assert one.activities() == []


def test_a_due_activity_launches_the_application_if_no_host_runs(host, launch_listener):
    one = host(hosting=Hosting.DAEMON, opened=False)
    one.open(launch=launch_listener.command())
    one.session()
    # The activity is due after four seconds. A daemon without work exits earlier. This daemon must continue to run.
    first = soon(4_000)
    one.set_activity(at_once("nightly", first=first, repeats=False))
    one.kill()
    launched = launch_listener.next()
    assert time.time() >= first, "launched before the activity was due"
    launched.open()
    launch = launched.current_launch()
    assert launch.attention == Attention.ACTIVITY
    launched.attach("gallery")
    events = launched.wait_for(1)
    assert [event.activity for event in events] == ["nightly"]
    launched.acknowledge(events)
    launched.complete()
    launched.close()
    launched.exit()
    assert launch_listener.no_launch_within(1)


def test_an_activity_creates_no_task_until_its_previous_task_has_ended(host, downloads):
    sends_rest = threading.Event()
    with PacedServer(
            CONTENT, 1_000_000, lambda delivery: delivery.sent > 10_000 and not sends_rest.wait(60)) as server:
        one = host()
        one.session()
        one.set_activity(fetching(server.url, downloads))
        task, = until(one.tasks, bool)
        # Several windows begin while the task runs.
        end_ms = task.enqueued_ms + 3_000
        until(one.tasks, lambda tasks: len(tasks) > 1 or time.time() * 1_000 > end_ms)
        assert [info.id for info in one.tasks()] == [task.id]
        sends_rest.set()
        until(one.tasks, lambda tasks: len(tasks) > 1)
        # A listing has several pages, so its first task may be older than its second one.
        assert one.task(task.id).state is TaskState.SUCCEEDED


def test_an_activity_starts_only_one_time_after_several_missed_windows(switched, calendar, misbehaving, downloads):
    url = misbehaving.serve("/feed", CONTENT)
    one = switched()
    one.session()
    first = int(soon(HOUR))
    one.set_activity(fetching(url, downloads, interval_ms=HOUR, first=first))
    one.kill()
    calendar.move(10.5 * HOUR)
    again = switched()
    again.attach()
    events = again.wait_for(2)
    assert [event.state for event in ends(events)] == [TaskState.SUCCEEDED]
    info, = until(again.activities, lambda infos: infos[0].last_started_ms)
    assert info.next_ms == first * 1_000 + 10 * HOUR
    assert len(again.tasks()) == 1


def test_after_the_clock_is_set_forward_only_an_activity_with_a_stated_first_time_starts(switched, calendar):
    one = switched()
    one.session()
    one.set_activity(at_once("wall", interval_ms=HOUR, first=soon(5 * HOUR)))
    one.set_activity(at_once("interval", interval_ms=HOUR))
    calendar.move(6 * HOUR)
    one.activities()
    event, = one.wait_for(1)
    assert event.activity == "wall"
    assert {info.identifier: info.last_started_ms > 0 for info in one.activities()} == {"wall": True, "interval": False}


def test_a_kill_of_the_engine_at_the_start_of_an_activity_adds_no_second_task(switched, misbehaving, downloads):
    url = misbehaving.serve("/feed", CONTENT)
    one = switched(crash_at="afterActivity")
    one.session()
    with pytest.raises(HostEnded):
        one.set_activity(fetching(url, downloads, repeats=False))
        while True:
            one.activities()
    again = switched()
    again.attach()
    events = again.wait_for(2)
    assert [event.state for event in ends(events)] == [TaskState.SUCCEEDED]
    assert again.activities() == []
    assert len(again.tasks()) == 1


def test_after_a_kill_the_next_engine_keeps_the_windows_of_the_activities(host, one):
    for name, interval in [("a", HOUR), ("b", 24 * HOUR)]:
        one.set_activity(Activity(name, interval))
    before = one.activities()
    one.kill()
    again = host()
    again.attach()
    assert again.activities() == before


def test_an_activity_keeps_its_window_until_its_interval_or_its_first_time_changes(one):
    one.set_activity(Activity("sync", HOUR))
    before, = one.activities()
    one.set_activity(Activity("sync", HOUR, quality_of_service="utility", request=Request("http://127.0.0.1:9/a")))
    after, = one.activities()
    assert (after.next_ms, after.url) == (before.next_ms, "http://127.0.0.1:9/a")
    one.set_activity(Activity("sync", 2 * HOUR))
    assert one.activities()[0].next_ms > before.next_ms
    one.set_activity(Activity("sync", 2 * HOUR, first=before.next_ms // 1_000 + 5))
    assert one.activities()[0].next_ms == (before.next_ms // 1_000 + 5) * 1_000


def test_a_removed_activity_does_not_start(switched, calendar):
    one = switched()
    one.session()
    one.set_activity(at_once(interval_ms=HOUR, first=soon(HOUR)))
    one.remove_activity("sync")
    assert one.activities() == []
    with pytest.raises(BackhaulError) as error:
        one.remove_activity("sync")
    assert error.value.status is Status.NOT_FOUND
    # If "sync" were not removed, it would start before "later".
    one.set_activity(at_once("later", interval_ms=HOUR, first=soon(HOUR), repeats=False))
    calendar.move(1.5 * HOUR)
    one.activities()
    event, = one.wait_for(1)
    session, = one.all_sessions()
    assert (event.activity, session.events) == ("later", 1)


@pytest.mark.parametrize("change, word", [
    ({"identifier": ""}, "identifier"),
    ({"identifier": "x" * 256}, "identifier"),
    ({"identifier": "a\nb"}, "control"),
    ({"interval_ms": 0}, "interval_ms"),
    ({"interval_ms": 999}, "interval_ms"),
    ({"interval_ms": 2**63}, "interval_ms"),
    ({"tolerance_ms": 1_000}, "tolerance_ms"),
    ({"first": -5}, "first"),
    ({"quality_of_service": 9}, "quality_of_service"),
    ({"request": Request("ftp://example.org/")}, "scheme"),
    ({"request": Request("http://127.0.0.1:9/", key="a")}, "sets key"),
    ({"request": Request("http://127.0.0.1:9/", suspended=True)}, "sets suspended"),
    ({"request": Request("http://127.0.0.1:9/", "/tmp/feed")}, "if_exists"),
])
def test_the_error_of_an_invalid_activity_names_the_field(change, word, one):
    fields = {"identifier": "sync", "interval_ms": 1_000, "tolerance_ms": 0, **change}
    with pytest.raises((BackhaulError, ValueError, OverflowError)) as error:
        one.set_activity(Activity(**fields))
    assert word.lower() in str(error.value).lower()
    assert one.activities() == []
