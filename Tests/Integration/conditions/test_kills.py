"""An engine that is killed while a condition holds a transfer, and many transfers that must stop at the same time."""

import time

import pytest

from backhaul import ConditionKind, Hosting, Reason
from conditions.stage import PLAYS, play
from conditions.world import Download, World
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}
MANY = 40


def killed(hosting):
    """A condition holds a download after some bytes; then the engine is killed, and a new one starts.

    Returns the offsets of all requests, the offset at which the download stopped, and its wait records.
    """
    with World("killed") as world:
        world.machine.laptop()
        one = world.host(hosting=hosting, preset="discretionary", **QUICK)
        download = Download(world, one)
        download.receives(1_000_000)
        world.machine.unplug(63)
        stopped = download.waits_for(Reason.POWER)
        one.kill_with_engine()
        download.host = world.host(hosting=hosting)
        download.waits_for(Reason.POWER)
        # The battery has another level, but the machine is still on battery.
        world.machine.battery(60)
        until(download.host.conditions, lambda seen: any(
            one.kind is ConditionKind.BATTERY and one.value == 60 for one in seen))
        world.machine.plug()
        download.succeeds()
        return [asked.offset for asked in download.requests()], stopped.offset, download.host.waits(download.id)


PLAYS["killed_embedded"] = lambda: killed(Hosting.EMBEDDED)
PLAYS["killed_daemon"] = lambda: killed(Hosting.DAEMON)


@play
def many():
    """Returns the seconds from the change of power to the last byte of all downloads."""
    with World("many", rate=8_000_000) as world:
        world.machine.laptop()
        host = world.host(preset="discretionary", connections_per_origin=MANY, **QUICK)
        downloads = [Download(world, host, f"/{number}", 4_000_000) for number in range(MANY)]
        world.link.wait_until(lambda link: link.connections == MANY and link.passed > 5_000_000)
        changed = time.monotonic()
        world.machine.unplug(63)
        world.link.wait_until(lambda link: link.connections == 0)
        seconds = max(0.0, world.link.last_byte - changed)
        for download in downloads:
            assert download.waits_for(Reason.POWER).offset < download.content.size
        return seconds


@pytest.mark.parametrize("play", ["killed_embedded", "killed_daemon"], indirect=True)
def test_the_next_engine_keeps_the_hold_and_does_not_start_the_transfer(play):
    offsets, stopped, waits = play
    assert offsets == [0, stopped]
    assert [wait.reason for wait in waits] == [Reason.POWER]


@pytest.mark.parametrize("play", ["many"], indirect=True)
def test_many_transfers_stop_within_a_second(play):
    print(f"the last of their bytes came {play * 1000:.0f} ms after the change")
    assert play < 1
