"""The package logs with the logger `backhaul`, and writes nothing unless the program configures the logger. The history
has the ended tasks whose event was acknowledged."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest

import backhaul
from backhaul import Application, Hosting, NotFound, TaskState

URL = "http://127.0.0.1:9/never?token=secret"
PROGRAM = """
import sys
from backhaul import Application, BackhaulError, Hosting
with Application("org.example.quiet", sys.argv[1], hosting=Hosting.EMBEDDED) as application:
    try:
        application.attach("absent")
    except BackhaulError:
        pass
"""


@pytest.fixture
def application(tmp_path):
    with Application("org.example.logging", tmp_path / "store", hosting=Hosting.EMBEDDED) as one:
        yield one


def ended(session, folder):
    """Cancels a task, and acknowledges its event. Returns the number of the task."""
    task = session.download(URL, folder / "file", suspended=True)
    session.cancel([task])
    for event in session.events():
        if event.is_session_finished:
            session.acknowledge_through(event)
            return task.id
    raise AssertionError("the events ended")


def test_the_version_of_the_package_is_the_version_of_the_library():
    assert backhaul.__version__ == backhaul.version()


def test_the_package_writes_nothing_if_the_program_configures_no_logging(tmp_path):
    ended = subprocess.run([sys.executable, "-c", PROGRAM, tmp_path / "store"], capture_output=True, text=True,
                           check=False)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_the_logger_reports_sessions_events_and_errors_without_urls(tmp_path, caplog):
    caplog.set_level(logging.DEBUG, "backhaul")
    with Application("org.example.logging", tmp_path / "store", hosting=Hosting.EMBEDDED) as application:
        with application.session("s") as session:
            ended(session, tmp_path)
        with pytest.raises(NotFound):
            application.attach("absent")
    text = caplog.text
    for part in ("opened the application org.example.logging", "created the session s", "event", "CANCELLED",
                 "NOT_FOUND", "closed the session s", "closed the application org.example.logging"):
        assert part in text
    assert "secret" not in text
    assert {record.name for record in caplog.records} == {"backhaul"}


def test_a_task_is_found_by_its_number_after_its_event_was_acknowledged(application, tmp_path):
    with application.session("s") as session:
        number = ended(session, tmp_path)
        found = session.task(number)
        assert (found.id, found.state) == (number, TaskState.CANCELLED)
        assert [task.id for task in session.history()] == [number]


def test_a_task_that_is_neither_listed_nor_in_the_history_is_not_found(application, tmp_path):
    with application.session("s", history_limit=backhaul.HISTORY_NONE) as session:
        number = ended(session, tmp_path)
        with pytest.raises(NotFound, match=f"neither the list nor the history has task {number}"):
            session.task(number)
        for absent in (77, 1, (1 << 64) - 1):
            with pytest.raises(NotFound):
                session.task(absent)
