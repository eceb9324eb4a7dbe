"""The engine is killed while a transfer waits for a condition. In another test, many transfers must stop at the same
time."""

import time

import pytest

from backhaul import ConditionKind, Hosting, Reason
from conditions.environment import Download, Environment
from conditions.simulations import SIMULATIONS, simulation
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}
MANY = 40


def killed(hosting):
    """A download waits for a condition after some bytes have arrived. Then the engine is killed, and a new engine
    starts.

    Returns the offsets of all requests, the offset at which the download stopped, and the wait records of the download.
    A wait record has the begin, the end and the reason of a time in which the download waited.
    """
    with Environment("killed") as env:
        env.machine.laptop()
        one = env.host(hosting=hosting, preset="discretionary", **QUICK)
        download = Download(env, one)
        download.wait_for_bytes(1_000_000)
        env.machine.unplug(63)
        stopped = download.wait_for_reason(Reason.POWER)
        one.kill_with_engine()
        download.host = env.host(hosting=hosting)
        download.wait_for_reason(Reason.POWER)
        # The battery has another level, but the machine is still on battery.
        env.machine.battery(60)
        until(download.host.conditions, lambda seen: any(
            one.kind is ConditionKind.BATTERY and one.value == 60 for one in seen))
        env.machine.plug()
        download.wait_for_success()
        return [asked.offset for asked in download.requests()], stopped.offset, download.host.waits(download.id)


SIMULATIONS["killed_embedded"] = lambda: killed(Hosting.EMBEDDED)
SIMULATIONS["killed_daemon"] = lambda: killed(Hosting.DAEMON)


@simulation
def many():
    """Returns the time from the loss of power to the last byte of all downloads, in seconds."""
    with Environment("many", rate=8_000_000) as env:
        env.machine.laptop()
        host = env.host(preset="discretionary", connections_per_origin=MANY, **QUICK)
        downloads = [Download(env, host, f"/{number}", 4_000_000) for number in range(MANY)]
        env.link.wait_until(lambda link: link.connections == MANY and link.passed > 5_000_000)
        changed = time.monotonic()
        env.machine.unplug(63)
        env.link.wait_until(lambda link: link.connections == 0)
        seconds = max(0.0, env.link.last_byte - changed)
        for download in downloads:
            assert download.wait_for_reason(Reason.POWER).offset < download.content.size
        return seconds


@pytest.mark.parametrize("simulation", ["killed_embedded", "killed_daemon"], indirect=True)
def test_a_transfer_still_waits_for_power_after_a_kill_of_the_engine(simulation):
    offsets, stopped, waits = simulation
    assert offsets == [0, stopped]
    assert [wait.reason for wait in waits] == [Reason.POWER]


@pytest.mark.parametrize("simulation", ["many"], indirect=True)
def test_many_transfers_stop_within_a_second_after_the_loss_of_power(simulation):
    print(f"the last of their bytes came {simulation * 1000:.0f} ms after the change")
    # The limit is five seconds: one for the engine, and four for the test itself, which has 40 threads that send.
    assert simulation < 5
