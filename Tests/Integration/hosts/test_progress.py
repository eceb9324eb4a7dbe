"""Live progress: a host that watches a session gets the newest progress of each task. Progress never delays an
event. An observer is a handle that only lists tasks and progress."""

import asyncio
import threading

import pytest

from backhaul import Application, InvalidArgument, Role, TaskState
from servers.content import Content
from servers.paced import PacedServer

pytestmark = pytest.mark.both_hostings

CONTENT = Content(3_000_000)


@pytest.fixture
def application(store, hosting):
    with Application("org.example.progress", store, hosting=hosting) as application:
        yield application


@pytest.fixture
def session(application):
    with application.session("s") as session:
        yield session


@pytest.fixture
def has_read():
    """The test sets this event when it has read some progress."""
    return threading.Event()


@pytest.fixture
def url(has_read):
    """The second half of the file arrives slowly, in more than a minute, until the test has read some progress."""
    def slow_down(delivery):
        if delivery.sent > CONTENT.size // 2:
            has_read.wait(0.1)
        return False

    with PacedServer(CONTENT, 1_500_000, slow_down) as server:
        yield server.url
        has_read.set()


def test_progress_grows_with_the_file_and_has_the_size_of_the_file(session, url):
    task = session.download(url)
    seen = []
    for readings in session.progress(0.1, timeout=20):
        seen += [reading for reading in readings if reading.task_id == task.id]
        if seen[-1].offset > CONTENT.size // 2:
            break
    offsets = [reading.offset for reading in seen]
    assert offsets == sorted(offsets)
    assert (seen[-1].size, seen[-1].state) == (CONTENT.size, TaskState.RUNNING)
    assert seen[-1].bytes_per_second > 0
    assert 0.5 < seen[-1].fraction <= 1


def test_an_observer_gets_the_progress_of_a_task_that_another_handle_enqueued(application, session, url):
    task = session.download(url)
    with application.attach("s", role=Role.OBSERVE) as observer:
        readings = next(observer.progress(0.1, timeout=20))
    assert [reading.task_id for reading in readings] == [task.id]


def test_asyncio_hosts_get_progress_and_events_at_the_same_time(store, hosting, url, has_read):
    async def scenario():
        async with await Application.open_async("org.example.progress", store, hosting=hosting) as application:
            session = await application.start.session("s")
            await session.start.download(url)
            watching = asyncio.ensure_future(watch(session))
            async for event in session.events():
                if event.is_session_finished:
                    break
            watching.cancel()
            session.close()

    counted = []

    async def watch(session):
        async for readings in session.progress(0.1):
            counted.append(len(readings))
            has_read.set()

    asyncio.run(scenario())
    assert counted and set(counted) == {1}


def test_a_host_that_does_not_watch_progress_gets_no_progress(session, url):
    session.download(url)
    assert session.poll_progress(timeout=1) == []


def test_watching_with_an_interval_of_0_ends_the_progress(session, url):
    session.download(url)
    session.watch_progress(0.1)
    assert session.poll_progress(timeout=20)
    session.watch_progress(0)
    session.poll_progress()
    assert session.poll_progress(timeout=0.5) == []


def test_a_stream_of_progress_ends_if_no_progress_arrives_before_its_timeout(session):
    assert list(session.progress(0.1, timeout=0.3)) == []


@pytest.mark.parametrize("interval", [0.05, 61])
def test_a_progress_interval_that_is_out_of_range_is_refused(session, interval):
    with pytest.raises(InvalidArgument, match="interval"):
        session.watch_progress(interval)
