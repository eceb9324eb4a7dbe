"""File systems and directories that go away, and come back under other numbers."""

import os
import shutil
import sqlite3
import subprocess
from contextlib import closing

import pytest

from backhaul import BodySource, Reason, Request, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from storage.conftest import Drive, take_number
from testbed.checkpoints import DATABASE, wait_for_checkpoint
from testbed.fuse import STATFS
from testbed.host import until

CONTENT = Content(3_000_000, seed=1)


def ended(one):
    return [event for event in one.wait_for() if event.task_id][-1]


def away(one):
    """Waits until the only task waits for its storage."""
    return until(one.tasks, lambda tasks: tasks and tasks[0].reason is Reason.STORAGE)[0]


def part_files(directory):
    return [name for name in os.listdir(directory) if name.endswith(".part")]


@pytest.fixture
def reboot(store):
    """A function that makes the next engine believe that the machine has booted since."""
    def change():
        with closing(sqlite3.connect(store / DATABASE)) as database, database:
            database.execute("UPDATE meta SET value = 'another' WHERE key = 'boot_id'")
            database.execute("UPDATE checkpoints SET boot_id = 'another'")
    return change


@pytest.fixture
def begun(host, one, store, misbehaving, point):
    """A function that begins a download to the drive, and then kills the engine. It returns a new host, after `between`
    has run."""
    def begin(between):
        url = misbehaving.serve("/a", CONTENT, [Behaviour(stall_after=2_000_000)])
        one.download(url, point / "a")
        wait_for_checkpoint(store, synced=1)
        one.kill_with_engine()
        between()
        new = host()
        new.attach()
        return new
    return begin


def finished(one, misbehaving, point):
    assert ended(one).state is TaskState.SUCCEEDED
    assert sha256_of(point / "a") == CONTENT.sha256 and part_files(point) == []
    assert misbehaving.log("/a")[-1].offset > 0


def test_a_download_continues_on_a_drive_that_has_another_device_number(begun, misbehaving, drive, point):
    before = os.stat(point).st_dev

    def plug_elsewhere():
        drive.unplug()
        drive.plug(renumbered=True)
    new = begun(plug_elsewhere)
    assert os.stat(point).st_dev != before
    finished(new, misbehaving, point)


@pytest.mark.parametrize("drive", ["ext4", "xfs", "btrfs", "exfat", "overlay"], indirect=True)
def test_a_download_waits_for_its_drive_and_writes_nothing_below_the_empty_mount_point(
        begun, misbehaving, drive, point):
    before = os.stat(point).st_dev
    new = begun(drive.unplug)
    task = away(new)
    assert task.state is TaskState.WAITING
    assert str(point) in task.reason_text and drive.type in task.reason_text
    assert os.listdir(point) == []
    drive.plug(renumbered=True)
    assert os.stat(point).st_dev != before
    finished(new, misbehaving, point)


@pytest.mark.parametrize("drive", ["btrfs"], indirect=True)
def test_a_download_continues_on_a_drive_whose_earlier_mount_is_still_in_use(begun, misbehaving, drive, point):
    """As when a drive is pulled out while another program uses it. Btrfs then gives the second mount another UUID."""
    user = os.open(point, os.O_RDONLY)
    try:
        def plug_again():
            drive.unplug()
            drive.plug(renumbered=True)
        finished(begun(plug_again), misbehaving, point)
    finally:
        os.close(user)


def test_a_download_waits_while_another_drive_is_in_the_place_of_its_drive(begun, misbehaving, drive, place, point):
    (place / "another").mkdir()
    another = Drive(point, place / "another", "ext4")

    def swap():
        drive.unplug()
        another.plug()
    new = begun(swap)
    try:
        away(new)
        assert os.listdir(point) == ["lost+found"]
    finally:
        another.unplug()
    drive.plug(renumbered=True)
    finished(new, misbehaving, point)


def test_a_download_continues_after_a_reboot_on_a_drive_whose_inodes_have_other_numbers(
        begun, misbehaving, reboot, fuse, point):
    card = fuse(noreplace=True)

    def boot():
        card.unmount()
        reboot()
        card.mount()
    new = begun(boot)
    finished(new, misbehaving, point)


def test_the_part_file_of_a_cancelled_download_is_removed_when_its_drive_returns(begun, drive, point):
    new = begun(drive.unplug)
    away(new)
    new.cancel()
    until(new.tasks, lambda tasks: tasks[0].state is TaskState.CANCELLED)
    drive.plug()
    until(lambda: part_files(point), lambda parts: not parts)


@pytest.mark.parametrize("after", ["removed and made again", "moved on"])
def test_a_download_arrives_in_the_directory_that_has_its_path_now(one, misbehaving, downloads, after):
    for name in ("r1", "r2"):
        (downloads / name).mkdir()
    (downloads / "current").symlink_to("r1")
    directory = downloads / ("r1" if after == "removed and made again" else "current")
    task = one.download(misbehaving.serve("/a", CONTENT), directory / "a", suspended=True)
    if after == "moved on":
        (downloads / "current").unlink()
        (downloads / "current").symlink_to("r2")
    else:
        (downloads / "r1").rename(downloads / "old")
        directory.mkdir()
    one.resume([task])
    assert ended(one).state is TaskState.SUCCEEDED
    assert sha256_of(directory / "a") == CONTENT.sha256


def test_a_download_waits_for_a_directory_that_was_removed_and_starts_when_the_directory_is_made(
        one, misbehaving, downloads):
    (downloads / "a" / "b").mkdir(parents=True)
    task = one.download(misbehaving.serve("/a", CONTENT), downloads / "a" / "b" / "file", suspended=True)
    shutil.rmtree(downloads / "a")
    one.resume([task])
    assert str(downloads / "a" / "b") in away(one).error_message
    (downloads / "a" / "b").mkdir(parents=True)
    assert ended(one).state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a" / "b" / "file") == CONTENT.sha256


def test_a_download_waits_for_a_file_system_whose_server_has_died(one, misbehaving, fuse, point):
    drive = fuse(noreplace=True)
    one.reconfigure(bytes_per_second=100_000)
    one.download(misbehaving.serve("/a", CONTENT), point / "a")
    until(one.tasks, lambda tasks: tasks[0].offset > 100_000)
    drive.abort()
    one.reconfigure(bytes_per_second=None)
    assert "away" in away(one).error_message
    drive.detach()
    drive.mount()
    assert ended(one).state is TaskState.SUCCEEDED
    assert drive.names() == ["a"] and sha256_of(point / "a") == CONTENT.sha256


def test_an_upload_continues_from_a_card_whose_inodes_have_other_numbers(host, one, forms, fuse, point):
    card = fuse(noreplace=True)
    (point / "photo").write_bytes(CONTENT.data)
    one.enqueue([Request(forms.url("/photo"), body_file=point / "photo", suspended=True)])
    one.kill_with_engine()
    before = os.stat(point / "photo").st_ino
    card.unmount()
    card.mount()
    assert os.stat(point / "photo").st_ino != before
    new = host()
    new.attach()
    new.resume()
    assert ended(new).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("after", ["a restart", "a reboot"])
def test_an_upload_waits_for_the_card_that_has_its_file(host, one, forms, fuse, point, reboot, after):
    card = fuse(noreplace=True)
    (point / "photo").write_bytes(CONTENT.data)
    one.enqueue([Request(forms.url("/photo"), body_file=point / "photo", suspended=True)])
    one.kill_with_engine()
    card.unmount()
    if after == "a reboot":
        reboot()
    new = host()
    new.attach()
    new.resume()
    task = away(new)
    assert task.attempts == 0
    card.mount()
    assert ended(new).state is TaskState.SUCCEEDED


@pytest.mark.parametrize("drive", ["overlay"], indirect=True)
def test_an_upload_continues_after_its_file_was_copied_to_the_upper_layer_of_an_overlay(one, forms, drive, point):
    (drive.lower / "photo").write_bytes(CONTENT.data)
    [task] = one.enqueue([Request(forms.url("/photo"), body_file=point / "photo", suspended=True)])
    os.chmod(point / "photo", 0o600)
    assert os.stat(drive.lower / "photo").st_mode & 0o777 != 0o600
    one.resume([task.task_id])
    assert ended(one).state is TaskState.SUCCEEDED
    assert forms.sent[0].body == CONTENT.data


def test_a_consumed_file_is_returned_to_its_drive_and_not_below_the_empty_mount_point(
        host, one, forms, store, drive, point):
    (point / "photo").write_bytes(CONTENT.data)
    forms.statuses[:] = [403]
    one.enqueue([Request(forms.url("/photo"), body_file=point / "photo", body_source=BodySource.CONSUME)])
    events = one.wait_for()
    drive.unplug()
    one.acknowledge(events)
    assert os.listdir(point) == [] and len(os.listdir(store / "bodies")) == 1
    one.kill_with_engine()
    drive.plug()
    host().attach()
    until(lambda: os.listdir(store / "bodies"), lambda names: names == [])
    assert (point / "photo").read_bytes() == CONTENT.data


def test_a_download_does_not_wait_for_another_file_system_that_hangs(one, misbehaving, fuse, place, point, downloads):
    card = fuse(noreplace=True)
    task = one.download(misbehaving.serve("/a", CONTENT), point / "a", suspended=True)
    # After a change of the mounts, the engine determines again on which file system the directory is.
    take_number(place / "other")
    try:
        with card.hanging(STATFS):
            one.resume([task])
            card.wait_until_hung()
            one.download(misbehaving.serve("/b", CONTENT), downloads / "b")
            assert one.wait_for(1)[0].path == str(downloads / "b")
        assert [event.path for event in one.wait_for(2)] == [str(downloads / "b"), str(point / "a")]
    finally:
        subprocess.run(["umount", place / "other"], check=True)


def test_a_missing_directory_is_refused_at_the_enqueue(one, misbehaving, downloads):
    with pytest.raises(Exception, match="nowhere") as caught:
        one.download(misbehaving.serve("/a", CONTENT), downloads / "nowhere" / "a")
    assert caught.value.status is Status.DESTINATION_UNAVAILABLE
