"""Uploads by tus to servers that others have written."""

import pytest

from backhaul import ResumableUploads, TaskState
from servers.content import Content
from servers.tus import Tuspyserver, Tussi
from testbed.host import until

CONTENT = Content(4_000_000)


@pytest.fixture(params=[Tuspyserver, Tussi], ids=["tuspyserver", "tussi"])
def server(request, place):
    folder = place / "received"
    folder.mkdir()
    with request.param(folder) as running:
        yield running


@pytest.fixture
def begin(host, server, sources):
    """Returns a function that starts an upload and returns the host."""
    def start(**rules):
        (sources / "a").write_bytes(CONTENT.data)
        one = host()
        one.session(resumable_uploads=ResumableUploads.TUS, first_delay_ms=10, **rules)
        one.upload(server.url, sources / "a")
        return one

    return start


def test_an_upload_by_tus_arrives(server, begin):
    [event, _] = begin().wait_for()
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert CONTENT.data in server.files()


def test_an_upload_by_tus_continues_after_the_engine_was_killed(server, begin, host):
    one = begin(bytes_per_second=1_000_000)
    until(one.tasks, lambda tasks: tasks[0].body_sent > 1_000_000)
    one.kill_with_engine()
    again = host()
    again.attach()
    again.reconfigure(bytes_per_second=None)
    [event, _] = again.wait_for()
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert CONTENT.data in server.files()
    assert event.bytes_sent < 2 * len(CONTENT.data)


# tussi has no termination.
@pytest.mark.parametrize("server", [Tuspyserver], indirect=True)
def test_a_cancelled_upload_by_tus_is_removed_from_the_server(server, begin):
    # The upload takes forty seconds, so the server cannot have the complete file when the task is cancelled.
    one = begin(bytes_per_second=100_000)
    until(one.tasks, lambda tasks: tasks[0].body_sent > 100_000)
    one.cancel()
    until(server.files, lambda files: files == [])
