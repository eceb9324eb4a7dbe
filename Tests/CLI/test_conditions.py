"""Options of the command line for constraints, start times, activities and networks. Valid values are stored and
listed. Invalid values are refused."""

import datetime
import time

import pytest

from test_options import with_changes

pytestmark = pytest.mark.hosting("daemon")

URL = "http://127.0.0.1:9/never"
BERLIN = {"TZ": "Europe/Berlin"}


def milliseconds(text):
    return int(datetime.datetime.fromisoformat(text).timestamp() * 1000)


def test_session_constraints_are_shown_and_stored(backhaul):
    [standard] = backhaul.json("configure", "--attempts", "3")
    assert not any(standard["constraints"].values()) and standard["budget"] == {"daily": None, "monthly": None}
    expected = with_changes(standard, {
        "constraints": {
            "preset": "overnight", "requires_external_power": False, "requires_unmetered": True,
            "networks": ["ethernet", "wifi"], "minimum_battery_percent": 30, "maximum_thermal_state": "nominal",
            "maximum_cpu_pressure_percent": 40, "maximum_io_pressure_percent": 50,
            "maximum_memory_pressure_percent": 60, "minimum_bytes_per_second": 10_240,
            "quiet_hours": "mon-fri 08:00-18:00, sat 10:00-14:00",
        },
        "budget": {"daily": 500_000_000, "monthly": 0},
        "slow_after_ms": 90_000, "slow_pause_ms": 30_000, "discretionary_if_launched": True,
    })
    [given] = backhaul.json(
        "configure", "--overnight", "--external-power", "no", "--unmetered", "yes", "--networks", "wifi,ethernet",
        "--minimum-battery", "30", "--maximum-heat", "nominal", "--maximum-cpu-pressure", "40",
        "--maximum-io-pressure", "50", "--maximum-memory-pressure", "60", "--minimum-rate", "10k", "--quiet-hours",
        "mon-fri 08:00-18:00, sat 10:00-14:00", "--slow-after", "90", "--slow-pause", "30",
        "--discretionary-if-launched", "yes", "--daily-budget", "500MB", "--monthly-budget", "nothing")
    assert given == expected
    assert backhaul.json("configure", "--attempts", "3") == [expected]
    [taken_back] = backhaul.json(
        "configure", "--preset", "none", "--external-power", "", "--unmetered", "", "--networks", "all",
        "--minimum-battery", "0", "--maximum-heat", "", "--maximum-cpu-pressure", "0", "--maximum-io-pressure", "0",
        "--maximum-memory-pressure", "0", "--minimum-rate", "0", "--quiet-hours", "", "--slow-after", "60",
        "--slow-pause", "300", "--discretionary-if-launched", "no", "--daily-budget", "none", "--monthly-budget",
        "none")
    assert taken_back == standard


@pytest.mark.parametrize("words, message", [
    (["--minimum-battery", "101"], "--minimum-battery takes a whole number from 0 to 100, not '101'"),
    (["--external-power", "maybe"], "--external-power takes 'yes' or 'no', not 'maybe'"),
    (["--networks", "wifi,wire"], "not 'wire'"),
    (["--maximum-heat", "critical"], "--maximum-heat takes one of 'nominal', 'fair', 'serious', not 'critical'"),
    (["--quiet-hours", "nonsense"], "--quiet-hours is \"nonsense\", not hours such as \"22:00-06:30\""),
    (["--quiet-hours", "00:00-24:00"], "--quiet-hours cover the whole week"),
    (["--overnight", "--discretionary"], "--discretionary and --overnight exclude each other"),
    (["--preset", "sometimes"], "--preset takes one of"),
])
def test_the_error_of_an_invalid_constraint_names_the_option_or_the_value(backhaul, words, message):
    assert message in backhaul("add", *words, URL, code=2).stderr
    assert message in backhaul("configure", *words, code=2).stderr
    assert backhaul("tasks").stdout == ""


@pytest.mark.parametrize("budget", ["0", "-1", "lots", "2X"])
def test_the_error_of_an_invalid_budget_lists_the_possible_values(backhaul, budget):
    refused = backhaul("configure", "--daily-budget", budget, code=2).stderr
    assert f"'none' for no limit, or 'nothing' for a budget of 0 bytes; not '{budget}'" in refused


def test_the_earliest_and_the_latest_start_of_a_transfer_are_listed(backhaul):
    backhaul("add", "--suspended", "--earliest-start", "2037-11-20T22:00", "--latest-start", "2037-11-21T06:30+00:00",
             "--expected-bytes-received", "2GB", "--expected-bytes-sent", "1k", URL, **BERLIN)
    [task] = backhaul.json("tasks")
    assert task["earliest_start_ms"] == milliseconds("2037-11-20T22:00+01:00")
    assert task["latest_start_ms"] == milliseconds("2037-11-21T06:30+00:00")
    assert task["expected_bytes_received"] == 2_000_000_000
    assert task["expected_bytes_sent"] == 1_024
    shown = backhaul("info", task["id"], **BERLIN).stdout
    assert "earliest start: on 20 Nov 2037 at 22:00 (in " in shown
    assert "latest start:   on 21 Nov 2037 at 07:30 (in " in shown


def test_constraints_of_a_transfer_are_listed(backhaul):
    backhaul("add", "--suspended", "--overnight", "--networks", "wifi,ethernet", "--external-power", "no", URL)
    [task] = backhaul.json("tasks")
    asked = {name: value for name, value in task["constraints"].items() if value is not None}
    assert asked == {"preset": "overnight", "networks": ["ethernet", "wifi"], "requires_external_power": False}
    assert ("asks for:       --preset overnight, --external-power no, --networks ethernet, wifi"
            in backhaul("info", task["id"]).stdout)


def test_a_latest_start_without_a_date_is_the_first_matching_time_after_the_earliest_start(backhaul):
    before = time.time() * 1000
    backhaul("add", "--suspended", "--earliest-start", "+30h", "--latest-start", "06:30", URL, **BERLIN)
    [task] = backhaul.json("tasks")
    assert 0 <= task["earliest_start_ms"] - before - 30 * 3_600_000 < 60_000
    assert 0 < task["latest_start_ms"] - task["earliest_start_ms"] <= 25 * 3_600_000


@pytest.mark.parametrize("text", ["noon", "25:00", "2037-02-30", "+1y", "", "2037-11-20T22:00Q"])
def test_the_error_of_an_invalid_time_shows_examples(backhaul, text):
    refused = backhaul("add", "--earliest-start", text, URL, code=2).stderr
    assert "--earliest-start takes a time such as 06:30, +2h, 2026-11-21T06:30" in refused
    assert f"not '{text}'" in refused


def test_the_error_of_a_latest_start_before_the_earliest_start_names_both_options(backhaul):
    refused = backhaul("add", "--earliest-start", "2037-11-20T22:00", "--latest-start", "2037-11-20T06:30", URL, code=2,
                       **BERLIN).stderr
    assert "--latest-start, 20 Nov 2037 06:30, is before --earliest-start, 20 Nov 2037 22:00" in refused


def test_invalid_options_of_an_activity_are_refused(backhaul):
    assert "--every 24h" in backhaul("activities", "set", "nightly", code=2).stderr
    assert "not '1y'" in backhaul("activities", "set", "nightly", "--every", "1y", code=2).stderr
    refused = backhaul("activities", "set", "nightly", "--every", "1h", "--tolerance", "60m", code=2).stderr
    assert "--tolerance, 1 h, is not less than --every, 1 h" in refused
    refused = backhaul("activities", "set", "nightly", "--every", "1h", "-d", "/tmp", code=2).stderr
    assert "--directory is about a transfer; give a URL after the activity's name" in refused
    assert "the known ones are set, remove" in backhaul("activities", "make", "nightly", code=2).stderr


@pytest.mark.parametrize("words, message", [
    (["--metered", "no"], "which network?"), (["A", "B"], "`networks` takes one name"),
    (["A", "--month-starts-on", "31"], "--month-starts-on takes a whole number from 1 to 28, not '31'"),
    (["A", "--monthly-budget", "0"], "'none' for no limit"), (["A", "--metered", "maybe"], "not 'maybe'"),
    (["A", "--forget", "--metered", "no"], "--forget goes with no other option"),
])
def test_invalid_network_settings_are_refused(backhaul, words, message):
    assert message in backhaul("networks", *words, code=2).stderr
