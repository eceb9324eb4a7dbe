"""Every field of constraints, networks and activities is written to a C struct, and is read back unchanged.

A hold is a demand that the system does not meet now. A wait record describes a time in which a task waits.
"""

import gc
from ctypes import pointer, sizeof
from dataclasses import replace
from datetime import datetime, timezone

import pytest

from backhaul import (
    BUDGET_NOTHING,
    TIME_UNCHANGED,
    Activity,
    Attention,
    Budget,
    ConditionKind,
    Constraints,
    EventKind,
    InvalidArgument,
    Network,
    NetworkKind,
    Policy,
    Preset,
    QualityOfService,
    Reason,
    Request,
    SessionConfiguration,
    ThermalState,
    _ctypes,
    _reading,
    _reading_conditions,
    _reading_transfers,
    _writing,
    _writing_conditions,
    _writing_transfers,
)

CONSTRAINTS = Constraints(
    preset=Preset.OVERNIGHT, requires_external_power=True, requires_unmetered=False,
    networks=NetworkKind.ETHERNET | NetworkKind.WIFI, minimum_battery_percent=30,
    maximum_thermal_state=ThermalState.FAIR, maximum_cpu_pressure_percent=1, maximum_io_pressure_percent=50,
    maximum_memory_pressure_percent=100, minimum_bytes_per_second=2**40, quiet_hours="22:00-06:30",
)
CONFIGURATION = SessionConfiguration(
    "s", constraints=CONSTRAINTS, budget=Budget(daily=2**41, monthly=BUDGET_NOTHING), slow_after_ms=5,
    slow_pause_ms=6, discretionary_if_launched=True,
)


def filled(struct, **fields):
    return struct(sizeof(struct), **fields)


def same_constraints(raw):
    assert (raw.preset, raw.requires_external_power, raw.requires_unmetered, raw.networks) == (2, 1, 2, 1 | 2)
    assert (raw.minimum_battery_percent, raw.maximum_thermal_state) == (30, 2)
    assert (raw.maximum_cpu_pressure_percent, raw.maximum_io_pressure_percent) == (1, 50)
    assert (raw.maximum_memory_pressure_percent, raw.minimum_bytes_per_second) == (100, 2**40)
    assert raw.quiet_hours == b"22:00-06:30"


def test_the_constraints_of_a_policy_are_written_to_c():
    same_constraints(_writing_transfers.policy(Policy(constraints=CONSTRAINTS)).constraints)


def test_a_constraint_can_be_set_by_the_name_of_a_constant():
    raw = _writing_transfers.constraints(Constraints(preset="discretionary", maximum_thermal_state="nominal"))
    assert (raw.preset, raw.maximum_thermal_state) == (1, 1)


def test_the_constraints_of_a_session_are_written_to_c():
    raw = _writing_transfers.configuration(CONFIGURATION)
    gc.collect()
    same_constraints(raw.constraints)
    assert (raw.slow_after_ms, raw.slow_pause_ms, raw.discretionary_if_launched) == (5, 6, 1)
    assert (raw.budget.daily, raw.budget.monthly) == (2**41, 2**64 - 1)


def test_the_constraints_of_a_session_are_read_back_unchanged():
    assert _reading_transfers._configuration(_writing_transfers.configuration(CONFIGURATION)) == CONFIGURATION


def test_the_start_times_and_expected_bytes_of_a_request_are_written_to_c():
    earliest = datetime(2030, 1, 1, tzinfo=timezone.utc)
    request = Request("http://a/", earliest_start=earliest, latest_start=earliest.timestamp() + 3_600,
                      expected_bytes_received=2**63, expected_bytes_sent=1)
    raw = _writing_transfers.requests([request])[0]
    assert (raw.earliest_start_ms, raw.latest_start_ms) == (1_893_456_000_000, 1_893_459_600_000)
    assert (raw.expected_bytes_received, raw.expected_bytes_sent) == (2**63, 1)


def test_the_start_times_and_expected_bytes_of_a_task_are_read_from_c():
    task = _reading._task(filled(_ctypes.bh_task_info, id=1, state=1, kind=1, url=b"http://a/", reason=18,
                                 earliest_start_ms=2_000, latest_start_ms=3_000, expected_bytes_received=4))
    assert (task.earliest_start.timestamp(), task.latest_start.timestamp()) == (2, 3)
    assert (task.expected_bytes_received, task.expected_bytes_sent) == (4, None)
    assert task.reason is Reason.EARLIEST_START
    plain = _reading._task(filled(_ctypes.bh_task_info, id=1, state=1, kind=1, url=b"http://a/"))
    assert (plain.earliest_start, plain.latest_start, plain.expected_bytes_received) == (None, None, None)


def test_the_own_constraints_of_a_task_are_read_from_c():
    raw = filled(_ctypes.bh_task_info, id=1, state=1, kind=1, url=b"http://a/",
                 constraints=pointer(_writing_transfers.constraints(CONSTRAINTS)))
    assert _reading._task(raw).constraints == CONSTRAINTS
    assert _reading._task(filled(_ctypes.bh_task_info, id=1, state=1, kind=1, url=b"http://a/")).constraints is None


def test_a_start_time_can_be_a_datetime_or_none_or_the_value_for_no_change():
    noon = datetime(2030, 1, 1, 12, tzinfo=timezone.utc)
    assert _writing.start_ms("earliest start", noon) == 1_893_499_200_000
    assert _writing.start_ms("earliest start", None) == 0
    assert _writing.start_ms("earliest start", TIME_UNCHANGED) == -1
    with pytest.raises(InvalidArgument, match="latest start is -2, no Unix seconds"):
        _writing.start_ms("latest start", -2)


def test_the_record_of_an_ended_wait_and_the_record_of_a_present_wait_are_read_from_c():
    over = _reading_conditions._wait(filled(
        _ctypes.bh_wait_record, reason=11, reason_text=b"on battery", began_ms=1_000, ended_ms=5_000))
    assert (over.reason, over.reason_text) == (Reason.POWER, "on battery")
    assert (over.began.timestamp(), over.ended.timestamp()) == (1, 5)
    assert _reading_conditions._wait(filled(_ctypes.bh_wait_record, reason=20, began_ms=1_000)).ended is None


def test_a_known_and_an_unknown_condition_are_read_from_c():
    known = _reading_conditions._condition(filled(
        _ctypes.bh_condition, kind=7, is_known=1, value=2, name=b"Home", text=b"wifi", source=b"NetworkManager",
        since_ms=9_000))
    assert (known.kind, known.value, known.is_known, known.name) == (ConditionKind.NETWORK, 2, True, "Home")
    assert (known.text, known.source, known.since.timestamp()) == ("wifi", "NetworkManager", 9)
    assert NetworkKind(known.value) is NetworkKind.WIFI
    unread = _reading_conditions._condition(filled(_ctypes.bh_condition, kind=2, text=b"not known", source=b"no /sys"))
    assert (unread.value, unread.is_known, unread.since) == (None, False, None)


def test_a_hold_is_read_from_c():
    hold = _reading_conditions._hold(filled(
        _ctypes.bh_hold, application=b"org.example.a", session=b"s", origin=b"http://a:80", reason=17,
        reason_text=b"slow", began_ms=1_000, next_check_ms=2_000, tasks=2**40))
    assert (hold.application, hold.session, hold.origin) == ("org.example.a", "s", "http://a:80")
    assert (hold.reason, hold.reason_text, hold.tasks) == (Reason.THROUGHPUT, "slow", 2**40)
    assert (hold.began.timestamp(), hold.next_check.timestamp()) == (1, 2)


def test_only_the_settings_of_a_network_are_written_to_c_but_all_fields_are_read_back():
    settings = Network("Hotspot", metered=True, month_starts_on=20, budget=Budget(daily=1, monthly=2**40))
    whole = replace(settings, kind=NetworkKind.WIFI, is_current=True, used_today=7, day_ends_ms=1_000)
    raw = _writing_conditions.network(whole)
    assert (raw.name, raw.metered, raw.month_starts_on, raw.budget.daily) == (b"Hotspot", 1, 20, 1)
    assert (raw.budget.monthly, raw.kind, raw.is_current, raw.used_today, raw.day_ends_ms) == (2**40, 0, 0, 0, 0)
    raw.kind, raw.is_current, raw.used_today, raw.day_ends_ms = 2, 1, 7, 1_000
    assert _reading_conditions._network(raw) == whole
    assert whole.day_ends.timestamp() == 1 and whole.month_ends is None


def test_an_activity_and_its_request_are_written_to_c():
    raw = _writing_conditions.activity(Activity(
        "feed", 3_600_000, 60_000, repeats=False, quality_of_service="utility", first=2_000_000_000.5,
        request=Request("http://a/feed", "/d", if_exists="replace", headers={"A": "b"})))
    gc.collect()
    assert (raw.identifier, raw.interval_ms, raw.tolerance_ms, raw.repeats) == (b"feed", 3_600_000, 60_000, 2)
    assert (raw.quality_of_service, raw.first_ms) == (2, 2_000_000_000_500)
    request = raw.request.contents
    assert (request.struct_size, request.url, request.if_exists) == (sizeof(_ctypes.bh_request), b"http://a/feed", 1)
    assert (request.headers[0].name, request.headers[0].value) == (b"A", b"b")
    assert not _writing_conditions.activity(Activity("tell", 1_000)).request


def test_an_activity_in_a_listing_is_read_from_c():
    info = _reading_conditions._activity(filled(
        _ctypes.bh_activity, identifier=b"feed", interval_ms=3, tolerance_ms=2, repeats=1, quality_of_service=3,
        next_ms=1_000, next_ends_ms=2_000, last_task=9, url=b"http://a/"))
    assert (info.identifier, info.interval_ms, info.tolerance_ms, info.repeats) == ("feed", 3, 2, True)
    assert (info.quality_of_service, info.last_task, info.url) == (QualityOfService.USER_INITIATED, 9, "http://a/")
    assert (info.next.timestamp(), info.next_ends.timestamp(), info.last_started) == (1, 2, None)


def test_the_event_of_an_activity_is_read_from_c():
    event = _reading._event(filled(_ctypes.bh_event, id=1, kind=5, activity=b"feed"))
    assert (event.kind, event.is_activity, event.activity, event.state) == (EventKind.ACTIVITY, True, "feed", None)
    assert Attention.ACTIVITY in Attention(17)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"earliest_start": datetime(2030, 1, 1)}, "earliest start is .* without a time zone"),
        ({"latest_start": -1}, "latest start is -1, no Unix seconds"),
        ({"expected_bytes_sent": -1}, "expected_bytes_sent is -1"),
    ],
)
def test_a_value_that_c_cannot_represent_raises_an_error_with_the_index_of_its_request(options, words):
    with pytest.raises(InvalidArgument, match=words) as caught:
        _writing_transfers.requests([Request("http://a/"), Request("http://b/", **options)])
    assert caught.value.index == 1


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("preset", "sometimes", "say 'discretionary' or 'overnight'"),
        ("maximum_thermal_state", "warm", "say 'nominal' or 'fair' or 'serious'"),
        ("minimum_battery_percent", -1, "minimum_battery_percent is -1"),
        ("networks", 2**32, "networks is 4294967296"),
        ("requires_external_power", "yes", "requires_external_power is 'yes'"),
        ("quiet_hours", 22, "quiet_hours is a int instead of a str"),
    ],
)
def test_a_constraint_that_c_cannot_represent_raises_an_error_with_the_index_of_its_request(field, value, words):
    policy = Policy(constraints=Constraints(**{field: value}))
    with pytest.raises(InvalidArgument, match=words) as caught:
        _writing_transfers.requests([Request("http://a/"), Request("http://b/", policy=policy)])
    assert caught.value.index == 1


@pytest.mark.parametrize(
    ("write", "value", "words"),
    [
        (_writing_conditions.network, Network(None, budget=Budget(daily=-1)), "daily is -1"),
        (_writing_conditions.network, Network("a\0b"), "network's name contains a NUL"),
        (_writing_conditions.activity, Activity("a", -1), "interval_ms is -1"),
        (_writing_conditions.activity, Activity("a", 1_000, first=0), "first window is 0, no Unix seconds"),
        (_writing_conditions.activity, Activity("a", 1_000, quality_of_service="best"), "say 'background' or"),
        (_writing_conditions.activity, Activity("a", 1_000, request=Request(7)), "URL is a int instead of a str"),
    ],
)
def test_a_network_or_activity_that_c_cannot_represent_is_refused(write, value, words):
    with pytest.raises(InvalidArgument, match=words):
        write(value)
