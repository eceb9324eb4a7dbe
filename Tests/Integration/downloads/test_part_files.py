"""The engine is the process that runs the downloads. These tests change a part file while the engine does not write
to the file. Another program could do the same. A download never continues from a changed part file."""

import os
import stat
import threading

import pytest

from backhaul import TaskState

from servers.content import Content, sha256_of
from servers.paced import PacedServer
from testbed.checkpoints import recorded_lengths, wait_for_checkpoint
from testbed.host import until

CONTENT = Content(2_000_000)
STALL = 600_000


class StallingServer(PacedServer):
    """A server that stops sending in the middle of its first response, and continues when `resumed` is set."""

    def __init__(self):
        super().__init__(CONTENT, 100_000_000, self._stall)
        self.resumed = threading.Event()

    def _stall(self, delivery):
        if delivery is self.deliveries[0] and delivery.sent >= STALL:
            self.resumed.wait(60)
            return True
        return False


@pytest.fixture
def server():
    with StallingServer() as server:
        yield server
        server.resumed.set()


def part_in(folder):
    return next((folder / name for name in os.listdir(folder) if name.startswith(".backhaul")), None)


def size_of(path):
    return path.stat().st_size if path else 0


def begun(one, server, downloads):
    one.session(first_delay_ms=20)
    task = one.download(server.url, downloads / "a")
    until(lambda: size_of(part_in(downloads)), lambda size: size >= STALL - (64 << 10))
    # The engine has read all bytes that the server has sent.
    until(lambda: server.deliveries[0].bytes_read, lambda count: count >= STALL)
    return task


def suspended(one, server, downloads):
    """Returns a suspended task and its part file, which has all bytes that were sent."""
    task = begun(one, server, downloads)
    one.suspend([task])
    until(one.tasks, lambda found: found[0].state is TaskState.SUSPENDED)
    part = part_in(downloads)
    until(lambda: size_of(part), lambda size: size >= STALL)
    return task, part


def flip(path):
    with open(path, "r+b") as file:
        first = file.read(1)
        file.seek(0)
        file.write(bytes([first[0] ^ 1]))


def flip_and_hide_it(path):
    before = path.stat()
    flip(path)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))


def replace(path):
    data = bytearray(path.read_bytes())
    data[0] ^= 1
    path.unlink()
    path.write_bytes(data)


def append(path):
    with open(path, "ab") as file:
        file.write(bytes(10_000))


def shorten(path):
    os.truncate(path, path.stat().st_size - 1)


CHANGES = {"changed": flip, "changed with its time put back": flip_and_hide_it, "replaced": replace,
           "shortened": shorten, "removed": os.unlink}


def finished_right(one, downloads):
    event = next(event for event in one.wait_for() if event.task_id)
    assert event.state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256
    assert os.listdir(downloads) == ["a"]


@pytest.mark.parametrize("change", [*CHANGES.values(), append], ids=[*CHANGES, "grown"])
def test_a_suspended_download_starts_from_the_beginning_if_its_part_file_was_changed(host, server, downloads, change):
    one = host()
    task, part = suspended(one, server, downloads)
    change(part)
    one.resume([task])
    finished_right(one, downloads)
    assert [delivery.start for delivery in server.deliveries] == [0, 0]


@pytest.mark.parametrize("touch", [lambda _: None, lambda path: os.utime(path), lambda path: path.chmod(0o640)],
                         ids=["left alone", "touched", "of another mode"])
def test_a_suspended_download_continues_if_its_part_file_has_the_same_bytes(host, server, downloads, touch):
    one = host()
    task, part = suspended(one, server, downloads)
    touch(part)
    one.resume([task])
    finished_right(one, downloads)
    assert [delivery.start for delivery in server.deliveries] == [0, STALL]


@pytest.mark.parametrize("change", [replace, os.unlink, shorten], ids=["replaced", "removed", "shortened"])
def test_after_a_kill_a_download_starts_from_the_beginning_if_its_part_file_was_changed(
        host, server, downloads, change):
    one = host()
    begun(one, server, downloads)
    one.kill_with_engine()
    part = part_in(downloads)
    if change is shorten:
        os.truncate(part, 10)
    else:
        change(part)
    one = host()
    one.attach()
    finished_right(one, downloads)
    assert [delivery.start for delivery in server.deliveries] == [0, 0]


def test_after_a_kill_a_download_starts_from_the_beginning_if_synced_bytes_were_changed(host, server, downloads):
    """When a task is suspended, the engine syncs the part file, and stores the length and checksum of the file. With
    the checksum, the next engine finds a change that the file's length and time do not show."""
    one = host()
    task, part = suspended(one, server, downloads)
    one.kill_with_engine()
    flip_and_hide_it(part)
    one = host()
    one.attach()
    one.resume([task])
    finished_right(one, downloads)
    assert [delivery.start for delivery in server.deliveries] == [0, 0]


def test_after_a_kill_a_download_continues_from_its_part_file(host, store, server, downloads):
    one = host()
    begun(one, server, downloads)
    wait_for_checkpoint(store)
    one.kill_with_engine()
    one = host()
    one.attach()
    finished_right(one, downloads)
    assert server.deliveries[1].start > 0


def test_a_part_file_has_an_unpredictable_name_and_only_its_owner_can_read_it(host, server, downloads):
    one = host()
    begun(one, server, downloads)
    part = part_in(downloads)
    assert len(part.name.split("-")[-1]) >= len("0123456789ab.part")
    assert stat.S_IMODE(part.stat().st_mode) == 0o600


def garble_tail(path):
    with open(path, "r+b") as file:
        file.seek(-100, os.SEEK_END)
        file.write(bytes(50))


@pytest.mark.parametrize("change", [append, garble_tail, shorten], ids=["grown", "garbled", "shortened"])
def test_after_a_kill_the_downloaded_file_is_right_even_if_unsynced_bytes_of_the_part_file_have_changed(
        host, server, downloads, change):
    """A file system that became read-only after an error may lose or add unsynced bytes, even without a reboot."""
    one = host()
    begun(one, server, downloads)
    one.kill_with_engine()
    change(part_in(downloads))
    one = host()
    one.attach()
    finished_right(one, downloads)


def test_after_a_kill_a_download_continues_from_its_last_write(host, server, downloads, store):
    one = host()
    begun(one, server, downloads)
    wait_for_checkpoint(store)
    inode = part_in(downloads).stat().st_ino
    until(lambda: recorded_lengths(store).get(inode), lambda length: length == STALL)
    one.kill_with_engine()
    one = host()
    one.attach()
    finished_right(one, downloads)
    assert [delivery.start for delivery in server.deliveries] == [0, STALL]
