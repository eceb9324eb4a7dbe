"""A loose plug, and a machine that is about to sleep."""

import time

import pytest

from backhaul import Reason
from conditions.stage import play
from conditions.world import Download, World

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@play
def loose_plug():
    """Out and in every 200 ms for 10 s. Returns the offsets of all requests."""
    with World("loose-plug") as world:
        world.machine.laptop()
        host = world.host(preset="discretionary", **QUICK)
        download = Download(world, host)
        download.receives(500_000)
        for _ in range(25):
            # This is what is tested: no event says that it is time.
            world.machine.unplug()
            time.sleep(0.2)
            world.machine.plug()
            time.sleep(0.2)
        download.succeeds()
        return [asked.offset for asked in download.requests()], host.waits(download.id)


@play
def sleep():
    """Returns the offsets of all requests, and where the transfer had stopped when the machine could sleep."""
    with World("sleep", bus=True) as world:
        logind = world.bus.logind()
        host = world.host(**QUICK)
        download = Download(world, host, size=14_000_000)
        # What runs for some seconds is to be synced before.
        logind.until_inhibitors(1)
        logind.prepare_for_sleep(True)
        stopped = download.waits_for(Reason.SLEEP)
        logind.until_inhibitors(0)
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
def test_before_sleep_all_is_synced_and_after_it_goes_on_from_there(play):
    offsets, stopped = play
    assert offsets == [0, stopped]
