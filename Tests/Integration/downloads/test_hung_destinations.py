"""Destinations on a hung disk. Tasks for other disks continue. When the hung disk works again, its tasks succeed."""

import os
import time

import pytest

from backhaul import Reason, Request, TaskState

from servers.content import Content, sha256_of
from servers.hung import FreezingDisk, HangingMount
from servers.paced import PacedServer
from testbed.host import until

TASKS = 24
CONTENT = Content(300_000)


@pytest.fixture
def disk(tmp_path):
    with FreezingDisk(tmp_path / "disk") as disk:
        yield disk


@pytest.fixture
def server():
    with PacedServer(CONTENT, 3_000_000, lambda _: False) as server:
        yield server


def ended(one):
    return next(event for event in one.wait_for() if event.task_id)


def fill(one, server, folder):
    """Enqueues enough downloads to the frozen disk to block all threads of this disk."""
    one.session("stuck", connections_per_origin=TASKS)
    tasks = [one.download(server.url, folder / f"{number}") for number in range(TASKS)]
    until(one.tasks, lambda found: sum(task.state is TaskState.RUNNING for task in found) >= TASKS // 2)
    return tasks


def wait_until_no_part_file_is_left(disk):
    until(lambda: [name for name in os.listdir(disk.folder) if name.startswith(".backhaul")], lambda left: not left)


@pytest.mark.both_hostings
def test_a_hung_disk_does_not_delay_downloads_to_other_disks(host, hosting, disk, server, downloads):
    one = host(hosting=hosting)
    disk.freeze()
    tasks = fill(one, server, disk.folder)
    one.session("free")
    for number in range(8):
        one.download(server.url, downloads / f"{number}")
    for event in one.wait_for():
        assert not event.task_id or event.state is TaskState.SUCCEEDED
    assert {sha256_of(downloads / name) for name in os.listdir(downloads)} == {CONTENT.sha256}
    # Calls that list and cancel the tasks of the frozen disk get a reply, too.
    one.select_session("stuck")
    assert len(one.tasks()) == TASKS
    one.download(server.url, disk.folder / "one more")
    one.cancel(tasks[1:])
    disk.thaw()
    events = [event for event in one.wait_for() if event.task_id]
    assert [event.state for event in events].count(TaskState.SUCCEEDED) >= 2
    # The engine removes the part files of the cancelled tasks after it has sent the events of these tasks.
    wait_until_no_part_file_is_left(disk)
    left = [path for path in disk.folder.iterdir() if path.is_file()]
    assert left and {sha256_of(path) for path in left} == {CONTENT.sha256}


def test_many_downloads_to_a_hung_disk_do_not_delay_downloads_to_other_disks(host, disk, downloads):
    one = host()
    disk.freeze()
    with PacedServer(Content(8_000), 30_000_000, lambda _: False) as server:
        one.session("stuck", connections_per_origin=TASKS)
        one.enqueue([Request(server.url, disk.folder / f"{number}") for number in range(1_500)])
        seen = -1
        while (now := sum(task.state is TaskState.RUNNING for task in one.tasks())) != seen or now < TASKS:
            # Nothing shows when the engine starts no more tasks.
            seen = now
            time.sleep(1)
        one.session("free")
        for number in range(8):
            one.download(server.url, downloads / f"{number}")
        assert {event.state for event in one.wait_for() if event.task_id} == {TaskState.SUCCEEDED}
        disk.thaw()
        one.select_session("stuck")
        assert {event.state for event in one.wait_for() if event.task_id} == {TaskState.SUCCEEDED}
    assert len(os.listdir(disk.folder)) >= 1_500


def test_closing_an_application_does_not_wait_for_a_hung_disk_and_the_next_engine_uses_new_part_files(
        host, disk, server, downloads):
    one = host()
    disk.freeze()
    fill(one, server, disk.folder)
    one.close()
    one.open()
    one.attach("stuck")
    assert len(one.tasks()) == TASKS
    one.session("free")
    one.download(server.url, downloads / "free")
    assert ended(one).state is TaskState.SUCCEEDED
    disk.thaw()
    one.select_session("stuck")
    events = [event for event in one.wait_for(timeout=60) if event.task_id]
    assert [event.state for event in events] == [TaskState.SUCCEEDED] * TASKS
    assert {sha256_of(disk.folder / f"{number}") for number in range(TASKS)} == {CONTENT.sha256}
    # The part files of the first engine are removed.
    wait_until_no_part_file_is_left(disk)


@pytest.mark.both_hostings
def test_a_mount_that_stops_replying_does_not_delay_downloads_to_other_disks(
        host, hosting, server, downloads, tmp_path):
    one = host(hosting=hosting)
    with HangingMount(tmp_path / "mount") as mount:
        one.session("stuck", connections_per_origin=TASKS)
        tasks = [one.download(server.url, mount.folder / f"{number}", suspended=True) for number in range(TASKS)]
        mount.hang()
        one.resume(tasks)
        until(one.tasks, lambda found: sum(task.state is TaskState.RUNNING for task in found) >= TASKS // 2)
        one.session("free")
        for number in range(8):
            one.download(server.url, downloads / f"{number}")
        assert {event.state for event in one.wait_for() if event.task_id} == {TaskState.SUCCEEDED}
        # Calls that list and cancel the tasks of the mount get a reply, too.
        one.select_session("stuck")
        assert len(one.tasks()) == TASKS
        one.cancel(tasks[1:])
        one.close()
        one.open()
        one.attach("stuck")
    # After the unmount, another directory has the path: the empty directory on which the file system was mounted. The
    # engine writes only to the file system that it saw at the enqueue, so the task waits for this file system.
    until(one.tasks, lambda found: [task.reason for task in found if task.id == tasks[0]] == [Reason.STORAGE])
