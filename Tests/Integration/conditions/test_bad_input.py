"""The engine, which runs the transfers, reads conditions from /sys, /proc and services of the system bus. In these
tests, such a source reports nonsense, hangs, comes late or disappears. If a condition cannot be read, no transfer
waits for this condition. The tests run a transfer without constraints (demands on conditions), and a discretionary
transfer. A discretionary transfer demands external power, an unmetered network, a cool machine and a link that is
not slow.
"""

import pytest

from backhaul import ConditionKind, TaskState
from conditions.buses import NO
from conditions.environment import Download, Environment
from conditions.simulations import simulation
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


def both(env, size=3_000_000):
    """Starts a transfer without constraints, and a discretionary transfer."""
    host = env.host(**QUICK)
    plain = Download(env, host, "/plain", size)
    host.session("discretionary", preset="discretionary", **QUICK)
    return host, plain, Download(env, host, "/discretionary", size)


def wait_for_requests(host, env):
    env.server.wait_until(lambda log: len(log) == 2)


def end_undisturbed(env, host, plain, discretionary):
    """Checks that both downloads succeed, each with one request."""
    discretionary.wait_for_success()
    host.select_session("gallery")
    plain.wait_for_success()
    assert [asked.offset for asked in env.server.log()] == [0, 0]


def condition(host, kind):
    return next(one for one in host.conditions() if one.kind is kind)


@simulation
def without_bus():
    with Environment("no-bus") as env:
        host, *downloads = both(env, 100_000)
        end_undisturbed(env, host, *downloads)
        return condition(host, ConditionKind.METERED)


@simulation
def hanging_bus():
    with Environment("hanging-bus", bus=True) as env:
        env.bus.network_manager()
        env.bus.hang()
        host = env.host(**QUICK)
        plain = Download(env, host, "/plain", 100_000)
        env.server.wait_until(lambda log: len(log) == 1)
        host.session("discretionary", preset="discretionary", **QUICK)
        discretionary = Download(env, host, "/discretionary", 100_000)
        discretionary.wait_for_success(30)
        [late] = host.attempts(discretionary.id)
        host.select_session("gallery")
        plain.wait_for_success()
        [early] = host.attempts(plain.id)
        # Only the discretionary transfer waits for the reply of NetworkManager, for two seconds. If the other one had
        # waited, too, these would be over.
        assert late.started_ms - early.started_ms >= 1_900
        seen = condition(host, ConditionKind.METERED)
        env.bus.continue_process()
        return seen


@simulation
def restarted_manager():
    with Environment("restarted-manager", bus=True) as env:
        manager = env.bus.network_manager()
        manager.connect("Home", "802-11-wireless", NO)
        host, *downloads = both(env)
        wait_for_requests(host, env)
        manager.stop()
        # If the engine was waiting for a reply of NetworkManager at this stop, the engine may notice the stop only when
        # its call has timed out.
        gone = until(lambda: condition(host, ConditionKind.METERED),
                     lambda seen: "NetworkManager" in seen.source and seen.source != "NetworkManager")
        manager.start()
        manager.connect("Home", "802-11-wireless", NO)
        until(lambda: condition(host, ConditionKind.METERED), lambda seen: seen.source == "NetworkManager")
        end_undisturbed(env, host, *downloads)
        return gone


@simulation
def vanished_system():
    with Environment("vanished-system") as env:
        env.machine.laptop()
        env.machine.heat(50)
        host, *downloads = both(env)
        wait_for_requests(host, env)
        env.machine.system.rename(env.place / "elsewhere")
        env.machine.send_uevent("power_supply", "AC")
        env.machine.send_uevent("thermal", "thermal_zone0")
        until(lambda: condition(host, ConditionKind.EXTERNAL_POWER), lambda seen: not seen.is_known)
        end_undisturbed(env, host, *downloads)
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


@simulation
def nonsense():
    with Environment("nonsense") as env:
        for path, text in NONSENSE.items():
            env.machine.write(env.machine.system, path, text)
        for resource in ("cpu", "io", "memory"):
            env.machine.write(env.machine.processes, f"pressure/{resource}", "some avg10=nan avg60=-1\n\xff")
        host = env.host(**QUICK)
        host.session("strict", preset="discretionary", minimum_battery_percent=50, maximum_cpu_pressure_percent=1,
                     maximum_io_pressure_percent=1, maximum_memory_pressure_percent=1, **QUICK)
        assert Download(env, host, size=100_000).wait_for_success().state is TaskState.SUCCEEDED
        seen = host.conditions()
        return [one for one in seen if one.kind in (
            ConditionKind.BATTERY, ConditionKind.THERMAL_STATE, ConditionKind.CPU_PRESSURE)]


@pytest.mark.parametrize(
    ("simulation", "words"),
    [("without_bus", "bus"), ("hanging_bus", "not repl"), ("restarted_manager", "NetworkManager"),
     ("vanished_system", "power_supply")], indirect=["simulation"])
def test_if_a_condition_is_unreadable_transfers_succeed_and_the_condition_is_listed_as_unknown(simulation, words):
    assert not simulation.is_known
    assert words in simulation.source


@pytest.mark.parametrize("simulation", ["nonsense"], indirect=True)
def test_a_condition_with_an_invalid_reading_has_no_value(simulation):
    assert len(simulation) == 3
    assert [one.value for one in simulation] == [None] * 3
    assert all(one.source for one in simulation)
