"""A repeated command reports existing files and transfers. If the event about the end of a transfer is already
acknowledged, the command does not wait for this event. A live transfer has not ended. To acknowledge an event is to
confirm that it was processed."""

import hashlib
import os
import signal
import time

import pytest

from command_line import lift_speed_limit, until

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def slow(serve):
    """A slow server. The transfer of its file takes longer than a test. `lift_speed_limit` removes the speed limit of
    the server."""
    return serve({"/big": CONTENT * 4}, speed=20_000)


@pytest.fixture
def url(backhaul, serve, slow):
    """The URL of a fetched file. The end event of the transfer is acknowledged. Another transfer of the same session
    still runs."""
    server = serve({"/a": CONTENT})
    backhaul("add", f"{slow.url}/big")
    assert backhaul("get", f"{server.url}/a").stdout == f"{backhaul.here}/a\n"
    return f"{server.url}/a"


def test_the_get_command_reports_an_existing_file_at_once_while_another_transfer_runs(backhaul, url):
    ended = backhaul("get", url)
    assert ended.stdout == f"{backhaul.here}/a\n"
    assert f"{backhaul.here}/a exists already: transfer" in ended.stderr


@pytest.fixture(params=[True, False], ids=["another transfer runs", "no other transfer"])
def fetched(request, backhaul, serve, slow):
    """The URL of a fetched file. The end event of the transfer is acknowledged."""
    server = serve({"/a": CONTENT, "/other/a": CONTENT})
    if request.param:
        backhaul("add", f"{slow.url}/big")
    backhaul("get", f"{server.url}/a")
    return f"{server.url}/a"


def test_the_get_command_reports_an_unchanged_file_of_an_earlier_download(backhaul, fetched):
    for words in [[], ["--noproxy", "127.0.0.1"], []]:
        ended = backhaul("get", *words, fetched)
        assert ended.stdout == f"{backhaul.here}/a\n"
        assert f"{backhaul.here}/a exists already: transfer" in ended.stderr
    assert "has downloaded it before, and its end is acknowledged" in backhaul("add", fetched).stderr


def test_the_get_command_fetches_the_other_files_if_one_file_is_there_already(backhaul, fetched, serve):
    more = serve({"/b": CONTENT})
    ended = backhaul("get", fetched, f"{more.url}/b")
    assert sorted(ended.stdout.splitlines()) == [f"{backhaul.here}/a", f"{backhaul.here}/b"]


def test_the_get_command_refuses_a_file_that_was_written_after_its_download(backhaul, fetched):
    (backhaul.here / "a").write_bytes(CONTENT[::-1])
    later = time.time() + 3600
    os.utime(backhaul.here / "a", (later, later))
    assert "exists already; remove it, or give --if-exists replace" in backhaul("get", fetched, code=4).stderr
    assert (backhaul.here / "a").read_bytes() == CONTENT[::-1]


def test_the_get_command_refuses_a_file_of_a_download_from_another_url(backhaul, fetched):
    assert "exists already; remove it" in backhaul("get", fetched.replace("/a", "/other/a"), code=4).stderr


def test_the_get_command_fetches_no_file_again_that_the_server_named(backhaul, serve):
    server = serve({"/a": CONTENT})
    first = backhaul("get", "-J", f"{server.url}/a")
    assert backhaul("get", "-J", f"{server.url}/a").stdout == first.stdout
    assert len(server.requests()) == 1


def test_a_repeated_get_command_completes_all_transfers_after_an_interrupt(backhaul, serve, slow):
    words = ["get", f"{serve({'/a': CONTENT}).url}/a", f"{slow.url}/big"]
    first = backhaul.start(*words)
    assert first.stdout.readline() == f"{backhaul.here}/a\n"
    until(lambda: [task["destination"] for task in backhaul.json("tasks")] == [f"{backhaul.here}/big"],
          "that the first end was acknowledged")
    first.send_signal(signal.SIGINT)
    first.wait(60)
    second = backhaul.start(*words)
    assert second.stdout.readline() == f"{backhaul.here}/a\n"
    lift_speed_limit(slow)
    output, errors = second.communicate(timeout=60)
    assert (second.returncode, output) == (0, f"{backhaul.here}/big\n"), errors
    assert (backhaul.here / "big").read_bytes() == CONTENT * 4


def test_the_get_command_fetches_a_file_again_each_time_the_file_is_removed(backhaul, url):
    for _ in range(3):
        (backhaul.here / "a").unlink()
        assert backhaul("get", url).stdout == f"{backhaul.here}/a\n"
        assert (backhaul.here / "a").read_bytes() == CONTENT
        assert backhaul("get", url).stdout == f"{backhaul.here}/a\n"


def test_the_get_command_refuses_a_file_that_has_changed_since_its_download(backhaul, url):
    (backhaul.here / "a").write_bytes(b"mine")
    assert "exists already; remove it, or give --if-exists replace" in backhaul("get", url, code=4).stderr
    assert (backhaul.here / "a").read_bytes() == b"mine"


def test_each_get_command_that_may_replace_the_file_fetches_the_file_again(backhaul, serve, slow):
    server = serve({"/a": CONTENT})
    backhaul("add", f"{slow.url}/big")
    for number in range(1, 4):
        backhaul("get", "--if-exists", "replace", f"{server.url}/a")
        assert len(server.requests()) == number


def test_a_repeated_get_command_prints_the_file_name_from_the_server(backhaul, serve, slow):
    server = serve({"/a": CONTENT})
    backhaul("add", f"{slow.url}/big")
    first = backhaul("get", "-J", f"{server.url}/a")
    assert backhaul("get", "-J", f"{server.url}/a").stdout == first.stdout
    assert len(server.requests()) == 1


def test_the_json_output_of_the_get_command_has_a_line_for_an_existing_file(backhaul, url):
    (ended,) = backhaul.json("get", url)
    assert (ended["task_state"], ended["path"], ended["size"]) == ("succeeded", f"{backhaul.here}/a", len(CONTENT))


def test_the_get_command_names_a_suspended_transfer_and_prints_the_resume_command(backhaul, slow):
    backhaul("add", f"{slow.url}/big")
    (task,) = backhaul.json("tasks")
    backhaul("suspend", task["id"])
    ended = backhaul("get", f"{slow.url}/big", "--timeout", "1", code=5)
    assert f"Transfer {task['id']} is suspended; it continues after: backhaul resume {task['id']} " in ended.stderr


def test_the_add_command_distinguishes_live_transfers_from_ended_transfers(backhaul, slow, url):
    living = backhaul("add", f"{slow.url}/big").stderr
    assert "was enqueued before, and is" in living
    assert "1 transfer found, safe on disk. " in living
    over = backhaul("add", url).stderr
    assert "has downloaded it before, and its end is acknowledged" in over
    assert "enqueued" not in over


def test_the_json_output_of_the_add_command_has_the_state_of_an_existing_transfer(backhaul, slow, url):
    (over,) = backhaul.json("add", url)
    assert (over["disposition"], over["task_state"], over["event_id"]) == ("existing", "succeeded", None)
    (living,) = backhaul.json("add", f"{slow.url}/big")
    assert (living["disposition"], living["event_id"]) == ("existing", None)
    assert living["task_state"] in ("waiting", "running")


def test_the_add_command_enqueues_a_new_transfer_if_the_file_was_removed(backhaul, url):
    (backhaul.here / "a").unlink()
    (first,) = backhaul.json("add", url)
    assert (first["disposition"], first["task_state"]) == ("new", "waiting")
    (second,) = backhaul.json("add", url)
    assert (second["disposition"], second["task_id"]) == ("existing", first["task_id"])


def test_the_add_command_finds_the_live_transfer_of_an_existing_file(backhaul, url):
    (backhaul.here / "a").unlink()
    (first,) = backhaul.json("add", "--suspended", url)
    # In this state, the engine has given the file its final name. But the engine has not stored the end of the transfer
    # yet.
    (backhaul.here / "a").write_bytes(CONTENT)
    (second,) = backhaul.json("add", "--suspended", url)
    assert (second["disposition"], second["task_id"]) == ("existing", first["task_id"])


@pytest.mark.parametrize("command", [["add"], ["get", "--timeout", "1"]], ids=["add", "get"])
def test_a_repeated_command_with_another_rate_says_how_to_change_the_rate_of_the_found_transfer(
        backhaul, slow, command):
    backhaul("add", f"{slow.url}/big")
    (task,) = backhaul.json("tasks")
    said = backhaul(*command, "--limit-rate", "10k", f"{slow.url}/big", code=5 if "--timeout" in command else 0).stderr
    assert f"Transfer {task['id']} was found: " in said
    assert f"Change them with: backhaul rate BYTES {task['id']} " in said


@pytest.mark.hosting("daemon")
def test_the_add_command_returns_the_id_of_the_unacknowledged_end_event(backhaul, serve):
    url = f"{serve({'/a': CONTENT}).url}/a"
    backhaul("add", url)
    until(lambda: backhaul.json("tasks", "--state", "succeeded"), "the end")
    (found,) = backhaul.json("add", url)
    assert found["event_id"] == backhaul.json("events")[0]["id"]
    assert "its end is not acknowledged yet" in backhaul("add", url).stderr


ABSENT_CHECKSUM = "sha-256:" + "0" * 64
CHECKSUM = "sha-256:" + hashlib.sha256(CONTENT).hexdigest()


@pytest.mark.parametrize("words", [
    ["--checksum", ABSENT_CHECKSUM], ["--size", "77"], ["--max-filesize", "77"], ["-X", "POST"], ["-H", "Accept: b"],
    ["--data-binary", "b"],
], ids=lambda words: words[0])
@pytest.mark.parametrize("command", ["get", "add"])
def test_a_repeated_command_refuses_the_file_if_its_options_could_select_another_file(
        backhaul, fetched, command, words):
    assert "a exists already; remove it" in backhaul(command, *words, fetched, code=4).stderr
    assert (backhaul.here / "a").read_bytes() == CONTENT


def test_a_repeated_command_reports_a_file_that_has_the_given_checksum_and_size(backhaul, fetched):
    words = ["--checksum", CHECKSUM, "--size", len(CONTENT), "--max-filesize", "1M", "-X", "GET"]
    assert "exists already: transfer" in backhaul("get", *words, fetched).stderr


def test_a_repeated_command_that_skips_a_file_checks_the_size_of_the_file(backhaul, fetched):
    words = ["--if-exists", "skip", "--attempts", "1", "--size"]
    assert "(BH_SIZE_MISMATCH)" in backhaul("get", *words, "77", fetched, code=1).stderr
    assert backhaul("get", *words, len(CONTENT), fetched).stdout == f"{backhaul.here}/a\n"


def test_a_repeated_command_refuses_the_file_of_a_later_download_from_another_url(backhaul, serve, slow, fetched):
    other = fetched.replace("/a", "/other/a")
    backhaul("get", "--if-exists", "replace", other)
    assert "exists already; remove it" in backhaul("get", fetched, code=4).stderr
    assert "exists already: transfer" in backhaul("get", other).stderr


def test_a_repeated_command_refuses_a_file_of_the_same_size_that_was_written_soon_after_the_download(
        backhaul, fetched):
    (backhaul.here / "a").write_bytes(CONTENT[::-1])
    assert "exists already; remove it" in backhaul("get", fetched, code=4).stderr


def test_a_repeated_command_refuses_an_older_file_of_the_same_size_and_a_symbolic_link(backhaul, fetched):
    (backhaul.here / "a").rename(backhaul.here / "moved")
    (backhaul.here / "a").symlink_to("moved")
    assert "exists already; remove it" in backhaul("get", fetched, code=4).stderr
    (backhaul.here / "old").write_bytes(CONTENT[::-1])
    os.utime(backhaul.here / "old", ns=(10**18 + 1, 10**18 + 1))
    (backhaul.here / "old").rename(backhaul.here / "a")
    assert "exists already; remove it" in backhaul("get", fetched, code=4).stderr


@pytest.mark.parametrize("resumes", [False, True], ids=["suspended", "resumed"])
def test_a_repeated_command_finds_a_transfer_that_was_enqueued_suspended(backhaul, slow, resumes):
    url = f"{slow.url}/big"
    (first,) = backhaul.json("add", "--suspended", url)
    if resumes:
        backhaul("resume", first["task_id"])
    (again,) = backhaul.json("add", url)
    assert (again["disposition"], again["task_id"]) == ("existing", first["task_id"])
    ended = backhaul("get", "--timeout", "1", url, code=5)
    assert ("is suspended; it continues after: backhaul resume" in ended.stderr) == (not resumes)


def test_the_refusal_of_a_different_request_names_the_commands_that_end_the_earlier_transfer(backhaul, slow):
    backhaul("add", "--suspended", f"{slow.url}/big")
    refused = backhaul("add", "-H", "A: b", f"{slow.url}/big", code=4).stderr
    assert "`backhaul wait`" in refused and "`backhaul cancel NUMBER`" in refused
