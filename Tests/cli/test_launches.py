"""Programs that are started for their sessions, registered and looked at from the command line."""

import os
import re
import shlex
import signal

import pytest

from conftest import COMMAND, until

CONTENT = b"picture" * 1000


@pytest.fixture
def hosting():
    return "daemon"


@pytest.fixture
def script(backhaul):
    """Writes a shell script that may be registered."""
    def write(text, name="arrived"):
        path = backhaul.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        return path
    return write


def waits(backhaul, output):
    """Reads, acknowledges and completes; the file is there when it has ended."""
    return f"{shlex.quote(COMMAND)} wait --quiet >{shlex.quote(str(output))}.part && mv {output}.part {output}"


def test_a_shell_script_is_started_when_its_files_are_there(backhaul, serve, script):
    server = serve({"/a": CONTENT, "/b": CONTENT})
    arrived = backhaul.folder / "arrived.txt"
    backhaul("register", "--", script(waits(backhaul, arrived)))
    backhaul("add", f"{server.url}/a", f"{server.url}/b")
    until(arrived.exists, "the script's end")
    assert sorted(arrived.read_text().splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]
    (launch,) = until(lambda: [one for one in backhaul.json("launches") if one["state"] == "none"], "the completion")
    assert (launch["launches"], launch["error_message"]) == (0, None)
    assert backhaul.json("events") == []


def test_a_script_may_do_its_work_before_it_acknowledges_and_completes(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    log = backhaul.folder / "log"
    command = shlex.quote(COMMAND)
    steps = ["events", "events --acknowledge", "complete"]
    backhaul("register", script(" && ".join(f"{command} {step} >>{log}" for step in steps) + f" && echo done >>{log}"))
    backhaul("add", f"{server.url}/a")
    until(lambda: log.exists() and log.read_text().endswith("done\n"), "the script's end")
    until(lambda: backhaul.json("launches")[0]["state"] == "none", "the end of the launch")
    assert log.read_text().count("succeeded") == 2
    assert backhaul.json("launches")[0]["launches"] == 0


def test_what_is_registered_is_listed_as_a_shell_would_take_it(backhaul):
    backhaul("register", "--application", "org.example.photos", "-e", "COLOUR=blue green",
             "--working-directory", "/tmp", "/usr/bin/photos", "--ready", "two words", "\x1b[2J")
    (launch,) = backhaul.json("launches")
    assert launch["application"] == "org.example.photos"
    assert (launch["program"], launch["arguments"]) == ("/usr/bin/photos", ["--ready", "two words", "\x1b[2J"])
    assert (launch["environment"], launch["working_directory"]) == (["COLOUR=blue green"], "/tmp")
    assert (launch["state"], launch["process_id"], launch["next_launch_ms"]) == ("none", None, None)
    text = backhaul("launches").stdout
    assert r"/usr/bin/photos --ready 'two words' '\u{1b}[2J'" in text
    assert "\x1b" not in text
    backhaul("unregister", "--application", "org.example.photos")
    assert backhaul("launches").stdout == ""


def test_a_program_that_cannot_be_run_is_told_with_the_reason_in_every_listing(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("register", "--maximum-launches", "1", "/absent/program")
    backhaul("add", f"{server.url}/a")
    (launch,) = until(
        lambda: [one for one in backhaul.json("launches") if one["state"] == "left_alone"], "the failure")
    assert "/absent/program" in launch["error_message"]
    assert "last failure" in backhaul("launches").stdout
    assert "left alone" in backhaul("launches").stdout
    assert "failed too often" in backhaul("sessions").stdout
    (session,) = backhaul.json("sessions")
    assert session["launch_state"] == "left_alone"


def test_a_launch_that_is_due_is_told_with_its_time_and_no_listing_is_taken_for_a_host(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    backhaul("register", "--first-delay", "3", script("exit 1"))
    backhaul("add", f"{server.url}/a")
    until(lambda: backhaul.json("launches")[0]["launches"] == 1, "the first launch")
    assert "program starts in" in backhaul("sessions").stdout
    for command in ("tasks", "events", "sessions", "challenges", "launches"):
        backhaul(command)
    (launch,) = backhaul.json("launches")
    assert launch["state"] == "due" and launch["next_launch_ms"]
    until(lambda: backhaul.json("launches")[0]["launches"] == 2, "the second launch, in spite of the listings")


def test_wait_when_free_waits_for_a_reader_that_does_not_yield(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=200_000)
    holder = backhaul.start("get", "-s", "one", f"{server.url}/slow")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [holder.pid], "the reader")
    ended = backhaul("wait", "-s", "one", code=5)
    assert f"process {holder.pid} reads the events" in ended.stderr
    os.kill(holder.pid, signal.SIGSTOP)
    second = backhaul.start("wait", "-s", "one", "--when-free")
    until(lambda: backhaul.json("sessions")[0]["waiting_consumers"] == 1, "the queue")
    assert re.search(rf"read by process {holder.pid}, stopped for \d+ s, 1 waiting", backhaul("sessions").stdout)
    os.kill(holder.pid, 9)
    output, errors = second.communicate(timeout=60)
    assert second.returncode == 0, errors
    assert output == f"{backhaul.here}/slow\n"


def hurry(server):
    """The rest of what was held back comes at once."""
    server.limit.bytes_per_second = 1 << 30


def test_get_yields_to_whoever_waits_and_brings_its_file_all_the_same(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=20_000)
    holder = backhaul.start("get", f"{server.url}/slow")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [holder.pid], "the reader")
    second = backhaul.start("wait", "--when-free")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [second.pid], "the next reader")
    hurry(server)
    for process in (holder, second):
        output, errors = process.communicate(timeout=60)
        assert process.returncode == 0, errors
        assert output == f"{backhaul.here}/slow\n"


def test_wait_yields_and_ends_with_5(backhaul, serve):
    server = serve({"/slow": CONTENT * 100}, speed=20_000)
    backhaul("add", f"{server.url}/slow")
    first = backhaul.start("wait")
    until(lambda: [one["consumer"] for one in backhaul.json("sessions")] == [first.pid], "the reader")
    second = backhaul.start("wait", "--when-free")
    _, errors = first.communicate(timeout=60)
    assert first.returncode == 5
    assert "asked for the events" in errors
    hurry(server)
    assert second.wait(60) == 0
