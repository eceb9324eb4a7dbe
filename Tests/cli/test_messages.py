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
