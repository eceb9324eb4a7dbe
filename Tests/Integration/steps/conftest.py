"""Hosts that are killed at a given durable step."""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import tempfile
from pathlib import Path

import pytest
from daemons import end_daemons
from servers.receiving import ReceivingServer
from testbed.durability import Plan, lost_at_end, lost_before_start, make_batch
from testbed.journal import Journal
from testbed.programs import durable_host
from testbed.work_dirs import new_place

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
#: The longest time of a host, in seconds.
PATIENCE = 300


def pytest_addoption(parser):
    parser.addoption("--every", type=int, default=53, help="processes are killed at each of this number of steps")


def run_killed(plan, step, daemon):
    """Runs in the process of a host. If `step` is 0, the process is not killed. `daemon`: the program of the daemon."""
    if daemon:
        os.environ["BACKHAUL_DAEMON"] = daemon
    ctypes.CDLL(None).kill_at_step(ctypes.c_long(step))
    durable_host.run(plan)


@pytest.fixture(scope="session")
def context(tmp_path_factory):
    """Starts processes that count their durable steps."""
    library = tmp_path_factory.mktemp("steps") / "steps.so"
    subprocess.run(["clang", "-std=c11", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library,
                    HERE / "steps.c"], check=True)
    made = multiprocessing.get_context("forkserver")
    made.set_forkserver_preload(["pytest", "testbed.programs.durable_host", "testbed.durability", "steps.conftest"])
    os.environ["LD_PRELOAD"] = os.environ["STEPS_LIBRARY"] = str(library)
    # The first process starts the server that forks the others.
    first = made.Process(target=os.getpid)
    first.start()
    first.join()
    del os.environ["LD_PRELOAD"]
    return made


class Life:
    """A store and files, and the runs of a host with them."""

    def __init__(self, context, folder, store, batch, sink, hosting):
        self._context, self._batch, self._sink = context, batch, sink
        self._folder = folder
        self.journal = Journal(folder / "journal")
        self._batch.prepare(self.journal)
        self._plan = Plan(str(store), str(self.journal.path), batch.works, hosting)

    def run(self, step=0, step_of_daemon=0):
        """Runs the host. Returns whether it was killed at the step."""
        facts = list(self.journal.facts())
        if facts[-1]["fact"] != "prepared":
            assert not list(lost_before_start(facts, self._batch.works))
        daemon = self._killed_daemon(step_of_daemon) if step_of_daemon else None
        host = self._context.Process(target=run_killed, args=(self._plan, step, daemon))
        host.start()
        host.join(PATIENCE)
        host.kill()
        host.join()
        assert host.exitcode in ((0, -signal.SIGKILL) if step else (0,))
        return host.exitcode != 0

    def _killed_daemon(self, step):
        """Returns a program that starts the daemon with the preloaded library. A daemon gets no other variables."""
        script = self._folder / "start-daemon"
        script.write_text(f"""#!/bin/sh
LD_PRELOAD={os.environ["STEPS_LIBRARY"]} STEPS_OF_DAEMON={step} STEPS_MARK={self.journal.path}.daemon \\
    exec {ROOT / "build/libexec/backhaul/backhauld"} "$@"
""")
        script.chmod(0o755)
        return str(script)

    @property
    def has_killed_daemon(self):
        return os.path.exists(f"{self.journal.path}.daemon")

    def violations(self):
        return list(lost_at_end(list(self.journal.facts()), self._batch.works, self._sink))


@pytest.fixture
def lives(context, misbehaving):
    """A function that makes a store and files, which are on two file systems if the machine has memory for files."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    seeds = iter(range(1, 1_000_000))
    with ReceivingServer() as sink, tempfile.TemporaryDirectory(dir=memory) as files, new_place() as place:
        def make(hosting="EMBEDDED", *, is_one_file_system=True):
            seed = next(seeds)
            folder = Path(files) / f"life-{seed}"
            folder.mkdir()
            batch = make_batch(folder / "files", seed, misbehaving, sink)
            store = folder / "store" if is_one_file_system else place / f"store-{seed}"
            return Life(context, folder, store, batch, sink, hosting)
        yield make
        end_daemons(files)
