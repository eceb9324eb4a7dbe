"""Commands that add, list and control transfers, and acknowledge events. To acknowledge an event is to confirm that
it was processed."""

import base64
import signal

import pytest

from command_line import until

CONTENT = bytes(range(256)) * 1000


@pytest.fixture
def open_store(backhaul, serve):
    """If the commands themselves run the transfers (embedded hosting), another process keeps the store open during the
    test. So transfers also run between two commands."""
    server = serve({"/slow": CONTENT}, speed=4096)
    if backhaul.hosting == "embedded":
        backhaul.start("get", "--session", "other", f"{server.url}/slow")
        until(server.bytes_sent, "the other process's transfer")


def test_the_add_command_returns_at_once_and_the_wait_command_prints_the_files(backhaul, serve):
    server = serve({"/1": CONTENT, "/2": CONTENT})
    ended = backhaul("add", f"{server.url}/1", f"{server.url}/2")
    assert len(ended.stdout.splitlines()) == 2
    assert backhaul.wait_command in ended.stderr
    assert sorted(backhaul("wait").stdout.splitlines()) == [f"{backhaul.here}/1", f"{backhaul.here}/2"]
    assert backhaul("wait").stdout == ""
    assert backhaul("events").stdout == ""


def test_a_repeated_add_command_finds_the_existing_transfer(backhaul):
    first = backhaul.json("add", "--suspended", "http://127.0.0.1:9/a")
    second = backhaul.json("add", "--suspended", "http://127.0.0.1:9/a")
    assert [task["disposition"] for task in first + second] == ["new", "existing"]
    assert first[0]["task_id"] == second[0]["task_id"]


def test_the_add_command_refuses_another_url_for_the_same_file(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    ended = backhaul("add", "--suspended", "http://127.0.0.1:9/b/a", code=4)
    assert f"{backhaul.here}/a" in ended.stderr
    assert len(backhaul.json("tasks")) == 1


def test_the_wait_command_exits_with_1_after_a_failed_transfer(backhaul, serve):
    server = serve({})
    backhaul("add", f"{server.url}/absent")
    ended = backhaul("wait", code=1)
    assert "BH_HTTP_STATUS" in ended.stderr
    backhaul("wait")


def test_the_wait_command_exits_with_5_if_only_suspended_transfers_are_left(backhaul):
    backhaul("add", "--suspended", "http://127.0.0.1:9/a")
    ended = backhaul("wait", code=5)
    assert "backhaul resume" in ended.stderr


def test_the_tasks_and_info_commands_show_the_properties_of_a_task(backhaul):
    backhaul("add", "--suspended", "--priority", "7", "http://127.0.0.1:9/a")
    (task,) = backhaul.json("tasks")
    assert task["state"] == "suspended"
    assert task["reason"] == "suspended"
    assert task["priority"] == 7
    assert task["size"] is None
    assert task["destination"] == f"{backhaul.here}/a"
    assert backhaul.json("tasks", "--state", "running,failed") == []
    assert backhaul.json("tasks", "--state", "suspended") == [task]
    assert backhaul.json("info", task["id"]) == [task]
    table = backhaul("tasks").stdout.splitlines()
    assert table[0].split() == ["TASK", "STATE", "DONE", "OF", "URL"]
    assert table[1].split()[:2] == [str(task["id"]), "suspended"]
    assert "http://127.0.0.1:9/a" in backhaul("info", task["id"]).stdout


def test_commands_can_suspend_and_resume_and_cancel_a_task(backhaul, serve):
    server = serve({"/a": CONTENT * 100}, speed=1 << 20)
    task = backhaul.json("add", f"{server.url}/a")[0]["task_id"]

    def state():
        return backhaul.json("info", task)[0]["state"]

    assert backhaul.json("suspend", task) == [{"affected": 1}]
    assert state() == "suspended"
    assert backhaul.json("suspend", task) == [{"affected": 0}]
    assert backhaul.json("resume", "--all") == [{"affected": 1}]
    assert state() != "suspended"
    assert backhaul.json("cancel", task) == [{"affected": 1}]
    assert state() == "cancelled"
    assert backhaul.json("wait", code=1)[0]["status"] == "BH_CANCELLED"


def test_the_events_command_lists_events_until_they_are_acknowledged(backhaul, serve, open_store):
    server = serve({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    events = until(lambda: backhaul.json("events"), "the end of the transfer")
    ended, finished = events
    assert ended["kind"] == "task_ended"
    assert ended["task_state"] == "succeeded"
    assert ended["error_domain"] is ended["error_detail"] is ended["error_message"] is None
    assert ended["path"] == f"{backhaul.here}/a"
    assert ended["size"] == ended["bytes_received"] == len(CONTENT)
    assert "etag" in {header["name"].lower() for header in ended["headers"]}
    assert {name for name, value in finished.items() if value is not None} == {"id", "kind", "round", "time_ms"}
    assert finished["kind"] == "session_finished"
    assert backhaul.json("events", "--after", ended["id"]) == [finished]
    assert len(backhaul("events").stdout.splitlines()) == 2
    assert backhaul.json("events", "--acknowledge") == events
    assert backhaul.json("events") == []


def test_the_acknowledge_through_option_keeps_the_events_after_the_given_id(backhaul, serve, open_store):
    server = serve({"/a": CONTENT})
    backhaul("add", f"{server.url}/a")
    ended, finished = until(lambda: backhaul.json("events"), "the end of the transfer")
    assert backhaul.json("events", "--acknowledge-through", ended["id"]) == [{"acknowledged": 1}]
    assert backhaul.json("events") == [finished]
    result = backhaul("events", "--acknowledge-through", finished["id"])
    assert (result.stdout, result.stderr) == ("", "1 event acknowledged.\n")
    assert backhaul.json("events") == []


def test_an_event_shows_why_a_task_failed(backhaul, serve, open_store):
    server = serve({})
    backhaul("add", f"{server.url}/absent")
    ended = until(lambda: backhaul.json("events"), "the end of the transfer")[0]
    assert ended["error_domain"] == "http"
    assert ended["error_detail"] == 404
    assert ended["error_message"]
    assert b"404" in base64.b64decode(ended["error_body"])


def test_a_second_command_that_reads_events_exits_with_5_and_names_the_process_of_the_first(backhaul, serve):
    server = serve({"/a": CONTENT * 100}, speed=1 << 20)
    first = backhaul.start("get", f"{server.url}/a")
    until(server.bytes_sent, "the transfer")
    for command in ("wait", "events"):
        assert str(first.pid) in backhaul(command, code=5).stderr
    assert [task["state"] for task in backhaul.json("tasks")] == ["running"]
    (session,) = backhaul.json("sessions")
    assert (session["identifier"], session["live_tasks"], session["consumer"]) == ("default", 1, first.pid)
    first.send_signal(signal.SIGKILL)


def test_sessions_do_not_share_tasks(backhaul):
    backhaul("add", "--suspended", "--session", "one", "http://127.0.0.1:9/a")
    backhaul("add", "--suspended", "--session", "two", "http://127.0.0.1:9/b")
    assert [session["identifier"] for session in backhaul.json("sessions")] == ["one", "two"]
    assert [task["url"] for task in backhaul.json("tasks", "--session", "two")] == ["http://127.0.0.1:9/b"]
    assert backhaul.json("sessions", "--application", "org.example.other") == []
    assert backhaul("sessions").stdout.splitlines()[1].split()[:3] == ["backhaul", "one", "1"]
    assert backhaul("sessions", "--application", "backhaul").stdout.splitlines()[1].split()[:2] == ["one", "1"]


def test_the_sessions_and_applications_commands_list_all_applications(backhaul):
    backhaul("add", "--suspended", "--session", "one", "http://127.0.0.1:9/a")
    backhaul("add", "--suspended", "--application", "org.example.other", "http://127.0.0.1:9/b", "http://127.0.0.1:9/c")
    listed = [(session["application"], session["identifier"]) for session in backhaul.json("sessions")]
    assert listed == [("backhaul", "one"), ("org.example.other", "default")]
    rows = [line.split()[:3] for line in backhaul("sessions").stdout.splitlines()]
    assert rows == [["APPLICATION", "SESSION", "LIVE"], ["backhaul", "one", "1"], ["org.example.other", "default", "2"]]
    named = backhaul("sessions", "--application", "org.example.other").stdout.splitlines()
    assert [line.split()[:2] for line in named] == [["SESSION", "LIVE"], ["default", "2"]]
    counts = {one["identifier"]: (one["sessions"], one["live_tasks"], one["hosts"]) for one in
              backhaul.json("applications")}
    assert counts == {"backhaul": (1, 1, 0), "org.example.other": (1, 2, 0)}
    assert [line.split()[:3] for line in backhaul("applications").stdout.splitlines()][1:] == [
        ["backhaul", "1", "1"], ["org.example.other", "1", "2"]]


def test_the_claim_command_moves_a_kept_file(backhaul, serve):
    package = pytest.importorskip("backhaul")
    server = serve({"/a": CONTENT})
    with package.Application("org.example.photos", str(backhaul.store)) as application:
        with application.session("gallery") as session:
            task = session.download(f"{server.url}/a")
            next(event for event in session.events() if event.is_session_finished)
            number = str(task.id)
    names = ["--application", "org.example.photos", "--session", "gallery"]
    assert backhaul.json("claim", *names, number, "mine") == [
        {"task_id": int(number), "path": f"{backhaul.here}/mine"}]
    assert (backhaul.here / "mine").read_bytes() == CONTENT


@pytest.mark.hosting("daemon")
def test_a_refused_command_does_not_remove_the_session_of_another_command(backhaul):
    backhaul("limits")
    (backhaul.here / "bad").write_bytes(b"")
    for number in range(10):
        session = ["--application", f"race-{number}", "--suspended"]
        refused = [backhaul.start("add", *session, "http://127.0.0.1:9/bad") for _ in range(2)]
        accepted = backhaul.start("add", *session, f"http://127.0.0.1:9/{number}")
        errors = [command.communicate()[1] for command in (accepted, *refused)]
        assert [command.returncode for command in (accepted, *refused)] == [0, 4, 4], errors


def test_a_session_without_live_transfers_can_be_removed(backhaul, serve):
    server = serve({"/a": b"one"})
    backhaul("get", "--session", "photos", f"{server.url}/a")
    assert "photos is removed" in backhaul("sessions", "remove", "photos").stderr
    assert backhaul.json("sessions") == []
    assert (backhaul.here / "a").read_bytes() == b"one"
    backhaul("sessions", "remove", "photos", code=3)


def test_a_session_with_live_transfers_is_removed_only_if_they_may_be_cancelled(backhaul):
    backhaul("add", "--suspended", "--session", "photos", "http://127.0.0.1:9/a", "http://127.0.0.1:9/b")
    ended = backhaul("sessions", "remove", "photos", code=4)
    assert "2 transfers" in ended.stderr and "--cancel" in ended.stderr
    assert "2 transfers cancelled" in backhaul("sessions", "remove", "photos", "--cancel").stderr
    assert backhaul.json("sessions") == []


def test_the_wait_command_waits_only_for_the_given_transfers(backhaul, serve):
    server = serve({"/a": b"one", "/b": b"two"})
    backhaul("add", f"{server.url}/a", f"{server.url}/b")
    backhaul("add", "--suspended", f"{server.url}/c")
    assert backhaul("wait", "2").stdout == f"{backhaul.here}/b\n"
    assert backhaul("wait", "1", "2").stdout.splitlines() == [f"{backhaul.here}/b", f"{backhaul.here}/a"]
    assert "only suspended" in backhaul("wait", "1", "3", code=5).stderr
    assert "no task 9" in backhaul("wait", "9", code=3).stderr


@pytest.mark.parametrize("words", [["1", "2"], ["--group", "album"]], ids=["tasks", "group"])
def test_the_wait_command_follows_the_rest_of_its_transfers_after_a_session_with_only_suspended_ones(
        backhaul, serve, words):
    server = serve({"/b": b"two"})
    backhaul("add", "--group", "album", "--suspended", f"{server.url}/a")
    backhaul("add", "--group", "album", "--cookie-jar", "memory", f"{server.url}/b")
    ended = backhaul("wait", *words, code=5)
    assert (ended.stdout, ended.stderr.count("only suspended")) == (f"{backhaul.here}/b\n", 1)


def test_the_wait_command_reports_a_given_transfer_that_failed_before(backhaul, serve):
    server = serve({"/a": b"one"})
    backhaul("get", f"{server.url}/absent", code=1)
    assert "404" in backhaul("wait", "1", code=1).stderr
