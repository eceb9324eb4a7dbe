"""`backhaul get` fetches files and waits for them."""

import json
import re

import pytest

from command_line import part_files, until

CONTENT = bytes(range(256)) * 1000


def test_the_get_command_fetches_a_file_and_prints_its_path(backhaul, serve):
    server = serve({"/a/photo.jpg": CONTENT})
    ended = backhaul("get", f"{server.url}/a/photo.jpg")
    assert ended.stdout == f"{backhaul.here}/photo.jpg\n"
    assert ended.stderr == ""
    assert (backhaul.here / "photo.jpg").read_bytes() == CONTENT


def test_one_get_command_fetches_many_files_into_a_directory(backhaul, serve):
    server = serve({f"/{number}": CONTENT[number:] for number in range(30)})
    (backhaul.here / "files").mkdir()
    ended = backhaul("get", "-d", "files", *(f"{server.url}/{number}" for number in range(30)))
    assert sorted(ended.stdout.splitlines()) == sorted(f"{backhaul.here}/files/{number}" for number in range(30))
    for number in range(30):
        assert (backhaul.here / "files" / str(number)).read_bytes() == CONTENT[number:]
    assert part_files(backhaul.here / "files") == []


def test_the_get_command_reads_urls_from_a_file_and_from_standard_input(backhaul, serve):
    server = serve({"/1": b"1", "/2": b"2", "/3": b"3"})
    (backhaul.here / "list").write_text(f"# two of them\n{server.url}/1\n\n  {server.url}/2\n")
    backhaul("get", "-i", "list", "-i", "-", stdin=f"{server.url}/3\n")
    assert [(backhaul.here / name).read_bytes() for name in "123"] == [b"1", b"2", b"3"]


#: Invalid lines of a list, and what the message says about them.
INVALID_LINES = {
    "http://127.0.0.1/a b": "a space", "http://127.0.0.1/a\tb": "U+0009", "http://127.0.0.1/a\x1bb": "U+001b",
    "example.org/a": "no scheme", "ftp://example.org/d": "ftp", "http://ann:secret@example.org/a": "no user",
    "http://127.0.0.1:99999/b": "URL", "http://-\u00fc.example/c": "international",
}


@pytest.mark.parametrize("command", ["get", "add"])
def test_invalid_lines_of_a_list_are_named_and_the_others_are_fetched(backhaul, serve, command):
    server = serve({"/1": b"1", "/2": b"2"})
    lines = [f"\ufeff{server.url}/1", *INVALID_LINES, f"  {server.url}/2 \t"]
    (backhaul.here / "list").write_bytes("\r\n".join(lines).encode() + b"\r\nhttp://127.0.0.1/\xff\n")
    ended = backhaul(command, "-i", "list", code=2)
    for number, (line, reason) in enumerate(INVALID_LINES.items(), 2):
        (message,) = [text for text in ended.stderr.splitlines() if f"list:{number}: " in text]
        assert reason in message and line.replace("ann:secret@", "")[:17] in message
    assert "list:11: " in ended.stderr and "not valid UTF-8" in ended.stderr and "secret" not in ended.stderr
    backhaul("wait")
    assert [(backhaul.here / name).read_bytes() for name in "12"] == [b"1", b"2"]


@pytest.mark.parametrize(("content", "named"), [
    (b"a b\nc d\n", "list:1: "), ("http://127.0.0.1/a\n".encode("utf-16"), "iconv"), (b"# none\n", "no URL")])
def test_a_list_without_a_valid_line_is_refused(backhaul, content, named):
    (backhaul.here / "list").write_bytes(content)
    assert named in backhaul("get", "-i", "list", code=2).stderr
    assert not backhaul.store.exists()


def test_an_international_host_name_is_stored_in_its_ascii_form(backhaul):
    backhaul("add", "--suspended", "http://b\u00fccher.example/a")
    assert backhaul.json("tasks")[0]["url"] == "http://xn--bcher-kva.example/a"


@pytest.mark.parametrize("output", ["renamed", "./renamed", "sub/../renamed"])
def test_the_output_option_sets_the_path_of_the_file(backhaul, serve, output):
    server = serve({"/photo.jpg": CONTENT})
    (backhaul.here / "sub").mkdir()
    backhaul("get", f"{server.url}/photo.jpg", "-o", output)
    assert (backhaul.here / "renamed").read_bytes() == CONTENT


def test_the_request_has_the_header_field_of_the_command_line(backhaul, serve):
    server = serve({"/a": CONTENT})
    seen = []
    handler = server.RequestHandlerClass
    original = handler.do_GET
    try:
        handler.do_GET = lambda self: (seen.append(self.headers.get("X-Answer")), original(self))[1]
        backhaul("get", "-H", "X-Answer: 42", f"{server.url}/a")
    finally:
        handler.do_GET = original
    assert seen == ["42"]


def test_the_error_of_a_failed_transfer_has_the_url_of_the_transfer_and_a_status_code(backhaul, serve):
    server = serve({"/good": CONTENT})
    ended = backhaul("get", f"{server.url}/absent", f"{server.url}/good", code=1)
    assert ended.stdout == f"{backhaul.here}/good\n"
    assert f"backhaul: transfer 1: {server.url}/absent: " in ended.stderr
    assert "BH_HTTP_STATUS" in ended.stderr
    assert not (backhaul.here / "absent").exists()


def test_the_json_output_has_one_line_for_each_ended_task(backhaul, serve):
    server = serve({"/good": CONTENT})
    results = backhaul.json("get", f"{server.url}/absent", f"{server.url}/good", code=1)
    absent, good = sorted(results, key=lambda result: result["url"])
    assert good == {
        "task_id": good["task_id"], "url": f"{server.url}/good", "path": f"{backhaul.here}/good",
        "task_state": "succeeded", "status": "BH_OK", "error_message": None, "http_status": 200, "attempts": 1,
        "size": len(CONTENT), "response_body": None, "response_body_encoding": None,
        "error_body": None, "error_body_encoding": None,
    }
    assert absent["task_state"] == "failed"
    assert absent["status"] == "BH_HTTP_STATUS"
    assert absent["http_status"] == 404
    assert absent["path"] is None
    assert absent["error_message"]


def test_no_event_and_no_task_is_listed_after_a_successful_get_command(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("get", f"{server.url}/a")
    assert backhaul("events").stdout == ""
    assert backhaul("tasks").stdout == ""


def test_the_get_command_fetches_a_removed_file_again(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("get", f"{server.url}/a")
    (backhaul.here / "a").unlink()
    backhaul("get", f"{server.url}/a")
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_the_get_command_does_not_change_an_existing_file(backhaul, serve):
    server = serve({"/a": CONTENT})
    (backhaul.here / "a").write_text("mine")
    ended = backhaul("get", f"{server.url}/a", code=4)
    assert ended.stderr.startswith("backhaul: ")
    assert (backhaul.here / "a").read_text() == "mine"
    assert server.requests() == []


def test_the_get_command_replaces_an_existing_file_on_request(backhaul, serve):
    server = serve({"/a": CONTENT})
    (backhaul.here / "a").write_text("old")
    backhaul("get", "--if-exists", "replace", f"{server.url}/a")
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_a_new_get_command_does_not_report_an_earlier_failure_of_the_file(backhaul, serve):
    server = serve({"/b": b""})
    backhaul("add", f"{server.url}/a")
    # Another command fetches /b. If this command runs the engine, which runs all transfers of the store, the transfer
    # of /a also runs, and fails. No command reads the end event of /a.
    other = backhaul.start("get", f"{server.url}/b")
    assert other.wait(60) == 0
    until(lambda: backhaul.json("tasks", "--state", "failed"), "the failure")
    content = backhaul.folder / "a"
    content.write_bytes(CONTENT)
    server.files["/a"] = content
    backhaul("get", f"{server.url}/a")
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_the_get_command_with_the_quiet_option_prints_nothing_to_standard_error(backhaul, serve):
    server = serve({"/a": CONTENT})
    ended = backhaul("get", "-q", f"{server.url}/a")
    assert ended.stderr == ""


def test_two_get_commands_at_the_same_time_fetch_their_files(backhaul, serve):
    server = serve({"/slow": CONTENT * 8, "/quick": CONTENT}, speed=1 << 20)
    slow = backhaul.start("get", f"{server.url}/slow")
    until(lambda: server.bytes_sent(), "the first transfer")
    assert backhaul("get", f"{server.url}/quick").stdout == f"{backhaul.here}/quick\n"
    output, _ = slow.communicate(timeout=60)
    assert slow.returncode == 0
    assert output == f"{backhaul.here}/slow\n"
    assert (backhaul.here / "quick").read_bytes() == CONTENT
    assert (backhaul.here / "slow").read_bytes() == CONTENT * 8


def test_the_timeout_option_ends_the_command_and_keeps_the_transfer(backhaul, serve):
    server = serve({"/slow": CONTENT}, speed=2 << 10)
    ended = backhaul("get", "--timeout", "1", f"{server.url}/slow", code=5)
    assert backhaul.wait_command in ended.stderr
    assert len(backhaul.json("tasks")) == 1


def test_the_attempts_option_limits_the_number_of_attempts(backhaul, serve):
    server = serve({})
    server.close()
    ended = backhaul.json("get", "--attempts", "1", f"{server.url}/a", code=1)
    assert [(end["status"], end["attempts"]) for end in ended] == [("BH_CONNECTION_FAILED", 1)]


def test_the_ca_file_option_makes_a_transfer_trust_certificates_of_an_authority(backhaul, serve, tmp_path):
    trustme = pytest.importorskip("trustme")
    import ssl

    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1", "localhost").configure_cert(context)
    server = serve({"/a": CONTENT})
    server.socket = context.wrap_socket(server.socket, server_side=True)
    url = server.url.replace("http:", "https:") + "/a"
    refused = backhaul.json("get", "--attempts", "1", url, code=1)
    assert [end["status"] for end in refused] == ["BH_TLS_FAILED"]
    backhaul("get", "--ca-file", str(tmp_path / "authority.pem"), url)
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_the_get_command_with_the_json_option_prints_an_error_as_one_line_of_json(backhaul):
    ended = backhaul("get", "--json", "gopher://example.org/a", code=2)
    error = json.loads(ended.stderr)["error"]
    assert error["status"] == "BH_INVALID_ARGUMENT"
    assert error["index"] == 0
    assert "gopher://example.org/a" in error["message"]
    assert ended.stdout == ""


def test_the_get_command_reports_refused_connections_once_for_each_number_of_attempts(backhaul, serve):
    server = serve({})
    server.close()
    ended = backhaul("get", f"{server.url}/a", f"{server.url}/b", "--timeout", "12s", code=5)
    # If the next attempt has begun already, the note says so.
    notes = re.findall(rf"{server.url}/[ab]: [^;]* \(BH_CONNECTION_FAILED\); "
                       r"(?:attempt (\d+) follows (?:in \d+ s|now)|the next attempt runs)\.\n", ended.stderr)
    followers = [number for number in notes if number]
    assert notes and len(set(followers)) == len(followers)
    assert ended.stderr.count("To end the transfer: backhaul cancel ") == 1
    assert re.search(r"--timeout; the last error: .* \(BH_CONNECTION_FAILED\)$", ended.stderr)
    assert "attempt" not in backhaul("get", "-q", f"{server.url}/a", "--timeout", "2", code=5).stderr


def test_the_tasks_command_shows_the_last_error_and_the_time_of_the_next_attempt(backhaul, serve):
    server = serve({})
    server.close()
    backhaul.start("get", f"{server.url}/a")
    until(lambda: re.search(r"waiting \(retry\).*/a \(.+; next attempt (in \d+ s|now)\)\n", backhaul("tasks").stdout),
          "the next attempt")
