"""Hosts that the daemon launches under a user manager run in their own services. The daemon launches the host's
program when a transfer has ended. A host completes when it states that it has processed all events."""

import pytest
from demo_parts.server import Server

from manager.manager import COMMAND, until
from manager.test_hosts import DAEMON

APPLICATION = "org.example.photos"


@pytest.fixture
def server(tmp_path):
    content = tmp_path / "content"
    content.write_bytes(bytes(100_000))
    made = Server({"/file": content}, 1 << 30)
    yield made
    made.close()


@pytest.fixture
def launched(manager, backhaul, store, tmp_path, server):
    """Returns a function that registers a program with this script, enqueues a download, and waits until the launched
    program has finished its work. The function returns the program's unit."""
    daemon = {"BACKHAUL_DAEMON": DAEMON} if DAEMON else {}
    words = ["--application", APPLICATION]

    def launch(script):
        program = tmp_path / "program"
        program.write_text(
            f"#!/bin/sh\ncd '{tmp_path}'\n"
            "work() {\n"
            "    cp /proc/self/cgroup group\n"
            f"    '{COMMAND}' wait --store '{store}' --application {APPLICATION} >new 2>&1\n"
            "    echo \"ended with $?\" >>new\n"
            "    mv new said\n"
            "}\n" + script)
        program.chmod(0o755)
        backhaul("register", *words, program, **daemon)
        backhaul("add", *words, "--output", tmp_path / "file", f"{server.url}/file", **daemon)
        until((tmp_path / "said").exists, "the launched program's work")
        assert (tmp_path / "said").read_text() == f"{tmp_path}/file\nended with 0\n"
        return (tmp_path / "group").read_text().strip().splitlines()[-1].rsplit("/", 1)[-1]

    launch.words = words
    yield launch
    manager("systemctl", "--user", "stop", backhaul.json("service", "status", code=3)["unit"], check=False)


def state(manager, unit):
    return manager.property(unit, "ActiveState")


def test_the_service_of_a_launched_host_is_inactive_after_the_host_has_completed(
        manager, backhaul, launched, server):
    unit = launched("work\n")
    assert unit.startswith(f"backhaul-{APPLICATION}-") and unit.endswith(".service")
    until(lambda: state(manager, unit) == "inactive", "its end")
    assert backhaul.json("launches", *launched.words)["state"] == "none"
    assert "warning  launch" not in backhaul("doctor").stdout
    # A stored launch command alone does not keep the daemon running.
    until(lambda: backhaul.json("service", "status", code=3)["state"] in (None, "inactive"), "the daemon's leaving")


def test_a_program_that_starts_a_child_and_exits_counts_as_one_launch(
        manager, backhaul, launched, server):
    unit = launched("work &\n")
    until(lambda: state(manager, unit) == "inactive", "its end")
    assert backhaul.json("launches", *launched.words)["launches"] in (0, 1)
    assert len(server.log) == 1


def test_the_daemon_exits_although_a_child_of_a_launched_host_keeps_the_service_of_the_host_active(
        manager, backhaul, launched, server):
    unit = launched("sleep 600 &\nwork\n")
    until(lambda: backhaul.json("service", "status", code=3)["state"] in (None, "inactive"), "the daemon's leaving")
    assert state(manager, unit) == "active"
    manager("systemctl", "--user", "stop", unit)
