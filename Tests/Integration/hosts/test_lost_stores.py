"""Stores are damaged, removed or replaced, some of them while an engine has them open. An engine runs transfers, in
a host or in a daemon. A store is the directory with the database and the files of an engine."""

import itertools
import random
import re
import shutil
import subprocess

import pytest

from backhaul import BackhaulError, Request, Status, StoreError

from servers.behaviour import Behaviour
from servers.content import Content
from testbed.host import until
from killed_host import PROJECT
from wal import page_size

DATABASE = "backhaul.sqlite3"
LOG = "backhaul.sqlite3-wal"


def request(number, downloads):
    return Request(f"http://127.0.0.1:9/{number}", downloads / str(number), suspended=True)


def removed(name):
    def act(store):
        (store / name).unlink()

    return act


def replaced(name):
    def act(store):
        shutil.copy(store / name, store.parent / "copy")
        (store.parent / "copy").rename(store / name)

    return act


def emptied(store):
    for name in (DATABASE, LOG, "lock"):
        (store / name).unlink()


def deleted(store):
    # While `rmtree` runs, the engine may create its socket again. The store then still exists, so `rmtree` is repeated.
    while store.exists():
        shutil.rmtree(store, ignore_errors=True)


def exchanged(store):
    store.rename(store.parent / "elsewhere")
    store.mkdir(mode=0o700)


@pytest.mark.both_hostings
@pytest.mark.parametrize("act", [
    pytest.param(removed(DATABASE), id="database removed"), pytest.param(replaced(DATABASE), id="database replaced"),
    pytest.param(removed(LOG), id="log removed"), pytest.param(replaced(LOG), id="log replaced"),
    pytest.param(deleted, id="deleted"), pytest.param(exchanged, id="exchanged")])
def test_an_enqueue_into_a_store_that_was_removed_or_replaced_is_refused(host, store, downloads, act, one):
    one.enqueue([request(0, downloads)])
    act(store)
    with pytest.raises(BackhaulError, match="removed or replaced|deleted|moved away") as refused:
        one.enqueue([request(1, downloads)])
    assert refused.value.status is Status.STORE_UNAVAILABLE
    assert "open" in str(refused.value)
    # The next host uses the files that are now at the path. This host refuses the store only if the database is missing
    # and the WAL file has commits. If only the WAL file was removed, the first engine still has this file open, and
    # writes its commits to the database when the engine closes the database. A kill could prevent this write. So the
    # test kills the first host only after the next host has opened or refused the store.
    two = host(opened=False)
    try:
        until(lambda: opened(two), lambda done: done)
        one.kill()
    except StoreError as error:
        assert "has commits" in str(error)
        one.kill()
        (store / LOG).unlink()
        two = host()
    two.session()
    two.enqueue([request(2, downloads)])
    assert [info.url for info in two.tasks()][-1] == "http://127.0.0.1:9/2"


@pytest.mark.both_hostings
def test_an_enqueue_into_a_store_whose_files_were_all_removed_is_refused(host, store, downloads):
    """A daemon may notice the loss by itself and exit. The next daemon then does not know the session."""
    one = host()
    one.session()
    emptied(store)
    with pytest.raises(BackhaulError, match="removed or replaced|deleted|not attached"):
        one.enqueue([request(1, downloads)])


def opened(one):
    """Opens the host. Returns False if the previous engine still has the store."""
    try:
        one.open()
    except StoreError as error:
        if error.status is not Status.STORE_UNAVAILABLE:
            raise
        return False
    return True


def test_a_task_that_is_enqueued_into_a_moved_store_still_exists_when_the_store_is_moved_back(host, store, downloads,
                                                                                              one):
    store.rename(store.parent / "elsewhere")
    one.enqueue([request(1, downloads)])
    one.kill()
    (store.parent / "elsewhere").rename(store)
    two = host()
    two.attach()
    assert len(two.tasks()) == 1


def lose(store, *names):
    for name in names:
        (store / name).write_bytes(b"")


@pytest.mark.parametrize("names", [[DATABASE], [DATABASE, LOG]], ids=["the database", "the database and its log"])
def test_a_store_whose_database_was_emptied_after_a_kill_is_refused(host, store, misbehaving, downloads, names):
    """The WAL file with its commits, or the record of a part file, shows that the database was not empty."""
    url = misbehaving.serve("/a", Content(4_000_000), otherwise=Behaviour(stall_after=2_000_000))
    one = host()
    one.session()
    one.download(url, downloads / "a")
    until(lambda: sum(path.stat().st_size for path in downloads.iterdir()), bool)
    one.kill_with_engine()
    lose(store, *names)
    two = host(opened=False)
    with pytest.raises(StoreError, match="the database of the store is empty or gone") as refused:
        two.open()
    assert refused.value.status is Status.STORE_DAMAGED


@pytest.mark.both_hostings
def test_a_store_without_its_database_is_refused_while_it_has_the_file_of_a_download(host, store, misbehaving):
    content = Content(1_000)
    one = host()
    one.session()
    one.download(misbehaving.serve("/a", content))
    one.wait_for()
    one.kill_with_engine()
    for path in store.glob(f"{DATABASE}*"):
        path.unlink()
    with pytest.raises(StoreError, match=str(store / "kept")) as refused:
        host()
    assert refused.value.status is Status.STORE_DAMAGED
    assert [path.read_bytes() for path in (store / "kept").iterdir()] == [content.data]


@pytest.fixture
def store_with_tasks(host, store, downloads):
    """Returns the bytes of a database with 260 tasks. No process has the database open."""
    one = host()
    one.session()
    one.enqueue([request(number, downloads) for number in range(260)])
    one.close()
    one.end()
    until(lambda: (store / LOG).exists(), lambda there: not there)
    return (store / DATABASE).read_bytes()


def put(store, content):
    """Makes a store whose database has this content."""
    for path in store.iterdir():
        if path.is_file() and path.name != "lock":
            path.unlink()
    (store / DATABASE).write_bytes(content)
    (store / DATABASE).chmod(0o600)


def tasks_or_damage(host, store, content, status=Status.STORE_DAMAGED):
    """Returns the URLs of the tasks that a host finds in a database with this content. Returns None if the host reports
    a damaged store, or an error with `status`."""
    put(store, content)
    one = host(opened=False)
    try:
        one.open()
        one.attach()
        return [info.url for info in one.tasks()]
    except BackhaulError as error:
        assert error.status is status, error
        assert "put back a copy" in str(error) or status is not Status.STORE_DAMAGED
        return None
    finally:
        one.end()


def damaged(content, count, seed):
    """Returns the content with random changes of `count` bytes."""
    chosen = random.Random(seed)
    content = bytearray(content)
    for _ in range(count):
        content[chosen.randrange(len(content))] ^= chosen.randrange(1, 256)
    return content


@pytest.mark.parametrize("count", [1, 64])
def test_with_random_bytes_in_the_database_a_host_reports_damage_or_finds_all_tasks(
        host, store, store_with_tasks, count, pytestconfig):
    for seed in range(pytestconfig.getoption("--damages") // 2):
        found = tasks_or_damage(host, store, damaged(store_with_tasks, count, seed))
        assert found in (None, [f"http://127.0.0.1:9/{number}" for number in range(260)]), f"seed {seed}"


def repair(store, *prefix):
    """Returns the exit code of the command line and the lines that it prints. The words of `prefix` precede the
    command."""
    done = subprocess.run([*prefix, PROJECT / "build" / "bin" / "backhaul", "doctor", "--repair", "--store", store],
                          check=False, capture_output=True, text=True)
    return done.returncode, done.stdout.splitlines()


@pytest.mark.parametrize("count", [1, 16])
def test_after_random_bytes_in_the_database_a_repair_keeps_each_task_or_reports_its_loss(
        host, store, store_with_tasks, count, pytestconfig):
    for seed in range(pytestconfig.getoption("--damages") // 4):
        put(store, damaged(store_with_tasks, count, seed))
        code, lines = repair(store)
        assert code in (0, 1), f"seed {seed}"
        found = tasks_or_damage(host, store, (store / DATABASE).read_bytes(), Status.NOT_FOUND)
        lost = set(range(260)) - {int(url.rpartition("/")[2]) for url in found or []}
        assert all(reports(lines, number + 1) for number in lost), f"seed {seed}: {sorted(lost)}, {lines}"
        assert code == 1 or not lost, f"seed {seed}"


def reports(lines, task):
    """Whether the output of a repair names the task, a range of tasks that has it, or the loss of the session."""
    if any(line.startswith(f"warning: task {task} ") for line in lines):
        return True
    for line in lines:
        if "of the table `sessions`" in line:
            return True
        if "of the table `tasks`" in line:
            numbers = [[int(word) for word in part.replace("and higher", "1000000").split() if word.isdigit()]
                       for part in line.split(",")]
            if any(range_ and range_[0] <= task <= range_[-1] for range_ in numbers):
                return True
    return False


NEEDS_STRACE = pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")


@NEEDS_STRACE
def test_a_repair_that_was_killed_between_two_moves_prints_its_losses_when_it_is_repeated(
        store, store_with_tasks, tmp_path):
    content = damaged(store_with_tasks, 16, 1)
    put(store, content)
    repair(store, "strace", "-f", "-o", tmp_path / "trace", "-e", "inject=renameat2:signal=KILL:when=2")
    assert not (store / DATABASE).exists()
    code, lines = repair(store)
    assert code == 1
    assert [line.partition(":")[0] for line in lines] == ["warning"] * (len(lines) - 1) + ["ok"]
    assert (store / "damaged-1" / DATABASE).read_bytes() == content
    assert repair(store)[0] == 0


@NEEDS_STRACE
def test_a_repair_syncs_the_new_name_of_the_damaged_database_before_it_syncs_the_removal_of_the_old_name(
        store, store_with_tasks, tmp_path):
    put(store, damaged(store_with_tasks, 16, 1))
    repair(store, "strace", "-f", "-y", "-e", "trace=renameat2,fsync", "-o", tmp_path / "trace")
    calls = (tmp_path / "trace").read_text()
    after = calls[calls.index(f'"damaged-1/{DATABASE}"'):]
    assert re.findall(r"fsync\(\d+<([^>]*)>", after)[:2] == [f"{store}/damaged-1", str(store)]


@NEEDS_STRACE
def test_if_the_disk_cannot_read_a_page_a_repair_saves_the_rows_of_the_other_pages(
        host, store, store_with_tasks, tmp_path):
    put(store, store_with_tasks)
    code, lines = repair(store, "strace", "-f", "-o", tmp_path / "trace", "-P", store / DATABASE, "-e",
                         "inject=pread64:error=EIO:when=1..2")
    assert (code, lines[0]) == (1, f"warning: pages of the file {DATABASE} that the disk cannot read: 1")
    assert len(tasks_or_damage(host, store, (store / DATABASE).read_bytes())) == 260


def test_a_repair_that_cannot_write_all_bytes_of_its_copy_reports_why(store, store_with_tasks):
    """The kernel writes the bytes up to the limit of a file's size, and then reports the error."""
    put(store, store_with_tasks)
    code, lines = repair(store, "sh", "-c", 'ulimit -f 128 && exec "$@" 2>&1', "sh")
    assert len(store_with_tasks) > 128 * 512
    assert code == 6
    assert (f"backhauld: the store's {DATABASE} cannot be written: File too large; raise the limit of a file's size "
            "(ulimit -f)") in lines
    assert (store / DATABASE).read_bytes() == store_with_tasks


def test_the_error_for_a_damaged_store_names_the_damaged_page(host, store, store_with_tasks, hosting):
    content = bytearray(store_with_tasks)
    size = page_size(content)
    for page in range(size, len(content), size):
        content[page + size - 48] ^= 1
    (store / DATABASE).write_bytes(content)
    with pytest.raises(StoreError, match=r"its page \d+ does not match its checksum") as raised:
        host()
    assert raised.value.status is Status.STORE_DAMAGED
    assert (store / DATABASE).read_bytes() == content


@NEEDS_STRACE
def test_the_directory_of_a_new_store_is_synced_after_its_folders_are_created(host, store, tmp_path):
    trace = tmp_path / "trace"
    one = host(prefix=["strace", "-f", "-y", "-e", "trace=mkdirat,fsync", "-o", trace])
    one.session()
    one.end()
    calls = [line.split(maxsplit=1)[1] for line in trace.read_text().splitlines() if f"<{store}>" in line]
    for folder in ("kept", "bodies"):
        made = next(number for number, call in enumerate(calls) if call.startswith("mkdirat") and f'"{folder}"' in call)
        assert any(call.startswith("fsync") and call.endswith("= 0") for call in calls[made:]), folder


@NEEDS_STRACE
def test_an_engine_syncs_the_directories_above_its_store_although_it_has_not_made_them(host, store, tmp_path):
    store.mkdir(mode=0o700)
    trace = tmp_path / "trace"
    one = host(prefix=["strace", "-f", "-y", "-e", "trace=fsync", "-o", trace])
    one.session()
    one.end()
    synced = re.findall(r"fsync\(\d+<([^>]*)>", trace.read_text())
    device = store.stat().st_dev
    assert str(store) in synced
    for above in itertools.takewhile(lambda above: above.stat().st_dev == device, store.parents):
        assert synced.count(str(above)) == 1, above


@NEEDS_STRACE
@pytest.mark.parametrize("error", ["EINVAL", "ENOSYS"])
def test_a_store_can_be_used_on_a_file_system_without_a_sync_of_directories(host, store, tmp_path, error):
    one = host(prefix=["strace", "-f", "-o", tmp_path / "trace", "-e", "trace=fsync", "-e",
                       f"inject=fsync:error={error}"])
    one.session()
    one.end()
    assert {"kept", "bodies"} <= {folder.name for folder in store.iterdir()}
