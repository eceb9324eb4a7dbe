"""Unusual hosts start the daemon. A host is a process that embeds the library. These hosts have their own children and
signal handlers, filters of system calls, or low limits."""

import json
import os
import re
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from daemons import daemons_of, end_daemons
from testbed.host import until

HERE = Path(__file__).resolve().parent


@pytest.fixture
def run_host_program(store, place):
    """Returns a function that runs a host of programs.py to its end and returns its result."""
    def run(name, **environment):
        ended = subprocess.run([sys.executable, HERE / "programs.py", name, store], capture_output=True, text=True,
                               timeout=60, env={**os.environ, **environment})
        assert ended.returncode == 0, ended.stderr
        return json.loads(ended.stdout)

    yield run
    end_daemons(place)


@pytest.fixture
def long_lived_daemon(program, place):
    """Returns the path of a daemon that does not exit when it is idle. So a test can examine the daemon."""
    path = place / "backhauld"
    path.write_text(f"#!/bin/sh\nexec '{program}' \"$@\" --linger 60000\n")
    path.chmod(0o755)
    return str(path)


def open_files(process):
    """Returns the targets of the open descriptors. The daemon may close the connection of its host at the same time."""
    found = []
    for descriptor in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            found.append(os.readlink(descriptor))
    return found


def test_a_sigchld_handler_is_called_only_for_the_hosts_own_children(run_host_program):
    assert run_host_program("own_handler") == {"error": None, "signals": 1, "reaped": True}


def test_a_thread_that_waits_for_any_child_gets_no_child_of_the_library(run_host_program):
    assert run_host_program("waiting_thread") == {"error": None, "reaped": []}


def test_a_host_that_ignores_sigchld_can_start_a_daemon(run_host_program):
    assert run_host_program("ignored_children") == {"error": None}


def test_the_daemon_does_not_inherit_the_open_descriptors_of_its_host(run_host_program, long_lived_daemon, place):
    assert run_host_program("many_descriptors", BACKHAUL_DAEMON=long_lived_daemon) == {"error": None}
    process = until(lambda: daemons_of(place), bool)[0]
    names = open_files(process)
    assert len(names) < 40
    assert names.count("/dev/null") == 2
    # stderr is a file in memory, from which the host reads the error of a daemon that cannot start.
    assert sum("memfd:errors" in name for name in names) == 1


def test_the_daemon_does_not_inherit_small_limits_of_its_host(run_host_program, long_lived_daemon, place):
    assert run_host_program("small_limits", BACKHAUL_DAEMON=long_lived_daemon) == {"error": None}
    process = until(lambda: daemons_of(place), bool)[0]
    limits = Path(f"/proc/{process}/limits").read_text()
    assert re.search(r"Max open files +(\d+)", limits)[1] not in ("64", "1024")
    assert re.search(r"Max file size +unlimited", limits)


def test_the_daemon_does_not_inherit_blocked_and_ignored_signals(run_host_program, long_lived_daemon, place):
    assert run_host_program("blocked_signals", BACKHAUL_DAEMON=long_lived_daemon) == {"error": None}
    process = until(lambda: daemons_of(place), bool)[0]
    status = Path(f"/proc/{process}/status").read_text()
    assert "SigIgn:\t0000000000000000" in status
    # The daemon itself blocks SIGTERM, and reads it from a descriptor. SIGTERM must end this daemon, although the host
    # has blocked and ignored this signal.
    os.kill(process, 15)
    until(lambda: daemons_of(place), lambda found: found == [])


def test_the_daemon_gets_a_clean_environment(run_host_program, long_lived_daemon, place):
    given = {"API_TOKEN": "secret", "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
             "http_proxy": "http://p:1", "SSL_CERT_DIR": "/certificates", "LC_TIME": "C"}
    assert run_host_program("plain", BACKHAUL_DAEMON=long_lived_daemon, **given) == {"error": None}
    process = until(lambda: daemons_of(place), bool)[0]
    found = dict(entry.split("=", 1) for entry in Path(f"/proc/{process}/environ").read_text().split("\0") if entry)
    assert {"http_proxy", "SSL_CERT_DIR", "LC_TIME", "PATH"} <= set(found)
    assert {"API_TOKEN", "LD_LIBRARY_PATH", "PYTHONPATH", "BACKHAUL_LIBRARY"}.isdisjoint(found)


@pytest.mark.parametrize("habit", ["no_exec", "deadly_exec", "no_processes"])
def test_a_host_gets_an_error_if_a_filter_of_system_calls_forbids_new_processes(run_host_program, habit):
    name, sentence = run_host_program(habit)["error"]
    assert name == "DaemonUnavailable"
    assert "Operation not permitted" in sentence and "EMBEDDED" in sentence


def test_the_error_names_the_searched_paths_if_the_daemon_is_missing_and_no_store_is_made(run_host_program, store):
    name, sentence = run_host_program("plain", BACKHAUL_DAEMON="/no/such/backhauld")["error"]
    assert name == "DaemonUnavailable"
    assert "/no/such/backhauld" in sentence
    assert not store.exists()


def test_a_host_that_starts_another_program_as_its_daemon_gets_an_error_within_seconds(run_host_program):
    name, sentence = run_host_program("plain", BACKHAUL_DAEMON="/bin/true")["error"]
    assert name == "DaemonUnavailable"
    assert "/bin/true ended at once" in sentence


def test_the_host_gets_the_error_message_of_a_daemon_that_cannot_open_the_store(run_host_program, store):
    store.mkdir(mode=0o700)
    (store / "backhaul.sqlite3").write_text("no database, but long enough to be looked at as if it were one\n" * 20)
    (store / "backhaul.sqlite3").chmod(0o600)
    name, sentence = run_host_program("plain")["error"]
    assert name == "StoreError"
    assert "ended at once" in sentence and "database" in sentence


@pytest.mark.parametrize(("stderr", "named"), [
    ("{program}: error while loading shared libraries: libuv.so.1: cannot open shared object file",
     ["libuv.so.1", "LD_LIBRARY_PATH"]),
    ("{program}: /lib/libc.so.6: version `GLIBC_2.99' not found (required by {program})",
     ["GLIBC_2.99", "LD_LIBRARY_PATH"]),
    ("backhauld: /proc is not mounted", ["at once: /proc is not mounted"])])
def test_the_error_has_what_a_daemon_that_cannot_start_wrote_to_stderr(run_host_program, place, stderr, named):
    program = place / "broken"
    program.write_text(f"#!/bin/sh\ncat >&2 <<'END'\n{stderr.format(program=program)}\nEND\nexit 127\n")
    program.chmod(0o755)
    name, message = run_host_program("plain", BACKHAUL_DAEMON=str(program))["error"]
    assert name == "DaemonUnavailable"
    for text in named:
        assert text in message


@pytest.mark.parametrize(("content", "mode", "named"), [
    (b"#!/absent/loader\n", 0o755, "loader"), (b"\x7fELF", 0o755, "no program for this machine"),
    (b"#!/bin/sh\n", 0o644, "chmod +x")])
def test_the_error_has_the_reason_why_the_daemons_program_cannot_be_run(
        run_host_program, place, content, mode, named):
    program = place / "unusable"
    program.write_bytes(content)
    program.chmod(mode)
    name, message = run_host_program("plain", BACKHAUL_DAEMON=str(program))["error"]
    assert (name, str(program) in message, named in message) == ("DaemonUnavailable", True, True), message


#: Scripts that change the mounts of a host, by the text that the error must have.
MOUNTS = {
    "/proc is not mounted": "mount -t tmpfs none /proc",
    "mounted with noexec ({place})":
        "mount --bind '{place}' '{place}' && mount -o remount,bind,noexec '{place}'",
}


@pytest.mark.parametrize("named", MOUNTS)
def test_the_error_names_the_mount_that_prevents_the_start_of_the_daemon(store, place, program, named):
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "true"], check=False).returncode:
        pytest.skip("needs root and mount namespaces")
    shutil.copy(program, place / "copy")
    ended = subprocess.run(
        ["unshare", "--mount", "sh", "-c", MOUNTS[named].format(place=place) + ' && exec "$@"', "sh", sys.executable,
         HERE / "programs.py", "plain", store],
        capture_output=True, text=True, timeout=60, env={**os.environ, "BACKHAUL_DAEMON": str(place / "copy")})
    assert ended.returncode == 0, ended.stderr
    assert named.format(place=place) in json.loads(ended.stdout)["error"][1]
