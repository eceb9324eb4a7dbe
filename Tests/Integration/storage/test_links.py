"""Links that appear in the path of a destination after the enqueue lead no download to another file."""

import os

import pytest

from backhaul import Status, TaskState
from servers.content import Content, sha256_of

CONTENT = Content(300_000)
STRANGER = 12_345


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


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a link of another user")
@pytest.mark.parametrize("replaced", ["incoming", "incoming/today"])
def test_a_link_of_another_user_in_place_of_a_directory_is_not_followed(one, misbehaving, downloads, place, replaced):
    victim = place / "victim"
    (victim / "today").mkdir(parents=True)
    (downloads / "incoming" / "today").mkdir(parents=True)
    destination = downloads / "incoming" / "today" / "a"
    task = one.download(misbehaving.serve("/a", CONTENT), destination, suspended=True)
    exchanged = downloads / replaced
    exchanged.rename(downloads / "old")
    exchanged.symlink_to(victim if replaced == "incoming" else victim / "today")
    os.lchown(exchanged, STRANGER, STRANGER)
    event = end(one, task)
    assert event.status is Status.DESTINATION_UNAVAILABLE, event.error_message
    assert f"is now a symbolic link of the user {STRANGER}" in event.error_message
    assert list((victim / "today").iterdir()) == []
