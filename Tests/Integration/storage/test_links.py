"""Links that appear in the path of a destination after the enqueue lead no download to another file."""

import os

import pytest

from backhaul import TaskState
from servers.content import Content, sha256_of

CONTENT = Content(300_000)


def end(one, task):
    one.resume([task])
    [event] = [event for event in one.wait_for() if event.task_id]
    return event


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_link_in_place_of_a_destination_is_replaced_and_its_file_stays_unchanged(
        one, misbehaving, downloads, place, link):
    other = place / "other"
    other.write_bytes(b"mine")
    task = one.download(misbehaving.serve("/a", CONTENT), downloads / "a", if_exists="replace", suspended=True)
    link(other, downloads / "a")
    event = end(one, task)
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert other.read_bytes() == b"mine" and sha256_of(downloads / "a") == CONTENT.sha256
    assert not (downloads / "a").is_symlink() and not (downloads / "a").samefile(other)
