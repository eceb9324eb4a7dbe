"""The order in which an engine syncs its files, renames them, and commits to its database. The tests read this order
from the engine's system calls."""

import os
import re
import shutil
import signal
import subprocess
from contextlib import contextmanager

import pytest

from backhaul import Request, TaskState
from servers.content import Content
from wal import SyncedDatabase

FILES = 24
CALL = re.compile(r"^(?P<process>\d+) +(?P<call>\w+)\((?P<arguments>.*)\) += (?P<result>-?\d+)")
STARTED = re.compile(r"^(?P<process>\d+) +(?P<call>\w+)\((?P<arguments>.*) <unfinished \.\.\.>$")
RESUMED = re.compile(r"^(?P<process>\d+) +<\.\.\. \w+ resumed>(?P<arguments>.*)\) += (?P<result>-?\d+)")
DESCRIPTOR = re.compile(r"^\d+<(?P<path>[^>]*)>")
ENDED = "SELECT destination FROM tasks WHERE ended_ms IS NOT NULL"


@contextmanager
def traced(process, file):
    # The longest traced write is a write to the log, with up to 64 KiB.
    calls = "trace=pwrite64,fsync,fdatasync,syncfs,renameat2"
    strace = subprocess.Popen(
        ["strace", "-f", "-y", "-xx", "-s", "70000", "-e", calls, "-o", file, "-p", str(process)],
        stderr=subprocess.PIPE, text=True)
    first = strace.stderr.readline()
    if "attached" not in first:
        strace.wait()
        pytest.skip(f"strace cannot attach: {first.strip()}")
    yield
    strace.send_signal(signal.SIGINT)
    strace.communicate()


def calls(trace):
    """Yields each system call that succeeded: its name, the path of its descriptor, and its arguments. The calls are in
    the order in which they returned."""
    started = {}
    with open(trace) as lines:
        for line in lines:
            if match := STARTED.match(line):
                started[match["process"]] = match["call"], match["arguments"]
            elif match := RESUMED.match(line):
                call, arguments = started.pop(match["process"])
                if int(match["result"]) >= 0:
                    yield call, path_of(arguments), arguments + match["arguments"]
            elif (match := CALL.match(line)) and int(match["result"]) >= 0:
                yield match["call"], path_of(match["arguments"]), match["arguments"]


def path_of(arguments):
    """Returns the path of the descriptor in the first argument. With -xx, strace writes each byte as an escape
    sequence."""
    found = DESCRIPTOR.match(arguments)
    return unescaped(found["path"]).decode() if found else None


def unescaped(text):
    return re.sub(r"\\x([0-9a-f]{2})", lambda match: chr(int(match[1], 16)), text).encode("latin-1")


class DurableFiles:
    """Computes from the system calls so far which files and names would survive a power failure."""

    def __init__(self, folder):
        self.folder, self.dirty, self.synced, self.renamed, self.durable = str(folder), set(), set(), set(), set()

    def note(self, call, path, arguments):
        if call == "pwrite64" and path.startswith(f"{self.folder}/"):
            self.dirty.add(os.path.basename(path))
            self.synced.discard(os.path.basename(path))
        elif call in ("fsync", "fdatasync") and path == self.folder:
            self.durable |= self.renamed
        elif call in ("fsync", "fdatasync") and path.startswith(f"{self.folder}/"):
            self.synced.add(os.path.basename(path))
        elif call == "syncfs":
            self.synced |= self.dirty
            self.durable |= self.renamed
        elif call == "renameat2":
            old, new = (unescaped(name).decode() for name in re.findall(r'"([^"]*)"', arguments))
            assert old in self.synced, f"{new} got its name before its bytes were synced"
            self.renamed.add(f"{self.folder}/{new}")


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("dirty", [0, 64 << 20], ids=["few dirty pages", "many dirty pages"])
@pytest.mark.parametrize("size", [10_000, 700_000], ids=["one step", "several steps"])
def test_the_end_of_a_task_is_committed_only_after_its_file_and_its_name_are_synced(
        host, misbehaving, store, place, downloads, tmp_path, size, dirty):
    one = host()
    one.session(connections_per_origin=FILES)
    urls = [misbehaving.serve(f"/{number}", Content(size, number)) for number in range(FILES)]
    # The engine uses syncfs(2) only while other programs have few dirty pages.
    os.sync()
    (place / "others").write_bytes(bytes(dirty))
    database = SyncedDatabase(store, tmp_path)
    with traced(one.pid, tmp_path / "trace"):
        one.enqueue([Request(url, downloads / str(number)) for number, url in enumerate(urls)])
        events = [event for event in one.wait_for() if event.task_id]
    assert [event.state for event in events] == [TaskState.SUCCEEDED] * FILES
    files, ended, before = DurableFiles(downloads), set(), None
    for call, path, arguments in calls(tmp_path / "trace"):
        if path is None or not path.startswith(f"{store}/"):
            files.note(call, path, arguments)
        elif call == "pwrite64" and path.endswith("-wal"):
            # The kernel may write these bytes of SQLite's log to the disk even before the next sync of the log. So a
            # file counts only if it was durable before the first of the writes that this sync covers.
            before = set(files.durable) if before is None else before
            data, _, offset = arguments.split(", ", 1)[1].rsplit(", ", 2)
            database.write(int(offset), unescaped(data.strip('"')))
        elif call == "fdatasync" and path.endswith("-wal"):
            database.sync()
            now = {destination for (destination,) in database.query(ENDED)}
            assert now <= (before or set()), "an end was committed before its file and its name were synced"
            ended, before = ended | now, None
    assert len(ended) == FILES
