"""Forked children of a host. After the host has opened an application, its children must not use the library. Before
that, they may."""

import os
import signal
import subprocess
import sys

import pytest

from backhaul import Forked, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of

CONTENT = Content(2_000_000)
SMALL = Content(20_000)
STALLED = Behaviour(stall_after=1_200_000)


def test_calls_in_a_forked_child_are_refused_and_do_not_affect_the_parent(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT, [STALLED]), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_200_000)
    forked, errors = one.fork()
    try:
        assert [type(error) for error in errors] == [Forked, Forked, Forked]
        assert one.configuration().identifier == "gallery"
    finally:
        os.kill(forked, signal.SIGKILL)
    assert [info.identifier for info in one.all_sessions()] == ["gallery"]


def test_a_new_host_can_use_the_store_of_a_killed_host_whose_forked_child_still_runs(host, misbehaving, downloads):
    one = host()
    one.session(first_delay_ms=50)
    one.download(misbehaving.serve("/a", CONTENT, [STALLED]), downloads / "a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_200_000)
    forked, _ = one.fork()
    try:
        one.kill()
        again = host()
        again.attach()
        assert again.wait_for()[0].state is TaskState.SUCCEEDED
        assert sha256_of(downloads / "a") == CONTENT.sha256
        os.kill(forked, 0)
    finally:
        os.kill(forked, signal.SIGKILL)


#: A program that has only loaded the library, and starts 100 workers with fork. Each worker opens the application and
#: downloads a file. Then the program does the same. With embedded hosting, each worker has a store of its own.
PREFORK = """
import multiprocessing, pathlib, sys
import backhaul

place, url, hosting = pathlib.Path(sys.argv[1]), sys.argv[2], backhaul.Hosting[sys.argv[3]]

def work(number):
    store = place / (f"store-{number}" if hosting is backhaul.Hosting.EMBEDDED else "store")
    with backhaul.Application("org.example.workers", store, hosting=hosting) as application:
        with application.session(f"worker-{number}") as session:
            session.download(url, place / f"file-{number}")
            for event in session.events():
                if event.is_session_finished:
                    break

with multiprocessing.get_context("fork").Pool(4, maxtasksperchild=1) as pool:
    pool.map(work, range(100), chunksize=1)
work("parent")
"""


@pytest.mark.parametrize("hosting", ["EMBEDDED", "DAEMON"])
def test_workers_that_are_forked_before_the_first_open_may_use_the_library(place, misbehaving, library, hosting):
    url = misbehaving.serve("/file", SMALL)
    run = subprocess.run([sys.executable, "-c", PREFORK, place, url, hosting], timeout=600, check=False)
    assert run.returncode == 0
    assert all(sha256_of(place / f"file-{number}") == SMALL.sha256 for number in [*range(100), "parent"])


#: A program that opens the application, and then starts a worker with a start method of multiprocessing.
WORKER_AFTER_OPEN = """
import multiprocessing, os, sys
import backhaul

def work(store):
    try:
        with backhaul.Application("org.example.workers", store, hosting=backhaul.Hosting.EMBEDDED) as application:
            return [info.identifier for info in application.sessions()]
    except backhaul.Forked as error:
        return str(error)

if __name__ == "__main__":
    store, method = sys.argv[1:]
    with backhaul.Application("org.example.workers", store, hosting=backhaul.Hosting.EMBEDDED) as application:
        with application.session("gallery"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                print(pool.apply(work, [store]))
            assert [info.identifier for info in application.sessions()] == ["gallery"]
"""


@pytest.mark.parametrize("method, output", [
    ("fork", "forked"), ("spawn", "['gallery']"), ("forkserver", "['gallery']")])
def test_a_worker_that_is_started_after_the_open(place, store, method, output):
    program = place / "program.py"
    program.write_text(WORKER_AFTER_OPEN)
    run = subprocess.run([sys.executable, program, store, method], timeout=300, check=False, text=True,
                         stdout=subprocess.PIPE)
    assert run.returncode == 0
    assert output in run.stdout


def test_the_parent_works_on_after_a_forked_child_exited_without_exec(store):
    program = (
        "import os, sys, backhaul; from backhaul import Hosting\n"
        "application = backhaul.Application('org.example.exits', sys.argv[1], hosting=Hosting.EMBEDDED)\n"
        "session = application.session('s')\n"
        "child = os.fork()\n"
        "if child == 0: sys.exit(7)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7\n"
        "session.complete(); application.close()\n"
    )
    run = subprocess.run([sys.executable, "-c", program, store], capture_output=True, text=True, timeout=60,
                         check=False)
    assert (run.returncode, run.stderr) == (0, "")
