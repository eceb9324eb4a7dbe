"""`backhaul why` explains what transfers wait for, on a machine with a fake /sys and /proc.

The advice must be correct: the tests run each command that the advice names, and then the transfer continues. While
the system does not meet a constraint of a transfer, the transfer waits. This is called a hold.
"""

import datetime
import shlex
import subprocess

import pytest

from schema import json_fields
from command_line import COMMAND, until

pytestmark = pytest.mark.hosting("daemon")

CONTENT = b"a line of the file\n" * 2_000


@pytest.fixture
def machine(backhaul):
    """Returns a function that writes files of the fake /sys and /proc, which the daemon reads."""
    folder = backhaul.folder / "machine"

    def set_trees(**trees):
        for root, files in trees.items():
            for path, text in files.items():
                file = folder / root / path
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text + "\n")

    (folder / "sys").mkdir(parents=True)
    (folder / "proc").mkdir()
    backhaul.environment |= {
        "BACKHAUL_SYS_ROOT": f"{folder}/sys", "BACKHAUL_PROC_ROOT": f"{folder}/proc",
        "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/no-bus",
    }
    return set_trees


ON_BATTERY = {
    "class/power_supply/AC/type": "Mains", "class/power_supply/AC/online": "0",
    "class/power_supply/BAT0/type": "Battery", "class/power_supply/BAT0/present": "1",
    "class/power_supply/BAT0/status": "Discharging", "class/power_supply/BAT0/capacity": "63",
}
WARM = {
    "class/thermal/thermal_zone0/type": "x86_pkg_temp", "class/thermal/thermal_zone0/temp": "80000",
    "class/thermal/thermal_zone0/trip_point_0_type": "passive",
    "class/thermal/thermal_zone0/trip_point_0_temp": "70000",
    "class/thermal/thermal_zone0/trip_point_1_type": "critical",
    "class/thermal/thermal_zone0/trip_point_1_temp": "110000",
}
BUSY = {"pressure/cpu": "some avg10=80.00 avg60=80.00 avg300=80.00 total=1"}


def these_hours():
    """Quiet hours that include the current time."""
    now = datetime.datetime.now(datetime.UTC)
    hour = datetime.timedelta(hours=2)
    return f"{now - hour:%H:%M}-{now + hour:%H:%M}"


#: Maps the reason of a wait to: the files of the fake machine, the options that set the constraint, the words of `why`
#: for the reason, and the option that `why` shows.
CASES = {
    "power": ({"sys": ON_BATTERY}, ["--external-power", "yes"], "external power", "--external-power yes"),
    "battery": ({"sys": ON_BATTERY}, ["--minimum-battery", "80"], "more charge in the battery", "--minimum-battery 80"),
    "heat": ({"sys": WARM}, ["--maximum-heat", "nominal"], "the machine to cool down", "--maximum-heat nominal"),
    "pressure": (
        {"proc": BUSY}, ["--maximum-cpu-pressure", "20"], "the machine to have less to do",
        "--maximum-cpu-pressure 20"),
    "quiet_hours": ({}, ["--quiet-hours", None], "the end of the quiet hours", "--quiet-hours "),
}


def wait_for_hold(backhaul, reason):
    """Waits until a task waits for this reason, and returns the task."""
    def waiting():
        return [task for task in backhaul.json("tasks") if task["reason"] == reason]

    return until(waiting, f"a wait for {reason}")[0]


def run_advice(backhaul, advice):
    """Runs the command that the advice contains, as a user would type it."""
    words = shlex.split(advice["command"])
    assert words[0] == "backhaul"
    subprocess.run([COMMAND, *words[1:]], env={**backhaul.environment, "TZ": "UTC"}, check=True, timeout=60,
                   stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


@pytest.mark.parametrize("reason", CASES)
def test_a_held_transfer_runs_after_the_user_runs_the_command_that_the_why_command_advises(
        backhaul, serve, machine, reason):
    trees, options, phrase, option = CASES[reason]
    machine(**trees)
    server = serve({"/a": CONTENT})
    backhaul("configure", *[these_hours() if word is None else word for word in options], TZ="UTC")
    backhaul("add", f"{server.url}/a", TZ="UTC")
    task = wait_for_hold(backhaul, reason)
    shown = backhaul("why", task["id"], TZ="UTC").stdout
    host = server.url.removeprefix("http://")
    assert shown.startswith(f"Download {task['id']} (a from {host}, 0 B of ?) waits for {phrase} since ")
    assert f"Session 'default' asks for this ({option}" in " ".join(shown.split())
    assert task["reason_text"].split(" ")[0] in shown
    [explained] = backhaul.json("why", task["id"])
    assert explained["waits"][-1]["reason"] == reason and explained["waits"][-1]["ended_ms"] is None
    [command] = [advice for advice in explained["advice"] if advice["command"]]
    run_advice(backhaul, command)
    assert backhaul("wait", "--timeout", "30").stdout == f"{backhaul.here}/a\n"
    [ended] = backhaul.json("why", task["id"])
    assert [wait["reason"] for wait in ended["waits"]] == [reason]
    assert ended["waits"][0]["ended_ms"] >= ended["waits"][0]["began_ms"]
    assert f"waited for {phrase}" in backhaul("why", task["id"]).stdout


@pytest.mark.parametrize("wish", [["--discretionary"], ["--external-power", "yes", "--unmetered", "yes"]])
def test_the_why_command_states_that_the_transfer_itself_has_the_constraint(backhaul, serve, machine, wish):
    machine(sys=ON_BATTERY)
    server = serve({"/a": CONTENT})
    backhaul("add", *wish, f"{server.url}/a")
    task = wait_for_hold(backhaul, "power")
    shown = backhaul("why", task["id"]).stdout
    given = "--preset discretionary" if wish == ["--discretionary"] else "--external-power yes"
    assert f"It asks for this itself ({given})" in " ".join(shown.split())
    assert "configure" not in shown and "cancel" not in shown
    [advice] = [advice for advice in backhaul.json("why", task["id"])[0]["advice"] if advice["command"]]
    run_advice(backhaul, advice)
    assert backhaul.json("tasks")[0]["constraints"]["requires_external_power"] is False
    assert backhaul("wait", "--timeout", "30").stdout == f"{backhaul.here}/a\n"


@pytest.mark.parametrize("reason", CASES)
def test_the_advice_of_the_why_command_removes_only_the_constraint_that_delays_the_transfer(backhaul, machine, reason):
    trees, options, _, option = CASES[reason]
    machine(**trees)
    wishes = [these_hours() if word is None else word for word in options]
    backhaul("add", *wishes, "--minimum-rate", "1", "http://127.0.0.1:9/never", TZ="UTC")
    task = wait_for_hold(backhaul, reason)
    assert f"It asks for this itself ({option}" in " ".join(backhaul("why", task["id"], TZ="UTC").stdout.split())
    [explained] = backhaul.json("why", task["id"])
    assert explained["required_by"].startswith(f"the transfer itself: {option}")
    [command] = [advice for advice in explained["advice"] if advice["command"]]
    run_advice(backhaul, command)
    until(lambda: backhaul.json("tasks")[0]["reason"] != reason, "an end of the wait")
    assert backhaul.json("tasks")[0]["constraints"]["minimum_bytes_per_second"] == 1


def test_the_constrain_command_replaces_and_removes_constraints_of_a_transfer(backhaul, machine):
    machine(sys=ON_BATTERY)
    backhaul("add", "--external-power", "yes", "http://127.0.0.1:9/never")
    task = wait_for_hold(backhaul, "power")
    [changed] = backhaul.json("constrain", task["id"], "--external-power", "default", "--minimum-battery", "80")
    assert changed["affected"] == 1
    wait_for_hold(backhaul, "battery")
    assert "1 transfer changed." in backhaul("constrain", "--all", "--none").stderr
    until(lambda: backhaul.json("tasks")[0]["reason"] not in ("power", "battery"), "an end of the wait")
    backhaul("constrain", 99, "--none", code=3)


def stated(backhaul):
    """Returns the constraints in each task's own request, without the constraints of the session. The keys are the ids
    of the tasks."""
    return {task["id"]: {name: value for name, value in (task["constraints"] or {}).items() if value is not None}
            for task in backhaul.json("tasks")}


def test_the_constrain_command_changes_one_constraint_and_keeps_the_others(backhaul):
    backhaul("add", "--suspended", "--overnight", "--minimum-battery", "30", "http://127.0.0.1:9/a")
    backhaul("add", "--suspended", "--external-power", "yes", "http://127.0.0.1:9/b", "http://127.0.0.1:9/c")
    backhaul("add", "--suspended", "http://127.0.0.1:9/d")
    first, second, third, plain = sorted(stated(backhaul))
    assert backhaul.json("constrain", "--all", "--external-power", "no") == [{"affected": 4}]
    assert stated(backhaul) == {
        first: {"preset": "overnight", "minimum_battery_percent": 30, "requires_external_power": False},
        second: {"requires_external_power": False}, third: {"requires_external_power": False},
        plain: {"requires_external_power": False}}
    assert backhaul.json("constrain", first, second, "--external-power", "default") == [{"affected": 2}]
    assert backhaul.json("constrain", first, second, "--external-power", "default") == [{"affected": 0}]
    assert stated(backhaul) == {
        first: {"preset": "overnight", "minimum_battery_percent": 30}, second: {},
        third: {"requires_external_power": False}, plain: {"requires_external_power": False}}
    backhaul("constrain", "--all", "--none")
    assert set(map(str, stated(backhaul).values())) == {"{}"}


@pytest.mark.parametrize("option, value", [
    ("--preset", "overnight"), ("--external-power", "yes"), ("--unmetered", "no"), ("--networks", "wifi"),
    ("--minimum-battery", "5"), ("--maximum-heat", "fair"), ("--maximum-cpu-pressure", "5"),
    ("--maximum-io-pressure", "5"), ("--maximum-memory-pressure", "5"), ("--minimum-rate", "5"),
    ("--quiet-hours", "22:00-06:30"),
])
def test_the_constrain_command_removes_a_constraint_that_gets_the_value_default(backhaul, option, value):
    backhaul("add", "--suspended", option, value, "http://127.0.0.1:9/a")
    [(task, wish)] = stated(backhaul).items()
    assert len(wish) == 1
    backhaul("constrain", task, option, "default")
    assert stated(backhaul) == {task: {}}


def test_the_advice_of_the_why_command_starts_a_scheduled_transfer_now(backhaul, serve):
    server = serve({"/a": CONTENT})
    backhaul("add", "--earliest-start", "+2h", f"{server.url}/a")
    task = wait_for_hold(backhaul, "earliest_start")
    [explained] = backhaul.json("why", task["id"])
    assert explained["required_by"] == "the transfer itself: --earliest-start"
    [command] = [advice for advice in explained["advice"] if advice["command"]]
    run_advice(backhaul, command)
    assert backhaul("wait", "--timeout", "30").stdout == f"{backhaul.here}/a\n"
    [ended] = backhaul.json("why", task["id"])
    assert [wait["reason"] for wait in ended["waits"]] == ["earliest_start"]


def test_the_reschedule_command_changes_the_earliest_or_the_latest_start_and_keeps_the_other_time(backhaul):
    backhaul("add", "--suspended", "--latest-start", "2037-11-21T06:30", "http://127.0.0.1:9/a", TZ="UTC")
    [task] = backhaul.json("tasks")
    at = ["--earliest-start", "2037-11-20T22:00"]
    assert "1 transfer rescheduled." in backhaul("reschedule", task["id"], *at, TZ="UTC").stderr
    assert backhaul.json("reschedule", "--all", *at, TZ="UTC") == [{"affected": 0, "running": 0}]
    [later] = backhaul.json("tasks")
    assert later["latest_start_ms"] == task["latest_start_ms"] and later["earliest_start_ms"] is not None
    refused = backhaul("reschedule", task["id"], "--earliest", "2037-11-21T07:00", code=2, TZ="UTC").stderr
    assert (f"--latest-start of transfer {task['id']}, 21 Nov 2037 06:30, is before its --earliest-start, "
            "21 Nov 2037 07:00; give both options") in refused
    assert f"task {task['id']} " in backhaul("reschedule", "--all", "--latest-start", "+1s", code=2).stderr
    assert backhaul.json("tasks") == [later]
    backhaul("reschedule", "--all", "--earliest-start", "none", "--latest-start", "none")
    [plain] = backhaul.json("tasks")
    assert (plain["earliest_start_ms"], plain["latest_start_ms"]) == (None, None)


def test_a_repeated_add_command_finds_the_transfer_after_it_was_rescheduled(backhaul):
    backhaul("add", "--earliest-start", "+2h", "http://127.0.0.1:9/a")
    [task] = backhaul.json("tasks")
    backhaul("reschedule", task["id"], "--earliest-start", "+3h")
    [again] = backhaul.json("add", "--earliest-start", "+2h", "http://127.0.0.1:9/a")
    assert (again["task_id"], again["disposition"]) == (task["id"], "existing")


def test_the_why_command_shows_the_time_of_the_earliest_start(backhaul):
    backhaul("add", "--earliest-start", "+2h", "http://127.0.0.1:9/never")
    task = wait_for_hold(backhaul, "earliest_start")
    assert task["next_attempt_ms"] == task["earliest_start_ms"]
    shown = backhaul("why", task["id"]).stdout
    assert "waits for the time at which it is to start" in shown and "continues: by itself " in shown
    assert "(in 2 h)" in shown
    assert "it is to start at " in backhaul("tasks").stdout


def test_the_why_command_without_a_task_groups_waiting_transfers_by_reason(backhaul, machine):
    machine(sys=ON_BATTERY)
    backhaul("configure", "--external-power", "yes")
    backhaul("add", *(f"http://127.0.0.1:9/{number}" for number in range(12)))
    backhaul("add", "--suspended", "http://127.0.0.1:9/later")
    until(lambda: sum(task["reason"] == "power" for task in backhaul.json("tasks")) == 12, "twelve waits for power")
    shown = backhaul("why").stdout
    assert "12 transfers wait for external power" in shown
    assert "Download 13 (later from 127.0.0.1:9, 0 B of ?) is suspended until it is resumed." in shown
    assert "download 1: 0 from 127.0.0.1:9, 0 B of ?" in shown and "and 7 more" in shown
    groups = {group["reason"]: group for group in backhaul.json("why")}
    assert groups["power"]["tasks"] == 12 and groups["suspended"]["tasks"] == 1


def test_the_advice_of_the_why_command_sets_a_metered_network_as_unmetered(backhaul):
    [seen] = backhaul.json("conditions")
    [name] = [condition["name"] for condition in seen["conditions"] if condition["kind"] == "network"]
    if not name:
        pytest.skip("there is no network here that could be metered")
    backhaul("networks", name, "--metered", "yes")
    # This is an address for documentation (RFC 5737).
    backhaul("add", "--session", "photos", "--unmetered", "yes", "http://198.51.100.1/never")
    waiting = until(lambda: [task for task in backhaul.json("tasks", "--session", "photos")
                             if task["reason"] == "metered"], "a wait for another network")
    shown = backhaul("why", "--session", "photos", waiting[0]["id"]).stdout
    assert "as set with `backhaul networks`" in " ".join(shown.split())
    [explained] = backhaul.json("why", "--session", "photos", waiting[0]["id"])
    run_advice(backhaul, next(advice for advice in explained["advice"] if " networks " in (advice["command"] or "")))
    until(lambda: backhaul.json("tasks", "--session", "photos")[0]["reason"] != "metered", "an end of the wait")


def test_the_conditions_command_shows_values_and_sources_and_holds(backhaul, machine):
    machine(sys=ON_BATTERY)
    backhaul("configure", "--external-power", "yes")
    backhaul("add", "http://127.0.0.1:9/never")
    wait_for_hold(backhaul, "power")
    [seen] = backhaul.json("conditions")
    conditions = {condition["kind"]: condition for condition in seen["conditions"]}
    assert len(conditions) == 11
    assert conditions["external_power"]["value"] == 0
    assert "power_supply" in conditions["external_power"]["source"]
    assert conditions["battery"]["value"] == 63
    assert not conditions["cpu_pressure"]["is_known"] and conditions["cpu_pressure"]["value"] is None
    [hold] = seen["holds"]
    assert not json_fields.differences([hold], "bh_hold")
    assert (hold["application"], hold["session"], hold["reason"], hold["tasks"]) == ("backhaul", "default", "power", 1)
    shown = backhaul("conditions").stdout
    assert "on battery" in shown and "cannot be read: holds no transfer" in shown
    assert "HELD" in shown and "GOES ON" in shown


def test_the_networks_command_stores_and_removes_settings(backhaul):
    listed = backhaul.json("networks", "Café", "--metered", "yes", "--daily-budget", "500MB", "--monthly-budget", "5GB",
                           "--month-starts-on", "20")
    assert [(n["name"], n["metered"], n["budget"], n["month_starts_on"]) for n in listed] == [
        ("Café", True, {"daily": 500_000_000, "monthly": 5_000_000_000}, 20)]
    [changed] = backhaul.json("networks", "Café", "--metered", "auto", "--daily-budget", "none")
    assert (changed["metered"], changed["budget"]) == (None, {"daily": None, "monthly": 5_000_000_000})
    assert "0 B of 5.0 GB [          ]" in backhaul("networks").stdout
    assert backhaul.json("networks", "Café", "--forget") == []
    assert "there is no network Café" in backhaul("networks", "Café", code=3).stderr


def test_the_activities_command_sets_and_lists_and_removes_activities(backhaul):
    [made] = backhaul.json("activities", "set", "catalogue", "--every", "24h", "--tolerance", "6h", "--quality",
                           "utility", "https://example.org/catalogue.json")
    assert (made["interval_ms"], made["tolerance_ms"], made["quality_of_service"], made["url"]) == (
        86_400_000, 21_600_000, "utility", "https://example.org/catalogue.json")
    backhaul("activities", "set", "report", "--every", "7d", "--once", "--first", "+1h")
    listed = {activity["identifier"]: activity for activity in backhaul.json("activities")}
    assert set(listed) == {"catalogue", "report"}
    assert not listed["report"]["repeats"] and listed["report"]["url"] is None
    shown = backhaul("activities").stdout
    assert "starts the program" in shown and "24 h" in shown and "never" in shown
    backhaul("activities", "remove", "report")
    assert [activity["identifier"] for activity in backhaul.json("activities")] == ["catalogue"]
    backhaul("activities", "remove", "report", code=3)


def test_the_get_command_without_a_terminal_reports_each_wait_only_one_time(backhaul, serve, machine):
    machine(sys=ON_BATTERY)
    server = serve({"/a": CONTENT})
    errors = backhaul("get", "--external-power", "yes", f"{server.url}/a", "--timeout", "12", code=5).stderr
    assert errors.count("waits for external power: ") == 1
    assert "What to do: backhaul why 1 --store " in errors


@pytest.mark.parametrize(("own", "session", "store", "words"), [
    ("100k", "3M", "4M", ["rate", "0"]), ("3M", "100k", "4M", ["configure", "--limit-rate", "0"]),
    ("4M", "3M", "100k", ["limits", "set", "--limit-rate", "0"])])
def test_the_why_command_names_the_smallest_limit_of_bytes_per_second(backhaul, serve, own, session, store, words):
    server = serve({"/a": b"x" * 20_000_000})
    backhaul("limits", "set", "--limit-rate", store)
    backhaul("add", "--suspended", f"{server.url}/a")
    backhaul("configure", "--limit-rate", session)
    backhaul("rate", own, "--all")
    backhaul("resume", "--all")
    [task] = backhaul.json("tasks")

    def explained():
        [explained] = backhaul.json("why", task["id"])
        return explained if explained["task"]["reason"] == "rate" else None
    [advice] = until(explained, "a wait for the limit")["advice"]
    command = shlex.split(advice["command"])
    assert [word for word in words if word in command] == words
    # Between two waits for the limit, the transfer runs.
    until(lambda: "102.4 kB/s is used up" in " ".join(backhaul("why", task["id"]).stdout.split()), "the text of a wait")
