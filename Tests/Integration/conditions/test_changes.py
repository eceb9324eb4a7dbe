"""Changes while a transfer waits: new settings of the network or the session, a new start time of a task, or a new
date. The *engine* runs the transfers. The *calendar* is the date and time that the engine sees; the tests can set the
calendar. A task is held (waits) while the system does not meet a constraint, such as external power. The task or its
session states the constraint. A preset is a name for several constraints. A budget is the number of bytes that may be
moved in a day or month. After its latest start, a task is no longer delayed by a preset.
"""

from datetime import datetime, UTC

import pytest

from backhaul import Budget, ConditionKind, Network, Policy, Reason, Status, TaskState, TransferRules
from conditions.buses import NO
from conditions.environment import Download, Environment
from conditions.simulations import CALENDAR, WITH_CALENDAR, simulation
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}
WITH_CALENDAR.update({"latest_start_of_a_sessions_task", "earliest_start", "calendar_set_back", "rescheduled"})


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@simulation
def administrator():
    """The machine has no NetworkManager. The host sets the network as metered, and later as unmetered."""
    with Environment("administrator") as env:
        host = env.host(requires_unmetered=True, **QUICK)
        download = Download(env, host)
        download.wait_for_bytes(1_000_000)
        host.set_network(Network("cable", metered=True))
        stopped = download.wait_for_reason(Reason.METERED)
        [hold] = host.holds()
        host.set_network(Network("cable", metered=False))
        download.wait_for_success()
        return [asked.offset for asked in download.requests()] == [0, stopped.offset], hold


@simulation
def loosened_configuration():
    """A transfer waits for external power; then the session drops this constraint."""
    with Environment("loosened") as env:
        env.machine.laptop()
        env.machine.unplug(63)
        host = env.host(requires_external_power=True, **QUICK)
        download = Download(env, host, size=100_000)
        download.wait_for_reason(Reason.POWER)
        host.reconfigure(requires_external_power=None)
        download.wait_for_success()
        return host.waits(download.id)


@simulation
def control_while_held():
    """One of three held tasks is suspended, and one is cancelled. The third task reaches its resource time-out: the
    longest permitted time from its enqueue to its end. Then the power returns."""
    with Environment("control") as env:
        env.machine.laptop()
        env.machine.unplug(63)
        host = env.host(requires_external_power=True, **QUICK)
        suspended, cancelled = (Download(env, host, f"/{name}", 1_000) for name in "ab")
        late = Download(env, host, "/c", 1_000, policy=Policy(rules=TransferRules(resource_timeout_ms=30_000)))
        for one in (suspended, cancelled, late):
            one.wait_for_reason(Reason.POWER)
        host.suspend([suspended.id])
        host.cancel([cancelled.id])
        ends = {one: until(one.info, lambda task: task.ended_ms) for one in (cancelled, late)}
        env.machine.plug()
        assert until(suspended.info, lambda task: task.state is TaskState.SUSPENDED).reason is Reason.SUSPENDED
        host.resume([suspended.id])
        suspended.wait_for_success()
        return ends[cancelled].state, ends[late].status, len(env.server.log())


@simulation
def shorter_time_out_while_held():
    """A task waits for power. Meanwhile, the session's resource time-out becomes shorter than the wait."""
    with Environment("shorter") as env:
        env.machine.laptop()
        env.machine.unplug(63)
        host = env.host(requires_external_power=True, **QUICK)
        download = Download(env, host)
        download.wait_for_reason(Reason.POWER)
        host.reconfigure(resource_timeout_ms=1_000)
        return until(download.info, lambda task: task.ended_ms).status


@simulation
def network_changes_while_slow():
    """The engine pauses a slow transfer for an hour. But when the network changes, the pause ends at once."""
    with Environment("other-network", bus=True) as env:
        manager = env.bus.network_manager()
        manager.connect("Train", "802-11-wireless", NO)
        host = env.host(minimum_bytes_per_second=10_000, slow_after_ms=15_000, slow_pause_ms=3_600_000, **QUICK)
        download = Download(env, host)
        download.wait_for_bytes(500_000)
        env.link.rate = 2_000
        stopped = download.wait_for_reason(Reason.THROUGHPUT)
        env.link.rate = 1_000_000
        manager.connect("Home", "802-11-wireless", NO)
        download.wait_for_success()
        return [asked.offset for asked in download.requests()] == [0, stopped.offset]


@simulation
def latest_start_of_a_sessions_task():
    """After the latest start of a task, the preset of its session no longer applies to the task. But a constraint that
    the session states without a preset still applies."""
    with Environment("latest", library=CALENDAR["library"]) as env:
        env.calendar.set("2026-11-19 21:04")
        env.machine.laptop()
        env.machine.unplug(63)
        host = env.host(preset="discretionary", **QUICK)
        wished = Download(env, host, "/wished", 1_000, latest_start=at("2026-11-20 06:30"))
        wished.wait_for_reason(Reason.POWER)
        host.session("strict", requires_external_power=True, **QUICK)
        strict = Download(env, host, "/strict", 1_000, latest_start=at("2026-11-20 06:30"))
        strict.wait_for_reason(Reason.POWER)
        env.calendar.set("2026-11-20 06:30")
        host.select_session("gallery")
        wished.wait_for_success()
        host.select_session("strict")
        return strict.wait_for_reason(Reason.POWER).state


@simulation
def earliest_start():
    with Environment("earliest", library=CALENDAR["library"]) as env:
        env.calendar.set("2026-11-19 21:04")
        host = env.host(**QUICK)
        download = Download(env, host, size=1_000, earliest_start=at("2026-11-20 06:30"))
        waiting = download.wait_for_reason(Reason.EARLIEST_START)
        env.calendar.set("2026-11-20 06:30")
        download.wait_for_success()
        return waiting


@simulation
def rescheduled():
    """A task that was to start tomorrow is rescheduled to start now. Another task is postponed, and starts when the
    calendar is set to the task's new start time."""
    with Environment("rescheduled", library=CALENDAR["library"]) as env:
        env.calendar.set("2026-11-19 21:04")
        host = env.host(**QUICK)
        sooner = Download(env, host, "/sooner", 1_000, earliest_start=at("2026-11-20 06:30"))
        sooner.wait_for_reason(Reason.EARLIEST_START)
        host.reschedule([sooner.id], earliest_start=None)
        sooner.wait_for_success()
        waits = [(wait.reason, wait.ended_ms is None) for wait in host.waits(sooner.id)]
        later = Download(env, host, "/later", 1_000, suspended=True)
        host.reschedule([later.id], earliest_start=at("2026-11-20 06:30"))
        host.resume([later.id])
        waiting = later.wait_for_reason(Reason.EARLIEST_START)
        env.calendar.set("2026-11-20 06:30")
        later.wait_for_success()
        return waiting, waits


@simulation
def calendar_set_back():
    """The budget of a day is used up. Then the calendar is set back to an earlier time. This change gives no new
    budget."""
    with Environment("set-back", bus=True, library=CALENDAR["library"]) as env:
        env.calendar.set("2026-11-20 15:10")
        env.bus.network_manager().connect("Home", "802-11-wireless", NO)
        host = env.host(budget=Budget(daily=500_000), **QUICK)
        download = Download(env, host, size=900_000)
        download.wait_for_reason(Reason.BUDGET)
        env.calendar.set("2026-11-20 09:00")
        stopped = until(download.info, lambda task: task.next_attempt_ms <= at("2026-11-21").timestamp() * 1_000)
        env.calendar.set("2026-11-21 00:00")
        download.wait_for_success()
        return stopped.reason, [asked.offset for asked in download.requests()] == [0, stopped.offset]


@simulation
def network_manager_restarts():
    """The budget of a day is used up; then NetworkManager stops and starts again."""
    with Environment("restarts", bus=True) as env:
        manager = env.bus.network_manager()
        manager.connect("Hotspot", "802-11-wireless", NO)
        host = env.host(budget=Budget(daily=500_000), **QUICK)
        download = Download(env, host, size=900_000)
        stopped = download.wait_for_reason(Reason.BUDGET)

        def has_gone():
            [network] = [one for one in host.conditions() if one.kind is ConditionKind.NETWORK]
            return network.source != "NetworkManager" and network.text
        manager.stop()
        text = until(has_gone, bool)
        manager.start()
        manager.connect("Hotspot", "802-11-wireless", NO)
        until(has_gone, lambda found: not found)
        now = download.info()
        return text, now.reason, now.offset - stopped.offset, [one.name for one in host.networks() if one.used_today]


@pytest.mark.parametrize("simulation", ["administrator"], indirect=True)
def test_a_running_transfer_waits_while_its_network_is_set_as_metered(simulation):
    goes_on, hold = simulation
    assert goes_on
    assert (hold.session, hold.reason, hold.tasks) == ("gallery", Reason.METERED, 1)
    assert "as set with `backhaul networks`" in hold.reason_text


@pytest.mark.parametrize("simulation", ["loosened_configuration"], indirect=True)
def test_a_task_that_waits_for_a_constraint_starts_when_its_session_drops_the_constraint(simulation):
    [wait] = simulation
    assert wait.reason is Reason.POWER and wait.ended_ms


@pytest.mark.parametrize("simulation", ["control_while_held"], indirect=True)
def test_a_task_that_waits_for_power_can_be_suspended_or_cancelled_and_can_time_out(simulation):
    assert simulation == (TaskState.CANCELLED, Status.RESOURCE_TIMEOUT, 1)


@pytest.mark.parametrize("simulation", ["shorter_time_out_while_held"], indirect=True)
def test_a_shorter_resource_timeout_of_a_session_applies_to_a_task_that_waits_for_power(simulation):
    assert simulation is Status.RESOURCE_TIMEOUT


@pytest.mark.parametrize("simulation", ["network_changes_while_slow"], indirect=True)
def test_a_change_of_the_network_ends_the_pause_of_a_slow_transfer(simulation):
    assert simulation


@pytest.mark.parametrize("simulation", ["latest_start_of_a_sessions_task"], indirect=True)
def test_after_its_latest_start_a_task_still_waits_for_a_constraint_but_not_for_a_preset(simulation):
    assert simulation is TaskState.WAITING


@pytest.mark.parametrize("simulation", ["earliest_start"], indirect=True)
def test_a_task_starts_when_the_calendar_reaches_its_earliest_start(simulation):
    assert "06:30" in simulation.reason_text
    assert simulation.next_attempt == at("2026-11-20 06:30")


@pytest.mark.parametrize("simulation", ["rescheduled"], indirect=True)
def test_a_task_can_be_rescheduled_to_an_earlier_or_a_later_start(simulation):
    waiting, waits = simulation
    assert waiting.next_attempt == at("2026-11-20 06:30")
    assert waits == [(Reason.EARLIEST_START, False)]


@pytest.mark.parametrize("simulation", ["calendar_set_back"], indirect=True)
def test_setting_the_calendar_back_gives_no_new_data_budget(simulation):
    assert simulation == (Reason.BUDGET, True)


@pytest.mark.parametrize("simulation", ["network_manager_restarts"], indirect=True)
def test_a_restart_of_network_manager_gives_no_new_data_budget(simulation):
    text, *rest = simulation
    assert text.startswith("Hotspot")
    assert rest == [Reason.BUDGET, 0, ["Hotspot"]]
