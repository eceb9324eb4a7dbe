"""A power plug with a loose contact, and a machine that is about to sleep."""

import time

import pytest

from backhaul import Reason
from conditions.stage import play
from conditions.world import Download, World

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@play
def loose_plug():
    """Unplugs and plugs in the power every 200 ms for 10 s. Returns the offsets of all requests and the wait
    records."""
    with World("loose-plug") as world:
        world.machine.laptop()
        host = world.host(preset="discretionary", **QUICK)
        download = Download(world, host)
        download.receives(500_000)
        for _ in range(25):
            # The fixed pauses are the subject of the test; there is no event to wait for.
            world.machine.unplug()
            time.sleep(0.2)
            world.machine.plug()
            time.sleep(0.2)
        download.succeeds()
        return [asked.offset for asked in download.requests()], host.waits(download.id)


@play
def sleep():
    """Announces a sleep during a download. Returns the offsets of all requests, and the offset at which the download
    stopped."""
    with World("sleep", bus=True) as world:
        logind = world.bus.logind()
        host = world.host(**QUICK)
        download = Download(world, host, size=14_000_000)
        # The engine takes an inhibitor once transfers have run for some seconds, so that it can sync them before a
        # sleep.
        logind.wait_for_inhibitors(1)
        logind.prepare_for_sleep(True)
        stopped = download.waits_for(Reason.SLEEP)
        logind.wait_for_inhibitors(0)
        logind.prepare_for_sleep(False)
        download.succeeds()
        return [asked.offset for asked in download.requests()], stopped.offset


@pytest.mark.parametrize("play", ["loose_plug"], indirect=True)
def test_flapping_power_does_not_start_and_stop_transfers(play):
    offsets, waits = play
    assert 2 <= len(offsets) <= 3
    assert offsets == sorted(set(offsets))
    assert 1 <= len(waits) <= 2 and {wait.reason for wait in waits} == {Reason.POWER}


@pytest.mark.parametrize("play", ["sleep"], indirect=True)
def test_a_transfer_is_synced_before_sleep_and_resumes_after_it(play):
    offsets, stopped = play
    assert offsets == [0, stopped]
