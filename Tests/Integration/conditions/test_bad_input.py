"""Condition sources that report nonsense, hang, come late or disappear.

A transfer without constraints is not affected. A condition that cannot be read counts as met.
"""

import pytest

from backhaul import ConditionKind, TaskState
from conditions.buses import NO
from conditions.stage import play
from conditions.world import Download, World
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


def both(world, size=3_000_000):
    """Starts a transfer without constraints and a discretionary one."""
    host = world.host(**QUICK)
    plain = Download(world, host, "/plain", size)
    host.session("discretionary", preset="discretionary", **QUICK)
    return host, plain, Download(world, host, "/discretionary", size)


def begun(host, world):
    world.server.wait_until(lambda log: len(log) == 2)


def end_undisturbed(world, host, plain, discretionary):
    """Checks that both downloads succeed, each with one request."""
    discretionary.succeeds()
    host.turn_to("gallery")
    plain.succeeds()
    assert [asked.offset for asked in world.server.log()] == [0, 0]


def condition(host, kind):
    return next(one for one in host.conditions() if one.kind is kind)


@play
def without_bus():
    with World("no-bus") as world:
        host, *downloads = both(world, 100_000)
        end_undisturbed(world, host, *downloads)
        return condition(host, ConditionKind.METERED)


@play
def hanging_bus():
    with World("hanging-bus", bus=True) as world:
        world.bus.network_manager()
        world.bus.hang()
        host, plain, discretionary = both(world, 100_000)
        host.turn_to("gallery")
        begin = plain.succeeds()
        host.turn_to("discretionary")
        # The discretionary transfer waits for the reply of NetworkManager, but only for a limited time.
        waited = discretionary.succeeds(30)
        seen = condition(host, ConditionKind.METERED)
        world.bus.go_on()
        assert begin.ended_ms <= waited.ended_ms
        return seen


@play
def restarted_manager():
    with World("restarted-manager", bus=True) as world:
        manager = world.bus.network_manager()
        manager.connect("Home", "802-11-wireless", NO)
        host, *downloads = both(world)
        begun(host, world)
        manager.stop()
        # A call that was sent before NetworkManager stopped may time out first.
        gone = until(lambda: condition(host, ConditionKind.METERED),
                     lambda seen: "NetworkManager" in seen.source and seen.source != "NetworkManager")
        manager.start()
        manager.connect("Home", "802-11-wireless", NO)
        until(lambda: condition(host, ConditionKind.METERED), lambda seen: seen.source == "NetworkManager")
        end_undisturbed(world, host, *downloads)
        return gone


@play
def vanished_system():
    with World("vanished-system") as world:
        world.machine.laptop()
        world.machine.heat(50)
        host, *downloads = both(world)
        begun(host, world)
        world.machine.system.rename(world.place / "elsewhere")
        world.machine.tell("power_supply", "AC")
        world.machine.tell("thermal", "thermal_zone0")
        until(lambda: condition(host, ConditionKind.EXTERNAL_POWER), lambda seen: not seen.is_known)
        end_undisturbed(world, host, *downloads)
        return condition(host, ConditionKind.EXTERNAL_POWER)


NONSENSE = {
    "class/power_supply/BAT0/capacity": "4711",
    "class/power_supply/BAT0/status": "\x00\x01",
    "class/power_supply/AC/type": "Mains",
    "class/power_supply/AC/online": "perhaps",
    "class/thermal/thermal_zone0/temp": "99999999999999999999",
    "class/thermal/thermal_zone1/temp": "-274000",
    "class/thermal/thermal_zone2/temp": "200000",
    "class/net/cable/type": "-",
}


@play
def nonsense():
    with World("nonsense") as world:
        for path, text in NONSENSE.items():
            world.machine.write(world.machine.system, path, text)
        for resource in ("cpu", "io", "memory"):
            world.machine.write(world.machine.processes, f"pressure/{resource}", "some avg10=nan avg60=-1\n\xff")
        host = world.host(**QUICK)
        host.session("strict", preset="discretionary", minimum_battery_percent=50, maximum_cpu_pressure_percent=1,
                     maximum_io_pressure_percent=1, maximum_memory_pressure_percent=1, **QUICK)
        assert Download(world, host, size=100_000).succeeds().state is TaskState.SUCCEEDED
        seen = host.conditions()
        return [one for one in seen if one.kind in (
            ConditionKind.BATTERY, ConditionKind.THERMAL_STATE, ConditionKind.CPU_PRESSURE)]


@pytest.mark.parametrize(
    ("play", "words"),
    [("without_bus", "bus"), ("hanging_bus", "answer"), ("restarted_manager", "NetworkManager"),
     ("vanished_system", "power_supply")], indirect=["play"])
def test_unreadable_conditions_hold_nothing_and_are_listed_as_unknown(play, words):
    assert not play.is_known
    assert words in play.source


@pytest.mark.parametrize("play", ["nonsense"], indirect=True)
def test_invalid_readings_count_as_unknown(play):
    assert len(play) == 3
    assert [one.value for one in play] == [None] * 3
    assert all(one.source for one in play)
