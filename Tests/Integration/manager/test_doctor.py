"""`backhaul doctor` reports what is wrong, and changes nothing."""

import json
import os

import pytest

from manager.test_hosts import DAEMON, host, processes, server  # noqa: F401  (fixtures)

pytestmark = pytest.mark.skipif(DAEMON is not None and not os.path.exists(DAEMON), reason="needs backhauld")


@pytest.fixture
def doctor(backhaul):
    """Returns a function that runs `backhaul doctor`. The function maps each subject, such as "store", to its level and
    to the text with the advice. A level is "ok", "warning" or "error"."""
    def run(code=0, **variables):
        if DAEMON:
            variables.setdefault("BACKHAUL_DAEMON", DAEMON)
        findings = {}
        for line in backhaul("doctor", "--json", code=code, **variables).stdout.splitlines():
            finding = json.loads(line)
            findings[finding["subject"]] = (finding["level"], f"{finding['text']}; {finding['advice']}")
        return findings

    return run


def test_doctor_does_not_create_a_missing_store(doctor, store):
    findings = doctor()
    assert findings["store"][0] == findings["engine"][0] == findings["daemon"][0] == findings["manager"][0] == "ok"
    assert findings["lingering"][0] == "warning" and "enable-linger" in findings["lingering"][1]
    version = findings["version"][1]
    assert "libcurl" in version and "SQLite" in version and "libuv" in version
    assert not store.exists()


def test_doctor_starts_no_daemon_for_a_store_without_an_engine(doctor, manager, backhaul, store, host):  # noqa: F811
    unit = host()
    daemon = backhaul.json("service", "status", code=3)["unit"]
    manager("systemctl", "--user", "stop", unit)
    manager("systemctl", "--user", "stop", daemon)
    findings = doctor()
    assert "no engine runs" in findings["engine"][1] and "socket" not in findings
    assert backhaul.json("service", "status", code=3)["state"] in (None, "inactive")
    assert findings["log"][0] == "ok" and str(store / "daemon.log") in findings["log"][1]


def test_doctor_does_not_warn_about_a_daemon_with_its_own_unit(doctor, manager, backhaul, host):  # noqa: F811
    host()
    findings = doctor()
    daemon = backhaul.json("service", "status", code=3)["unit"]
    assert f"process {processes(manager, daemon)[0]}, the daemon" in findings["engine"][1]
    assert findings["socket"][0] == "ok"
    assert findings["stopping"] == ("ok", f"the daemon is a service of its own, {daemon}; None")


def test_doctor_warns_about_a_daemon_in_the_service_of_its_host(doctor, host):  # noqa: F811
    unit = host("--property=UnsetEnvironment=XDG_RUNTIME_DIR DBUS_SESSION_BUS_ADDRESS")
    findings = doctor()
    assert findings["stopping"][0] == "warning" and unit in findings["stopping"][1]
    assert doctor(XDG_RUNTIME_DIR="")["manager"][0] == "warning"


def test_doctor_names_the_process_of_a_daemon_that_sigstop_has_stopped(doctor, manager, backhaul, host):  # noqa: F811
    host()
    process = processes(manager, backhaul.json("service", "status", code=3)["unit"])[0]
    manager("kill", "-STOP", process)
    try:
        findings = doctor(code=5)
        assert findings["engine"][0] == "error" and str(process) in findings["engine"][1]
    finally:
        manager("kill", "-CONT", process)


def test_doctor_reports_a_missing_daemon_program_with_the_searched_paths(doctor):
    findings = doctor(code=5, BACKHAUL_DAEMON="/absent/backhauld")
    assert findings["daemon"][0] == "error" and "/absent/backhauld" in findings["daemon"][1]


@pytest.mark.parametrize("spoil, words", [
    (lambda store: (store.mkdir(), store.chmod(0o755)), "chmod 700"),
    (lambda store: store.write_text("x"), "not a directory"),
    (lambda store: (store.mkdir(0o700), os.chown(store, 65534, 65534)), "belongs to user 65534"),
])
def test_doctor_exits_with_status_6_if_the_store_cannot_be_used(doctor, store, spoil, words):
    spoil(store)
    findings = doctor(code=6)
    assert findings["store"][0] == "error" and words in findings["store"][1]


def test_doctor_warns_about_a_store_that_a_reboot_would_delete(manager, backhaul):
    manager("mkdir", "-m", "700", "/run/store")
    line = next(line for line in backhaul("--store", "/run/store", "doctor").stdout.splitlines() if " store " in line)
    assert line.startswith("warning") and "tmpfs" in line
