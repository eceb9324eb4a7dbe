"""The unit files of docs/services.md run under the user manager of systemd, with the environment of a system
service. Only paths and the user are replaced."""

import os
import re

import pytest

from manager.manager import COMMAND, PROJECT, until
from manager.test_hosts import DAEMON, is_whole, processes, server  # noqa: F401  (a fixture)
from testbed.checkpoints import wait_for_checkpoint

PROGRAM = DAEMON or str(PROJECT / "build" / "libexec" / "backhaul" / "backhauld")
# Removes the environment variables that a service of the user manager has and a system service does not have. Two
# settings need files below /run/systemd that only the manager of a system makes.
SYSTEM = ("[Service]\nUnsetEnvironment=XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS\nProtectKernelLogs=no\n"
          "ProtectKernelTunables=no\n")


def documented():
    """Maps the name of each documented file below /etc/systemd/system to the text of the file."""
    text = (PROJECT / "docs" / "services.md").read_text()
    return dict(re.findall(r"^```ini\n# /etc/systemd/system/(\S+)\n(.*?)^```$", text, flags=re.M | re.S))


@pytest.fixture
def photos(manager, tmp_path, server):  # noqa: F811
    """Returns a function that installs the documented unit files with the given names. The program of these units
    fetches a file into the folder of the test."""
    script = tmp_path / "photos"
    script.write_text(f"#!/bin/sh\nexec '{COMMAND}' get --output '{tmp_path}/file' {server.url}/file\n")
    script.chmod(0o755)
    units = manager.home / ".config" / "systemd" / "user"
    installed = []

    def install(*names):
        for name in names:
            text = documented()[name].replace("/usr/local/bin/photos", str(script)).replace("User=photos\n", "")
            path = units / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text.replace("/usr/libexec/backhaul/backhauld", PROGRAM))
            installed.append(path)
        variable = f"Environment=BACKHAUL_DAEMON={PROGRAM}\n"
        for name in ("photos.service", "photos-transfers.service"):
            system = units / f"{name}.d" / "system.conf"
            system.parent.mkdir(exist_ok=True)
            system.write_text(SYSTEM + variable)
            installed.append(system)
        manager("systemctl", "--user", "daemon-reload")

    yield install
    manager("systemctl", "--user", "stop", "photos.service", "photos-transfers.service", check=False)
    for path in installed:
        path.unlink()
    manager("systemctl", "--user", "daemon-reload")
    manager("rm", "-rf", manager.home / ".config" / "photos", manager.home / ".local" / "state" / "photos")


def middle(server):  # noqa: F811
    until(server.is_paused, "the pause in the file")


def store_of(manager):
    """The store of photos.service. Versions of systemd have the state directories of a user in different places."""
    stores = [manager.home / place / "photos" / "transfers" for place in (".config", ".local/state")]
    return next(store for store in stores if (store / "lock").exists())


def systemctl(manager, *words):
    manager("systemctl", "--user", *words)


def test_a_service_with_a_state_directory_resumes_its_transfer_at_its_next_start(
        manager, photos, server, tmp_path):  # noqa: F811
    photos("photos.service")
    systemctl(manager, "start", "photos.service")
    middle(server)
    store = store_of(manager)
    wait_for_checkpoint(store)
    assert len(processes(manager, "photos.service")) == 2, "the service does not contain the host and its daemon"
    systemctl(manager, "stop", "photos.service")
    assert not is_whole(tmp_path, server)
    assert os.stat(store.parent).st_mode & 0o777 == 0o700
    server.release()
    systemctl(manager, "start", "photos.service")
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    assert [request.status for request in server.log] == [200, 206]


def test_a_transfer_continues_after_a_stop_of_the_host_if_the_daemon_has_its_own_service(
        manager, photos, server, tmp_path):  # noqa: F811
    photos("photos.service", "photos-transfers.service", "photos.service.d/transfers.conf")
    systemctl(manager, "start", "photos.service")
    middle(server)
    assert len(processes(manager, "photos.service")) == len(processes(manager, "photos-transfers.service")) == 1
    store = manager.property("photos.service", "Environment").split("BACKHAUL_STORE=")[1].split()[0]
    output = manager(COMMAND, "doctor", "--store", store, BACKHAUL_DAEMON=PROGRAM).stdout
    assert "the daemon is a service of its own, photos-transfers.service" in output
    systemctl(manager, "stop", "photos.service")
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    assert len(server.log) == 1
    # The daemon's service does not stop after the last task, so the host finds the daemon when the host starts
    # again.
    assert manager.property("photos-transfers.service", "ActiveState") == "active"


def test_a_daemon_service_that_starts_later_continues_the_transfer_of_a_stopped_host(
        manager, photos, server, tmp_path):  # noqa: F811
    photos("photos.service", "photos-transfers.service")
    systemctl(manager, "start", "photos.service")
    middle(server)
    wait_for_checkpoint(store_of(manager))
    systemctl(manager, "start", "--no-block", "photos-transfers.service")
    until(lambda: manager.property("photos-transfers.service", "SubState") == "auto-restart", "the first try")
    systemctl(manager, "stop", "photos.service")
    server.release()
    until(lambda: is_whole(tmp_path, server), "the end of the transfer")
    assert [request.status for request in server.log] == [200, 206]
    assert processes(manager, "photos-transfers.service")


def test_the_document_has_a_line_for_cron():
    text = (PROJECT / "docs" / "services.md").read_text()
    assert "@reboot '/usr/libexec/backhaul/backhauld' --store '/home/me/.local/state/backhaul'" in text
