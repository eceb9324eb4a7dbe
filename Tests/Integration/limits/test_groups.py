"""A group is a set of tasks with a common group name. When all tasks of a group have ended, the engine sends an
event. Hosts list and control the tasks of a group by its name. A round begins when a task is added to a session
without unfinished tasks, and ends when all tasks of the session have ended. The end of a round has an event, too. To
invalidate a session is to end and delete it."""

import pytest

from backhaul import EventKind, Request, TaskState
from servers.behaviour import Behaviour
from servers.content import Content

pytestmark = pytest.mark.both_hostings

NEVER = "http://127.0.0.1:9/never"


def names(events):
    """Returns a short description of each event. A task is identified by the path of its URL."""
    descriptions = {EventKind.GROUP_FINISHED: lambda event: f"{event.group} has finished",
                    EventKind.SESSION_FINISHED: lambda _: "the round has ended",
                    EventKind.TASK_ENDED: lambda event: event.url.rpartition("/")[2]}
    return [descriptions[event.kind](event) for event in events]


def finished(events):
    return [(event.group, event.group_succeeded, event.group_failed, event.group_cancelled) for event in events
            if event.kind is EventKind.GROUP_FINISHED]


def test_the_event_of_a_group_follows_the_events_of_its_tasks_and_precedes_the_rounds_event(misbehaving, one):
    good = misbehaving.serve("/good", Content(10_000))
    bad = misbehaving.serve("/bad", Content(1), otherwise=Behaviour(status=404))
    one.enqueue([Request(good, group="album"), Request(bad, group="album")])
    events = one.wait_for()
    assert names(events)[2:] == ["album has finished", "the round has ended"]
    assert finished(events) == [("album", 1, 1, 0)]
    assert {event.group for event in events[:3]} == {"album"}
    assert events[2].task_id == 0 and events[2].is_group_finished and events[2].round == 1


def test_each_group_finishes_independently_of_other_groups(misbehaving, one):
    good, stuck = misbehaving.serve("/good", Content(100)), misbehaving.serve(
        "/stuck", Content(100), otherwise=Behaviour(silent=True))
    one.enqueue([Request(stuck, group="films"), Request(good, group="album"), Request(good), Request(good)])
    assert finished(one.wait_for(4)) == [("album", 1, 0, 0)]
    assert one.cancel(group="films") == 1
    assert finished(one.wait_for()) == [("album", 1, 0, 0), ("films", 0, 0, 1)]


def test_a_finished_group_that_gets_new_tasks_finishes_again(misbehaving, one):
    good = misbehaving.serve("/good", Content(100))
    for count in (1, 2):
        one.enqueue([Request(good, group="album")] * count)
        events = one.wait_for()
        assert finished(events) == [("album", count, 0, 0)]
        one.acknowledge(events)
    assert one.unacknowledged() == []


def test_the_next_engine_keeps_the_groups_of_a_killed_engine(host, misbehaving, one):
    good = misbehaving.serve("/good", Content(100))
    one.enqueue([Request(good, group="album", suspended=True), Request(good, group="album", suspended=True)])
    one.kill_with_engine()
    again = host()
    again.attach()
    assert again.resume(group="album") == 2
    assert finished(again.wait_for()) == [("album", 2, 0, 0)]


def test_a_host_lists_and_controls_the_tasks_of_a_group(one):
    requests = [Request(NEVER, group=group, suspended=True) for group in ("album", "album", "films", None)]
    album, also, films, alone = (item.task_id for item in one.enqueue(requests))
    assert [task.id for task in one.tasks(group="album")] == [album, also]
    assert [task.group for task in one.tasks()] == ["album", "album", "films", None]
    assert one.tasks(group="album", states=[TaskState.WAITING]) == []
    assert one.tasks([alone], group="album") == []
    assert one.set_priority(7, group="album") == 2
    assert [task.priority for task in one.tasks()] == [7, 7, 0, 0]
    assert one.set_rate(1_000, group="films") == 1
    assert one.cancel([films, also], group="album") == 1
    assert {task.id: task.state for task in one.tasks()} == {
        album: TaskState.SUSPENDED, also: TaskState.CANCELLED, films: TaskState.SUSPENDED, alone: TaskState.SUSPENDED}
    assert one.cancel(group="nobody") == 0


def test_an_invalidated_session_finishes_its_groups(one):
    one.enqueue([Request(NEVER, group="album", suspended=True)] * 3)
    one.invalidate(cancel=True)
    assert finished(one.wait_for()) == [("album", 0, 0, 3)]
