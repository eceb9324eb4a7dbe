"""A dropped session or application is closed at once: no reference cycle keeps it until the cyclic garbage collector
runs. Otherwise the session would still count as read by this program, and no other program could read its events."""

import gc
import sys
import warnings
import weakref

import pytest

from backhaul import Application, BackhaulError, Hosting, InvalidArgument, NotFound, Request

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")


@pytest.fixture(autouse=True)
def no_cyclic_collector():
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def application(tmp_path):
    with Application("org.example.dropping", tmp_path / "store", hosting=Hosting.EMBEDDED) as one:
        yield one


def nothing(session):
    pass


def verbs(session):
    session.start.tasks().result()
    assert session.start.poll().done in (True, False)


def streams(session):
    assert list(session.events(timeout=0)) == []
    assert list(session.progress(timeout=0)) == []


def a_task(session):
    task = session.download("http://127.0.0.1:9/a", suspended=True)
    assert task.info().id == task.id
    task.cancel()
    assert [event.task_id for event in session.poll(timeout=5).items][0] == task.id


def failed_calls(session):
    with pytest.raises(NotFound):
        session.task(999)
    with pytest.raises(NotFound):
        session.start.task(999).result()
    with pytest.raises(InvalidArgument):
        session.enqueue([Request("http://127.0.0.1:9/a"), Request("ftp://127.0.0.1/")])
    with pytest.raises(BackhaulError):
        session.acknowledge_through(2**64 - 1)


def a_failed_ticket(session):
    ticket = session.start.task(999)
    for _ in range(2):
        with pytest.raises(NotFound):
            ticket.result()


@pytest.mark.parametrize("use", [nothing, verbs, streams, a_task, failed_calls, a_failed_ticket],
                         ids=lambda use: use.__name__)
def test_a_dropped_session_is_closed_at_once(application, use):
    session = application.session("s")
    use(session)
    dropped = weakref.ref(session._handle)
    del session
    assert dropped() is None
    application.session("s").close()  # raises InUse if the dropped object still reads the events


def test_a_dropped_session_is_closed_even_if_its_warning_is_an_error(application, monkeypatch):
    raised = []
    monkeypatch.setattr(sys, "unraisablehook", lambda failure: raised.append(failure.exc_type))
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        application.session("s")
    assert raised == [ResourceWarning]
    application.session("s").close()  # raises InUse if the dropped object still reads the events


def test_a_dropped_application_is_closed_at_once(tmp_path):
    application = Application("org.example.dropping", tmp_path / "store", hosting=Hosting.EMBEDDED)
    with pytest.raises(NotFound):
        application.attach("unknown")
    dropped = weakref.ref(application._handle)
    del application
    assert dropped() is None
