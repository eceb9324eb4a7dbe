"""A testbed leaves nothing behind, and reports what went wrong in a host."""

import os
import resource
import select
import shutil
import signal
import socket
import subprocess
import sys
from datetime import timedelta

import pytest

from backhaul import InvalidArgument, InvalidHandle, ResourceError, Timeout
from backhaul.testing import HostFailed, Testbed, launch_command

#: A test that starts a daemon, prints its process id, and is killed.
KILLED_TEST = """
import os, signal
from backhaul.testing import Testbed
testbed = Testbed()
with testbed.application("org.example.test") as application:
    print(application.engine().process_id, testbed.directory, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)
"""

#: The same, but the power is off, so the daemon waits for the boot. The numbers are offsets in testing/control.h.
KILLED_TEST_WITHOUT_POWER = """
import mmap, os, signal, struct
from backhaul.testing import Testbed
testbed = Testbed()
with open(testbed.directory / "control", "r+b") as file:
    control = mmap.mmap(file.fileno(), 0)
struct.pack_into("I", control, 24, 1)
testbed.start_daemon()
print(*struct.unpack_from("i", control, 64), testbed.directory, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def has_ended(process):
    """Waits until the process has ended."""
    return bool(select.select([process], [], [], 30)[0])


def fails():
    raise KeyError("a fault of the host")


def exits():
    os._exit(3)


def waits():
    signal.pause()


def test_a_closed_testbed_has_no_daemon_and_no_directory():
    with Testbed() as testbed, testbed.application("org.example.test") as application:
        daemon, directory = os.pidfd_open(application.engine().process_id), testbed.directory
        assert (directory / "store").is_dir()
    assert has_ended(daemon) and not directory.exists()
    os.close(daemon)


def test_each_use_of_a_closed_testbed_and_its_resources_is_an_exception():
    with Testbed() as testbed:
        resource = testbed.serve("/a", b"a")
    uses = [
        lambda: testbed.directory, lambda: testbed.url, lambda: testbed.now, lambda: testbed.serve("/b", b""),
        testbed.start_daemon, testbed.kill_daemon, lambda: testbed.pass_time(1), lambda: testbed.start(["true"]),
        lambda: resource.url, lambda: resource.requests, lambda: resource.drop(1)]
    for use in uses:
        with pytest.raises(InvalidHandle, match="the testbed is closed"):
            use()
    testbed.close()


@pytest.mark.parametrize("name", ["a b", "a:b", "it's"])
def test_a_directory_whose_name_the_dynamic_linker_would_split_is_refused(tmp_path, name):
    (tmp_path / name).mkdir()
    with pytest.raises(InvalidArgument, match="because of the space, colon or apostrophe"):
        Testbed(directory=tmp_path / name)


@pytest.mark.parametrize("duration", [-1, timedelta.max, float("nan")])
def test_a_duration_that_cannot_pass_is_refused(duration):
    with Testbed() as testbed, pytest.raises(ValueError, match="the duration is"):
        testbed.pass_time(duration)


@pytest.mark.parametrize("name", ["drop", "stall", "corrupt", "wait_for_requests", "wait_for_bytes"])
def test_a_negative_number_of_bytes_or_requests_is_refused(name):
    with Testbed() as testbed:
        resource = testbed.serve("/a", b"1")
        with pytest.raises(ValueError, match="-1 is no number of bytes or requests; give 0 or more"):
            getattr(resource, name)(-1)


def test_the_failure_of_a_function_that_is_killed_or_exits_names_its_exit_code():
    with Testbed() as testbed:
        host = testbed.start(exits)
        with pytest.raises(HostFailed, match="the exit code is 3"):
            host.wait()
        killed = testbed.start(waits)
        killed.kill()
        with pytest.raises(HostFailed, match="the exit code is -9"):
            killed.wait()


@pytest.mark.parametrize("program", [KILLED_TEST, KILLED_TEST_WITHOUT_POWER])
def test_the_daemon_ends_with_a_test_that_is_killed(program):
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as test:
        number, directory = test.stdout.readline().split()
        try:
            daemon = os.pidfd_open(int(number))
        except ProcessLookupError:
            daemon = None
        test.wait()
    if daemon is not None:
        assert has_ended(daemon)
        os.close(daemon)
    shutil.rmtree(directory)


def test_two_testbeds_have_clocks_and_origins_of_their_own():
    with Testbed() as one, Testbed() as other:
        one.pass_time(3_600)
        assert 3_590 < one.now - other.now < 3_610
        assert one.serve("/file", b"1").url != other.serve("/file", b"2").url


def test_the_failure_of_a_host_has_its_traceback(backhaul_testbed):
    with pytest.raises(HostFailed, match="KeyError: 'a fault of the host'"):
        backhaul_testbed.start(fails).wait()
    with pytest.raises(HostFailed, match="the exit code is 1"):
        backhaul_testbed.start(["false"]).wait()


def test_without_a_launch_the_wait_for_it_times_out(backhaul_testbed):
    with pytest.raises(Timeout, match="has launched no host"):
        backhaul_testbed.launched(timeout=0.01)


def test_a_launch_is_an_error_if_the_test_has_no_free_descriptor(backhaul_testbed):
    with socket.socket(socket.AF_UNIX) as launched:
        launched.connect(str(backhaul_testbed.directory / "launches"))
        limits = resource.getrlimit(resource.RLIMIT_NOFILE)
        lowest_free = os.dup(0)
        os.close(lowest_free)
        resource.setrlimit(resource.RLIMIT_NOFILE, (lowest_free, limits[1]))
        try:
            with pytest.raises(ResourceError, match="a launch cannot be received: Too many open files"):
                backhaul_testbed.launched()
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)


def test_a_launch_command_for_a_function_needs_a_host_of_a_testbed():
    with pytest.raises(RuntimeError, match="outside of a host that a Testbed has started"):
        launch_command()
