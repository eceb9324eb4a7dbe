"""The waits of the test kit: they end when the testbed is closed, they can be interrupted, and the message of a
time-out names the hosts that have failed."""

import signal
import subprocess
import sys
import threading
from multiprocessing import connection

import pytest

from backhaul import Application, InvalidHandle, Timeout
from backhaul.testing import HostFailed, Testbed, launch_command


def fails():
    raise KeyError("a fault of the host")


def waits():
    signal.pause()


WAITS = {
    "wait_for_death": lambda bed, resource, host: bed.wait_for_death,
    "launched": lambda bed, resource, host: bed.launched,
    "wait_for_bytes": lambda bed, resource, host: lambda timeout: resource.wait_for_bytes(1, timeout),
    "wait_for_requests": lambda bed, resource, host: lambda timeout: resource.wait_for_requests(1, timeout),
    "host.wait": lambda bed, resource, host: host.wait,
}


@pytest.mark.parametrize("name", WAITS)
def test_a_wait_of_another_thread_ends_when_the_testbed_is_closed(name):
    bed, ends, begun = Testbed(), [], threading.Event()
    wait = WAITS[name](bed, bed.serve("/a", b"1"), bed.start(waits))

    def run():
        begun.set()
        try:
            wait(timeout=60)
        except InvalidHandle as error:
            ends.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait()
    bed.close()
    thread.join(30)
    assert ends == ["the testbed is closed; open another one"]


#: A test that fails while its thread waits for a launch.
FAILING_TEST = """
import threading
pytest_plugins = ["pytest_backhaul"]
def test_fails(backhaul_testbed):
    threading.Thread(target=lambda: backhaul_testbed.launched(timeout=600)).start()
    assert False, "as it should"
"""

#: Tests of a host that fails, without and with a wait for it, and of killed hosts.
FAILING_HOSTS = """
import os, signal
from multiprocessing import connection
import pytest
from backhaul.testing import HostFailed
pytest_plugins = ["pytest_backhaul"]
def fails():
    raise KeyError("a fault of the host")
def waits():
    signal.pause()
def test_is_not_seen(backhaul_testbed):
    host = backhaul_testbed.start(fails)
    connection.wait([host._process.sentinel])
def test_is_seen(backhaul_testbed):
    with pytest.raises(HostFailed):
        backhaul_testbed.start(fails).wait()
def test_is_killed(backhaul_testbed):
    backhaul_testbed.start(waits).kill()
    os.kill(backhaul_testbed.start(waits).process_id, signal.SIGKILL)
"""


def run_pytest(folder, text):
    (folder / "test_it.py").write_text(text)
    return subprocess.run([sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder / "test_it.py"],
                          capture_output=True, text=True, check=False, timeout=60, cwd=folder)


def test_a_test_that_fails_while_its_thread_waits_ends(tmp_path):
    assert "1 failed" in run_pytest(tmp_path, FAILING_TEST).stdout


def test_a_failure_of_a_host_that_no_wait_has_raised_fails_the_test(tmp_path):
    ran = run_pytest(tmp_path, FAILING_HOSTS)
    assert "3 passed, 1 error" in ran.stdout and "KeyError: 'a fault of the host'" in ran.stdout, ran.stdout
    assert "ERROR test_it.py::test_is_not_seen" in ran.stdout


def test_a_wait_that_times_out_names_the_hosts_that_have_failed():
    with Testbed() as bed:
        resource, host = bed.serve("/a", b"1"), bed.start(fails)
        connection.wait([host._process.sentinel])
        for wait in (bed.launched, bed.wait_for_death, lambda timeout: resource.wait_for_requests(1, timeout)):
            with pytest.raises(Timeout, match=r"(?s)has failed: .*KeyError: 'a fault of the host'"):
                wait(timeout=0.01)
        with pytest.raises(HostFailed):
            host.wait()
        with pytest.raises(Timeout) as caught:
            bed.launched(timeout=0.01)
        assert "failed" not in str(caught.value)


#: A test that waits for an hour, and gets a signal of Ctrl-C when the wait has begun.
INTERRUPTED = """
import os, signal, threading
from backhaul.testing import Testbed
with Testbed() as bed:
    resource = bed.serve("/a", b"1")
    waits = [bed.wait_for_death, bed.launched, lambda timeout: resource.wait_for_requests(1, timeout)]
    for wait in waits:
        try:
            threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGINT]).start()
            wait(timeout=3600)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


def test_ctrl_c_ends_a_wait():
    ran = subprocess.run([sys.executable, "-c", INTERRUPTED], capture_output=True, text=True, check=False, timeout=60)
    assert ran.stdout.split() == ["interrupted"] * 3, ran.stderr


def photos(url, folder):
    """A host that downloads a file. A launched host reports whether the engine knows its launch."""
    with Application("org.example.photos", launch=launch_command()) as application:
        launch = application.current_launch()
        with (folder / "starts").open("a") as file:
            file.write(f"{launch is not None}\n")
        with application.session("gallery") as session:
            if launch is None:
                session.download(url, folder / "1.jpg", key="1")
            for event in session.events():
                event.acknowledge()
                if event.is_session_finished:
                    break
            session.complete()


def test_a_launch_that_the_daemon_has_ended_is_not_started(backhaul_testbed):
    bed = backhaul_testbed
    file = bed.serve("/1.jpg", b"content")
    file.stall(at=1)
    host = bed.start(photos, file.url, bed.directory)
    file.wait_for_bytes(1)
    host.kill()
    bed.pass_time(10)
    file.release()
    file.wait_for_bytes(7)
    bed.pass_time(5)  # the daemon launches the host
    bed.pass_time(50)
    bed.pass_time(20)  # the daemon ends the launch
    with pytest.raises(Timeout, match="the daemon has ended [0-9]+ launches before the test took them"):
        bed.launched(timeout=0)
    bed.pass_time(60)  # the daemon launches the host again
    bed.launched().wait()
    assert (bed.directory / "starts").read_text().split() == ["False", "True"]
