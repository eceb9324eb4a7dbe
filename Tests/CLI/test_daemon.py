"""Commands whose transfers run in the daemon, a separate process that exits when it is idle. This is the default.
With embedded hosting, transfers run in the process of the command."""

import fcntl
import os
import signal
import struct
import subprocess

import pytest

from command_line import until
from daemons import daemons_of, end_daemons
from servers.hung import FreezingDisk
from testbed.namespaces import PROCESS_NAMESPACE, can_run

pytestmark = pytest.mark.hosting("daemon")

CONTENT = bytes(range(256)) * 4000


def test_a_file_arrives_after_the_add_command_has_exited(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=2 << 20)
    ended = backhaul("add", f"{server.url}/a")
    assert "continues in the background" in ended.stderr
    until((backhaul.here / "a").exists, "the file")
    assert (backhaul.here / "a").read_bytes() == CONTENT
    assert backhaul("wait").stdout == f"{backhaul.here}/a\n"


@pytest.mark.skipif(not can_run(PROCESS_NAMESPACE), reason="no process namespace can be made here")
def test_a_command_in_a_pid_namespace_uses_the_daemon_outside_and_not_the_other_way_round(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=20_000)
    options = {"env": backhaul.environment, "capture_output": True, "text": True, "check": False, "timeout": 60}
    backhaul("add", f"{server.url}/a")
    assert "/a" in subprocess.run([*PROCESS_NAMESPACE, *backhaul.arguments("tasks")], **options).stdout
    end_daemons(backhaul.folder)
    requests = len(server.requests())
    # The command that ends the daemon's PID namespace also ends the daemon.
    with subprocess.Popen([*PROCESS_NAMESPACE, *backhaul.arguments("wait")], env=backhaul.environment) as other:
        try:
            until(lambda: len(server.requests()) > requests, "the request of the daemon")
            refused = subprocess.run(backhaul.arguments("tasks"), **options)
            assert refused.returncode == 6 and "in another container" in refused.stderr, refused.stderr
        finally:
            other.kill()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_transfer_continues_after_a_signal_has_ended_its_command(backhaul, serve, number):
    server = serve({"/a": CONTENT}, pause_at=len(CONTENT) // 2)
    process = backhaul.start("get", f"{server.url}/a")
    until(server.is_paused, "the pause in the file")
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == -number
    if number == signal.SIGINT:
        assert "1 transfer is left" in errors and "continues in the background" in errors
        assert backhaul.wait_command in errors
    server.release()
    until((backhaul.here / "a").exists, "the file")
    assert len(server.requests()) == 1, "the file was requested twice"


def test_the_daemon_exits_when_it_is_idle(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("get", f"{server.url}/a")
    until(lambda: not daemons_of(backhaul.folder), "the daemon's end")


def test_a_command_continues_when_the_daemon_is_killed(backhaul, serve):
    server = serve({"/a": CONTENT}, pause_at=len(CONTENT) // 2)
    process = backhaul.start("get", f"{server.url}/a")
    until(server.is_paused, "the pause in the file")
    (daemon,) = daemons_of(backhaul.folder)
    os.kill(daemon, signal.SIGKILL)
    server.release()
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert output == f"{backhaul.here}/a\n"
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_the_wait_command_exits_with_6_and_prints_the_path_of_the_missing_daemon_program(backhaul):
    ended = backhaul("wait", "--daemon", "/absent/backhauld", code=6)
    assert "/absent/backhauld" in ended.stderr
    assert "--embedded" in ended.stderr


@pytest.mark.parametrize(("daemons", "own", "named"), [
    ({}, {"http_proxy": "http://p:1"}, "(http_proxy)"), ({"http_proxy": "http://p:1"}, {}, "(http_proxy)"),
    ({"all_proxy": "http://p:1"}, {"all_proxy": "http://p:1", "no_proxy": "a"}, "(no_proxy)"),
    ({"https_proxy": "http://p:1"}, {"https_proxy": "http://p:1"}, None), ({}, {"no_proxy": "a"}, None)])
def test_a_command_names_the_proxy_variables_that_differ_from_those_of_the_daemon(backhaul, daemons, own, named):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a", **daemons)
    notes = backhaul("add", "--suspended", "http://127.0.0.1:9/b", **own).stderr
    assert ("proxy variables" in notes) == (named is not None) and (named or "") in notes


def test_a_command_with_embedded_hosting_uses_the_running_daemon_of_the_store(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=1 << 20)
    backhaul("add", f"{server.url}/a")
    assert backhaul("wait", "--embedded").stdout == f"{backhaul.here}/a\n"
    assert len(server.requests()) == 1


def test_the_progress_display_shows_a_refused_connection(backhaul, serve):
    from test_terminal import Terminal

    server = serve({})
    server.close()
    terminal = Terminal(backhaul, "get", f"{server.url}/a", columns=160)
    terminal.read(rb"(?i)connect[^\n]*next attempt in")
    terminal.process.send_signal(signal.SIGKILL)
    terminal.end()


def engine_of(findings):
    (found,) = [one for one in findings if one["subject"] == "engine"]
    return found


def test_after_a_kill_of_the_daemon_the_doctor_command_warns_that_transfers_may_wait(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=20_000)
    backhaul("add", f"{server.url}/a")
    (daemon,) = daemons_of(backhaul.folder)
    os.kill(daemon, signal.SIGKILL)
    until(lambda: not daemons_of(backhaul.folder), "the daemon's end")
    found = engine_of(backhaul.json("doctor"))
    assert found["level"] == "warning" and "transfers may wait" in found["text"]
    assert backhaul.wait_command in found["advice"]


@pytest.mark.parametrize("path", ["missing/store", "file", "file/store"])
def test_the_doctor_command_reports_a_store_that_cannot_be_created_and_no_killed_engine(backhaul, path):
    (backhaul.folder / "file").touch()
    backhaul.store = backhaul.folder / path
    found = backhaul.json("doctor", code=6)
    assert [one["level"] for one in found if one["subject"] == "store"] == ["error"]
    assert engine_of(found)["level"] == "ok"


def test_the_doctor_command_reports_no_problem_after_the_idle_daemon_has_exited(backhaul, serve):
    backhaul("get", f"{serve({'/a': CONTENT}).url}/a")
    until(lambda: not daemons_of(backhaul.folder), "the daemon's end")
    assert engine_of(backhaul.json("doctor"))["level"] == "ok"


def test_the_doctor_command_reports_that_no_engine_runs_if_the_engine_ends_during_the_check(backhaul, serve):
    backhaul("get", f"{serve({'/a': CONTENT}).url}/a")
    until(lambda: not daemons_of(backhaul.folder), "the daemon's end")
    with open(backhaul.store / "lock", "r+b") as lock:
        # struct flock: type, whence, start, length, process.
        fcntl.fcntl(lock, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0))
        doctor = backhaul.start("doctor", "--json")
        # When the library finds that another process owns the lock, it starts a second thread. This thread searches for
        # the engine.
        until(lambda: len(os.listdir(f"/proc/{doctor.pid}/task")) > 1, "the second thread")
    output, errors = doctor.communicate(timeout=60)
    assert '"no engine runs' in output and "/dev/null" not in output + errors


def test_the_reschedule_command_reports_that_a_running_transfer_continues(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=20_000)
    backhaul("add", f"{server.url}/a")
    (task,) = until(lambda: backhaul.json("tasks", "--state", "running"), "the transfer")
    errors = backhaul("reschedule", task["id"], "--earliest-start", "+3h").stderr
    assert "1 of them is running and continues; its next attempt waits until " in errors
    (counts,) = backhaul.json("reschedule", "--all", "--earliest-start", "+4h")
    assert counts == {"affected": 1, "running": 1}
    assert "is running" not in backhaul("reschedule", task["id"], "--earliest-start", "now").stderr


@pytest.mark.parametrize("command", [["sessions"], ["tasks"], ["doctor"]], ids=lambda words: words[0])
def test_each_command_ends_while_the_stores_file_system_is_frozen(backhaul, serve, tmp_path, command):
    server = serve({"/a": CONTENT}, speed=20_000)
    with FreezingDisk(tmp_path / "disk") as disk:
        words = ["--store", str(disk.folder / "store")]
        backhaul("add", *words, f"{server.url}/a")
        disk.freeze()
        ended = backhaul.start(*command, *words)
        try:
            # The command may time out after 30 s. The test only requires that the command ends.
            ended.communicate(timeout=60)
        finally:
            disk.thaw()
        end_daemons(disk.folder)


def test_the_doctor_command_ends_if_the_lock_file_is_a_pipe(backhaul, serve):
    server = serve({"/a": CONTENT}, speed=20_000)
    backhaul("add", f"{server.url}/a")
    (daemon,) = daemons_of(backhaul.folder)
    os.kill(daemon, signal.SIGKILL)
    until(lambda: not daemons_of(backhaul.folder), "the daemon's end")
    (lock,) = backhaul.folder.rglob("lock")
    lock.unlink()
    os.mkfifo(lock, 0o600)
    asked = backhaul.start("doctor")
    output, _ = asked.communicate(timeout=60)
    assert "store" in output
