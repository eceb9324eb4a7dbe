"""If no user manager of systemd works, `backhaul` notices this within seconds."""

import json
import socket
import subprocess
import time

import pytest

from manager.manager import COMMAND


def status(tmp_path, **variables):
    """Returns what `service status` reports about systemd, and how many seconds the command took."""
    start = time.monotonic()
    ended = subprocess.run(
        [COMMAND, "service", "status", "--json", "--store", str(tmp_path / "store")], check=False, text=True,
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), **variables}, capture_output=True, timeout=60)
    return json.loads(ended.stdout)["systemd"], time.monotonic() - start


def test_a_service_without_a_home_needs_no_directory_for_the_desktop(tmp_path):
    words = [COMMAND, "service", "status", "--json", "--store", str(tmp_path / "store")]
    variables = {"PATH": "/usr/bin:/bin", "XDG_CONFIG_HOME": str(tmp_path), "DBUS_SESSION_BUS_ADDRESS": "unix:"}
    shown = subprocess.run(words, env=variables, check=False, capture_output=True, text=True)
    assert json.loads(shown.stdout)["desktop"] is None and not shown.stderr
    words[2:4] = ["install", "--desktop"]
    refused = subprocess.run(words, env=variables, check=False, capture_output=True, text=True)
    assert refused.returncode == 2 and "neither XDG_DATA_HOME nor HOME is an absolute path" in refused.stderr


def test_backhaul_gives_up_a_bus_that_accepts_connections_and_never_replies(tmp_path):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "bus"))
        silent.listen()
        version, seconds = status(tmp_path, DBUS_SESSION_BUS_ADDRESS=f"unix:path={tmp_path}/bus")
    assert version is None
    # The limit is two seconds, and a busy machine may need more time. sd-bus itself would wait for 90 seconds.
    assert 1 < seconds < 20


def test_backhaul_gives_up_a_bus_with_a_full_queue_of_connections(tmp_path):
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(tmp_path / "bus"))
        silent.listen(0)
        waiting = [socket.socket(socket.AF_UNIX) for _ in range(4)]
        for one in waiting:
            one.setblocking(False)
            one.connect_ex(str(tmp_path / "bus"))
        version, seconds = status(tmp_path, DBUS_SESSION_BUS_ADDRESS=f"unix:path={tmp_path}/bus")
        for one in waiting:
            one.close()
    assert version is None and seconds < 20


@pytest.mark.parametrize("address", [
    "unix:path=/absent/bus", "unixexec:path=/bin/sleep,argv1=60", "tcp:host=192.0.2.1,port=1", "nonsense", "unix:"])
def test_service_status_reports_no_user_manager_for_an_unusable_bus_address(tmp_path, address):
    version, seconds = status(tmp_path, DBUS_SESSION_BUS_ADDRESS=address)
    assert version is None and seconds < 20
