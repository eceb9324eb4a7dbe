"""Changes while a transfer waits: network settings, session configurations, starts and the calendar."""

from datetime import datetime, timezone

import pytest

from backhaul import Budget, ConditionKind, Network, Policy, Reason, Status, TaskState, TransferRules
from conditions.buses import NO
from conditions.stage import CALENDAR, WITH_CALENDAR, play
from conditions.world import Download, World
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}
WITH_CALENDAR.update({"latest_start_of_a_sessions_task", "earliest_start", "calendar_set_back", "rescheduled"})


def at(text):
    return datetime.fromisoformat(text).replace(tzinfo=timezone.utc)


@play
def administrator():
    """No program manages the network. The administrator sets it as metered, and later as unmetered."""
    with World("administrator") as world:
        host = world.host(requires_unmetered=True, **QUICK)
        download = Download(world, host)
        download.receives(1_000_000)
        host.set_network(Network("cable", metered=True))
        stopped = download.waits_for(Reason.METERED)
        [hold] = host.holds()
        host.set_network(Network("cable", metered=False))
        download.succeeds()
        return [asked.offset for asked in download.requests()] == [0, stopped.offset], hold


@play
def loosened_configuration():
    """A transfer waits for external power; then the session drops this constraint."""
    with World("loosened") as world:
        world.machine.laptop()
        world.machine.unplug(63)
        host = world.host(requires_external_power=True, **QUICK)
        download = Download(world, host, size=100_000)
        download.waits_for(Reason.POWER)
        host.reconfigure(requires_external_power=None)
        download.succeeds()
        return host.waits(download.id)


@play
def control_while_held():
    """Of three held tasks one is suspended, one cancelled, and one reaches its resource time-out. Then the power
    returns."""
    with World("control") as world:
        world.machine.laptop()
        world.machine.unplug(63)
        host = world.host(requires_external_power=True, **QUICK)
        suspended, cancelled = (Download(world, host, f"/{name}", 1_000) for name in "ab")
        late = Download(world, host, "/c", 1_000, policy=Policy(rules=TransferRules(resource_timeout_ms=4_000)))
        for one in (suspended, cancelled, late):
            one.waits_for(Reason.POWER)
        host.suspend([suspended.id])
        host.cancel([cancelled.id])
        ends = {one: until(one.info, lambda task: task.ended_ms) for one in (cancelled, late)}
        world.machine.plug()
        assert until(suspended.info, lambda task: task.state is TaskState.SUSPENDED).reason is Reason.SUSPENDED
        host.resume([suspended.id])
        suspended.succeeds()
        return ends[cancelled].state, ends[late].status, len(world.server.log())


@play
def network_changes_while_slow():
    """A pause that would last for hours ends when the network changes.

    (The rate of a transfer is known after it has run for 5 s.)
    """
    with World("other-network", bus=True) as world:
        manager = world.bus.network_manager()
        manager.connect("Train", "802-11-wireless", NO)
        host = world.host(minimum_bytes_per_second=10_000, slow_after_ms=4_000, slow_pause_ms=3_600_000, **QUICK)
        download = Download(world, host)
        download.receives(500_000)
        world.link.rate = 2_000
        stopped = download.waits_for(Reason.THROUGHPUT)
        world.link.rate = 1_000_000
        manager.connect("Home", "802-11-wireless", NO)
        download.succeeds()
        return [asked.offset for asked in download.requests()] == [0, stopped.offset]


@play
def latest_start_of_a_sessions_task():
    """At the latest start of a task, the preset of its session ends. A constraint that the session states itself does
    not end."""
    with World("latest", library=CALENDAR["library"]) as world:
        world.calendar.set("2026-11-19 21:04")
        world.machine.laptop()
        world.machine.unplug(63)
        host = world.host(preset="discretionary", **QUICK)
        wished = Download(world, host, "/wished", 1_000, latest_start=at("2026-11-20 06:30"))
        wished.waits_for(Reason.POWER)
        host.session("strict", requires_external_power=True, **QUICK)
        strict = Download(world, host, "/strict", 1_000, latest_start=at("2026-11-20 06:30"))
        strict.waits_for(Reason.POWER)
        world.calendar.set("2026-11-20 06:30")
        host.turn_to("gallery")
        wished.succeeds()
        host.turn_to("strict")
        return strict.waits_for(Reason.POWER).state


@play
def earliest_start():
    with World("earliest", library=CALENDAR["library"]) as world:
        world.calendar.set("2026-11-19 21:04")
        host = world.host(**QUICK)
        download = Download(world, host, size=1_000, earliest_start=at("2026-11-20 06:30"))
        waiting = download.waits_for(Reason.EARLIEST_START)
        world.calendar.set("2026-11-20 06:30")
        download.succeeds()
        return waiting


@play
def rescheduled():
    """A task that was to start tomorrow is rescheduled to start now. Another task is postponed, and starts when the
    calendar is set to its new time."""
    with World("rescheduled", library=CALENDAR["library"]) as world:
        world.calendar.set("2026-11-19 21:04")
        host = world.host(**QUICK)
        sooner = Download(world, host, "/sooner", 1_000, earliest_start=at("2026-11-20 06:30"))
        sooner.waits_for(Reason.EARLIEST_START)
        host.reschedule([sooner.id], earliest_start=None)
        sooner.succeeds()
        waits = [(wait.reason, wait.ended_ms is None) for wait in host.waits(sooner.id)]
        later = Download(world, host, "/later", 1_000, suspended=True)
        host.reschedule([later.id], earliest_start=at("2026-11-20 06:30"))
        host.resume([later.id])
        waiting = later.waits_for(Reason.EARLIEST_START)
        world.calendar.set("2026-11-20 06:30")
        later.succeeds()
        return waiting, waits


@play
def calendar_set_back():
    """The budget of a day is used up. Setting the calendar back to the day before gives no new budget."""
    with World("set-back", bus=True, library=CALENDAR["library"]) as world:
        world.calendar.set("2026-11-20 15:10")
        world.bus.network_manager().connect("Home", "802-11-wireless", NO)
        host = world.host(budget=Budget(daily=500_000), **QUICK)
        download = Download(world, host, size=900_000)
        download.waits_for(Reason.BUDGET)
        world.calendar.set("2026-11-20 09:00")
        stopped = until(download.info, lambda task: task.next_attempt_ms <= at("2026-11-21").timestamp() * 1_000)
        world.calendar.set("2026-11-21 00:00")
        download.succeeds()
        return stopped.reason, [asked.offset for asked in download.requests()] == [0, stopped.offset]


@play
def network_manager_restarts():
    """The budget of a day is used up; then NetworkManager stops and starts again."""
    with World("restarts", bus=True) as world:
        manager = world.bus.network_manager()
        manager.connect("Hotspot", "802-11-wireless", NO)
        host = world.host(budget=Budget(daily=500_000), **QUICK)
        download = Download(world, host, size=900_000)
        stopped = download.waits_for(Reason.BUDGET)

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


@pytest.mark.parametrize("play", ["administrator"], indirect=True)
def test_configured_metering_takes_effect_at_once(play):
    goes_on, hold = play
    assert goes_on
    assert (hold.session, hold.reason, hold.tasks) == ("gallery", Reason.METERED, 1)
    assert "as set with `backhaul networks`" in hold.reason_text


@pytest.mark.parametrize("play", ["loosened_configuration"], indirect=True)
def test_a_removed_session_constraint_takes_effect_at_once(play):
    [wait] = play
    assert wait.reason is Reason.POWER and wait.ended_ms


@pytest.mark.parametrize("play", ["control_while_held"], indirect=True)
def test_held_tasks_can_be_suspended_be_cancelled_and_time_out(play):
    assert play == (TaskState.CANCELLED, Status.RESOURCE_TIMEOUT, 1)


@pytest.mark.parametrize("play", ["network_changes_while_slow"], indirect=True)
def test_another_network_ends_the_pause_of_a_slow_transfer(play):
    assert play


@pytest.mark.parametrize("play", ["latest_start_of_a_sessions_task"], indirect=True)
def test_at_the_latest_start_the_preset_is_dropped_and_stated_constraints_stay(play):
    assert play is TaskState.WAITING


@pytest.mark.parametrize("play", ["earliest_start"], indirect=True)
def test_an_earliest_start_follows_the_calendar(play):
    assert "06:30" in play.reason_text
    assert play.next_attempt == at("2026-11-20 06:30")


@pytest.mark.parametrize("play", ["rescheduled"], indirect=True)
def test_a_task_can_be_rescheduled_earlier_and_later(play):
    waiting, waits = play
    assert waiting.next_attempt == at("2026-11-20 06:30")
    assert waits == [(Reason.EARLIEST_START, False)]


@pytest.mark.parametrize("play", ["calendar_set_back"], indirect=True)
def test_a_calendar_that_is_set_back_gives_no_new_budget(play):
    assert play == (Reason.BUDGET, True)


@pytest.mark.parametrize("play", ["network_manager_restarts"], indirect=True)
def test_a_restart_of_network_manager_gives_no_new_budget(play):
    text, *rest = play
    assert text.startswith("Hotspot")
    assert rest == [Reason.BUDGET, 0, ["Hotspot"]]
