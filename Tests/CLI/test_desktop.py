"""The command `desktop`: notifications, the jobs of KDE, and the progress on an icon. Fake services on a bus of the
test record the calls."""

import os
import signal
import time
from pathlib import Path

import pytest

from command_line import lift_speed_limit, until
from desktop_session import FILES, JOBS, MARKUP, NOTIFICATIONS, OLD_JOBS

# The desktop does not depend on the process that runs the transfers.
pytestmark = pytest.mark.hosting("daemon")

NOTIFIER_PATH = "/org/freedesktop/Notifications"
CONTENT = bytes(range(256)) * 4000
#: What `terminate` of org.kde.JobViewV3 gets: the code of a job that is removed without a notification of KDE.
QUIET = [1, "", {}]


def notification(desktop, count=1):
    """Waits for this number of notifications, and returns the last one."""
    names = ("application", "replaces", "icon", "summary", "body", "actions", "hints", "timeout")
    return dict(zip(names, desktop.until_calls("Notify", count=count), strict=True))


def job(desktop, name, wanted):
    """Waits until a property of the job satisfies the condition."""
    until(lambda: any(wanted(call["arguments"][0][name]) for call in desktop.calls("update")
                      if name in call["arguments"][0]), f"the property {name}")


def close_notification(desktop, process):
    """Closes the notification as a user does, and waits until the command has handled the signal."""
    desktop.emit(NOTIFICATIONS, NOTIFIER_PATH, NOTIFICATIONS, "NotificationClosed", 1, 2)
    until(lambda: is_asleep(process.pid, 0.1), "the command's sleep")


def urgency(desktop):
    """Returns the recorded changes of the mark on the icon."""
    changes = [call["arguments"][1] for call in desktop.calls("Update")]
    return [change["urgent"] for change in changes if "urgent" in change]


def state(backhaul, task=1):
    return backhaul.json("info", task)[0]["state"]


def test_a_notification_reports_the_result_of_a_round(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    observe()
    server = serve({"/a": b"1", "/b": b"2", "/c": b"3"})
    backhaul("get", *[f"{server.url}/{name}" for name in "abc"])
    found = notification(desktop)
    assert (found["application"], found["replaces"], found["summary"]) == ("Backhaul", 0, "3 files downloaded")
    assert found["hints"]["category"] == "transfer.complete"
    assert found["hints"]["desktop-entry"].startswith("backhaul-")
    assert desktop.calls("Notify")[0]["signature"] == "susssasa{sv}i"


def test_a_later_result_replaces_the_notification_and_has_the_sum(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    process = observe()
    server = serve({"/a": b"1", "/b": b"2", "/c": b"3"})
    backhaul("get", server.url + "/a")
    assert notification(desktop)["body"].startswith("a from 127.0.0.1")
    backhaul("get", server.url + "/b")
    second = notification(desktop, 2)
    assert (second["replaces"], second["summary"]) == (1, "2 files downloaded")
    # After the user has closed the notification, the next one begins again.
    close_notification(desktop, process)
    backhaul("get", server.url + "/c")
    third = notification(desktop, 3)
    assert (third["replaces"], third["summary"]) == (0, "1 file downloaded")


def test_failures_are_counted_and_cancelled_transfers_are_not(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    observe()
    server = serve({"/a": b"1"})
    backhaul("add", "--session", "photos", "--suspended", server.url + "/a", server.url + "/missing",
             server.url + "/unwanted")
    backhaul("cancel", "--session", "photos", 3)
    backhaul("resume", "--session", "photos", "--all")
    found = notification(desktop)
    assert found["summary"] == "1 file downloaded, 1 transfer failed"
    assert found["body"].splitlines() == [f"Failed: missing from 127.0.0.1:{server.server_port}", "session photos"]
    assert found["hints"]["category"] == "transfer.error"


def test_rounds_from_before_the_start_are_not_reported(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    server = serve({"/a": b"1", "/b": b"2"})
    backhaul("get", server.url + "/a")
    observe()
    backhaul("get", server.url + "/b")
    assert notification(desktop)["summary"] == "1 file downloaded"


@pytest.mark.parametrize(("capabilities", "name"), [
    (MARKUP, "&lt;b&gt;x&amp;amp; \\u{1b}\\u{202e}"), (("body",), "<b>x&amp; \\u{1b}\\u{202e}"),
])
def test_names_cannot_have_markup_or_control_characters(backhaul, desktop, observe, serve, capabilities, name):
    desktop.serve(NOTIFICATIONS, capabilities=capabilities)
    observe()
    server = serve({"/a": b"1"})
    backhaul("get", server.url + "/a", "-o", "<b>x&amp; \x1b\u202e")
    found = notification(desktop)
    assert found["body"] == f"{name} from 127.0.0.1:{server.server_port}"
    assert found["actions"] == (["show", "Show in folder"] if "actions" in capabilities else [])


def test_a_server_without_bodies_gets_all_in_the_summary(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS, capabilities=())
    observe()
    server = serve({"/a": b"1"})
    backhaul("get", server.url + "/a")
    found = notification(desktop)
    assert found["summary"].startswith("1 file downloaded: a from 127.0.0.1") and found["body"] == ""


def test_no_call_has_a_secret_of_the_url(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS, JOBS)
    observe()
    server = serve({"/a?token=hidden": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a?token=hidden#hidden", "-o", "a")
    job(desktop, "descriptionValue1", lambda text: text.startswith("a from 127.0.0.1"))
    lift_speed_limit(server)
    notification(desktop)
    assert "hidden" not in desktop.record.read_text()


def test_the_folder_of_a_file_is_shown(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS, FILES)
    observe()
    server = serve({"/a": b"1"})
    backhaul("get", server.url + "/a", "-o", "a b%é")
    notification(desktop)
    desktop.emit(NOTIFICATIONS, NOTIFIER_PATH, NOTIFICATIONS, "ActionInvoked", 1, "show")
    urls, _ = desktop.until_calls("ShowItems")
    assert urls == [f"file://{backhaul.here}/a%20b%25%c3%a9"]


def test_a_notification_asks_for_a_credential_until_there_is_one(backhaul, desktop, observe, guarded):
    desktop.serve(NOTIFICATIONS)
    observe()
    server = guarded({"/a": b"1"})
    backhaul("add", server.url + "/a")
    found = notification(desktop)
    assert found["summary"] == "A transfer needs a user name and a password"
    lines = found["body"].splitlines()
    assert lines[0] == f"1 transfer waits for 127.0.0.1:{server.server_port}"
    assert lines[1] == f"Run: backhaul respond 1 --user NAME --store {backhaul.store}"
    until(lambda: urgency(desktop) == [True], "the mark")
    backhaul("respond", 1, "--user", "ann", "--password-file", "-", stdin="secret word\n")
    assert desktop.until_calls("CloseNotification") == [1]
    assert notification(desktop, 2)["summary"] == "1 file downloaded"
    until(lambda: urgency(desktop) == [True, False], "the removal of the mark")


def test_a_notification_counts_the_servers_that_still_ask(backhaul, desktop, observe, guarded):
    desktop.serve(NOTIFICATIONS)
    observe()
    servers = [guarded({"/a": b"1"}), guarded({"/a": b"1"})]
    backhaul("add", *[server.url + "/a" for server in servers], "--output", "{number}")
    summaries = lambda: [call["arguments"][3] for call in desktop.calls("Notify")]  # noqa: E731
    until(lambda: summaries()[-1:] == ["2 servers ask for credentials"], "both servers")
    desktop.record.write_text("")
    backhaul("respond", 1, "--user", "ann", "--password-file", "-", stdin="secret word\n")
    found = notification(desktop)
    assert (found["replaces"], found["summary"]) == (1, "A transfer needs a user name and a password")
    # After the user has closed the notification, it does not come again for what is known.
    desktop.emit(NOTIFICATIONS, NOTIFIER_PATH, NOTIFICATIONS, "NotificationClosed", 1, 2)
    backhaul("respond", 2, "--user", "ann", "--password-file", "-", stdin="secret word\n")
    assert notification(desktop, 2)["summary"] == "2 files downloaded"


def test_a_new_notification_server_asks_again(backhaul, desktop, observe, guarded):
    first = desktop.serve(NOTIFICATIONS)
    observe()
    backhaul("add", guarded({"/a": b"1"}).url + "/a")
    summary = notification(desktop)["summary"]
    desktop.end_service(first)
    desktop.serve(NOTIFICATIONS)
    again = notification(desktop, 2)
    assert (again["replaces"], again["summary"]) == (0, summary)


def test_a_new_notification_server_does_not_show_what_the_user_has_closed(backhaul, desktop, observe, guarded):
    first = desktop.serve(NOTIFICATIONS)
    observe()
    server = guarded({"/a": b"1"})
    backhaul("add", server.url + "/a")
    notification(desktop)
    desktop.emit(NOTIFICATIONS, NOTIFIER_PATH, NOTIFICATIONS, "NotificationClosed", 1, 2)
    desktop.end_service(first)
    desktop.serve(NOTIFICATIONS)
    backhaul("add", "--session", "photos", server.url + "/a", "-o", "b")
    assert "session photos" in notification(desktop, 2)["body"]
    assert len(desktop.calls("Notify")) == 2


def test_a_result_waits_for_a_notification_server(backhaul, desktop, observe, serve):
    process = observe()
    server = serve({"/a": b"1", "/b": b"2", "/c": b"3"})
    for name in "ab":
        backhaul("get", f"{server.url}/{name}")
        # Without a server, only the sleep of the command shows that it has read the result.
        until(lambda: not (backhaul.store / "engine.socket").exists(), "the daemon's exit")
        until(lambda: is_asleep(process.pid), "the command's sleep")
    first = desktop.serve(NOTIFICATIONS)
    assert notification(desktop)["summary"] == "2 files downloaded"
    # A server that starts later does not show the same result again.
    desktop.end_service(first)
    desktop.serve(NOTIFICATIONS)
    backhaul("get", f"{server.url}/c")
    assert notification(desktop, 2)["summary"] == "1 file downloaded"


def test_results_of_many_sessions_have_one_notification(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    observe()
    server = serve({f"/{number}": b"1" for number in range(26)})
    for number in range(25):
        backhaul("add", "--suspended", "--session", f"s{number}", f"{server.url}/{number}")
    for number in range(25):
        backhaul("resume", "--session", f"s{number}", "--all")

    def counts():
        shown, made = {}, 0
        for call in desktop.calls("Notify", "CloseNotification"):
            if call["member"] == "CloseNotification":
                shown.pop(call["arguments"][0], None)
            else:
                made += not call["arguments"][1]
                shown[call["arguments"][1] or made] = (call["arguments"][3], call["arguments"][4])
        return list(shown.values())

    until(lambda: counts() == [("25 files downloaded", "25 sessions")], "the results of 25 sessions")
    # Later results replace this notification.
    backhaul("get", "--session", "s0", f"{server.url}/25")
    until(lambda: counts() == [("26 files downloaded", "25 sessions")], "the sum")


def test_the_bus_starts_the_notification_server(backhaul, desktop, observe, serve):
    desktop.serve_on_demand(NOTIFICATIONS)
    observe()
    server = serve({"/a": b"1", "/b": b"2"})
    backhaul("get", server.url + "/a")
    notification(desktop)
    backhaul("get", server.url + "/b")
    assert notification(desktop, 2)["replaces"] == 1


def test_kde_shows_a_job_with_its_progress(backhaul, desktop, observe, serve):
    desktop.serve(JOBS)
    observe()
    server = serve({"/a": CONTENT, "/b": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", "--session", "photos", server.url + "/a", server.url + "/b")
    job(desktop, "totalBytes", lambda total: total == 2 * len(CONTENT))
    job(desktop, "percent", lambda percent: 0 < percent < 100)
    job(desktop, "speed", bool)
    lift_speed_limit(server)
    assert desktop.until_calls("terminate") == QUIET
    entry, capabilities, hints = desktop.calls("requestView")[0]["arguments"]
    assert entry.startswith("backhaul-") and capabilities == 3 and hints["application-display-name"] == "Backhaul"
    updates = [call["arguments"][0] for call in desktop.calls("update")]
    assert updates[0]["title"] == "Downloading (session photos)" and updates[0]["totalFiles"] == 2
    bytes_done = [update["processedBytes"] for update in updates if "processedBytes" in update]
    assert bytes_done == sorted(bytes_done)
    # Each call has changes only.
    titles = [update["title"] for update in updates if "title" in update]
    assert all(updates) and titles == ["Downloading (session photos)"]


def test_kde_without_the_newer_interface_gets_the_older_calls(backhaul, desktop, observe, serve):
    desktop.serve(OLD_JOBS)
    observe()
    server = serve({"/a": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a")
    for member in ("setInfoMessage", "setProcessedAmount", "setSpeed", "setPercent"):
        desktop.until_calls(member)
    lift_speed_limit(server)
    assert desktop.until_calls("terminate") == [""]
    assert [call["arguments"] for call in desktop.calls("requestView")][1:] == [["Backhaul", "folder-download", 3]]
    assert {call["interface"] for call in desktop.calls("terminate", "setPercent")} == {"org.kde.JobViewV2"}
    totals = [call["arguments"] for call in desktop.calls("setTotalAmount")]
    assert [1, "files"] in totals and [len(CONTENT), "bytes"] in totals
    assert [0, "File", f"a from 127.0.0.1:{server.server_port}"] in [
        call["arguments"] for call in desktop.calls("setDescriptionField")]
    assert desktop.calls("setError")[-1]["arguments"] == [1]


@pytest.mark.parametrize("name", [JOBS, OLD_JOBS])
def test_transfers_are_suspended_resumed_and_cancelled_from_kde(backhaul, desktop, observe, serve, name):
    desktop.serve(JOBS if name == JOBS else OLD_JOBS)
    interface = "org.kde.JobViewV3" if name == JOBS else "org.kde.JobViewV2"
    observe()
    server = serve({"/a": CONTENT, "/b": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a")
    shown = ("update", "setPercent")
    desktop.until_calls(*shown)

    def suspended(value):
        if name == JOBS:
            job(desktop, "suspended", lambda found: found is value)
        else:
            until(lambda: [value] in [call["arguments"] for call in desktop.calls("setSuspended")], "the change")

    desktop.emit(JOBS, "/jobs/1", interface, "suspendRequested")
    suspended(True)
    # The job stays while the transfers are suspended, although the daemon exits.
    until(lambda: not (backhaul.store / "engine.socket").exists(), "the daemon's exit")
    desktop.record.write_text("")
    desktop.emit(JOBS, "/jobs/1", interface, "resumeRequested")
    suspended(False)
    until(lambda: state(backhaul) == "running", "the restart")
    assert not desktop.calls("terminate", "requestView")
    desktop.emit(JOBS, "/jobs/1", interface, "cancelRequested")
    desktop.until_calls("terminate")
    assert state(backhaul) == "cancelled"


def test_a_job_ends_when_its_waiting_transfers_are_suspended(backhaul, desktop, observe):
    desktop.serve(JOBS)
    observe()
    backhaul("add", "--retry-delay", "600", "http://127.0.0.1:9/a")
    until(lambda: state(backhaul) == "waiting", "the wait for the retry")
    desktop.until_calls("requestView")
    backhaul("suspend", "--all")
    assert desktop.until_calls("terminate") == QUIET
    until(lambda: not (backhaul.store / "engine.socket").exists(), "the daemon's exit")


def test_signals_of_another_program_change_nothing(backhaul, desktop, observe, serve):
    desktop.serve(JOBS)
    desktop.serve(FILES)
    process = observe()
    server = serve({"/a": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a")
    desktop.until_calls("update")
    names = desktop.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "ListNames")[0]
    owners = {name: desktop.call("org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetConnectionUnixProcessID",
                                 "s", name, check=False) for name in names if name.startswith(":")}
    observer = next(name for name, owner in owners.items() if owner == [process.pid])
    desktop.emit(FILES, "/jobs/1", "org.kde.JobViewV3", "cancelRequested", to=observer)
    lift_speed_limit(server)
    backhaul("wait")
    assert state(backhaul) == "succeeded"


def test_jobs_are_shown_again_by_a_new_server(backhaul, desktop, observe, serve):
    first = desktop.serve(JOBS)
    observe()
    server = serve({"/a": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a")
    desktop.until_calls("update")
    desktop.end_service(first)
    desktop.serve(JOBS)
    desktop.until_calls("requestView", count=2)
    backhaul("cancel", "--all")
    desktop.until_calls("terminate")


def test_the_sessions_of_all_applications_are_shown(backhaul, desktop, observe, guarded):
    desktop.serve(NOTIFICATIONS, JOBS)
    observe()
    server = guarded({"/a": CONTENT}, speed=len(CONTENT) // 20)
    words = ("--application", "org.example.photos", "--session", "album")
    backhaul("add", *words, server.url + "/a")
    lines = notification(desktop)["body"].splitlines()
    assert lines[1:] == ["session album of org.example.photos",
                         f"Run: backhaul respond 1 --user NAME --store {backhaul.store} {' '.join(words)}"]
    backhaul("respond", 1, *words, "--user", "ann", "--password-file", "-", stdin="secret word\n")
    job(desktop, "title", lambda title: title == "Downloading (session album of org.example.photos)")
    # There may have been a job before the credential was needed.
    path = f"/jobs/{len(desktop.calls('requestView'))}"
    desktop.emit(JOBS, path, "org.kde.JobViewV3", "cancelRequested")
    until(lambda: path in [call["path"] for call in desktop.calls("terminate")], "the end of the job")
    assert backhaul.json("info", 1, *words)[0]["state"] == "cancelled"


def test_an_application_can_be_chosen(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    observe("--application", "org.example.photos")
    server = serve({"/a": b"1", "/b": b"2"})
    backhaul("get", server.url + "/a")
    backhaul("get", server.url + "/b", "--application", "org.example.photos")
    found = notification(desktop)
    assert found["summary"] == "1 file downloaded" and found["body"].startswith("b from")


def test_docks_show_the_progress_if_kde_does_not(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    observe()
    server = serve({"/a": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a")
    until(lambda: any(0 < call["arguments"][1].get("progress", 0) < 1 for call in desktop.calls("Update")),
          "the progress")
    lift_speed_limit(server)
    until(lambda: desktop.calls("Update")[-1]["arguments"][1].get("progress-visible") is False, "the end")
    uris, values = zip(*[call["arguments"] for call in desktop.calls("Update")], strict=True)
    assert set(uris) == {"application://" + notification(desktop)["hints"]["desktop-entry"] + ".desktop"}
    assert (values[0]["progress-visible"], values[0]["count"], values[0]["count-visible"]) == (True, 1, True)
    assert all("urgent" not in value for value in values)
    assert {call["signature"] for call in desktop.calls("Update")} == {"sa{sv}"}


def test_docks_get_no_progress_from_backhaul_if_kde_sends_it(backhaul, desktop, observe, serve):
    desktop.serve(JOBS)
    observe()
    server = serve({"/a": CONTENT}, speed=len(CONTENT) // 20)
    backhaul("add", server.url + "/a")
    job(desktop, "percent", bool)
    lift_speed_limit(server)
    desktop.until_calls("terminate")
    assert not desktop.calls("Update")


def test_docks_hide_the_progress_when_the_server_of_kde_starts(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS)
    observe()
    backhaul("add", serve({"/a": CONTENT}, speed=len(CONTENT) // 20).url + "/a")

    def shown(name):
        values = [call["arguments"][1].get(name) for call in desktop.calls("Update")]
        return [value for value in values if value is not None][-1:]

    for value in (True, False):
        until(lambda value=value: shown("progress-visible") == shown("count-visible") == [value], "the change")
        if value:
            desktop.serve(JOBS)
    assert state(backhaul) == "running"
    backhaul("cancel", "--all")


def switches(process):
    """Returns how often the threads of the process have waited; None if a thread has something to do."""
    threads = [dict(line.split(":\t", 1) for line in (task / "status").read_text().splitlines())
               for task in Path(f"/proc/{process}/task").iterdir()]
    if any(not thread["State"].startswith("S") for thread in threads):
        return None
    return sum(int(thread["voluntary_ctxt_switches"]) for thread in threads)


def test_the_daemon_exits_and_the_command_sleeps_while_nothing_runs(backhaul, desktop, observe, serve):
    desktop.serve(NOTIFICATIONS, JOBS)
    process = observe()
    server = serve({"/a": b"1"})
    backhaul("get", server.url + "/a")
    notification(desktop)
    until(lambda: not (backhaul.store / "engine.socket").exists(), "the daemon's exit")
    # The exit changes files of the store, after which the command looks once more whether an engine runs.
    until(lambda: is_asleep(process.pid), "the command's sleep")
    process.send_signal(signal.SIGTERM)
    assert process.wait() == -signal.SIGTERM


def is_asleep(process, seconds=3):
    before = switches(process)
    time.sleep(seconds)
    return before is not None and switches(process) == before


@pytest.mark.parametrize("variables", [
    {}, {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/absent/bus"}, {"DBUS_SESSION_BUS_ADDRESS": "tcp:host=127.0.0.1"},
    {"XDG_RUNTIME_DIR": "/absent"},
])
def test_without_a_session_bus_the_command_says_so(backhaul, variables):
    ended = backhaul("desktop", code=5, **variables)
    assert ended.stderr.startswith("backhaul: there is no session bus: ") and "desktop session" in ended.stderr


def test_the_command_ends_with_its_bus(backhaul, desktop, observe):
    process = observe()
    desktop.running[0].kill()
    assert process.wait() == 5
    assert "the connection to the session bus has ended" in process.stderr.read()


def test_the_command_transfers_nothing_itself(backhaul, desktop):
    backhaul.environment.update(desktop.environment)
    assert "omit --embedded" in backhaul("desktop", "--embedded", code=2).stderr


def test_a_second_command_for_the_store_is_refused(backhaul, desktop, observe, tmp_path):
    observe()
    assert "another process shows the transfers" in backhaul("desktop", code=5).stderr
    # Another store has a command of its own.
    (tmp_path / "other").mkdir()
    observe("--store", tmp_path / "other")


def test_the_command_ends_if_its_store_is_removed(backhaul, desktop, observe):
    process = observe()
    os.rmdir(backhaul.store)
    assert process.wait() == 6
    assert "was moved or removed" in process.stderr.read()
