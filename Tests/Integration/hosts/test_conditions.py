"""Constraints and settings of sessions, requests and networks: they are stored and listed. Invalid ones are refused.
A hold is a demand that the system does not meet now."""

import dataclasses
from datetime import datetime, timedelta, UTC

import pytest

from backhaul import (
    BUDGET_NOTHING,
    Activity,
    Budget,
    ConditionKind,
    Constraints,
    InvalidArgument,
    Network,
    NetworkKind,
    NotFound,
    Policy,
    Preset,
    Reason,
    Request,
    SessionConfiguration,
    ThermalState,
)

URL = "http://127.0.0.1:9/never"
LATER = datetime(2096, 10, 2, 7, 6, 40, tzinfo=UTC)


@pytest.mark.both_hostings
def test_the_constraints_of_a_session_are_stored(host):
    one = host()
    constraints = Constraints(
        preset="overnight", requires_external_power=False, requires_unmetered=True,
        networks=NetworkKind.ETHERNET | NetworkKind.WIFI, minimum_battery_percent=30, maximum_thermal_state="fair",
        maximum_cpu_pressure_percent=40, maximum_io_pressure_percent=50, maximum_memory_pressure_percent=60,
        minimum_bytes_per_second=70_000, quiet_hours="mon-fri 08:00-18:00, sat 10:00-14:00")
    budget = Budget(daily=1_000_000, monthly=BUDGET_NOTHING)
    one.session(constraints=constraints, budget=budget, slow_after_ms=8_000, slow_pause_ms=9_000,
                discretionary_if_launched=True)
    one.kill_with_engine()
    again = host()
    again.attach()
    found = again.configuration()
    assert found.constraints == dataclasses.replace(
        constraints, preset=Preset.OVERNIGHT, maximum_thermal_state=ThermalState.FAIR)
    assert (found.slow_after_ms, found.slow_pause_ms, found.discretionary_if_launched) == (8_000, 9_000, True)
    assert found.budget == budget
    without = dataclasses.replace(found.constraints, preset=None, quiet_hours=None)
    again.set_configuration(dataclasses.replace(found, constraints=without, budget=Budget(daily=1_000_000)))
    changed = again.configuration()
    assert (changed.constraints, changed.budget) == (without, Budget(daily=1_000_000))


def test_the_constraints_of_a_task_can_be_replaced_only_by_valid_constraints(one):
    request = Request(URL, policy=Policy(constraints=Constraints(preset="overnight")), suspended=True, key="a")
    task = one.enqueue([request])[0].task_id
    assert one.set_constraints(Constraints(minimum_battery_percent=20), [task]) == 1
    assert one.set_constraints(None, [task]) == 1
    assert one.enqueue([request])[0].task_id == task
    for wrong in (Constraints(minimum_battery_percent=101), Constraints(quiet_hours="00:00-24:00")):
        field = next(name for name, value in vars(wrong).items() if value)
        with pytest.raises(InvalidArgument, match=field):
            one.set_constraints(wrong, [task])


@pytest.mark.both_hostings
def test_constraints_of_a_task_are_listed(one):
    constraints = Constraints(preset="overnight", requires_unmetered=False, networks=NetworkKind.WIFI,
                              quiet_hours="22:00-06:30")
    stating, plain = (done.task_id for done in one.enqueue(
        [Request(URL, policy=Policy(constraints=constraints), suspended=True), Request(URL + "/more", suspended=True)]))
    assert one.task(stating).constraints == dataclasses.replace(constraints, preset=Preset.OVERNIGHT)
    assert one.task(plain).constraints is None
    one.set_constraints(Constraints(minimum_battery_percent=20))
    assert {task.constraints for task in one.tasks()} == {Constraints(minimum_battery_percent=20)}


def test_a_session_without_options_has_no_constraints(one):
    found, plain = one.configuration(), SessionConfiguration("")
    assert (found.constraints, found.budget) == (plain.constraints, plain.budget)
    assert (found.slow_after_ms, found.slow_pause_ms) == (60_000, 300_000)


@pytest.mark.both_hostings
def test_the_start_times_and_the_expected_sizes_of_a_task_are_listed(host, one):
    task = one.enqueue([Request(
        URL, earliest_start=LATER, latest_start=LATER + timedelta(hours=1), expected_bytes_received=5,
        expected_bytes_sent=6, policy=Policy(constraints=Constraints(preset="discretionary")))])[0].task_id
    one.kill_with_engine()
    again = host()
    again.attach()
    found = again.task(task)
    assert (found.earliest_start, found.latest_start) == (LATER, LATER + timedelta(hours=1))
    assert (found.expected_bytes_received, found.expected_bytes_sent) == (5, 6)


NONSENSE = {
    "minimum_battery_percent is 101": {"minimum_battery_percent": 101},
    "maximum_cpu_pressure_percent is 101": {"maximum_cpu_pressure_percent": 101},
    "maximum_io_pressure_percent is 101": {"maximum_io_pressure_percent": 101},
    "maximum_memory_pressure_percent is 101": {"maximum_memory_pressure_percent": 101},
    "maximum_thermal_state": {"maximum_thermal_state": "critical"},
    "networks has the unknown bits 0x40": {"networks": 64},
    "preset is 7": {"preset": 7},
    'quiet_hours is "25:00-26:00"': {"quiet_hours": "25:00-26:00"},
    "quiet_hours cover the whole week": {"quiet_hours": "00:00-24:00"},
}


@pytest.mark.parametrize("words", NONSENSE)
def test_the_error_for_an_invalid_constraint_names_the_field(host, words):
    one = host()
    with pytest.raises(InvalidArgument, match=words):
        one.session("other", **NONSENSE[words])
    one.session()
    with pytest.raises(InvalidArgument, match=words) as caught:
        policy = Policy(constraints=Constraints(**NONSENSE[words]))
        one.enqueue([Request(URL, suspended=True), Request(URL, policy=policy)])
    assert caught.value.index == 1
    assert list(one.tasks()) == []


def test_the_error_for_a_latest_start_before_the_earliest_start_names_both_fields(one):
    with pytest.raises(InvalidArgument, match=r"latest_start is \d+, before earliest_start"):
        one.enqueue([Request(URL, earliest_start=LATER, latest_start=LATER - timedelta(milliseconds=1))])


@pytest.mark.parametrize(
    ("network", "words"),
    [(Network(""), "name"), (Network("a\nb"), "control character"), (Network("a" * 256), "name"),
     (Network("a", month_starts_on=29), "month_starts_on is 29")],
    ids=lambda value: value if isinstance(value, str) else "")
def test_the_error_for_invalid_network_settings_names_the_field(host, network, words):
    with pytest.raises(InvalidArgument, match=words):
        host().set_network(network)


@pytest.mark.parametrize(
    ("activity", "words"),
    [
        (Activity("", 1_000), "identifier"),
        (Activity("a", 999), "interval_ms is 999"),
        (Activity("a", 1_000, 1_000), "tolerance_ms is 1000, not less than interval_ms"),
        (Activity("a", 1_000, request=Request(URL, key="k")), "key"),
        (Activity("a", 1_000, request=Request(URL, earliest_start=LATER)), "earliest_start"),
        (Activity("a", 1_000, request=Request(URL, "/tmp/backhaul-nothing")), "IfExists.REPLACE"),
        (Activity("a", 1_000, request=Request(URL, body_file=__file__)), "give bytes from memory"),
    ],
    ids=lambda value: value if isinstance(value, str) else "")
def test_the_error_for_an_invalid_activity_names_the_field(activity, words, one):
    with pytest.raises(InvalidArgument, match=words):
        one.set_activity(activity)


def test_the_list_of_conditions_has_each_kind_one_time_and_names_a_source_for_each(host):
    found = host().conditions()
    assert sorted(condition.kind for condition in found) == sorted(ConditionKind)
    assert all(condition.text and condition.source for condition in found)


def test_the_list_of_holds_is_empty_if_there_is_no_task(one):
    assert one.holds() == []


@pytest.mark.both_hostings
def test_the_listing_of_a_task_that_waits_for_its_earliest_start_has_the_reason_and_the_time(one):
    task = one.enqueue([Request(URL, earliest_start=LATER)])[0].task_id
    info = one.task(task)
    assert (info.reason, info.next_attempt) == (Reason.EARLIEST_START, LATER)
    assert [(wait.reason, wait.ended) for wait in one.waits(task)] == [(Reason.EARLIEST_START, None)]
    with pytest.raises(NotFound):
        one.waits(task + 1)


@pytest.mark.both_hostings
def test_a_task_is_rescheduled_only_with_valid_times(one):
    soon = LATER - timedelta(hours=1)
    task = one.enqueue([Request(URL, earliest_start=soon, latest_start=LATER)])[0].task_id
    assert one.reschedule([task], earliest_start=LATER) == 1
    info = one.task(task)
    assert (info.reason, info.earliest_start, info.latest_start) == (Reason.EARLIEST_START, LATER, LATER)
    assert one.reschedule([task], earliest_start=LATER) == 0
    assert one.reschedule([], earliest_start=None) == 0
    with pytest.raises(InvalidArgument, match=f"task {task} "):
        one.reschedule([task], latest_start=LATER - timedelta(seconds=1))
    assert one.reschedule(earliest_start=None, latest_start=None) == 1
    info = one.task(task)
    assert (info.earliest_start, info.latest_start) == (None, None)
    assert info.reason is not Reason.EARLIEST_START
    [wait] = [wait for wait in one.waits(task) if wait.reason is Reason.EARLIEST_START]
    assert wait.ended_ms is not None
