"""Several threads can wait for one ticket, which stands for a command that was sent to the engine. The history has the
ended tasks whose event was acknowledged."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from backhaul import Application, Hosting, Request, Role

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")

URL = "http://127.0.0.1:9/file"
THREADS = 4


@pytest.fixture
def application(tmp_path):
    with Application("org.example.tickets", tmp_path / "store", hosting=Hosting.EMBEDDED) as one:
        yield one


@pytest.fixture
def session(application):
    with application.session("s") as one:
        yield one


@pytest.fixture
def number(session):
    """The id of a task that is in the history only. Its command fails, and a second command reads the history."""
    task = session.download(URL, suspended=True)
    task.cancel()
    for event in session.events():
        if event.is_session_finished:
            session.acknowledge_through(event)
            return task.id
    raise AssertionError("the events ended")


STARTS = {
    "session": lambda application, session, number: application.start.attach("s", Role.OBSERVE),
    "listing": lambda application, session, number: session.start.configuration(),
    "enqueue": lambda application, session, number: session.start.enqueue([Request(URL, key="k", suspended=True)]),
    "history": lambda application, session, number: session.start.task(number),
}


@pytest.mark.parametrize("start", STARTS.values(), ids=STARTS)
def test_all_threads_that_wait_for_one_ticket_get_the_same_object(application, session, number, start):
    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(300):
            ticket = start(application, session, number)
            first, *others = [pool.submit(ticket.result) for _ in range(THREADS)]
            assert all(other.result() is first.result() for other in others)
            assert ticket.done and ticket.result() is first.result()
