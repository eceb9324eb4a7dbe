"""`backhaul service` manages the unit that starts the daemon at boot."""

import json
import shutil
import subprocess

import pytest

from manager.manager import COMMAND, until


@pytest.fixture
def daemon(tmp_path):
    """A fake daemon, which records its arguments and does not exit."""
    program = tmp_path / "the daemon 100%"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" >'{tmp_path}/arguments'\nexec sleep 600\n")
    program.chmod(0o755)
    return program


def is_filled(path):
    """Whether the file has content. The shell creates the file empty, and writes to it later."""
    return path.exists() and path.read_text()


def test_service_install_starts_the_daemon_at_boot_and_service_uninstall_removes_the_unit(
        manager, backhaul, daemon, store, tmp_path):
    before = backhaul.json("service", "status", code=3)
    assert (before["installed"], before["enabled"], before["lingering"]) == (False, False, False)
    assert before["systemd"] >= 200

    installed = backhaul("service", "install", BACKHAUL_DAEMON=str(daemon))
    assert "loginctl enable-linger" in installed.stderr
    path = installed.stdout.strip()
    assert path == before["file"] and path.startswith(str(manager.home))
    status = backhaul.json("service", "status")
    assert (status["installed"], status["enabled"], status["state"]) == (True, True, "inactive")

    manager.reload()
    until(lambda: is_filled(tmp_path / "arguments"), "the start")
    assert backhaul.json("service", "status")["state"] == "active"
    assert (tmp_path / "arguments").read_text().splitlines() == ["--store", str(store)]

    backhaul("service", "uninstall")
    after = backhaul.json("service", "status", code=3)
    # Uninstalling does not stop the running daemon, because that would stop its transfers.
    assert (after["installed"], after["enabled"], after["state"]) == (False, False, "active")
    manager("systemctl", "--user", "stop", before["unit"])


def test_service_install_and_service_uninstall_can_be_repeated(backhaul, daemon):
    first = backhaul.json("service", "install", BACKHAUL_DAEMON=str(daemon))
    assert backhaul.json("service", "install", BACKHAUL_DAEMON=str(daemon)) == first
    assert not backhaul.json("service", "uninstall")["installed"]
    assert "was not installed" in backhaul("service", "uninstall").stderr


@pytest.mark.parametrize("name", ["a b", "100%", "$HOME", "${HOME}", "quote\"d", "quote'd", "back\\slash", "ü", "-"])
def test_special_characters_in_the_store_path_reach_the_daemon_unchanged(manager, backhaul, daemon, tmp_path, name):
    folder = tmp_path / name
    folder.mkdir()
    unit = backhaul.json("service", "install", "--store", folder / name, BACKHAUL_DAEMON=str(daemon))["unit"]
    manager("systemctl", "--user", "start", unit)
    until(lambda: is_filled(tmp_path / "arguments"), "the start")
    assert (tmp_path / "arguments").read_text().splitlines() == ["--store", str(folder / name)]
    manager("systemctl", "--user", "stop", unit)
    backhaul("service", "uninstall", "--store", folder / name)


def test_paths_that_lead_to_the_same_store_result_in_the_same_service_name(backhaul, store, tmp_path):
    store.mkdir()
    (tmp_path / "link").symlink_to(store)
    units = [backhaul.json("service", "status", "--store", path, code=3)["unit"]
             for path in (store, tmp_path / "link", tmp_path / "link" / "..", store / ".." / "store")]
    assert units[0] == units[1] == units[3] != units[2]


def test_service_status_shows_that_lingering_is_enabled(manager, backhaul):
    note = "/var/lib/systemd/linger/root"
    # The command runs in a separate mount namespace, so that the file of the machine does not change.
    script = (f"mount -t tmpfs tmpfs /var/lib/systemd && mkdir /var/lib/systemd/linger && touch {note} && "
              f"exec '{COMMAND}' service status --json")
    ended = manager("unshare", "--mount", "sh", "-c", script, check=False)
    assert json.loads(ended.stdout)["lingering"] is True


def test_the_error_names_the_searched_paths_if_the_daemon_program_is_missing(backhaul):
    ended = backhaul("service", "install", code=7, BACKHAUL_DAEMON="/absent/backhauld")
    assert "/absent/backhauld" in ended.stderr
    assert not backhaul.json("service", "status", code=3)["installed"]


def test_service_install_refuses_a_daemon_path_that_systemd_cannot_run(backhaul, daemon):
    program = daemon.rename(daemon.with_name("the user's daemon"))
    assert "quotes" in backhaul("service", "install", code=4, BACKHAUL_DAEMON=str(program)).stderr
    assert not backhaul.json("service", "status", code=3)["installed"]


def test_service_install_writes_nothing_if_no_user_manager_is_reachable(backhaul, daemon):
    for variables in ({"XDG_RUNTIME_DIR": ""}, {"XDG_RUNTIME_DIR": "/absent"},
                      {"DBUS_SESSION_BUS_ADDRESS": "unixexec:path=/bin/false"}):
        ended = backhaul("service", "install", code=5, BACKHAUL_DAEMON=str(daemon), **variables)
        assert "user manager" in ended.stderr
    assert not backhaul.json("service", "status", code=3)["installed"]


def test_service_install_prints_a_line_for_cron_if_systemd_is_missing(tmp_path, daemon):
    """The command runs outside of the manager's namespaces, so that it finds no systemd."""
    if shutil.os.path.exists("/run/systemd/system"):
        pytest.skip("systemd runs this machine")
    store = tmp_path / "a 100% store"
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "BACKHAUL_DAEMON": str(daemon)}
    ended = subprocess.run([COMMAND, "service", "install", "--store", str(store)], env=environment, text=True,
                           capture_output=True, timeout=60, check=False)
    assert ended.returncode == 4
    line = ended.stdout.rstrip("\n")
    assert line.startswith("@reboot ") and "crontab -e" in ended.stderr
    # Does what cron does: replaces \% by % (crontab(5)), then runs the command in a shell.
    command = line.removeprefix("@reboot ").replace("\\%", "%")
    with subprocess.Popen(["sh", "-c", f"exec {command}"]) as process:
        until(lambda: is_filled(tmp_path / "arguments"), "the start")
        process.kill()
    assert (tmp_path / "arguments").read_text().splitlines() == ["--store", str(store)]
    assert not (tmp_path / ".config").exists()
