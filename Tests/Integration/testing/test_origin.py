"""What the origin of the test kit scripts is what the engine meets, in real transfers."""

from datetime import timedelta

import pytest

CONTENT = bytes(range(256)) * 1_000


@pytest.fixture
def session(backhaul_testbed):
    """A session of a host in the process of the test."""
    with backhaul_testbed.application("org.example.test") as application, application.session("s") as session:
        yield session


def ending(session):
    """Returns the event with which the session's only task ends."""
    return next(event for event in session.events() if event.is_task_ended)


def offsets(resource):
    return [request.offset for request in resource.requests]


def test_a_dropped_transfer_continues_where_it_was(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.drop(at=100_000)
    session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_requests(1)
    backhaul_testbed.pass_time(timedelta(minutes=1))
    assert ending(session).succeeded
    assert offsets(file) == [0, 100_000]
    assert (backhaul_testbed.directory / "file").read_bytes() == CONTENT


def test_two_hours_of_retry_after_pass_at_once(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.refuse(503, {"Retry-After": "7200"})
    session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_requests(1)
    backhaul_testbed.pass_time(timedelta(hours=2))
    assert ending(session).succeeded
    assert [request.status for request in file.requests] == [503, 200]
