"""What the commands show about attempts, times, unchanged files, responses to uploads and cancelled transfers. The
history is the list of ended tasks."""

import os
import re
import signal
import subprocess

import pytest

from command_line import until
from daemons import daemons_of
from servers.behaviour import Behaviour
from servers.content import Content

pytestmark = pytest.mark.hosting("embedded")

CONTENT = Content(20_000)
CLOCK = r"\b\d\d:\d\d\b"


@pytest.mark.hosting("daemon")
class TestWithTheDaemon:
    @pytest.fixture
    def task(self, backhaul, server):
        """The number of a task whose first attempt is running and has been recorded."""
        url = server.serve("/a", Content(64 << 20), otherwise=Behaviour(pace=1 << 20))
        backhaul("add", url)
        number = until(lambda: backhaul.json("tasks", "--state", "running"), "the start")[0]["id"]
        until(lambda: backhaul.json("attempts", number), "the record of the attempt")
        yield number
        backhaul("cancel", number)

    def test_the_result_of_a_running_attempt_is_running(self, backhaul, task):
        assert backhaul("attempts", task).stdout.splitlines()[1].split()[-1] == "running"
        assert [attempt["next"] for attempt in backhaul.json("attempts", task)] == ["running"]

    def test_the_result_of_an_attempt_whose_daemon_was_killed_is_stopped(self, backhaul, task):
        (daemon,) = daemons_of(backhaul.folder)
        os.kill(daemon, signal.SIGKILL)
        until(lambda: not daemons_of(backhaul.folder), "the daemon's end")
        first = backhaul("attempts", task).stdout.splitlines()[1]
        assert first.split()[1] == "1" and re.search(r"  stopped\b", first)

    def test_the_result_of_the_attempt_of_a_suspended_transfer_is_stopped(self, backhaul, task):
        backhaul("suspend", task)
        until(lambda: backhaul.json("tasks", "--state", "suspended"), "the suspension")
        until(lambda: re.search(r"  stopped\b", backhaul("attempts", task).stdout.splitlines()[1]), "the record")

    def test_a_cancelled_round_of_many_transfers_is_reported_in_a_few_lines(self, backhaul):
        backhaul.here.joinpath("list").write_text("".join(f"http://127.0.0.1:9/{n}\n" for n in range(500)))
        backhaul("add", "--suspended", "-i", "list")
        assert "500 transfers cancelled." in backhaul("cancel", "--all").stderr
        ended = backhaul("wait", code=1)
        assert len(ended.stderr.splitlines()) == 11
        assert ended.stderr.splitlines()[-1] == "backhaul: 490 more transfers cancelled (BH_CANCELLED)"

    def test_the_events_command_marks_an_unchanged_file(self, backhaul, server):
        url = server.serve("/a", CONTENT, [Behaviour(), Behaviour(status=304)])
        backhaul("get", "-z", url)
        backhaul("add", "-z", url)
        assert until(lambda: backhaul("events").stdout, "the end").split()[1:4] == ["succeeded", url, "(unchanged)"]

    def test_json_has_a_line_for_each_cancelled_transfer(self, backhaul):
        backhaul("add", "--suspended", *(f"http://127.0.0.1:9/{number}" for number in range(30)))
        backhaul("cancel", "--all")
        assert len(backhaul.json("wait", code=1)) == 30


def test_the_result_of_a_successful_attempt_is_ok(backhaul, server):
    backhaul("get", server.serve("/a", CONTENT))
    line = backhaul("attempts", backhaul.json("history")[0]["id"]).stdout.splitlines()[1]
    assert line.split()[-1] == "ok"


def test_the_history_and_info_commands_show_the_times_of_a_transfer(backhaul, server):
    backhaul("get", server.serve("/a", CONTENT))
    header, line = backhaul("history").stdout.splitlines()
    assert header.split()[:2] == ["TASK", "ENDED"] and re.search(CLOCK, line)
    info = backhaul("info", backhaul.json("history")[0]["id"]).stdout
    assert re.search(rf"^enqueued: .*{CLOCK}", info, re.M) and re.search(rf"^ended: .*{CLOCK}", info, re.M)


def test_the_info_command_shows_no_end_of_a_transfer_that_has_not_ended(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    info = backhaul("info", "1").stdout
    assert "enqueued:" in info and "ended:" not in info


def test_an_unchanged_file_does_not_look_like_a_new_file(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(), Behaviour(status=304)])
    assert backhaul("get", "-z", url).stderr == ""
    again = backhaul("get", "-z", url)
    path = f"{backhaul.here}/a"
    assert (again.stdout, again.stderr) == (
        f"{path}\n", f"{path} has not changed on the server, so it was not downloaded again.\n")
    first, second = backhaul("history").stdout.splitlines()[1:]
    assert "unchanged" not in first and "succeeded (unchanged)" in second
    number = backhaul.json("history")[1]["id"]
    assert "succeeded (unchanged)" in backhaul("info", number).stdout
    assert "ok, unchanged" in backhaul("attempts", number).stdout


def test_an_existing_file_with_the_right_checksum_does_not_look_like_a_new_file(backhaul, server):
    backhaul.here.joinpath("a").write_bytes(CONTENT.data)
    url = server.serve("/a", CONTENT)
    ended = backhaul("get", "--if-exists", "skip", "--size", CONTENT.size, url)
    assert "exists already and is as requested" in ended.stderr
    assert "succeeded (existing)" in backhaul("history").stdout


@pytest.mark.parametrize("body, lines", [
    (b"stored as 17", ["stored as 17"]), (b"{\r\n  \"id\": 17\r\n}", ["{", "  \"id\": 17", "}"]),
    (b"no\x1b[2Jpe", ["no\\u{1b}[2Jpe"]), (b"\n" * 30 + b"x\n" * 30, ["x"] * 20 + ["..."]),
    (b"", None), (b"\xff\x00", None), (b"<!DOCTYPE html>\n<p>", None),
])
def test_the_put_command_shows_the_text_of_the_response(backhaul, server, body, lines):
    url = server.serve("/a", CONTENT, otherwise=Behaviour(status=200, body=body))
    ended = backhaul("put", "--data-binary", "a", url)
    assert ended.stdout == f"{url}\n"
    expected = [] if lines is None else [f"{url} responded with status 200:", *(f"  {line}" for line in lines)]
    assert ended.stderr.splitlines() == expected


def test_the_json_output_of_an_upload_has_the_text_of_the_response(backhaul, server):
    url = server.serve("/a", CONTENT, [Behaviour(status=200, body=b"17"), Behaviour(status=200, body=b"\xff")])
    shown = [backhaul.json("put", "--data-binary", "a", url)[0] for _ in range(2)]
    assert [(one["response_body"], one["response_body_encoding"]) for one in shown] == [
        ("17", "utf-8"), ("/w==", "base64")]


def test_the_json_output_of_an_upload_has_the_size_of_the_uploaded_body(backhaul, server):
    [shown] = backhaul.json("put", "--data-binary", "seventeen letters", server.serve("/a", CONTENT))
    assert shown["size"] == 17


def test_listings_have_the_size_of_an_uploaded_file(backhaul, server):
    (backhaul.here / "a").write_bytes(b"x" * 12_345)
    backhaul("put", "a", server.serve("/a", CONTENT))
    assert re.search(r"succeeded +12\.3 kB +12\.3 kB ", backhaul("history").stdout)
    assert re.search(r"^sent: +12\.3 kB of 12\.3 kB$", backhaul("info", 1).stdout, re.M)


def test_the_tasks_command_shows_the_name_of_a_file_that_the_url_does_not_show(backhaul):
    backhaul("add", "--suspended", "-o", "b", "http://127.0.0.1:9/a")
    assert backhaul("tasks").stdout.endswith("http://127.0.0.1:9/a -> b\n")


@pytest.fixture
def small_disk(tmp_path):
    """A file system of 4 MiB."""
    mounted = tmp_path / "small"
    mounted.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m,nr_inodes=200,mode=0700", "tmpfs", mounted],
                          check=False, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"mounting needs more rights: {done.stderr.strip()}")
    yield mounted
    subprocess.run(["umount", "-l", mounted], check=False)


def space(backhaul, code=0):
    (found,) = [one for one in backhaul.json("doctor", code=code) if one["subject"] == "space"]
    return found["level"], found["text"]


@pytest.mark.parametrize("exists", [True, False])
def test_the_doctor_command_fails_for_a_store_on_a_full_disk(backhaul, small_disk, exists):
    backhaul.store = small_disk / "store"
    if exists:
        backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    assert space(backhaul) == ("warning", space(backhaul)[1])
    small_disk.joinpath("fill").write_bytes(b"x" * (os.statvfs(small_disk).f_bfree * 4096))
    level, text = space(backhaul, code=5)
    assert level == "error" and text.startswith("0 B of 4.1 MB free")


def test_the_doctor_command_fails_for_a_store_on_a_disk_without_inodes(backhaul, small_disk):
    backhaul.store = small_disk / "store"
    for number in range(os.statvfs(small_disk).f_ffree):
        small_disk.joinpath(str(number)).touch()
    level, text = space(backhaul, code=5)
    assert level == "error" and "no inode" in text


def test_the_doctor_command_does_not_state_the_size_of_the_store_as_the_size_of_the_disk(backhaul, small_disk):
    backhaul.store = small_disk / "store"
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    (store,) = [one for one in backhaul.json("doctor") if one["subject"] == "store"]
    assert re.search(r", on tmpfs; its files take [\d.]+ kB$", store["text"])
    assert "of 4.1 MB free" in space(backhaul)[1]


@pytest.mark.hosting("daemon")
def test_the_list_of_tasks_shows_why_a_task_failed(backhaul, serve):
    backhaul("add", f"{serve({}).url}/absent")
    until(lambda: backhaul.json("tasks")[0]["state"] == "failed", "the failure")
    assert "(the server responded with status 404)" in backhaul("tasks").stdout
