"""File systems that lack abilities of a local disk: FUSE file systems, tmpfs and overlayfs."""

import errno
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import pytest

from backhaul import BackhaulError, Reason, Request, Status, TaskState
from servers.behaviour import Behaviour, retry_after
from servers.content import Content, sha256_of
from storage.conftest import run
from testbed.host import until

CONTENT = Content(900_000, seed=1)
FORBIDDEN = b':*?"<>|'


def ended(one):
    return [event for event in one.wait_for() if event.task_id][-1]


def test_a_file_is_placed_without_a_rename_that_replaces_nothing_and_without_hard_links(one, misbehaving, fuse, point):
    drive = fuse()
    one.download(misbehaving.serve("/a", CONTENT), point / "a")
    assert ended(one).state is TaskState.SUCCEEDED
    assert drive.names() == ["a"] and sha256_of(point / "a") == CONTENT.sha256


def test_without_such_a_rename_a_file_of_another_program_is_not_replaced(one, misbehaving, fuse, point):
    drive = fuse()
    one.reconfigure(bytes_per_second=10_000)
    one.download(misbehaving.serve("/a", CONTENT), point / "a")
    until(one.tasks, lambda tasks: tasks[0].offset > 0)
    (point / "a").write_bytes(b"theirs")
    one.reconfigure(bytes_per_second=None)
    assert ended(one).status is Status.DESTINATION_EXISTS
    assert drive.names() == ["a"] and drive.content("a") == b"theirs"


@pytest.mark.parametrize("code", [errno.EINVAL, errno.EOPNOTSUPP, errno.EBADF])
def test_a_directory_that_cannot_be_synced_does_not_fail_a_download(one, misbehaving, fuse, point, code):
    fuse(sync_directory=code)
    one.download(misbehaving.serve("/a", CONTENT), point / "a")
    assert ended(one).state is TaskState.SUCCEEDED
    assert sha256_of(point / "a") == CONTENT.sha256


def test_a_name_that_the_file_system_refuses_is_found_before_the_request(one, misbehaving, fuse, point):
    drive = fuse(forbidden=FORBIDDEN)
    url = misbehaving.serve("/a", CONTENT)
    with pytest.raises(BackhaulError, match="refuses the name") as caught:
        one.download(url, point / "episode: 1")
    assert caught.value.status is Status.DESTINATION_UNAVAILABLE
    assert misbehaving.log("/a") == [] and drive.names() == []


def test_a_name_from_the_server_is_changed_so_that_the_file_system_accepts_it(one, misbehaving, fuse, point):
    drive = fuse(forbidden=FORBIDDEN)
    given = Behaviour(headers={"Content-Disposition": 'attachment; filename="episode: 1?.mp3"'})
    one.download(misbehaving.serve("/a", CONTENT, otherwise=given), point, named_by_server=True)
    assert str(ended(one).path) == str(point / "episode_ 1_.mp3")
    assert drive.names() == ["episode_ 1_.mp3"]


def test_two_names_that_differ_only_in_case_do_not_replace_each_other(one, misbehaving, fuse, point):
    drive = fuse(ignores_case=True)
    url = misbehaving.serve("/song", CONTENT)
    tasks = [one.download(url, point / name, if_exists="replace", suspended=True) for name in ("Song", "song")]
    for number, task in enumerate(tasks, 1):
        one.resume([task])
        event = [event for event in one.wait_for(number) if event.task_id == task][0]
    assert event.status is Status.DESTINATION_EXISTS and "Song" in event.error_message
    assert drive.names() == ["Song"]


def test_a_name_that_differs_only_in_case_from_an_existing_file_is_refused_before_the_request(
        one, misbehaving, fuse, point):
    fuse(ignores_case=True)
    (point / "Song").write_bytes(b"theirs")
    url = misbehaving.serve("/song", CONTENT)
    with pytest.raises(BackhaulError, match="does not distinguish this name from Song") as caught:
        one.download(url, point / "song", if_exists="replace")
    assert caught.value.status is Status.DESTINATION_EXISTS
    one.download(url, point / "Song", if_exists="replace")
    assert ended(one).state is TaskState.SUCCEEDED


@contextmanager
def mounted(place, path):
    """A file is mounted over the file at this path, so that no other file can get its name."""
    path.write_bytes(b"old")
    (place / "other").write_bytes(b"mounted")
    if subprocess.run(["mount", "--bind", place / "other", path], check=False, capture_output=True).returncode:
        pytest.skip("a bind mount needs more rights")
    try:
        yield
    finally:
        subprocess.run(["umount", path], check=True)


@pytest.fixture
def unnamed(one, misbehaving, place, downloads):
    """A download whose complete file cannot get its name, until the fixture is closed."""
    @contextmanager
    def begin():
        (downloads / "a").write_bytes(b"old")
        one.reconfigure(bytes_per_second=10_000)
        task = one.download(misbehaving.serve("/a", CONTENT), downloads / "a", if_exists="replace")
        until(lambda: one.task(task), lambda seen: seen.offset > 0)
        with mounted(place, downloads / "a"):
            one.reconfigure(bytes_per_second=None)
            seen = until(lambda: one.task(task), lambda seen: seen.reason is Reason.STORAGE)
            assert "mount point" in seen.error_message
            yield task
    return begin


def pause(one, misbehaving, downloads):
    """Makes the origin of all downloads ask for a pause."""
    task = one.download(misbehaving.serve("/b", CONTENT, [retry_after("3600", 429)]), downloads / "b")
    until(lambda: one.task(task), lambda seen: seen.reason is Reason.ORIGIN)


@pytest.mark.parametrize("drive", ["exfat", "casefold"], indirect=True)
def test_of_two_downloads_whose_names_differ_only_in_case_one_succeeds(one, misbehaving, drive, point):
    folder = point / "songs"
    folder.mkdir()
    if drive.kind == "casefold":
        run("chattr", "+F", folder)
    for policy in ("fail", "replace"):
        names = [policy, policy.upper()]
        requests = [Request(misbehaving.serve(f"/{name}", Content(100_000, seed=1)), folder / name, if_exists=policy)
                    for name in names]
        one.enqueue(requests)
    ends = [event for event in one.wait_for() if event.task_id]
    assert sorted(event.status for event in ends) == [Status.OK] * 2 + [Status.DESTINATION_EXISTS] * 2
    assert sorted(os.listdir(folder)) == sorted(Path(event.path).name for event in ends if event.status is Status.OK)


def test_a_file_that_cannot_get_its_name_gets_it_later_although_its_origin_is_paused(
        one, misbehaving, downloads, unnamed):
    with unnamed():
        pause(one, misbehaving, downloads)
    assert one.wait_for(1)[0].state is TaskState.SUCCEEDED
    assert len(misbehaving.log("/a")) == 1 and sha256_of(downloads / "a") == CONTENT.sha256


def test_a_download_whose_file_cannot_get_its_name_can_be_cancelled_although_its_origin_is_paused(
        one, misbehaving, downloads, unnamed):
    with unnamed() as task:
        pause(one, misbehaving, downloads)
        one.resume([task])
        # While the engine tries to give the file its name, a cancellation has no effect.
        until(lambda: one.cancel([task]), lambda count: count == 1)
        until(lambda: os.listdir(downloads), lambda names: names == ["a"])


def test_a_mount_point_is_refused_as_destination(one, misbehaving, place, downloads):
    url = misbehaving.serve("/a", CONTENT)
    with mounted(place, downloads / "a"), pytest.raises(BackhaulError, match="mount point"):
        one.download(url, downloads / "a", if_exists="replace")


def test_downloads_to_an_overlay_and_to_memory_keep_the_attributes_of_replaced_files(one, misbehaving, place):
    for name in ("lower", "overlay"):
        (place / name).mkdir()
    memory = place / "memory"
    memory.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "tmpfs", memory], check=False, capture_output=True).returncode:
        pytest.skip("mounting needs more rights")
    try:
        for name in ("upper", "work"):
            (memory / name).mkdir()
        (place / "lower" / "a").write_bytes(b"old")
        os.chmod(place / "lower" / "a", 0o600)
        layers = f"lowerdir={place}/lower,upperdir={memory}/upper,workdir={memory}/work"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, place / "overlay"], check=True,
                       capture_output=True)
        one.download(misbehaving.serve("/a", CONTENT), place / "overlay" / "a", if_exists="replace")
        assert ended(one).state is TaskState.SUCCEEDED
        assert (place / "overlay" / "a").stat().st_mode & 0o777 == 0o600
        assert sha256_of(memory / "upper" / "a") == CONTENT.sha256
    finally:
        for name in ("overlay", "memory"):
            subprocess.run(["umount", "-l", place / name], check=False, capture_output=True)
