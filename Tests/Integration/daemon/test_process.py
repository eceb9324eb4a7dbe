"""The program backhauld: its command line, its signals, its log and its store."""

import os
import shutil
import signal
import socket
import stat
import struct
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from backhaul import Application, BackhaulError, Hosting, Request, Role, TaskState
from daemons import daemons_of, end, end_daemons
from servers import child
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import stop, until


HERE = Path(__file__).parent

#: If the systemd journal is available, the log file has only errors.
without_journal = pytest.mark.skipif(os.path.exists("/run/systemd/journal/socket"), reason="the journal has the log")


def run(program, *words):
    return subprocess.run([program, *words], capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)


def test_backhauld_checks_its_command_line(program, tmp_path):
    assert run(program, "--version").stdout.startswith("backhauld ")
    assert "--linger" in run(program, "--help").stdout
    for words in (["--no-such"], ["--store", "relative"], ["--linger", "soon"], ["operand"]):
        ended = run(program, *words)
        assert ended.returncode == 2 and "backhauld" in ended.stderr, words
    missing = run(program, "--store", tmp_path / "no" / "store")
    assert missing.returncode == 1 and "parent directory does not exist" in missing.stderr


def test_if_several_daemons_start_together_one_runs_and_the_others_exit_with_status_0(program, store, place):
    many = [child.start([program, "--store", store, "--linger", "60000"]) for _ in range(10)]
    try:
        until(lambda: [one.poll() for one in many], lambda codes: codes.count(0) == 9)
        assert len(daemons_of(place)) == 1
    finally:
        for one in many:
            child.end(one, timeout=60)
    assert [one.returncode for one in many] == [0] * 10


def test_the_daemon_serves_the_default_store_if_no_store_option_is_given(program, place):
    environment = {**os.environ, "XDG_STATE_HOME": str(place / "state")}
    (place / "state").mkdir(mode=0o700)
    one = child.start([program, "--linger", "60000"], env=environment)
    until(lambda: (place / "state" / "backhaul" / "engine.socket").exists(), bool)
    child.end(one, timeout=60)
    assert one.returncode == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_daemon_syncs_the_received_bytes_and_exits_on_a_signal(host, misbehaving, downloads, daemon, number):
    content = Content(3_000_000)
    url = misbehaving.serve("/a", content, [Behaviour(stall_after=1_500_000)])
    one = host()
    one.session(first_delay_ms=10)
    one.download(url, downloads / "a", key="a")
    misbehaving.wait_until(lambda log: log and log[0].sent == 1_500_000)
    until(one.tasks, lambda tasks: tasks[0].offset == 1_500_000)
    part = until(lambda: [entry for entry in os.scandir(downloads)], lambda entries: len(entries) == 1)[0]
    process = daemon()
    os.kill(process, number)
    # The daemon exits although the server still stalls.
    until(lambda: os.path.exists(f"/proc/{process}/exe"), lambda there: not there)
    assert misbehaving.log()[0].sent == 1_500_000
    # The next daemon continues the download, and the host gets no error.
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == content.sha256
    assert any(asked.range for asked in misbehaving.log()), part.name


def test_hosts_can_open_the_store_while_its_daemon_exits(host, program, place, monkeypatch):
    """The daemon exits as soon as its last host closes the store (a linger time of 0). The pauses of the loop differ,
    so the hosts open the store at different moments of the daemon's exit."""
    hasty = place / "backhauld"
    hasty.write_text(f"#!/bin/sh\nexec '{program}' \"$@\" --linger 0\n")
    hasty.chmod(0o755)
    monkeypatch.setenv("BACKHAUL_DAEMON", str(hasty))
    one, two = host(opened=False), host(opened=False)
    for number in range(60):
        one.open()
        one.begin("session", f"{number}")
        if number % 3 == 0:
            time.sleep(0.001 * (number % 7))
        two.open()
        assert one.finish() is True
        two.attach(f"{number}", role=Role.PRODUCE)
        one.close()
        two.close()


def test_the_error_names_the_process_of_a_stopped_daemon(host, daemon, one):
    process = daemon()
    stop(process)
    try:
        two = host(opened=False)
        with pytest.raises(BackhaulError, match=f"process {process} .*is stopped"):
            two.open(timeout=60)
    finally:
        os.kill(process, signal.SIGCONT)


@without_journal
def test_the_log_contains_no_secrets_and_only_the_user_can_read_it(host, store, daemon, downloads):
    one = host()
    one.session(first_delay_ms=10)
    one.download("http://127.0.0.1:9/a?token=secret", downloads / "a", key="secret")
    process = daemon()
    os.kill(process, signal.SIGTERM)
    until(lambda: os.path.exists(f"/proc/{process}/exe"), lambda there: not there)
    log = store / "daemon.log"
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    lines = log.read_text().splitlines()
    assert any(f" {process} notice: serves {store}" in line for line in lines)
    assert any(f" {process} notice: exits on signal 15" in line for line in lines)
    assert "secret" not in log.read_text()


@without_journal
def test_a_daemon_that_fails_while_its_disk_hangs_logs_the_failure_and_exits_with_status_1(
        host, program, store, place, tmp_path):
    library, mark, moved = tmp_path / "hanging_sync.so", tmp_path / "mark", place / "moved"
    subprocess.run(["clang", "-std=c11", "-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library,
                    HERE / "hanging_sync.c"], check=True)
    environment = {**os.environ, "LD_PRELOAD": str(library), "HANGING_SYNC": str(mark)}
    one = child.start([program, "--store", store, "--linger", "60000"], env=environment)
    try:
        until((store / "engine.socket").exists, bool)
        user = host()
        mark.touch()
        user.begin("session")
        until(mark.exists, lambda there: not there)
        store.rename(moved)
        assert one.wait(30) == 1
    finally:
        child.end(one)
    assert f" {one.pid} error " in (moved / "daemon.log").read_text()


@without_journal
def test_a_long_log_is_rotated(program, store):
    store.mkdir(mode=0o700)
    (store / "daemon.log").write_bytes(b"x" * (1 << 20))
    run(program, "--store", store, "--linger", "0")
    run(program, "--store", store, "--linger", "0")
    assert (store / "daemon.log.1").stat().st_size > 1 << 20
    assert (store / "daemon.log").stat().st_size < 10_000


def test_a_stale_socket_is_replaced(host, daemon, store, one):
    process = daemon()
    # A running host would start the next daemon, which replaces the socket.
    one.stop()
    end(process, signal.SIGKILL, time.monotonic() + 60)
    one.kill()
    assert (store / "engine.socket").exists()
    host().attach()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a socket of another user")
def test_a_socket_of_another_user_is_not_used(host, store):
    host().close()
    until(lambda: (store / "engine.socket").exists(), lambda there: not there)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(store / "engine.socket"))
        reader, writer = os.pipe()
        foreigner = os.fork()
        if foreigner == 0:
            os.setresuid(65_534, 65_534, 65_534)
            listener.listen()
            os.write(writer, b"x")
            signal.pause()
        try:
            os.read(reader, 1)
            with pytest.raises(BackhaulError, match=f"process {foreigner}, belongs to another user"):
                host(opened=False).open(timeout=60)
        finally:
            os.kill(foreigner, signal.SIGKILL)
            os.waitpid(foreigner, 0)
            (store / "engine.socket").unlink(missing_ok=True)


def answer_to_user(user, store):
    """Returns b"connected:" and what a daemon sends to a process of the user until it closes the connection."""
    # Each engine answers a hello of another version (docs/wire.md).
    hello = b"\x01bhul" + struct.pack("<HI", 0, 0x00_09_00) + b"unknown fields"
    reader, writer = os.pipe()
    child_process = os.fork()
    if child_process == 0:
        try:
            # Other users may be unable to enter the directories above the store.
            os.chdir(store)
            os.setgroups([])
            os.setresgid(user, user, user)
            os.setresuid(user, user, user)
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(60)
                client.connect("engine.socket")
                os.write(writer, b"connected")
                answer = b""
                with suppress(ConnectionError):
                    client.sendall(struct.pack("<I", len(hello)) + hello)
                    answer = client.recv(100)
                os.write(writer, b":" + answer)
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child_process, 0)
    with os.fdopen(reader, "rb") as pipe:
        return pipe.read()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_the_daemon_closes_the_connection_of_another_user_without_an_answer(host, store):
    host()
    store.chmod(0o711)
    (store / "engine.socket").chmod(0o666)
    assert answer_to_user(65_534, store) == b"connected:"
    assert b"bhul" in answer_to_user(0, store)
    store.chmod(0o700)


def hostile(store, payload):
    """Returns a connection that has sent the payload and stays open."""
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(str(store / "engine.socket"))
    with suppress(OSError):
        peer.sendall(payload)
    return peer


def test_invalid_messages_incomplete_messages_and_floods_do_not_affect_other_connections(store, daemon, misbehaving,
                                                                                         downloads, one):
    process = daemon()
    peers = [hostile(store, struct.pack("<I", 1_000) + b"\x01bhul")]
    peers += [hostile(store, os.urandom(70_000)) for _ in range(50)]
    peers += [hostile(store, struct.pack("<I", 0xFFFF_FFFF) + b"x" * 1_000)]
    one.download(misbehaving.serve("/a", Content(1_000)), downloads / "a", key="a")
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    for peer in peers:
        peer.close()
    assert daemon() == process


def test_the_host_of_a_deleted_store_gets_an_error_and_the_next_host_makes_a_new_store(host, store, place, daemon, one):
    first = daemon()
    while store.exists():
        # The daemon may remove its socket at the same time.
        shutil.rmtree(store, ignore_errors=True)
    until(lambda: os.path.exists(f"/proc/{first}/exe"), lambda there: not there)
    with pytest.raises(BackhaulError):
        one.configuration()
    two = host()
    assert two.session() is True
    assert daemon() != first


def test_a_moved_store_works_at_its_new_path(host, store, place, downloads, daemon, one):
    one.enqueue([Request("http://127.0.0.1:9/", downloads / "a", key="a", suspended=True)])
    first = daemon()
    store.rename(place / "elsewhere")
    until(lambda: os.path.exists(f"/proc/{first}/exe"), lambda there: not there)
    assert "moved away" in (place / "elsewhere" / "daemon.log").read_text()
    one.kill()
    again = host(opened=False)
    again._store = str(place / "elsewhere")
    again.open()
    again.attach()
    assert [task.key for task in again.tasks()] == ["a"]


def test_a_session_that_was_closed_while_no_daemon_ran_can_be_opened_again(store, place):
    with Application("org.example.closing", store=store, hosting=Hosting.DAEMON) as application:
        for delay in (0, 0.0005, 0.002, 0.01):
            session = application.session("s")
            (process,) = daemons_of(store)
            os.kill(process, signal.SIGKILL)
            time.sleep(delay)
            session.close()
            application.attach("s", timeout=20).close()
    end_daemons(place)


def test_enqueues_of_several_threads_wait_for_a_stopped_daemon_and_none_is_lost(store, daemon, place, downloads):
    threads, calls, size = 8, 20, 25
    with (Application("org.example.threads", store=store, hosting=Hosting.DAEMON) as application,
          application.session("s") as session):

        def start_enqueues(thread):
            names = ([f"{thread}-{call}-{number}" for number in range(size)] for call in range(calls))
            return [session.start.enqueue([Request("http://127.0.0.1:9/" + "long" * 50, downloads / name, key=name,
                                                   suspended=True) for name in batch]) for batch in names]

        process = daemon()
        stop(process)
        try:
            # The requests have more bytes than the socket has space for.
            with ThreadPoolExecutor(threads) as pool:
                tickets = [ticket for started in pool.map(start_enqueues, range(threads)) for ticket in started]
            assert not any(ticket.done for ticket in tickets)
        finally:
            os.kill(process, signal.SIGCONT)
        results = [result for ticket in tickets for result in ticket.result(60)]
        assert len({result.task_id for result in results}) == threads * calls * size
        # The calls of a thread keep their order.
        keys = [task.key for task in sorted(session.tasks(timeout=60), key=lambda task: task.id)]
        for thread in range(threads):
            own = [key for key in keys if key.startswith(f"{thread}-")]
            assert own == [f"{thread}-{call}-{number}" for call in range(calls) for number in range(size)]
    end_daemons(place)
