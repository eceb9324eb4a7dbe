"""The help, its machine-readable form, and the messages about mistyped words."""

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import termios

import pytest

from command_line import COMMAND

#: The options with which the help of `get` and `add` begins.
MAIN = ["output", "directory", "input", "remote-header-name", "if-exists", "skip-existing", "if-changed", "checksum",
        "header", "limit-rate"]


def run(*words):
    return subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=60, check=False)


def described():
    return json.loads(run("help", "--json").stdout)


def options(text):
    return re.findall(r"^  (?:-., |    )--([\w.-]+)", text, flags=re.MULTILINE)


@pytest.mark.parametrize("command", ["get", "put", "configure", "tasks", "activities", "register"])
def test_the_help_in_json_has_the_options_of_the_help_in_their_order(command):
    (one,) = [one for one in described()["commands"] if one["name"] == command]
    listed = [option["name"] for section in one["sections"] for option in section["options"]]
    assert listed == options(run(command, "--help").stdout)
    for words in ([command, "--help", "--json"], ["help", "--json", command]):
        assert json.loads(run(*words).stdout) == one


def test_each_option_with_an_argument_has_a_kind_in_json():
    for command in described()["commands"]:
        for option in (option for section in command["sections"] for option in section["options"]):
            assert ("kind" in option) == (option["argument"] is not None), option
            assert option.get("kind") != "word" or option["words"], option


@pytest.mark.parametrize("command", ["get", "add"])
def test_the_help_of_a_download_begins_with_the_options_that_people_need(command):
    assert options(run(command, "--help").stdout)[:len(MAIN)] == MAIN


@pytest.mark.parametrize(("command", "session", "application"), [
    ("watch", "(all sessions)", "(all applications)"), ("report", "(all sessions)", "(all applications)"),
    ("desktop", "(all sessions)", "(all applications)"), ("sessions", "(default)", "(all applications)"),
    ("tasks", "(default)", "(backhaul)"),
])
def test_the_help_says_what_a_command_lists_without_an_option(command, session, application):
    (one,) = [one for one in described()["commands"] if one["name"] == command]
    helps = {option["name"]: option["help"] for section in one["sections"] for option in section["options"]}
    assert helps["session"].endswith(session)
    assert helps["application"].endswith(application)


@pytest.mark.parametrize(("columns", "width"), [(20, 40), (60, 60), (300, 100)])
def test_the_help_follows_the_width_of_the_terminal(columns, width):
    control, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    program = subprocess.Popen(
        [COMMAND, "desktop", "--help"], stdin=inner, stdout=inner, stderr=inner,
        env={**os.environ, "TERM": "xterm"})
    os.close(inner)
    text = ""
    with contextlib.suppress(OSError):  # the end of the terminal
        while data := os.read(control, 65536):
            text += data.decode()
    os.close(control)
    assert program.wait() == 0
    details = text.split("--help")[1].split("\r\n")
    assert width - 15 < max(map(len, details)) <= width, text


def test_the_help_lists_the_option_for_the_version():
    assert "-V, --version" in run("--help").stdout
    assert run("-V").stdout == run("--version").stdout != ""


@pytest.mark.parametrize(("words", "suggestion"), [
    (["servce", "install"], "'service'"),
    (["download", "http://a/1"], "'get'"),
    (["service", "instal"], "'install'"),
    (["activities", "rm", "news"], "'remove'"),
    (["sessions", "rm", "photos"], "'remove'"),
    (["limits", "set", "--rate", "1M"], "--limit-rate"),
    (["get", "--outptu", "f", "http://a/1"], "--output"),
    (["--sesion", "a", "tasks"], "--session"),
], ids=lambda words: " ".join(words) if isinstance(words, list) else "")
def test_the_message_about_an_unknown_word_names_a_similar_word(words, suggestion):
    ended = run(*words)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert f"; did you mean {suggestion}?\n" in ended.stderr


def test_the_message_about_an_unknown_word_names_no_word_that_is_not_similar():
    assert "did you mean" not in run("xyzzy").stderr + run("get", "--xyzzy", "http://a/1").stderr


@pytest.mark.parametrize(("words", "message"), [
    (["get", "--output"], "--output needs a value: --output FILE"),
    (["get", "-o"], "--output needs a value: --output FILE"),
    (["get", "--json=yes", "http://a/1"], "--json takes no value"),
    (["get", "--if", "1", "http://a/1"], "--if is ambiguous: it can be --if-exists or --if-changed"),
    (["get", "-é", "http://a/1"], "there is no option with a letter outside ASCII"),
    (["get", "-Q", "http://a/1"], "there is no option -Q"),
])
def test_each_fault_of_an_option_has_one_message_of_the_program_and_one_in_json(words, message):
    ended = run(*words)
    assert (ended.returncode, ended.stderr) == (2, f"backhaul: {message}\nTry `backhaul get --help`.\n")
    failure = json.loads(run("--json", *words).stderr)["error"]
    assert (failure["status"], failure["message"]) == ("BH_INVALID_ARGUMENT", message)
