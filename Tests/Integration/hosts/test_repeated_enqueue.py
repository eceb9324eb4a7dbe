"""Enqueueing the same requests again: which tasks exist already, and which of them still have an unread event. A live
task has not ended. To acknowledge an event is to confirm that it was processed."""

import asyncio

import pytest

import backhaul
from backhaul import Request, TaskState
from servers.content import Content

pytestmark = pytest.mark.both_hostings

COUNT = 5


@pytest.fixture
def session(store, hosting):
    with backhaul.Application("org.example.again", store, hosting=hosting) as application:
        with application.session("gallery") as opened:
            # While this suspended task exists, not all tasks of the session have ended. So no event reports their end.
            opened.download("http://127.0.0.1:9/never", str(store.parent / "never"), key="never", suspended=True)
            yield opened


@pytest.fixture
def requests(misbehaving, downloads):
    return [Request(misbehaving.serve(f"/{number}", Content(1_000)), downloads / str(number), key=str(number))
            for number in range(COUNT)]


@pytest.fixture
def ends(session, requests):
    """Enqueues the requests. Returns for each key the event about the end of its task. No event is acknowledged."""
    session.enqueue(requests)
    stream = session.events(timeout=60)
    return {event.key: event for event in (next(stream) for _ in requests)}


def test_the_result_of_an_enqueue_shows_whether_the_end_of_a_task_is_acknowledged(session, requests, ends):
    session.acknowledge([ends["0"], ends["3"]])
    found = session.enqueue(requests)
    assert [one.task_id for one in found] == [ends[request.key].task_id for request in requests]
    assert {one.state for one in found} == {TaskState.SUCCEEDED} and all(one.has_ended for one in found)
    assert [one.event_id for one in found] == [None, ends["1"].id, ends["2"].id, None, ends["4"].id]
    assert [one.is_acknowledged for one in found] == [True, False, False, True, False]
    # Each task has one end event. The result of the enqueue shows whether this event is acknowledged. The session still
    # delivers each event that is not acknowledged. So the sum counts each task one time.
    assert sum(one.is_acknowledged for one in found) + len(list(session.events(timeout=0))) == COUNT


def test_the_result_of_an_enqueue_shows_whether_a_task_is_new_or_live(session, misbehaving, downloads):
    new = Request(misbehaving.serve("/new", Content(1_000)), downloads / "new", key="new", suspended=True)
    (first,) = session.enqueue([new])
    (second,) = session.enqueue([new])
    assert (first.is_new, first.state, first.event_id) == (True, None, None)
    assert (second.is_new, second.state, second.event_id) == (False, TaskState.SUSPENDED, None)
    assert not second.has_ended and not second.is_acknowledged


def test_a_repeated_download_and_a_repeated_asyncio_enqueue_report_the_existing_task(session, requests, ends):
    session.acknowledge([ends["0"]])
    request = requests[0]
    task = session.download(request.url, request.destination, key=request.key)
    assert (task.id, task.is_new, task.enqueued.is_acknowledged) == (ends["0"].task_id, False, True)

    async def awaited():
        return await session.start.enqueue(requests[:2])

    assert [one.is_acknowledged for one in asyncio.run(awaited())] == [True, False]
