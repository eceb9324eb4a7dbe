"""Hosts run as services. The tests stop such a service, and check whether the transfer of its host continues."""

import os

import pytest
from pausing_server import PausingServer

from manager.manager import COMMAND, until
from testbed.checkpoints import wait_for_checkpoint

SPEED = 3 << 20
SIZE = 2 * SPEED

# The value of the environment variable BACKHAUL_DAEMON: the path of the daemon, if the daemon is not in its usual
# place. The variable is set only in runs without scripts/in-venv.
DAEMON = os.environ.get("BACKHAUL_DAEMON")


@pytest.fixture
def server(tmp_path):
    """Pauses in the second half of the file until the test releases it. So a slow machine does not end the transfer
    before the test stops something."""
    content = tmp_path / "content"
    content.write_bytes(os.urandom(SIZE))
    made = PausingServer({"/file": content}, SIZE - SPEED // 2, SPEED)
    made.content = content.read_bytes()
    yield made
    made.close()


@pytest.fixture
def host(manager, backhaul, store, tmp_path, server):
    """Returns a function that starts `backhaul get` as a service, and waits until a killed daemon could resume the
    transfer."""
    unit = f"host-{tmp_path.name[-20:].replace('_', '-')}.service"

    def start(*options):
        words = [f"--setenv=BACKHAUL_DAEMON={DAEMON}"] if DAEMON else []
        manager("systemd-run", "--user", "--quiet", f"--unit={unit}", "--property=CollectMode=inactive-or-failed",
                *words, *options, COMMAND, "--store", store, "get", "--output", tmp_path / "file", f"{server.url}/file")
        until(server.is_paused, "the pause in the file")
        wait_for_checkpoint(store)
        return unit

    yield start
    for left in (unit, backhaul.json("service", "status", code=3)["unit"]):
        manager("systemctl", "--user", "stop", left, check=False)


def processes(manager, unit):
    """Returns the process ids of a unit, as they are in the manager's namespace."""
    group = manager.property(unit, "ControlGroup")
    return [int(line) for line in manager("cat", f"/sys/fs/cgroup{group}/cgroup.procs").stdout.split()] if group else []


def is_whole(tmp_path, server):
    return (tmp_path / "file").exists() and (tmp_path / "file").read_bytes() == server.content


def test_a_transfer_continues_when_the_service_of_its_host_is_stopped(
        manager, host, backhaul, server, tmp_path):
    unit = host()
    daemon = backhaul.json("service", "status", code=3)
    assert daemon["state"] == "active"
    assert len(processes(manager, unit)) == len(processes(manager, daemon["unit"])) == 1
    manager("systemctl", "--user", "stop", unit)
    assert not is_whole(tmp_path, server)
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    # There is only one request, so the stop of the host has not broken the connection.
    assert len(server.log) == 1
    # The daemon exits when only an unread event is left.
    until(lambda: backhaul.json("service", "status", code=3)["state"] in (None, "inactive"), "the daemon's leaving")


def test_a_daemon_that_is_started_while_an_earlier_one_ends_is_a_service_too(
        manager, host, backhaul, server, tmp_path):
    daemon = backhaul.json("service", "status", code=3)["unit"]
    # Like a daemon that is ending, this program has the name of the daemon's unit, and does not lock the store.
    manager("systemd-run", "--user", "--quiet", f"--unit={daemon}", "--property=CollectMode=inactive-or-failed",
            "sleep", "2")
    host()
    assert backhaul.json("service", "status", code=3)["state"] == "active"
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")


def test_the_manager_restarts_a_killed_daemon_while_no_host_runs(manager, host, backhaul, server, tmp_path):
    unit = host()
    manager("systemctl", "--user", "stop", unit)
    daemon = backhaul.json("service", "status", code=3)["unit"]
    manager("systemctl", "--user", "kill", "--signal=KILL", daemon)
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    assert [request.status for request in server.log] == [200, 206]


def test_without_a_user_manager_the_daemon_stops_with_the_hosts_service_and_the_transfer_resumes_later(
        manager, host, backhaul, store, server, tmp_path):
    unit = host("--property=UnsetEnvironment=XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS")
    inside = processes(manager, unit)
    assert len(inside) == 2, "the service does not contain the host and its daemon"
    manager("systemctl", "--user", "stop", unit)
    assert not [process for process in inside if manager("kill", "-0", process, check=False).returncode == 0]
    host()
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    assert [request.status for request in server.log] == [200, 206]


def test_if_a_hosts_service_has_killmode_process_its_stop_does_not_stop_the_daemon(manager, host, server, tmp_path):
    unit = host("--property=UnsetEnvironment=XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS", "--property=KillMode=process")
    manager("systemctl", "--user", "stop", unit)
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    assert len(server.log) == 1
