"""A full disk makes a task wait. This wait is no failure, so it does not reduce the number of attempts (runs) that the
task has left. Downloads keep a small part of each disk free for other writers (the reserved space)."""

import subprocess

import pytest

from backhaul import Reason, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import until


@pytest.fixture
def disk(place):
    """A file system of 8 MiB."""
    mounted = place / "disk"
    mounted.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m,mode=0700", "tmpfs", mounted], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mounting needs more rights: {done.stderr.strip()}")
    yield mounted
    subprocess.run(["umount", "-l", mounted], check=False)


@pytest.fixture
def one(host):
    made = host()
    made.session(first_delay_ms=50, longest_delay_ms=100, maximum_attempts=1)
    return made


def waiting(one):
    return until(one.tasks, lambda tasks: tasks and tasks[0].reason is Reason.DISK_FULL)[0]


def begin_slowly(one, url, disk):
    """Starts a download at a low rate, and waits until a part of the file has arrived."""
    one.reconfigure(bytes_per_second=100_000)
    one.download(url, disk / "a")
    until(one.tasks, lambda tasks: tasks[0].offset > 100_000)


def test_a_task_waits_and_sends_no_further_request_if_its_file_does_not_fit_on_the_disk(one, misbehaving, disk):
    (disk / "ballast").write_bytes(b"x" * 5_000_000)
    content = Content(6_000_000, seed=1)
    one.download(misbehaving.serve("/a", content), disk / "a")
    task = waiting(one)
    assert task.state is TaskState.WAITING and "free some space" in task.error_message
    assert task.reason_text and task.next_attempt is not None
    # The waiting task only checks the disk, and sends no request.
    for _ in range(3):
        one.resume()
        until(one.tasks, lambda tasks: tasks[0].reason is Reason.DISK_FULL)
    assert len(misbehaving.log("/a")) == 1 and one.tasks()[0].attempts == 1
    (disk / "ballast").unlink()
    one.resume()
    event = one.wait_for()[-2]
    assert event.state is TaskState.SUCCEEDED and event.attempts == 2
    assert sha256_of(disk / "a") == content.sha256


def test_a_post_whose_file_does_not_fit_on_the_disk_fails_and_is_not_sent_again(one, misbehaving, disk):
    (disk / "ballast").write_bytes(b"x" * 5_000_000)
    one.download(misbehaving.serve("/a", Content(6_000_000, seed=4)), disk / "a", method="POST")
    event = one.wait_for()[-2]
    assert event.state is TaskState.FAILED and event.status is Status.DISK_FULL
    assert len(misbehaving.log("/a")) == 1


def test_a_download_continues_by_itself_when_the_disk_has_space_again(one, misbehaving, disk):
    (disk / "ballast").write_bytes(b"x" * 5_000_000)
    content = Content(6_000_000, seed=2)
    one.download(misbehaving.serve("/a", content), disk / "a")
    waiting(one)
    (disk / "ballast").unlink()
    assert one.wait_for()[-2].state is TaskState.SUCCEEDED


def test_a_download_keeps_its_received_bytes_if_the_disk_fills_up(one, misbehaving, disk):
    content = Content(6_000_000, seed=3)
    url = misbehaving.serve("/a", content)
    begin_slowly(one, url, disk)
    (disk / "ballast").write_bytes(b"x" * 4_000_000)
    one.reconfigure(bytes_per_second=None)
    task = waiting(one)
    assert 0 < task.offset < content.size
    (disk / "ballast").unlink()
    one.resume()
    event = one.wait_for()[-2]
    assert event.state is TaskState.SUCCEEDED and sha256_of(disk / "a") == content.sha256
    assert misbehaving.log("/a")[1].offset > 0


def test_a_download_whose_response_has_no_length_waits_for_disk_space(one, misbehaving, disk):
    (disk / "ballast").write_bytes(b"x" * 5_000_000)
    content = Content(6_000_000, seed=4)
    one.download(misbehaving.serve("/a", content, otherwise=Behaviour(chunked=True)), disk / "a")
    waiting(one)
    (disk / "ballast").unlink()
    one.resume()
    assert one.wait_for()[-2].state is TaskState.SUCCEEDED
    assert sha256_of(disk / "a") == content.sha256


def test_a_download_that_starts_again_does_not_count_its_old_part_file(one, misbehaving, disk):
    content = Content(6_000_000, seed=5)
    # The server ignores ranges, so each attempt starts again.
    url = misbehaving.serve("/a", content, [Behaviour()], otherwise=Behaviour(ignores_range=True))
    begin_slowly(one, url, disk)
    (disk / "ballast").write_bytes(b"x" * 4_000_000)
    one.reconfigure(bytes_per_second=None)
    waiting(one)
    (disk / "ballast").unlink()
    one.resume()
    assert one.wait_for()[-2].state is TaskState.SUCCEEDED
    assert sha256_of(disk / "a") == content.sha256


def test_downloads_of_small_files_keep_the_reserved_space_of_the_disk_free(one, misbehaving, disk):
    for number in range(100):
        one.download(misbehaving.serve(f"/{number}", Content(100_000, seed=number)), disk / str(number))
    until(one.tasks, lambda tasks: all(task.state is TaskState.SUCCEEDED or task.reason is Reason.DISK_FULL
                                       for task in tasks))
    free = int(subprocess.run(["stat", "-f", "-c", "%a", disk], check=True, capture_output=True, text=True).stdout)
    assert free * 4_096 >= 8 * 1_048_576 // 100
