"""The daemon dies at a point that the test names, and the power fails. Nothing that was promised is lost."""

import contextlib
import itertools
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from backhaul import Application, Timeout
from backhaul.testing import Point, Testbed

CONTENT = bytes(range(256)) * 1_000
NAMED = [point for point in Point if point is not Point.STEP]


def photos(url, folder):
    """A host that downloads a file, and writes a line for each event that it gets."""
    with Application("org.example.photos") as application, application.session("gallery") as session:
        session.download(url, folder / "1.jpg", key="1")
        for event in session.events():
            with (folder / "events").open("a") as file:
                file.write(f"{event.id}\n")
            event.acknowledge()
            if event.is_session_finished:
                break
        session.complete()


#: A test that downloads a file after a boot.
AFTER_BOOT = """
from backhaul.testing import Testbed
with Testbed() as bed, bed.application("org.example.test") as application, application.session("s") as session:
    bed.start_daemon()
    bed.fail_power()
    file = bed.serve("/file", b"content")
    file.refuse(503, {"Retry-After": "3600"})
    session.download(file.url, bed.directory / "file")
    file.wait_for_requests(1)
    bed.pass_time(3700)
    assert next(event for event in session.events() if event.is_task_ended).succeeded
"""


def check(bed):
    """The file has arrived, and each event is there. Only the last one may have come twice."""
    assert (bed.directory / "1.jpg").read_bytes() == CONTENT
    assert sorted(set((bed.directory / "events").read_text().split())) == ["1", "2"]


@pytest.mark.parametrize("point", NAMED)
def test_a_host_does_not_notice_that_the_daemon_dies(backhaul_testbed, point):
    file = backhaul_testbed.serve("/1.jpg", CONTENT)
    backhaul_testbed.kill_daemon(at=point)
    backhaul_testbed.start(photos, file.url, backhaul_testbed.directory).wait()
    assert backhaul_testbed.daemon_died
    assert [request.status for request in file.requests] == [200]
    check(backhaul_testbed)


def gets_an_event(url, folder):
    """A host that ends after one event."""
    with Application("org.example.photos") as application, application.session("gallery") as session:
        session.download(url, folder / "1.jpg", key="1")
        next(session.events()).acknowledge()


@pytest.mark.parametrize("point", [Point.RECEIVED, Point.PLACED, Point.ENDED])
def test_a_point_is_reached_in_a_folder_outside_the_testbed(backhaul_testbed, session, tmp_path, point):
    backhaul_testbed.kill_daemon(at=point)
    session.download(backhaul_testbed.serve("/1.jpg", CONTENT).url, tmp_path / "1.jpg")
    backhaul_testbed.wait_for_death()
    assert next(event for event in session.events() if event.is_task_ended).succeeded


def stored(bed, table):
    """The number of rows of a table, in a copy of the database."""
    with tempfile.TemporaryDirectory() as copy:
        shutil.copytree(bed.store, copy, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.sock*", "socket"))
        with contextlib.closing(sqlite3.connect(next(Path(copy).glob("*.sqlite3")))) as database:
            return database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]


@pytest.mark.parametrize("point, has_file, tasks, events", [
    (Point.ENQUEUED, False, 1, 0),
    (Point.RECEIVED, False, 1, 0),
    (Point.PLACED, True, 1, 0),
    (Point.ENDED, True, 1, 2),
    (Point.ACKNOWLEDGED, True, 0, 1),
])
def test_at_a_point_the_disk_has_what_the_point_says(backhaul_testbed, point, has_file, tasks, events):
    bed = backhaul_testbed
    file = bed.serve("/1.jpg", CONTENT)
    file.stall(at=1)
    bed.kill_daemon(at=point)
    host = bed.start(gets_an_event, file.url, bed.directory)
    if point is not Point.ENQUEUED:
        file.wait_for_bytes(1)
        if point is not Point.ACKNOWLEDGED:
            host.kill()
        file.release()
    bed.wait_for_death()
    host.kill()
    bed.kill_daemon()
    assert (bed.directory / "1.jpg").exists() is has_file
    assert (stored(bed, "tasks"), stored(bed, "events")) == (tasks, events)


def test_a_daemon_dies_at_the_given_count(backhaul_testbed, session):
    bed = backhaul_testbed
    bed.kill_daemon(at=Point.RECEIVED, count=2)
    with pytest.raises(Timeout, match="no daemon has come to its point"):
        bed.wait_for_death(timeout=0.01)
    for number, has_died in enumerate([False, True, True]):
        session.download(bed.serve(f"/{number}", CONTENT).url, bed.directory / str(number))
        next(event for event in session.events() if event.is_task_ended).acknowledge()
        assert bed.daemon_died is has_died


@pytest.mark.parametrize("point", [{"at": 0}, {"at": Point.ENDED, "count": 0}])
def test_a_count_begins_at_1(backhaul_testbed, point):
    with pytest.raises(ValueError, match="the daemon cannot die at 0; give 1 or more"):
        backhaul_testbed.kill_daemon(**point)


def test_a_host_loses_nothing_at_any_step():
    for step in itertools.count(1, 10):
        with Testbed() as bed:
            file = bed.serve("/1.jpg", CONTENT)
            bed.kill_daemon(at=step)
            bed.start(photos, file.url, bed.directory).wait()
            check(bed)
            if not bed.daemon_died:
                break
    assert step > 20


# ---- The power


def test_the_bytes_that_were_not_synced_are_lost(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    file.stall(at=100_000)
    file.stall(at=100_000)
    session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_bytes(100_000)
    backhaul_testbed.pass_time(0)
    backhaul_testbed.fail_power()
    file.wait_for_requests(2)
    assert [request.offset for request in file.requests] == [0, 0]
    file.release()
    assert next(event for event in session.events() if event.is_task_ended).succeeded
    assert (backhaul_testbed.directory / "file").read_bytes() == CONTENT


def test_the_machine_boots(backhaul_testbed, session):
    """A delay ends with the boot, because the boot's clock measures it."""
    file = backhaul_testbed.serve("/file", CONTENT)
    file.refuse(503, {"Retry-After": "7200"})
    session.download(file.url, backhaul_testbed.directory / "file")
    file.wait_for_requests(1)
    backhaul_testbed.pass_time(timedelta(hours=1))
    backhaul_testbed.kill_daemon()
    backhaul_testbed.start_daemon()
    assert len(file.requests) == 1
    backhaul_testbed.fail_power()
    assert next(event for event in session.events() if event.is_task_ended).succeeded
    assert len(file.requests) == 2


def test_the_power_fails_again(backhaul_testbed, session):
    """The host in the process of the test starts a daemon at once, also while the power is off."""
    bed, file = backhaul_testbed, backhaul_testbed.directory / "file"
    file.write_bytes(b"old")
    assert not list(session.tasks())
    # Zeros at its end make the journal long, so the daemon starts before the kit has read it.
    os.truncate(bed.directory / "journal", 500_000_000)
    bed.fail_power()
    bed.kill_daemon(at=Point.PLACED)
    session.download(bed.serve("/file", CONTENT).url, file, if_exists="replace")
    bed.wait_for_death()
    bed.fail_power()
    assert next(event for event in session.events() if event.is_task_ended).succeeded


def test_the_machine_was_suspended_before_the_test(tmp_path):
    """Its boot clock, which counts this time, is ahead of its monotonic clock."""
    command = ["unshare", "--time", "--boottime", "1000000", "--fork", sys.executable, "-c", AFTER_BOOT]
    if os.geteuid():
        command[1:1] = ["--user", "--map-root-user"]
    if subprocess.run([*command[:-3], "true"], capture_output=True, check=False).returncode:
        pytest.skip("there are no namespaces of clocks here")
    subprocess.run(command, check=True, timeout=60)


@pytest.mark.parametrize("point", NAMED)
def test_a_host_loses_nothing_if_the_power_fails(backhaul_testbed, point):
    bed = backhaul_testbed
    file = bed.serve("/1.jpg", CONTENT)
    bed.kill_daemon(at=point)
    bed.start(photos, file.url, bed.directory)
    bed.wait_for_death()
    bed.fail_power()
    bed.start(photos, file.url, bed.directory).wait()
    check(bed)


#: Changes of files, with the files that a disk has after a failure of the power: names and contents.
CHANGES = {
    "make('a', 'one')": {},
    "make('a', 'one'); sync('a')": {"a": "one"},
    "make('a', 'one'); sync('.')": {"a": ""},
    "make('a', 'one'); sync('a'); append('a', 'two')": {"a": "one"},
    "make('a', 'one'); sync('a'); append('a', 'two'); sync('a'); put('a', 1, 'xx')": {"a": "onetwo"},
    "make('a', 'one'); sync('a'); cut('a', 1); append('a', 'two')": {"a": "one"},
    "make('a', 'one'); sync('a'); make('a', 'two')": {"a": "one"},
    "append('old', 'x'); put('old', 0, 'y'); append('old', 'z')": {},
    "append('old', 'x'); sync('old')": {"old": "oldx"},
    "os.unlink('old')": {},
    "os.unlink('old'); sync('.')": {"old": None},
    "os.rename('old', 'new')": {},
    "os.rename('old', 'new'); sync('.')": {"old": None, "new": "old"},
    "make('a', 'one'); sync('a'); os.rename('a', 'old')": {"a": "one"},
    "make('a', 'one'); sync('a'); os.rename('a', 'old'); sync('.')": {"old": "one"},
    "make('a', 'one'); sync('a'); os.rename('a', 'old'); append('old', 'x')": {"a": "one"},
    "make('a', 'one'); os.rename('a', 'b'); sync('b')": {"a": "one"},
    "make('a', 'one'); sync('a'); os.link('a', 'b')": {"a": "one"},
    "os.mkdir('d'); make('d/a', 'one'); sync('d/a')": {"d/a": "one"},
    "os.mkdir('d'); make('d/a', 'one'); os.rename('d/a', 'b'); sync('.')": {"b": ""},
    "os.mkdir('d'); make('d/a', 'one'); sync('d/a'); os.rename('d', 'e')": {"d/a": "one"},
    "os.mkdir('d'); make('d/a', 'one'); sync('d/a'); os.rename('d', 'e'); sync('.')": {"e/a": "one"},
    "os.link('old', 'b'); os.unlink('old'); assert os.stat('b').st_nlink == 1": {},
    "os.link('old', 'b'); os.unlink('old'); sync('.'); assert os.stat('b').st_nlink == 1": {"old": None, "b": "old"},
    "os.link('old', 'b'); os.unlink('old'); os.unlink('b')": {},
    "os.unlink('old'); make('old', 'new'); sync('old')": {"old": "new"},
}
#: Runs in the folder of the first argument, with the preloaded library.
PROGRAM = """
import errno, fcntl, os, sys, threading
def opened(path, flags, work):
    file = os.open(path, flags, 0o600)
    work(file)
    os.close(file)
def make(path, text): opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, lambda file: os.write(file, text.encode()))
def append(path, text): opened(path, os.O_WRONLY | os.O_APPEND, lambda file: os.write(file, text.encode()))
def put(path, start, text): opened(path, os.O_WRONLY, lambda file: os.pwrite(file, text.encode(), start))
def cut(path, size): opened(path, os.O_WRONLY, lambda file: os.ftruncate(file, size))
def sync(path): opened(path, os.O_RDONLY, os.fsync)
os.chdir(sys.argv[1])
exec(sys.argv[2])
print("done", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def folder(backhaul_testbed):
    folder = backhaul_testbed.directory / "folder"
    folder.mkdir()
    (folder / "old").write_text("old")
    return folder


@contextlib.contextmanager
def changed(bed, folder, changes):
    """A program that has made the changes, and still runs."""
    preload = os.path.join(os.path.dirname(os.environ["BACKHAUL_LIBRARY"]), "backhaul", "backhaul-testbed.so")
    environment = {**os.environ, **bed.environment, "LD_PRELOAD": os.path.realpath(preload)}
    with subprocess.Popen([sys.executable, "-c", PROGRAM, folder, changes], env=environment, text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program:
        assert program.stdout.readline() == "done\n"
        yield program


def left(folder):
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("changes", CHANGES)
def test_a_failure_of_the_power_leaves_what_was_synced(backhaul_testbed, folder, changes):
    with changed(backhaul_testbed, folder, changes):
        backhaul_testbed.fail_power()
    expected = {name: text for name, text in {"old": "old", **CHANGES[changes]}.items() if text is not None}
    assert left(folder) == expected


def test_a_file_that_another_program_has_put_in_its_place_stays(backhaul_testbed, folder):
    with changed(backhaul_testbed, folder, "make('a', 'one'); os.unlink('old')"):
        for name in ("a", "old"):
            (folder / ("own " + name)).write_text("own")
        for name in ("a", "old"):
            (folder / ("own " + name)).rename(folder / name)
        backhaul_testbed.fail_power()
    assert left(folder) == {"a": "own", "old": "own"}


#: A clone would share blocks that the journal does not have. FICLONE has this number (ioctl_ficlone(2)).
CLONE = """
try: opened('old', os.O_WRONLY, lambda file: fcntl.ioctl(file, 0x40049409, -1))
except OSError as error: assert error.errno == errno.EOPNOTSUPP, error
"""


def test_files_do_not_share_blocks(backhaul_testbed, folder):
    with changed(backhaul_testbed, folder, CLONE):
        pass


#: A file is placed during a sync of the log. A sync has begun when the journal has its record.
PLACED_DURING_A_SYNC = """
make('log-wal', 'x' * 64_000_000)
make('.backhaul-1-1.part', 'one')
size = os.stat('../journal').st_size
syncing = threading.Thread(target=sync, args=['log-wal'])
syncing.start()
while os.stat('../journal').st_size == size: pass
os.rename('.backhaul-1-1.part', 'file')
syncing.join()
"""


def test_a_task_has_not_ended_with_a_sync_that_began_before_its_file_was_placed(backhaul_testbed, folder):
    backhaul_testbed.kill_daemon(at=Point.ENDED)
    with changed(backhaul_testbed, folder, PLACED_DURING_A_SYNC):
        assert not backhaul_testbed.daemon_died
    backhaul_testbed.kill_daemon(at=Point.ENDED)
    with changed(backhaul_testbed, folder, "make('.backhaul-1-2.part', 'one'); os.rename('.backhaul-1-2.part', 'b')") \
            as program:
        assert not backhaul_testbed.daemon_died
        program.kill()


@pytest.mark.parametrize("missing", [1, 80])
def test_a_change_whose_record_is_incomplete_is_kept_and_the_others_are_lost(backhaul_testbed, folder, missing):
    """A daemon is killed while it appends a record of 88 bytes."""
    journal = backhaul_testbed.directory / "journal"
    with changed(backhaul_testbed, folder, "make('a', 'one'); sync('a'); append('a', 'two')") as program:
        program.kill()
    os.truncate(journal, journal.stat().st_size - missing)
    with changed(backhaul_testbed, folder, "append('a', 'three'); put('old', 0, 'x')"):
        backhaul_testbed.fail_power()
    assert left(folder) == {"a": "onetwo", "old": "old"}
