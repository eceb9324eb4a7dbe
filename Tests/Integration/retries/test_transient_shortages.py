"""A transient shortage of memory, epoll watches or descriptors ends no task, and disconnects no client from the
engine. A *client* is the part of the library in a host."""

import contextlib
import itertools
import subprocess
from pathlib import Path

import pytest

from backhaul import Hosting, ResourceError, TaskState
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from testbed.host import Host
from testbed.work_dirs import new_place

HERE = Path(__file__).resolve().parent
QUICK = {"first_delay_ms": 1, "longest_delay_ms": 2, "maximum_attempts": 0}
CONTENT = Content(300_000)
#: The number of consecutive calls that fail.
IN_A_ROW = 2
#: The approximate number of runs that a test makes for each library. In each run, the failures begin at another call.
#: The test counts the calls from the enqueue of a download to the event of its end.
POINTS = 20


@pytest.fixture(scope="module")
def preloaded(tmp_path_factory):
    """Returns the path of the preloaded library that makes calls fail."""
    made = tmp_path_factory.mktemp("fault_injection") / "fault_injection.so"
    source = HERE / "fault_injection.c"
    subprocess.run(["clang", "-std=c11", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", made, source],
                   check=True)
    return str(made)


@pytest.fixture(scope="module")
def host_with_faults(preloaded, library):
    """A host in which a test can make calls fail. Most tests share this host."""
    with new_place() as place:
        one = Host(place / "store", environment={"LD_PRELOAD": preloaded}).open()
        (place / "downloads").mkdir()
        one.place = place
        yield one
        one.end()


@pytest.fixture(scope="module", params=["HTTP", "HTTPS"])
def server(request, certificates):
    context = certificates.server_context() if request.param == "HTTPS" else None
    with MisbehavingServer(context) as running:
        running.serve("/a", CONTENT)
        yield running


@pytest.fixture(scope="module")
def session(host_with_faults, certificates):
    numbers = itertools.count(1)

    def start():
        repeated(lambda: host_with_faults.session(
            f"session {next(numbers)}", ca_file=str(certificates.authority), **QUICK))
        return host_with_faults.place / "downloads" / str(next(numbers))

    return start


def repeated(verb):
    """Repeats a call of the library that fails with ResourceError, as a host does."""
    for _ in range(10):
        with contextlib.suppress(ResourceError):
            return verb()
    return verb()


def assert_download_succeeds(one, server, destination):
    repeated(lambda: one.download(server.url + "/a", destination))
    event = next(event for event in repeated(lambda: one.wait_for(timeout=60)) if event.task_id)
    assert event.state is TaskState.SUCCEEDED, event
    assert destination.read_bytes() == CONTENT.data


@pytest.mark.parametrize("library_name", ["libcurl.so", "libsqlite3.so", "libcrypto.so", "libssl.so"])
def test_a_transient_memory_shortage_ends_no_task(host_with_faults, server, session, library_name):
    destination = session()
    host_with_faults.fail_allocations(library_name, 1 << 40, 0)
    assert_download_succeeds(host_with_faults, server, destination)
    calls = host_with_faults.allocation_count()
    if server.url.startswith("http:") and calls == 0:
        pytest.skip("only a download over TLS calls this library")
    assert calls > 0
    step = max(1, calls // POINTS)
    for first in range(1, calls, step):
        destination = session()
        host_with_faults.fail_allocations(library_name, first, IN_A_ROW)
        assert_download_succeeds(host_with_faults, server, destination)


def test_a_transient_failure_to_watch_a_socket_ends_no_task(host_with_faults, server, session):
    destination = session()
    # The calls that fail are tests of libuv before it accepts a descriptor. If a later call fails, libuv ends the
    # process (docs/daemon.md).
    host_with_faults.fail_epoll_adds(1, IN_A_ROW)
    assert_download_succeeds(host_with_faults, server, destination)


def test_a_client_is_served_after_a_transient_failure_to_watch_its_process(host_with_faults):
    host_with_faults.fail_process_reads(1, 3)
    other = Host(host_with_faults.place / "store", hosting=Hosting.EMBEDDED)
    try:
        other.open()
        assert other.session("of another process") is True
    finally:
        other.end()
