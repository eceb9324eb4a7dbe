"""File systems that lack abilities of a local disk: FUSE file systems, tmpfs and overlayfs."""

import errno
import os
import subprocess

import pytest

from backhaul import BackhaulError, Reason, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
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
    one.download(misbehaving.serve("/a", CONTENT, [Behaviour(pace=1_000_000)]), point / "a")
    until(one.tasks, lambda tasks: tasks[0].offset > 0)
    (point / "a").write_bytes(b"theirs")
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
    for name in ("Song", "song"):
        one.download(misbehaving.serve(f"/{name}", Content(100_000, seed=len(drive.made))), point / name,
                     if_exists="replace")
        event = ended(one)
    assert event.status is Status.DESTINATION_EXISTS and "Song" in event.error_message
    assert drive.names() == ["Song"]


def test_a_file_that_cannot_get_its_name_keeps_its_bytes_and_gets_the_name_later(one, misbehaving, place, downloads):
    (downloads / "a").write_bytes(b"old")
    (place / "other").write_bytes(b"mounted")
    one.download(misbehaving.serve("/a", CONTENT, [Behaviour(pace=1_000_000)]), downloads / "a", if_exists="replace")
    until(one.tasks, lambda tasks: tasks[0].offset > 0)
    done = subprocess.run(["mount", "--bind", place / "other", downloads / "a"], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("a bind mount needs more rights")
    try:
        task = until(one.tasks, lambda tasks: tasks[0].reason is Reason.STORAGE)[0]
        assert "mount point" in task.error_message
    finally:
        subprocess.run(["umount", downloads / "a"], check=True)
    assert ended(one).state is TaskState.SUCCEEDED
    assert len(misbehaving.log("/a")) == 1 and sha256_of(downloads / "a") == CONTENT.sha256


def test_a_mount_point_is_refused_as_destination(one, misbehaving, place, downloads):
    (downloads / "a").write_bytes(b"old")
    (place / "other").write_bytes(b"mounted")
    done = subprocess.run(["mount", "--bind", place / "other", downloads / "a"], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("a bind mount needs more rights")
    try:
        with pytest.raises(BackhaulError, match="mount point"):
            one.download(misbehaving.serve("/a", CONTENT), downloads / "a", if_exists="replace")
    finally:
        subprocess.run(["umount", downloads / "a"], check=True)


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
