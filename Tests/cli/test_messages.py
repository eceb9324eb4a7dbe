"""What failures and refusals say: the server's own words, the options' names, and what to do instead."""

import pytest

from servers.behaviour import Behaviour
from servers.content import Content
from servers.misbehaving import MisbehavingServer

CONTENT = Content(20_000)
URL = "http://127.0.0.1:9/never"


@pytest.fixture
def hosting():
    return "embedded"


@pytest.fixture
def server():
    with MisbehavingServer() as one:
        yield one


def test_info_shows_what_the_history_lists(backhaul, server):
    backhaul("get", server.serve("/a", CONTENT))
    (task,) = backhaul.json("history")
    assert backhaul.json("info", task["id"]) == [task]
    assert "succeeded" in backhaul("info", task["id"]).stdout


def test_info_names_the_task_that_is_nowhere(backhaul, server):
    backhaul("get", server.serve("/a", CONTENT))
    backhaul("add", "--suspended", URL)
    for words in (["info", "77"], ["info", "18446744073709551615"]):
        assert f"There is no task {words[1]} in session default" in backhaul(*words, code=3).stderr


def test_tries_that_are_over_are_told_with_the_pause_behind_them(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=500), Behaviour(status=500)])
    backhaul("get", "--retry-delay", "0.2", "--retry-max-delay", "0.2", "--retry-jitter", "1", url)
    (task,) = backhaul.json("history")
    _, first, second, third = backhaul("attempts", task["id"]).stdout.splitlines()
    assert "; tried again after " in first and "; tried again after " in second
    assert "next try" not in first + second + third and "tried again" not in third


def test_the_next_try_is_told_while_it_is_to_come(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(status=500))
    backhaul("get", "--retry-delay", "60", "--timeout", "1", url, code=5)
    assert "; next try in " in backhaul("attempts", backhaul.json("tasks")[0]["id"]).stdout


@pytest.mark.parametrize("words, option", [
    (["get", "-J", "-z", URL], "--remote-header-name"), (["get", "-J", "--if-exists", "skip", URL], "--if-exists"),
    (["get", "--accept-status", "2xx", URL], "--accept-status"),
    (["configure", "--accept-status", "2xx"], "--accept-status"),
    (["get", "--retry-status", "5xx", URL], "--retry-status"),
    (["get", "--accept-status", "500", "--retry-status", "500", URL], "--retry-status"),
    (["put", "--max-filesize", "1", "--data-binary", "a", URL], "--max-filesize"),
    (["get", "--size", "2", "--max-filesize", "1", URL], "--max-filesize"),
    (["put", "-", URL], "--data-binary @-"), (["put", "-T", "-", URL], "--data-binary @-"),
])
def test_a_refusal_names_the_option(backhaul, words, option):
    told = backhaul(*words, code=2).stderr
    assert option in told
    assert "_" not in told


@pytest.mark.parametrize("command", ["get", "add"])
def test_what_is_no_url_is_told_with_one(backhaul, command):
    assert "write https://foo.html" in backhaul(command, "foo.html", code=2).stderr
    assert "write https://example.org/a" in backhaul(command, "ann:secret@example.org/a", code=2).stderr


@pytest.mark.parametrize("words", [
    ["get", "http://ann:secret@127.0.0.1:9/a"], ["get", "ann:secret@127.0.0.1:9/a"],
    ["put", "--data-binary", "a", "http://ann:secret@127.0.0.1:9/a"], ["get", "-u", "ann:secret", URL],
    ["put", "--data-binary", "a", "--user", "ann:secret", URL], ["add", "-u", "ann:secret", URL],
    ["get", "--json", "http://ann:secret@127.0.0.1:9/a"],
])
def test_a_password_on_the_command_line_is_refused_and_not_repeated(backhaul, words):
    told = backhaul(*words, code=2).stderr
    assert "secret" not in told
    assert "respond CHALLENGE --user NAME" in told or words[1].startswith("ann:")


def test_a_folder_is_no_file_to_put(backhaul):
    told = backhaul("put", "/", URL, code=2).stderr
    assert "Cannot upload what is no file: " in told and "::" not in told
