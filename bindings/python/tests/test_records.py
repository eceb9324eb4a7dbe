"""Lists of many tasks, and the attempts and waits of many tasks."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from backhaul import Application, Hosting, Policy, Request, RetryPolicy
from backhaul._reading import Records
from backhaul._session_tasks import _by_task

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


def test_the_attempts_and_waits_of_several_tasks_are_those_of_each_task(session):
    policy = Policy(retry=RetryPolicy(maximum_attempts=2, first_delay_ms=100, longest_delay_ms=100))
    tasks = [one.task_id for one in session.enqueue([Request(URL, policy=policy) for _ in range(3)])]
    acknowledge_all(session)
    absent = max(tasks) + 1
    attempts = session.attempts_of([absent, *reversed(tasks), tasks[0]])
    assert attempts == {task: session.attempts(task) for task in tasks}
    assert [len(attempts[task]) for task in tasks] == [2, 2, 2]
    waits = session.waits_of([absent, *tasks])
    assert waits == {task: session.waits(task) for task in tasks}
    assert {wait.task_id for wait in waits[tasks[1]]} == {tasks[1]}
    assert session.attempts_of([]) == session.waits_of([]) == {}


def test_records_are_read_in_parts():
    parts = []

    def read(ids):
        # Each reply has the records of at most 700 tasks. Only even tasks have records.
        parts.append(len(ids))
        found = [SimpleNamespace(task_id=task) for task in ids[:700] if task % 2 == 0]
        return Records(found, len(ids) > 700)

    found = _by_task(range(2500, 0, -1), read)
    assert parts == [1000, 1000, 1000, 400]
    assert sorted(found) == list(range(2, 2501, 2))
