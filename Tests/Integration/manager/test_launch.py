"""Under a user manager (systemd), a program that the daemon has launched has its own unit. The daemon runs the
transfers of hosts, which are processes that embed the library. The daemon launches a host when a session needs this
host."""

import re

import pytest

from manager.manager import until
from manager.test_hosts import processes
from manager.test_service import is_filled


@pytest.fixture
def program(tmp_path):
    """A program that records its environment and control group, and does not exit."""
    made = tmp_path / "photos"
    made.write_text(f"#!/bin/sh\nenv >'{tmp_path}/environment'\ncat /proc/self/cgroup >'{tmp_path}/group'\n"
                    f"pwd >'{tmp_path}/directory'\necho $$ >'{tmp_path}/number'\nexec sleep 600\n")
    made.chmod(0o755)
    return made


@pytest.fixture
def launched(manager, backhaul, program, tmp_path):
    """The unit of a program that was launched."""
    backhaul("register", "--environment", "COLOUR=blue 100% $HOME", "--first-delay", "1", "--", program)
    backhaul("add", "--suspended", "--output", tmp_path / "file", "http://127.0.0.1:9/file")
    backhaul("cancel", "--all")
    until(lambda: is_filled(tmp_path / "number"), "the launch")
    until(lambda: backhaul.json("launches")["state"] == "running", "its record")
    unit = (tmp_path / "group").read_text().strip().rsplit("/", 1)[-1]
    yield unit
    backhaul("unregister")
    for left in (unit, backhaul.json("service", "status", code=3)["unit"]):
        manager("systemctl", "--user", "stop", left, check=False)


def test_a_launched_program_has_its_own_unit_and_environment(manager, launched, store, tmp_path):
    assert launched.startswith("backhaul-") and launched.endswith(".service")
    assert manager.property(launched, "MainPID") == (tmp_path / "number").read_text().strip()
    environment = dict(line.split("=", 1) for line in (tmp_path / "environment").read_text().splitlines())
    assert environment["COLOUR"] == "blue 100% $HOME"
    assert environment["BACKHAUL_STORE"] == str(store)
    assert environment["BACKHAUL_LAUNCH"].startswith("1-")
    assert (tmp_path / "directory").read_text().strip() == str(manager.home)


def test_the_daemon_is_restricted_and_a_launched_program_is_not(manager, backhaul, launched):
    def restrictions(unit):
        [process] = processes(manager, unit)
        status = manager("cat", f"/proc/{process}/status").stdout
        return re.findall(r"^(?:NoNewPrivs|Seccomp):\t(\d)", status, re.M)

    assert restrictions(backhaul.json("service", "status", code=3)["unit"]) == ["1", "2"]
    assert restrictions(launched) == ["0", "0"]


def test_a_launched_host_continues_when_the_daemon_is_stopped(manager, backhaul, launched):
    daemon = backhaul.json("service", "status", code=3)["unit"]
    manager("systemctl", "--user", "stop", daemon)
    assert manager.property(launched, "ActiveState") == "active"
    assert backhaul.json("launches")["state"] == "running"


def test_a_program_whose_unit_is_stopped_is_launched_again(manager, backhaul, launched, tmp_path):
    first = (tmp_path / "number").read_text()
    manager("systemctl", "--user", "stop", launched)
    until(lambda: (tmp_path / "number").read_text().strip() not in ("", first.strip()), "the next launch")
    until(lambda: backhaul.json("launches")["launches"] == 2, "its count")
    manager("systemctl", "--user", "stop", (tmp_path / "group").read_text().strip().rsplit("/", 1)[-1], check=False)
