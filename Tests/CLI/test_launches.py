"""Launches of programs. The engine runs the transfers. When all transfers of a session have ended, the engine
launches (starts) a registered program. Commands register and list these programs. A launched program processes the
session's events and then completes the session: it states that it has processed all events. To acknowledge an event
is to confirm that it was processed."""

import shlex

import pytest

from command_line import COMMAND, until

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"picture" * 1000


@pytest.fixture
def script(backhaul):
    """Returns a function that writes a shell script. The function returns the path of the script."""
    def write(text, name="arrived"):
        path = backhaul.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o700)
        return path
    return write


def waits(backhaul, output):
    """Returns a script that reads and acknowledges events, and completes the session. When the script has ended, the
    output file exists."""
    return f"{shlex.quote(COMMAND)} wait --quiet >{shlex.quote(str(output))}.part && mv {output}.part {output}"


def test_the_daemon_launches_a_shell_script_when_all_files_have_arrived(backhaul, serve, script):
    server = serve({"/a": CONTENT, "/b": CONTENT})
    arrived = backhaul.folder / "arrived.txt"
    backhaul("register", "--", script(waits(backhaul, arrived)))
    backhaul("add", f"{server.url}/a", f"{server.url}/b")
    until(arrived.exists, "the script's end")
    assert sorted(arrived.read_text().splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]
    (launch,) = until(lambda: [one for one in backhaul.json("launches") if one["state"] == "none"], "the completion")
    assert (launch["launches"], launch["error_message"]) == (0, None)
    assert backhaul.json("events") == []


def test_a_launched_script_may_process_events_before_it_acknowledges_them(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    log = backhaul.folder / "log"
    command = shlex.quote(COMMAND)
    backhaul("register", script(f"""
while events=$({command} events) && [ -n "$events" ]; do
    printf '%s\\n' "$events" >>{log}
    last=$(printf '%s\\n' "$events" | tail -n 1 | {{ read -r event rest; echo "$event"; }})
    {command} events --acknowledge-through "$last" || exit
done
{command} complete && echo done >>{log}"""))
    backhaul("add", f"{server.url}/a")
    until(lambda: log.exists() and log.read_text().endswith("done\n"), "the script's end")
    until(lambda: backhaul.json("launches")[0]["state"] == "none", "the end of the launch")
    assert log.read_text().count("succeeded") == 1
    assert backhaul.json("launches")[0]["launches"] == 0


def test_the_launches_command_lists_a_registered_program_with_shell_quoting(backhaul):
    backhaul("register", "--application", "org.example.photos", "-e", "COLOUR=blue green",
             "--working-directory", "/tmp", "/usr/bin/photos", "--ready", "two words", "\x1b[2J")
    (launch,) = backhaul.json("launches")
    assert launch["application"] == "org.example.photos"
    assert (launch["program"], launch["arguments"]) == ("/usr/bin/photos", ["--ready", "two words", "\x1b[2J"])
    assert (launch["environment"], launch["working_directory"]) == (["COLOUR"], "/tmp")
    assert (launch["state"], launch["process_id"], launch["next_launch_ms"]) == ("none", None, None)
    text = backhaul("launches").stdout
    assert r"/usr/bin/photos --ready 'two words' '\u{1b}[2J'" in text
    assert "\x1b" not in text
    backhaul("unregister", "--application", "org.example.photos")
    assert backhaul("launches").stdout == ""


def test_the_launches_and_sessions_commands_show_that_a_program_cannot_be_started(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("register", "--maximum-launches", "1", "/absent/program")
    backhaul("add", f"{server.url}/a")
    (launch,) = until(
        lambda: [one for one in backhaul.json("launches") if one["state"] == "gave_up"], "the failure")
    assert "/absent/program" in launch["error_message"]
    assert "last failure" in backhaul("launches").stdout
    assert "given up" in backhaul("launches").stdout
    assert "failed too often" in backhaul("sessions").stdout
    (session,) = backhaul.json("sessions")
    assert session["launch_state"] == "gave_up"


def test_a_listing_shows_the_time_of_the_next_launch_and_does_not_prevent_this_launch(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    backhaul("register", "--first-delay", "15", script("exit 1"))
    backhaul("add", f"{server.url}/a")
    until(lambda: backhaul.json("launches")[0]["launches"] == 1, "the first launch")
    until(lambda: "program starts in" in backhaul("sessions").stdout, "the end of the first launch")
    for command in ("tasks", "events", "sessions", "challenges", "launches"):
        backhaul(command)
    (launch,) = backhaul.json("launches")
    assert launch["state"] == "due" and launch["next_launch_ms"]
    until(lambda: backhaul.json("launches")[0]["launches"] == 2, "the second launch, in spite of the listings")


def test_a_launched_script_uses_the_application_and_session_of_its_launch(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    arrived = backhaul.folder / "arrived.txt"
    backhaul("register", "--application", "org.example.photos", script(waits(backhaul, arrived)))
    backhaul("add", "--application", "org.example.photos", "--session", "gallery", f"{server.url}/a")
    until(arrived.exists, "the script's end")
    assert arrived.read_text() == f"{backhaul.here}/a\n"
    until(lambda: backhaul.json("launches")[0]["state"] == "none", "the end of the launch")


def test_a_script_that_is_launched_for_several_sessions_must_name_a_session(backhaul, serve, script):
    server = serve({"/a": CONTENT, "/b": CONTENT, "/slow": CONTENT * 10}, speed=1 << 30)
    errors, names = backhaul.folder / "errors", ["one", "two"]
    for name, path in zip(names, ("a", "b")):
        backhaul("add", "--session", name, f"{server.url}/{path}")
        until(lambda name=name: len(backhaul.json("events", "--session", name)) == 2, "the end")
    command = shlex.quote(COMMAND)
    backhaul("register", "--maximum-launches", "1", script(
        f"{command} sessions >/dev/null; {command} wait 2>{errors}.part; echo $? >>{errors}.part; "
        f"mv {errors}.part {errors}"))
    until(errors.exists, "the script's end")
    text = errors.read_text()
    assert text.endswith("\n2\n") and "name one with --session: one, two\n" in text


def test_the_doctor_command_warns_if_a_launched_program_has_not_completed_the_session(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    failing = script("exit 1")
    backhaul("register", "--first-delay", "600", failing)
    backhaul("add", f"{server.url}/a")
    until(lambda: [(one["launches"], one["state"]) for one in backhaul.json("launches")] == [(1, "due")],
          "the end of the first launch")
    (found,) = [one for one in backhaul.json("doctor") if one["subject"] == "launch"]
    assert found["level"] == "warning" and "1 launch that did not complete" in found["text"]
    assert found["advice"] == backhaul.json("launches")[0]["error_message"] is not None
    failing.chmod(0o600)
    assert "cannot be started: it is not executable" in backhaul("doctor").stdout
    failing.unlink()
    assert "No such file" in backhaul("doctor").stdout


def test_a_program_that_exits_at_once_has_no_process_0(backhaul, serve, script):
    server = serve({"/a": CONTENT})
    backhaul("register", "--maximum-launches", "1", script("exit 1"))
    backhaul("add", f"{server.url}/a")
    listings = []
    until(lambda: listings.append(backhaul("launches").stdout) or "given up" in listings[-1], "the failure")
    assert not [text for text in listings if "process 0" in text]
