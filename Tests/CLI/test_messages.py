"""Messages about failures show the server's text. Messages about refused command lines name the refused option, and
say what to do instead. The history is the list of ended tasks."""

import base64

import pytest

from command_line import until
from servers.behaviour import Behaviour
from servers.content import Content

pytestmark = pytest.mark.hosting("embedded")

CONTENT = Content(20_000)
URL = "http://127.0.0.1:9/never"


def refused(server, body):
    return server.serve("/a", CONTENT, otherwise=Behaviour(status=403, body=body))


@pytest.mark.parametrize("body, line", [
    (b"The quota is used up.\nAsk for more.", "The quota is used up."),
    (b"\r\n  {\"error\": \"no\x1b[2Jpe\"}\n", "{\"error\": \"no\\u{1b}[2Jpe\"}"),
    (b"<?xml version=\"1.0\"?>\n<Error><Code>AccessDenied</Code></Error>", "<Error><Code>AccessDenied</Code></Error>"),
    (b"x" * 1000, "x" * 200),
    (b"caf\xe9", "caf"),
])
def test_the_error_shows_the_first_line_of_the_response_body(backhaul, server, body, line):
    assert backhaul("get", refused(server, body), code=1).stderr.endswith(f" (BH_HTTP_STATUS): {line}\n")


@pytest.mark.parametrize("body", [b"", b"\n\n", b"\x00\xff", b"<!DOCTYPE html>\n<html>", b"<HTML lang=en>"])
def test_the_error_does_not_show_an_empty_binary_or_html_response_body(backhaul, server, body):
    assert backhaul("get", refused(server, body), code=1).stderr.endswith(" (BH_HTTP_STATUS)\n")


def test_the_error_of_an_upload_shows_the_response_body(backhaul, server):
    errors = backhaul("put", "--data-binary", "a", refused(server, b"read only"), code=1).stderr
    assert errors.endswith(" (BH_HTTP_STATUS): read only\n")


@pytest.mark.parametrize("body, text, encoding", [
    (b"no\x1b\n\xc3\xa9", "no\x1b\n\u00e9", "utf-8"), (b"\xff", base64.b64encode(b"\xff").decode(), "base64"),
])
def test_the_json_output_of_a_failed_transfer_has_the_complete_response_body(backhaul, server, body, text, encoding):
    url = refused(server, body)
    (ended,) = backhaul.json("get", url, code=1)
    assert (ended["error_body"], ended["error_body_encoding"]) == (text, encoding)
    backhaul("add", url)
    (ended,) = backhaul.json("wait", code=1)
    assert (ended["error_body"], ended["error_body_encoding"]) == (text, encoding)


def test_the_json_output_of_a_successful_transfer_has_no_error_body(backhaul, server):
    (ended,) = backhaul.json("get", server.serve("/a", CONTENT))
    assert ended["error_body"] is ended["error_body_encoding"] is None


def test_the_info_command_shows_a_task_in_the_history(backhaul, server):
    backhaul("get", server.serve("/a", CONTENT))
    (task,) = backhaul.json("history")
    assert backhaul.json("info", task["id"]) == [task]
    assert "succeeded" in backhaul("info", task["id"]).stdout


def test_the_error_of_the_info_command_names_the_task_that_does_not_exist(backhaul, server):
    backhaul("get", server.serve("/a", CONTENT))
    backhaul("add", "--suspended", URL)
    for words in (["info", "77"], ["info", "18446744073709551615"]):
        assert f"there is no task {words[1]} in session default" in backhaul(*words, code=3).stderr


def test_the_attempts_command_shows_the_delay_after_each_failed_attempt(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=500), Behaviour(status=500)])
    backhaul("get", "--retry-delay", "0.2", "--retry-max-delay", "0.2", "--retry-jitter", "1", url)
    (task,) = backhaul.json("history")
    _, first, second, third = backhaul("attempts", task["id"]).stdout.splitlines()
    assert "; retried after " in first and "; retried after " in second
    assert "next attempt" not in first + second + third and "retried" not in third


def test_the_attempts_command_shows_the_time_of_the_next_attempt(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(status=500))
    backhaul("add", "--retry-delay", "60", url)
    (task,) = backhaul.json("tasks")
    until(lambda: "; next attempt in " in backhaul("attempts", task["id"]).stdout, "the time of the next attempt")


def test_the_error_of_a_resource_timeout_has_the_error_of_the_last_attempt(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(status=503))
    words = ["get", "--max-time", "4", "--retry-delay", "0.1", "--retry-max-delay", "0.1", url]
    errors = backhaul(*words, code=1).stderr
    assert "--max-time; the last attempt: the server responded with status 503 (BH_RESOURCE_TIMEOUT)" in errors
    (ended,) = backhaul.json(*words, code=1)
    assert "the last attempt: the server responded with status 503" in ended["error_message"]


def test_the_error_of_a_timeout_in_the_first_attempt_has_no_error_of_an_earlier_attempt(backhaul, server):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(silent=True))
    errors = backhaul("get", "--max-time", "1", url, code=1).stderr
    assert "BH_RESOURCE_TIMEOUT" in errors and "last attempt" not in errors


@pytest.mark.parametrize("words, option", [
    (["get", "-J", "-z", URL], "--remote-header-name"), (["get", "-J", "--if-exists", "skip", URL], "--if-exists"),
    (["get", "--accept-status", "2xx", URL], "--accept-status"),
    (["configure", "--accept-status", "2xx"], "--accept-status"),
    (["get", "--accept-type", "image", URL], "--accept-type"),
    (["get", "--retry-status", "5xx", URL], "--retry-status"),
    (["get", "--accept-status", "500", "--retry-status", "500", URL], "--retry-status"),
    (["put", "--max-filesize", "1", "--data-binary", "a", URL], "--max-filesize"),
    (["get", "--size", "2", "--max-filesize", "1", URL], "--max-filesize"),
    (["put", "-", URL], "--data-binary @-"), (["put", "-T", "-", URL], "--data-binary @-"),
])
def test_the_error_names_the_refused_option(backhaul, words, option):
    errors = backhaul(*words, code=2).stderr
    assert option in errors
    assert "_" not in errors


def test_the_error_of_a_file_that_is_too_large_names_the_option_max_filesize(backhaul, server):
    errors = backhaul("get", "--max-filesize", "10k", server.serve("/a", CONTENT), code=1).stderr
    assert "more than --max-filesize" in errors


@pytest.mark.parametrize("command", ["get", "add"])
def test_the_error_of_an_invalid_url_shows_a_valid_url(backhaul, command):
    assert "write https://foo.html" in backhaul(command, "foo.html", code=2).stderr
    assert "write https://example.org/a" in backhaul(command, "ann:secret@example.org/a", code=2).stderr


@pytest.mark.parametrize("words", [
    ["get", "http://ann:secret@127.0.0.1:9/a"], ["get", "https:/ann:secret@127.0.0.1:9/a"],
    ["get", "ann:secret@127.0.0.1:9/a"], ["get", "http://ann:secret/b@127.0.0.1:9/a"],
    ["get", "http://ann:secret#b@127.0.0.1:9/a"], ["add", "http://ann:secret?b@127.0.0.1:9/a"],
    ["get", "//ann:secret@127.0.0.1:9/a"],
    ["put", "--data-binary", "a", "http://ann:secret@127.0.0.1:9/a"], ["add", "-u", "ann:secret", URL],
    ["put", "--data-binary", "a", "--no-wait", "--user", "ann:secret", URL],
    ["get", "--json", "http://ann:secret@127.0.0.1:9/a"],
])
def test_a_password_in_a_url_or_for_a_command_that_cannot_use_it_is_refused_and_is_not_in_the_error(backhaul, words):
    errors = backhaul(*words, code=2).stderr
    assert "secret" not in errors
    assert "respond CHALLENGE --user NAME" in errors or words[1].startswith("ann:") or words[1].startswith("//")


def test_a_url_that_is_no_command_is_shown_without_its_password(backhaul):
    assert "no command 'http://127.0.0.1:9/a'" in backhaul("http://ann:secret/b@127.0.0.1:9/a", code=2).stderr


def test_the_put_command_refuses_a_folder(backhaul):
    errors = backhaul("put", "/", URL, code=2).stderr
    assert "/ is no regular file" in errors


@pytest.mark.parametrize(("program", "path"), [("photos", "/usr/bin/photos"), ("bin/photos", "{here}/bin/photos")])
def test_a_program_without_an_absolute_path_is_refused_with_its_probable_path(backhaul, program, path):
    ended = backhaul("register", program, code=2)
    assert f"such as '{path.format(here=backhaul.here)}'" in ended.stderr
