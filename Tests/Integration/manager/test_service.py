"""`backhaul service` manages the unit that starts the daemon at boot."""

import json
import shutil
import subprocess
from pathlib import Path

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


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
def test_service_install_syncs_the_unit_before_it_gets_its_name_and_then_the_directories(
        manager, backhaul, daemon, store, tmp_path):
    trace = tmp_path / "trace"
    # Linux does not have all of these calls on each architecture.
    manager("strace", "-y", "-e", "trace=fsync,?rename,?renameat,?renameat2", "-o", trace, COMMAND, "--store", store,
            "service", "install", BACKHAUL_DAEMON=str(daemon))
    unit = Path(backhaul.json("service", "status")["file"])
    calls = [line for line in trace.read_text().splitlines() if line.endswith(" = 0")]
    named = next(number for number, call in enumerate(calls) if call.startswith("rename") and f'"{unit}"' in call)
    assert any(f"<{unit}.new>" in call for call in calls[:named])
    for directory in (unit.parent, unit.parent / "default.target.wants"):
        assert any(f"<{directory}>" in call for call in calls[named:]), directory
    backhaul("service", "uninstall")


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


SESSION_TARGET = "[Unit]\nBindsTo=graphical-session.target\nBefore=graphical-session.target\n"


def test_service_install_desktop_shows_transfers_in_each_desktop_session(manager, backhaul, daemon, store):
    assert not backhaul.json("service", "status", code=3)["desktop"]["installed"]
    installed = backhaul("service", "install", "--desktop", BACKHAUL_DAEMON=str(daemon))
    shown = backhaul.json("service", "status")["desktop"]
    assert installed.stdout.splitlines()[1:] == [shown["file"], shown["entry"]]
    assert shown["installed"] and shown["enabled"] and shown["state"] in (None, "inactive")

    # A desktop session has a target of its own.
    target = manager.home / ".config" / "systemd" / "user" / "test-session.target"
    target.write_text(SESSION_TARGET)
    manager("systemctl", "--user", "daemon-reload")
    manager("systemctl", "--user", "start", target.name)
    until(lambda: backhaul.json("service", "status")["desktop"]["state"] == "active", "the start")
    assert shown["unit"] in backhaul("service", "status").stdout
    manager("systemctl", "--user", "stop", target.name)
    until(lambda: backhaul.json("service", "status")["desktop"]["state"] in (None, "inactive"), "the end")

    manager("systemctl", "--user", "start", target.name)
    # In a desktop session, the installation starts the unit, and the removal stops it.
    backhaul("service", "uninstall", "--desktop")
    after = backhaul.json("service", "status")
    assert after["installed"] and not after["desktop"]["installed"] and after["desktop"]["state"] != "active"
    assert not shutil.os.path.exists(shown["entry"])
    backhaul("service", "install", "--desktop", BACKHAUL_DAEMON=str(daemon))
    assert backhaul.json("service", "status")["desktop"]["state"] == "active"
    backhaul("service", "uninstall")
    after = backhaul.json("service", "status", code=3)
    assert not after["desktop"]["installed"] and not shutil.os.path.exists(shown["entry"])
    manager("systemctl", "--user", "stop", target.name)


def test_the_desktop_entry_opens_the_live_screen_of_the_store(backhaul, daemon, tmp_path):
    store = tmp_path / "a \"$`\\ 100%"
    shown = backhaul.json("service", "install", "--desktop", "--store", store, BACKHAUL_DAEMON=str(daemon))["desktop"]
    lines = dict(line.split("=", 1) for line in open(shown["entry"]).read().splitlines() if "=" in line)
    # What a launcher does (Desktop Entry Specification, "The Exec key"): the escapes of strings, then those in quotes,
    # which are those of a shell.
    script = "printf '%s\\n' " + lines["Exec"].replace("\\\\", "\\").replace("%%", "%")
    words = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True).stdout.splitlines()
    assert words == [COMMAND, "watch", "--store", str(store)]
    assert (lines["Type"], lines["Terminal"]) == ("Application", "true")
    backhaul("service", "uninstall", "--store", store)
