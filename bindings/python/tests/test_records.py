"""Lists of many tasks."""

from __future__ import annotations

import pytest

from backhaul import Application, Hosting, Request

#: A port of which each connection is refused.
URL = "http://127.0.0.1:9/file"


@pytest.fixture
def session(tmp_path):
    with Application("org.example.records", tmp_path / "store", hosting=Hosting.EMBEDDED) as application, \
            application.session("s") as session:
        yield session


def acknowledge_all(session):
    """Waits until all tasks have ended, and acknowledges their events."""
    for event in session.events():
        if event.is_session_finished:
            session.acknowledge_through(event)
            return


def test_a_list_of_tasks_with_large_data_is_complete(session):
    session.enqueue([Request(URL, user_data=b"x" * 10_000, suspended=True) for _ in range(300)])
    assert len(list(session.tasks())) == 300
    session.cancel()
    acknowledge_all(session)
    assert len(list(session.history())) == 300
