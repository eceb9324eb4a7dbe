"""A power plug with a loose contact: the power changes often (it flaps). Another test has a machine that is about to
sleep."""

import time

import pytest

from backhaul import Reason
from conditions.environment import Download, Environment
from conditions.simulations import simulation

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@simulation
def loose_plug():
    """Unplugs and plugs in the power every 200 ms for 10 s. Returns the offsets of all requests, and the wait records
    (the times in which the download waited, with the reasons)."""
    with Environment("loose-plug") as env:
        env.machine.laptop()
        host = env.host(preset="discretionary", **QUICK)
        download = Download(env, host)
        download.wait_for_bytes(500_000)
        for _ in range(25):
            # The fixed pauses are the subject of the test, so the test does not wait for an event.
            env.machine.unplug()
            time.sleep(0.2)
            env.machine.plug()
            time.sleep(0.2)
        download.wait_for_success()
        return [asked.offset for asked in download.requests()], host.waits(download.id)


@simulation
def sleep():
    """Announces a sleep of the machine during a download. Returns the offsets of all requests, and the offset at which
    the download stopped."""
    with Environment("sleep", bus=True, rate=100_000) as env:
        logind = env.bus.logind()
        host = env.host(**QUICK)
        download = Download(env, host, size=14_000_000)
        # After transfers have run for some seconds, the engine takes an inhibitor, which delays a sleep. During the
        # delay, the engine can sync the transfers.
        logind.wait_for_inhibitors(1)
        logind.prepare_for_sleep(True)
        stopped = download.wait_for_reason(Reason.SLEEP)
        logind.wait_for_inhibitors(0)
        logind.prepare_for_sleep(False)
        env.rate = 2_000_000
        download.wait_for_success()
        return [asked.offset for asked in download.requests()], stopped.offset


@pytest.mark.parametrize("simulation", ["loose_plug"], indirect=True)
def test_power_that_changes_often_stops_a_transfer_only_once_or_twice(simulation):
    offsets, waits = simulation
    assert 2 <= len(offsets) <= 3
    assert offsets == sorted(set(offsets))
    assert 1 <= len(waits) <= 2 and {wait.reason for wait in waits} == {Reason.POWER}


@pytest.mark.parametrize("simulation", ["sleep"], indirect=True)
def test_a_transfer_stops_before_a_sleep_and_resumes_at_the_same_byte_after_the_sleep(simulation):
    offsets, stopped = simulation
    assert offsets == [0, stopped]
