"""Servers that require a credential. The user gives the credential at a terminal or with another command, or gives
none. The demand for a credential is called a challenge. The command `respond` responds to a challenge."""

import os

import pytest

from schema import json_fields
from command_line import until
from test_terminal import Terminal

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"staff only\n" * 1000


def challenge(backhaul):
    return until(lambda: backhaul.json("challenges"), "the challenge")[0]


def test_a_transfer_waits_until_another_command_gives_the_credential(backhaul, guarded):
    server = guarded({"/a": CONTENT, "/b": CONTENT})
    backhaul("add", f"{server.url}/a", f"{server.url}/b")
    found = challenge(backhaul)
    assert (found["realm"], found["schemes"], found["kind"]) == ("Staff", ["basic"], "server")
    assert server.url in found["origin"]
    (session,) = backhaul.json("sessions")
    assert session["open_challenges"] == 1 and "challenge" in session["attention"]
    assert "1 open challenge" in backhaul("sessions").stdout
    backhaul("respond", found["id"], "--user", "ann", "--password-file", "-", stdin="secret word\n")
    assert sorted(backhaul("wait").stdout.splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]
    assert (backhaul.here / "a").read_bytes() == CONTENT
    assert backhaul("challenges").stdout == ""


def test_after_a_transfer_got_its_credential_the_wait_command_reports_no_error(backhaul, guarded):
    large = CONTENT * 200
    server = guarded({"/a": large}, speed=len(large) // 3)
    backhaul("add", f"{server.url}/a")
    backhaul("respond", challenge(backhaul)["id"], "--user", "ann", "--password-file", "-", stdin="secret word\n")
    assert backhaul("wait").stderr == ""


def test_a_wrong_credential_opens_a_new_challenge(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    first = challenge(backhaul)["id"]
    errors = backhaul("respond", first, "-u", "ann", "--password-file", "-", stdin="wrong\n").stderr
    assert errors.startswith("Done; 1 transfer is retried.")
    again = until(lambda: [one for one in backhaul.json("challenges") if one["failures"]], "the second question")[0]
    assert "rejected the credential and asks for another one" in backhaul("challenges").stdout
    assert again["id"] != first
    (backhaul.here / "password").write_text("secret word\n")
    (backhaul.here / "password").chmod(0o600)
    ended = backhaul("respond", again["id"], "-q", "-u", "ann", "--password-file", "password")
    assert ended.stderr == ""
    assert backhaul("wait").stdout == f"{backhaul.here}/a\n"


def test_the_respond_command_reads_a_token_from_a_file(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    server.guard.scheme, server.guard.accepted = "Bearer", "Bearer a-token"
    backhaul("add", f"{server.url}/a")
    (backhaul.here / "token").write_text("Authorization: Bearer a-token\n")
    found = challenge(backhaul)
    ended = backhaul("respond", found["id"], "-u", "ann", "--password-file", "-", stdin="x\n", code=2)
    assert "asic" in ended.stderr, "the error does not name the offered scheme"
    assert backhaul.json("respond", found["id"], "--header-file", "token") == [{"challenge_id": found["id"]}]
    assert backhaul("wait").stdout == f"{backhaul.here}/a\n"


@pytest.mark.parametrize("command", ["get", "wait"])
def test_a_command_without_a_terminal_exits_with_8_and_prints_the_respond_command(backhaul, guarded, command):
    server = guarded({"/a": CONTENT})
    words = [command]
    if command == "get":
        words.append(f"{server.url}/a")
    else:
        backhaul("add", f"{server.url}/a")
    ended = backhaul(*words, code=8)
    number = challenge(backhaul)["id"]
    assert f"backhaul respond {number} --store {backhaul.store} --user NAME" in ended.stderr
    assert "realm 'Staff'" in ended.stderr
    assert ended.stdout == ""
    assert [task["reason"] for task in backhaul.json("tasks")] == ["credential"]


def test_the_get_command_fetches_the_files_that_need_no_credential_before_it_exits_with_8(backhaul, guarded, free):
    server = guarded({"/a": CONTENT})
    ended = backhaul("get", f"{server.url}/a", f"{free}/b", code=8)
    assert ended.stdout == f"{backhaul.here}/b\n"


def test_the_get_command_does_not_ask_for_the_credentials_of_other_transfers(backhaul, guarded, free):
    server = guarded({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    challenge(backhaul)
    terminal = Terminal(backhaul, "get", f"{free}/b")
    assert terminal.end() == 0
    assert b"credential" not in terminal.seen and b"User" not in terminal.seen
    assert "credential" not in backhaul("get", f"{free}/c").stderr
    assert len(backhaul.json("challenges")) == 1


def test_the_get_command_asks_only_for_the_credential_of_its_own_transfer(backhaul, guarded, free):
    server = guarded({"/a": CONTENT, "/b": CONTENT})
    server.guard.realm = "Other"
    backhaul("add", f"{server.url}/a")
    other = challenge(backhaul)
    server.guard.realm = "Staff"
    second = server.url.replace("127.0.0.1", "localhost")
    ended = backhaul("get", f"{free}/to/{second}/b", "-o", "b", code=8)
    (own,) = [challenge for challenge in backhaul.json("challenges") if challenge["id"] != other["id"]]
    assert own["origin"] == second
    assert f"backhaul respond {own['id']} " in ended.stderr and "Other" not in ended.stderr


def test_a_prompt_ends_if_the_transfer_that_needs_the_credential_ends(backhaul, guarded):
    server = guarded({"/a": CONTENT, "/b": CONTENT})
    backhaul("add", f"{server.url}/b")
    terminal = Terminal(backhaul, "get", f"{server.url}/a")
    terminal.read(rb"User \(empty: leave it open\): ")
    (task,) = [task for task in backhaul.json("tasks") if task["url"].endswith("/a")]
    backhaul("cancel", task["id"])
    assert terminal.end() == 1


def test_a_prompt_ends_when_the_time_is_over_although_something_is_typed(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    terminal = Terminal(backhaul, "get", "--timeout", "15", f"{server.url}/a")
    terminal.read(rb"User \(empty: leave it open\): ")
    os.write(terminal.control, b"an")
    assert terminal.end() == 8


def test_the_wait_command_exits_with_1_after_the_user_refused_to_give_a_credential(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    backhaul("respond", challenge(backhaul)["id"], "--refuse")
    (ended,) = backhaul.json("wait", code=1)
    assert ended["status"] == "BH_AUTHENTICATION_REQUIRED"


def test_a_transfer_fails_without_a_challenge_if_its_session_does_not_ask_for_credentials(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    (ended,) = backhaul.json("get", "--credentials", "fail", f"{server.url}/a", code=1)
    assert ended["http_status"] == 401
    assert backhaul.json("challenges") == []


def test_the_respond_command_exits_with_3_if_the_challenge_does_not_exist(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    backhaul("respond", "99", "--refuse", code=3)


def test_the_get_command_prompts_on_a_terminal_and_hides_the_password(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    terminal = Terminal(backhaul, "get", f"{server.url}/a")
    terminal.read(rb"User \(empty: leave it open\): ")
    assert b"realm 'Staff'" in terminal.seen
    os.write(terminal.control, b"ann\n")
    terminal.read(rb"Password: ")
    os.write(terminal.control, b"secret word\n")
    assert terminal.end() == 0
    assert b"secret" not in terminal.seen
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_input_that_was_typed_before_a_prompt_is_no_response(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    terminal = Terminal(backhaul, "get", f"{server.url}/a", typed=b"ls\nmake\n")
    terminal.read(rb"User \(empty: leave it open\): ")
    os.write(terminal.control, b"ann\n")
    terminal.read(rb"Password: ")
    os.write(terminal.control, b"secret word\n")
    assert terminal.end() == 0
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_the_respond_command_prompts_for_the_password_on_a_terminal(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    terminal = Terminal(backhaul, "respond", challenge(backhaul)["id"], "--user", "ann")
    terminal.read(rb"Password of ann: ")
    os.write(terminal.control, b"secret word\n")
    assert terminal.end() == 0
    assert b"secret" not in terminal.seen
    assert backhaul("wait").stdout == f"{backhaul.here}/a\n"


def test_a_challenge_stays_open_if_the_user_skips_it_on_the_terminal(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    terminal = Terminal(backhaul, "get", f"{server.url}/a")
    terminal.read(rb"User \(empty: leave it open\): ")
    os.write(terminal.control, b"\n")
    assert terminal.end() == 8
    assert len(backhaul.json("challenges")) == 1


def test_ctrl_c_at_the_password_prompt_restores_the_echo_of_the_terminal(backhaul, guarded):
    import signal
    import termios

    server = guarded({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    terminal = Terminal(backhaul, "respond", challenge(backhaul)["id"], "--user", "ann")
    terminal.read(rb"Password of ann: ")
    assert not termios.tcgetattr(terminal.control)[3] & termios.ECHO
    os.write(terminal.control, b"\x03")
    until(lambda: termios.tcgetattr(terminal.control)[3] & termios.ECHO, "the echo")
    assert terminal.end() == -signal.SIGINT


def test_a_challenge_and_its_event_in_json_have_the_fields_of_the_c_header(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    assert not json_fields.differences(challenge(backhaul), "bh_challenge")
    (event,) = backhaul.json("events")
    assert event["challenge"] and not json_fields.differences(event, "bh_event")


def test_the_events_command_shows_a_challenge_without_control_characters(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    server.guard.realm = "evil\u009b2J"
    backhaul("add", f"{server.url}/a")
    challenge(backhaul)
    assert "challenge" in backhaul("events").stdout
    (event,) = backhaul.json("events")
    assert event["kind"] == "challenge" and event["challenge"]["schemes"] == ["basic"]
    for command in ("events", "challenges"):
        assert "\u009b" not in backhaul(command).stdout + backhaul(command, "--json").stdout


def test_a_response_to_a_challenge_that_does_not_exist_needs_no_terminal(backhaul, serve):
    backhaul("get", f"{serve({'/a': CONTENT}).url}/a")
    assert "no open challenge 7" in backhaul("respond", "7", "--user", "ann", code=3).stderr


def test_the_error_of_a_session_that_refuses_credentials_says_how_to_give_one(backhaul, guarded):
    server = guarded({"/a": CONTENT})
    ended = backhaul("get", "--credentials", "fail", f"{server.url}/a", code=1)
    assert "give --credentials ask, or send the header Authorization" in ended.stderr
