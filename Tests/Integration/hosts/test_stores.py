"""Stores that cannot be opened, cannot be written, or become unusable."""

import os
import sqlite3
import subprocess
import threading

import pytest

from backhaul import LaunchCommand, Reason, Request, Status, StoreError, TaskState
from servers.content import Content, sha256_of
from servers.hung import FreezingDisk
from servers.paced import PacedServer
from testbed.host import Host, until

#: The id of a user and of a group without the rights of root.
OTHER_ID = 65534
DATABASE = "backhaul.sqlite3"


@pytest.fixture
def used_store(host, store, downloads):
    """A store with a session and a task. No process has the store open."""
    one = host()
    one.session()
    one.download("http://127.0.0.1:9/a", downloads / "a", suspended=True)
    one.close()
    one.end()
    return store


@pytest.fixture
def unprivileged(host, place):
    """Returns a function that starts hosts without root's rights, because permissions do not restrict root."""
    def start(**options):
        one = host(opened=False, **options)
        if os.geteuid() == 0:
            for path in [place, *place.rglob("*")]:
                os.chown(path, OTHER_ID, OTHER_ID)
            one.drop_privileges(OTHER_ID, OTHER_ID)
        return one

    return start


def refused(one):
    with pytest.raises(StoreError) as caught:
        one.open()
    return caught.value.status


def test_a_store_that_cannot_be_written_is_refused(used_store, unprivileged):
    one = unprivileged()
    for path in used_store.iterdir():
        path.chmod(0o500 if path.is_dir() else 0o400)
    used_store.chmod(0o500)
    try:
        assert refused(one) is Status.STORE_READ_ONLY
    finally:
        used_store.chmod(0o700)


def test_a_store_in_a_directory_that_cannot_be_written_is_refused(place, unprivileged):
    one = unprivileged()
    place.chmod(0o500)
    try:
        assert refused(one) in (Status.STORE_UNAVAILABLE, Status.STORE_READ_ONLY)
    finally:
        place.chmod(0o700)


def test_a_store_of_another_user_is_refused(used_store, host):
    if os.geteuid() != 0:
        pytest.skip("only root can give a directory away")
    os.chown(used_store, OTHER_ID, OTHER_ID)
    assert refused(host(opened=False)) is Status.STORE_UNAVAILABLE


def test_a_store_that_other_users_may_enter_is_refused(used_store, host):
    used_store.chmod(0o755)
    with pytest.raises(StoreError, match="(?i)mode|permission|0700") as caught:
        host()
    assert caught.value.status is Status.STORE_UNAVAILABLE
    assert used_store.stat().st_mode & 0o777 == 0o755


def test_a_destination_that_the_user_cannot_write_is_refused(host, unprivileged, place, store):
    locked = place / "locked"
    locked.mkdir()
    one = unprivileged()
    locked.chmod(0o500)
    one.open()
    one.session()
    try:
        with pytest.raises(Exception) as caught:
            one.download("http://127.0.0.1:9/a", locked / "a")
        assert caught.value.status is Status.DESTINATION_UNAVAILABLE
    finally:
        locked.chmod(0o700)


@pytest.mark.parametrize("damage", ["header", "truncated", "replaced", "empty directory in its place"])
def test_a_damaged_store_is_reported_and_not_changed(used_store, host, damage):
    database = used_store / DATABASE
    for sidecar in (f"{DATABASE}-wal", f"{DATABASE}-shm"):
        # A WAL file could have a copy of the content that the test damages. SQLite would read this copy, and would not
        # find the damage.
        assert not (used_store / sidecar).exists()
    content = database.read_bytes()
    if damage == "header":
        database.write_bytes(b"\0" * 100 + content[100:])
    elif damage == "truncated":
        database.write_bytes(content[:len(content) // 2 // 512 * 512 + 100])
    elif damage == "replaced":
        database.write_bytes(b"Dear diary,\n" * 1_000)
    else:
        database.unlink()
        database.mkdir()
    before = None if database.is_dir() else database.read_bytes()
    one = host(opened=False)
    try:
        one.open()
        one.attach()
        list(one.tasks())
    except StoreError as error:
        assert error.status in (Status.STORE_DAMAGED, Status.STORE_UNAVAILABLE)
    else:
        pytest.fail("no error was raised")
    if before is not None and damage in ("header", "replaced"):
        assert database.read_bytes() == before


def test_a_store_with_a_newer_schema_version_is_refused(used_store, host):
    database = sqlite3.connect(used_store / DATABASE)
    version = database.execute("PRAGMA user_version").fetchone()[0]
    database.execute(f"PRAGMA user_version = {version + 1}")
    database.close()
    assert refused(host(opened=False)) is Status.STORE_NEWER


def test_a_database_of_another_program_is_refused(place, store, host):
    store.mkdir(mode=0o700)
    database = sqlite3.connect(store / DATABASE)
    database.execute("CREATE TABLE recipes (name TEXT)")
    database.commit()
    database.close()
    (store / DATABASE).chmod(0o600)
    assert refused(host(opened=False)) is Status.STORE_DAMAGED


def test_several_hosts_can_open_a_new_store_at_the_same_time(host):
    hosts = [host(opened=False) for _ in range(6)]
    for number, one in enumerate(hosts):
        one.begin("open", one._store, f"org.example.n{number}")
    for one in hosts:
        one.finish()
    assert all(one.session() for one in hosts)


@pytest.fixture
def small_disk(place):
    """A file system of 4 MiB."""
    mounted = place / "small"
    mounted.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,mode=0700", "tmpfs", mounted], check=False,
                          capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mounting needs more rights: {done.stderr.strip()}")
    yield mounted
    subprocess.run(["umount", "-l", mounted], check=False)


def fill(disk):
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        while True:
            try:
                if file.write(b"\0" * 4_096) < 4_096:
                    break
            except OSError:
                break
    return filler


@pytest.mark.parametrize("existing", [False, True], ids=["new", "existing"])
def test_a_store_on_a_full_disk_refuses_new_tasks_and_loses_no_task(small_disk, downloads, existing):
    one = Host(small_disk / "store")
    try:
        if existing:
            one.open()
            one.session()
            first = one.enqueue([Request(f"http://127.0.0.1:9/{i}", downloads / str(i), suspended=True)
                                 for i in range(10)])
            filler = fill(small_disk)
            with pytest.raises(StoreError) as caught:
                for batch in range(100):
                    one.enqueue([Request(f"http://127.0.0.1:9/{batch}-{i}", downloads / f"{batch}-{i}", suspended=True,
                                         user_data=b"x" * 1_000) for i in range(100)])
            assert caught.value.status is Status.STORE_FULL
            filler.unlink()
            kept = {info.id for info in one.tasks()}
            assert {result.task_id for result in first} <= kept
            assert one.enqueue([Request("http://127.0.0.1:9/later", downloads / "later", suspended=True)])[0].is_new
        else:
            fill(small_disk)
            with pytest.raises(StoreError) as caught:
                one.open()
            assert caught.value.status in (Status.STORE_FULL, Status.STORE_UNAVAILABLE)
    finally:
        one.end()


def fill_store(one, disk, folder):
    """Fills the disk of the host's store. Returns the file that occupies the space."""
    filler = fill(disk)
    # The database files still have unused space. So the store accepts some more tasks before an enqueue fails.
    with pytest.raises(StoreError):
        for number in range(10_000):
            one.enqueue([Request("http://127.0.0.1:9/", folder / f"unused-{number}", suspended=True,
                                 user_data=b"x" * 1_000)])
    return filler


def test_an_open_fails_if_the_full_store_cannot_store_its_launch_command(small_disk, downloads):
    one, two = Host(small_disk / "store").open(), Host(small_disk / "store", "org.example.launched")
    try:
        one.session()
        filler = fill_store(one, small_disk, downloads)
        command = LaunchCommand("/usr/bin/true", ["x" * 60_000])
        with pytest.raises(StoreError) as caught:
            two.open(launch=command)
        assert caught.value.status is Status.STORE_FULL
        filler.unlink()
        two.open(launch=command)
        assert [info.application for info in one.launches()] == ["org.example.launched"]
    finally:
        one.end()
        two.end()


def test_a_download_waits_while_its_store_is_full_and_then_succeeds(small_disk, downloads):
    content, is_full = Content(500_000), threading.Event()
    one = Host(small_disk / "store").open()
    # The first response ends early, after the store is full.
    with PacedServer(content, 10_000_000, lambda delivery: delivery.sent > 400_000 and is_full.wait(60)) as server:
        try:
            one.session(first_delay_ms=1, longest_delay_ms=2)
            task = one.download(server.url, downloads / "a")
            until(lambda: one.task(task), lambda info: info.offset >= 400_000)
            filler = fill_store(one, small_disk, downloads)
            is_full.set()
            info = until(lambda: seen(one, task), lambda info: info and info.reason is Reason.DISK_FULL)
            assert "store" in info.reason_text and "free some space" in info.reason_text
            filler.unlink()
            until(lambda: seen(one, task), lambda info: info and info.state is TaskState.SUCCEEDED)
            assert sha256_of(downloads / "a") == content.sha256
        finally:
            one.end()


def test_a_download_that_finishes_after_its_store_was_full_does_not_report_a_full_store(small_disk, tmp_path):
    content = Content(500_000)
    sends_rest = threading.Event()
    one = Host(small_disk / "store").open()
    with FreezingDisk(tmp_path / "disk") as disk, PacedServer(
            content, 10_000_000, lambda delivery: delivery.sent > 400_000 and not sends_rest.wait(60)) as server:
        try:
            one.session()
            task = one.download(server.url, disk.folder / "a")
            until(lambda: one.task(task), lambda info: info.offset >= 400_000)
            filler = fill_store(one, small_disk, tmp_path)
            sends_rest.set()
            until(lambda: seen(one, task), lambda info: info and info.reason is Reason.DISK_FULL)
            # All bytes have arrived. Only the rename to the file's final name is missing. The frozen disk blocks this
            # rename.
            disk.freeze()
            filler.unlink()
            info = until(lambda: seen(one, task), lambda info: info and info.reason is not Reason.DISK_FULL)
            assert info.reason is Reason.DISK
            disk.thaw()
            until(lambda: seen(one, task), lambda info: info and info.state is TaskState.SUCCEEDED)
            assert len(server.deliveries) == 1
            assert sha256_of(disk.folder / "a") == content.sha256
        finally:
            disk.thaw()
            one.end()


def seen(one, task):
    """Returns the task, or None if the call failed. The store may read the task in the same transaction in which it
    writes other data. If there is no space for the write, the call fails."""
    try:
        return one.task(task)
    except StoreError:
        return None


def test_a_task_whose_destination_is_on_a_full_disk_waits_for_space(small_disk, host, misbehaving):
    content = Content(2_000_000)
    one = host()
    one.session(first_delay_ms=50, longest_delay_ms=100)
    task = one.download(misbehaving.serve("/a", content), small_disk / "a", suspended=True)
    filler = fill(small_disk)
    one.resume([task])
    info = until(lambda: one.task(task), lambda info: info.reason is Reason.DISK_FULL)
    assert info.state is TaskState.WAITING
    assert info.reason_text
    filler.unlink()
    one.resume([task])
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(small_disk / "a") == content.sha256
