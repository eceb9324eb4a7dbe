"""The program of `make demo` is started three times, and the first process is killed. The daemon, a separate process,
continues the downloads and then starts the program again, as the README says. After each start, all files arrive."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest
from daemons import end_daemons
from kill_and_resume import digest
from pausing_server import PausingServer
from servers import child
from testbed.host import until

PROGRAM = Path(__file__).resolve().parents[3] / "build" / "examples" / "collection"
SIZES = {"moon.jpg": 2_000_000, "sun.jpg": 1_000}


class Collection:
    def __init__(self, folder):
        self.store, self.log, self.list = folder / "store", folder / "log", folder / "list"
        self.target = folder / "files"
        self.target.mkdir()

    def start(self):
        return child.start([PROGRAM, self.store, self.log, self.list], stderr=subprocess.PIPE, text=True)

    def lines(self):
        return self.log.read_text().splitlines() if self.log.exists() else []


@pytest.fixture
def server(tmp_path):
    files = {}
    for name, size in SIZES.items():
        (tmp_path / name).write_bytes(os.urandom(size))
        files[f"/{name}"] = tmp_path / name
    server = PausingServer(files, pause_at=1_500_000)
    yield server
    server.close()


@pytest.fixture
def collection(tmp_path, server):
    collection = Collection(tmp_path)
    collection.list.write_text("".join(f"{server.url}{url}\t{collection.target}{url}\n" for url in server.files))
    yield collection
    end_daemons(tmp_path)


def test_all_files_arrive_after_each_of_three_starts_although_the_first_process_is_killed(collection, server):
    killed = collection.start()
    until(server.is_paused, bool)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()
    server.release()
    # The daemon launches the program when the files have arrived.
    until(collection.lines, lambda lines: lines[-1:] == ["completed"])
    for number in (2, 3):
        again = collection.start()
        _, errors = again.communicate(timeout=300)
        assert (again.returncode, errors) == (0, "")
        lines = collection.lines()
        assert lines.count("enqueued 2 files") == number
        assert lines[-2:] == [f"round {number} finished", "completed"]
    done = [line for line in collection.lines() if line.startswith("done")]
    assert len(done) == 6 and all(re.fullmatch(r"done \d+ \d+ /.*", line) for line in done)
    for url, path in server.files.items():
        assert digest(Path(f"{collection.target}{url}")) == digest(path)
