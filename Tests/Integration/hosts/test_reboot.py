"""After a power loss, the engine, which runs the downloads, uses only synced bytes. In debug builds, the variable
BACKHAUL_BOOT sets the id of the boot."""

import os
import sqlite3
from contextlib import closing

import pytest

from backhaul import TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.checkpoints import wait_for_checkpoint
from testbed.host import until

CONTENT = Content(6_000_000)
PART = 4_500_000


def part_file(downloads):
    (name,) = os.listdir(downloads)
    return downloads / name


def synced_offset(store):
    """Returns how many bytes of the part file were synced, according to the database of the killed engine."""
    with closing(sqlite3.connect(store / "backhaul.sqlite3")) as database:
        return database.execute("SELECT synced_offset FROM checkpoints").fetchone()[0]


@pytest.fixture
def interrupted(host, debug_library, misbehaving, downloads, store):
    """Starts a download, and kills the host in the middle of the download. Returns a function that opens the store
    again. The argument of this function is the simulated id of the boot."""
    def start(boot):
        return host(environment={"BACKHAUL_LIBRARY": str(debug_library), "BACKHAUL_BOOT": boot})

    url = misbehaving.serve("/a", CONTENT, [Behaviour(stall_after=PART)])
    one = start("first-boot")
    one.session(first_delay_ms=50)
    one.download(url, downloads / "a")
    until(lambda: [file.stat().st_size for file in downloads.iterdir()], lambda sizes: sizes == [PART])
    wait_for_checkpoint(store, synced=1 << 20)
    one.kill()
    return start


def finish(one):
    one.attach()
    ended = one.wait_for()[0]
    assert ended.state is TaskState.SUCCEEDED, ended.error_message


def test_the_unsynced_end_of_a_part_file_is_fetched_again_after_a_reboot(interrupted, misbehaving, downloads, store):
    synced = synced_offset(store)
    part = part_file(downloads)
    assert 1 << 20 <= synced <= PART
    # After a power cut, the file may have another length, and wrong bytes after the synced bytes.
    with open(part, "r+b") as file:
        file.truncate(PART + 100_000)
        file.seek(synced)
        file.write(os.urandom(PART + 100_000 - synced))
    finish(interrupted("second-boot"))
    assert misbehaving.log()[-1].offset == synced
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_after_a_reboot_the_file_is_right_although_its_part_file_lost_synced_bytes(
        interrupted, misbehaving, downloads, store):
    """Here the file system has lost some of the synced bytes."""
    os.truncate(part_file(downloads), 700_000)
    finish(interrupted("second-boot"))
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_after_a_kill_without_a_reboot_a_download_resumes_from_its_last_write(interrupted, misbehaving, downloads):
    written = part_file(downloads).stat().st_size
    finish(interrupted("first-boot"))
    assert misbehaving.log()[-1].offset == written
    assert sha256_of(downloads / "a") == CONTENT.sha256
