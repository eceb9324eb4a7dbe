"""Hosts in containers. A host is a process that embeds the library. Each host is process 1 of a process namespace. When
the host ends, the kernel kills all processes in the namespace."""

import os
import select
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pytest

from manager.manager import COMMAND, LIMIT, until
from manager.test_hosts import DAEMON, is_whole, server  # noqa: F401  (a fixture)
from testbed.checkpoints import wait_for_checkpoint
from testbed.namespaces import PROCESS_NAMESPACE, can_run

EMBEDDED = """
import sys
from backhaul import Application, Hosting
store, url, path = sys.argv[1:]
with Application("org.example.photos", store, hosting=Hosting.EMBEDDED) as application:
    session = application.session("gallery")
    session.download(url, path, key=path)
    with session:
        next(event for event in session.events() if event.is_task_ended)
"""


def kill(process):
    """Kills a container, and waits until the kernel has ended all its processes. Process 1 ends last."""
    (first,) = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    descriptor = os.pidfd_open(int(first))
    process.kill()
    select.select([descriptor], [], [])
    os.close(descriptor)


@pytest.fixture
def container(tmp_path, server):  # noqa: F811
    if not can_run(PROCESS_NAMESPACE):
        pytest.skip("no process namespace can be made here")

    @contextmanager
    def run(*words):
        environment = {"HOME": str(tmp_path), **{name: value for name, value in os.environ.items() if name in (
            "PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "BACKHAUL_LIBRARY", "BACKHAUL_DAEMON")}}
        with subprocess.Popen([*PROCESS_NAMESPACE, *map(str, words)], env=environment,
                              stdin=subprocess.DEVNULL) as process:
            yield process
            if process.poll() is None:
                kill(process)

    return run


def command(kind, store, path, url):
    if kind == "embedded":
        return [sys.executable, "-c", EMBEDDED, store, url, path]
    return [COMMAND, "get", "--store", store, "--output", path, url]


@pytest.mark.parametrize("kind", ["daemon", "embedded"])
def test_no_transfer_is_lost_when_a_container_ends(container, server, store, tmp_path, kind):  # noqa: F811
    words = command(kind, store, tmp_path / "file", f"{server.url}/file")
    with container(*words):
        until(server.is_paused, "the pause in the file")
        wait_for_checkpoint(store)
    server.release()
    until(lambda: not server.log[0].open, "the end of all that was in it")
    assert not is_whole(tmp_path, server)
    with container(*words) as second:
        assert second.wait(LIMIT) == 0
    assert is_whole(tmp_path, server)
    assert [request.status for request in server.log] == [200, 206]
