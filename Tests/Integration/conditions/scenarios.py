"""Six scenarios of a download with changing conditions, and the wait records of each (docs/conditions.md)."""

import subprocess
import time
from datetime import datetime, timezone

from backhaul import Budget, Constraints, Policy, Reason
from conditions.buses import NO, YES
from conditions.record import Record
from conditions.stage import CALENDAR, play
from conditions.world import Download, World
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


def stop(world, record, change):
    """Makes the change, waits until the transfer has stopped, and records for how long bytes still arrived."""
    changed = time.monotonic()
    change()
    world.link.wait_until(lambda link: link.connections == 0)
    seconds = max(0.0, world.link.last_byte - changed)
    print(f"{record.name}: the last byte came {seconds * 1000:.0f} ms after the change")
    record.seconds = seconds
    return seconds


def explained(world, download, reason):
    """Returns the state of the download, after a check that `backhaul why` prints the same reason.

    `backhaul why` runs without the test's calendar, so it must not be used where the calendar is set.
    """
    seen = download.waits_for(reason)
    said = subprocess.run(world.command("why", str(download.id)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=60, check=False,
                          env={**world.environment, "HOME": str(world.place)}).stdout
    assert seen.reason_text in " ".join(said.split()), said
    return seen


@play
def laptop():
    record = Record(
        "laptop", "A laptop is unplugged in mid-download",
        "The transfer stops within a second. It continues from the same byte after ten seconds of external power.",
        "--discretionary")
    with World("laptop") as world:
        world.machine.laptop()
        host = world.host(preset="discretionary", **QUICK)
        record.begin(world)
        download = Download(world, host)
        download.receives(1_000_000)
        record.step("the laptop is unplugged, with 63 % in the battery")
        stop(world, record, lambda: world.machine.unplug(63))
        stopped = explained(world, download, Reason.POWER)
        record.step("the laptop is plugged in")
        world.machine.plug()
        until(download.info, lambda task: "has lasted" in (task.reason_text or ""))
        download.succeeds()
        record.step("the file is complete")
        record.take(host.waits(download.id))
        download.is_whole_and_nothing_was_fetched_twice(stopped.offset)
    return record


@play
def hotspot():
    record = Record(
        "hotspot", "On the way home over a phone's hotspot",
        "NetworkManager says that the phone's network is metered. The transfer waits for the network at home.",
        "--unmetered yes")
    with World("hotspot", bus=True) as world:
        manager = world.bus.network_manager()
        manager.connect("Office", "802-3-ethernet", NO)
        host = world.host(requires_unmetered=True, **QUICK)
        record.begin(world)
        download = Download(world, host)
        download.receives(1_000_000)
        record.step("the machine connects to the phone")
        stop(world, record, lambda: manager.connect("Ann's phone", "802-11-wireless", YES))
        stopped = explained(world, download, Reason.METERED)
        record.step("the machine connects to the Wi-Fi at home")
        manager.connect("Home", "802-11-wireless", NO)
        until(download.info, lambda task: "has lasted" in (task.reason_text or ""))
        download.succeeds()
        record.step("the file is complete")
        record.take(host.waits(download.id))
        download.is_whole_and_nothing_was_fetched_twice(stopped.offset)
    return record


@play
def slow():
    record = Record(
        "slow", "A link falls to 3 KB/s and recovers",
        "The link is too slow, so the transfer is held. After each pause a slow probe measures the link for some "
        "seconds. This scenario sets `slow_after_ms` and `slow_pause_ms` to 3 s; the defaults are one minute and five "
        "minutes.", "--minimum-rate 10k")
    with World("slow") as world:
        host = world.host(minimum_bytes_per_second=10_000, slow_after_ms=3_000, slow_pause_ms=3_000, **QUICK)
        record.begin(world)
        download = Download(world, host)
        download.receives(1_000_000)
        record.step("the link falls to 3 KB/s")
        world.link.rate = 3_000
        first = explained(world, download, Reason.THROUGHPUT)
        world.link.wait_until(lambda link: link.connections == 0)
        world.link.wait_until(lambda link: link.connections == 1)
        record.step("a slow probe: the link is not faster")
        world.link.wait_until(lambda link: link.connections == 0, timeout=180)
        second = download.waits_for(Reason.THROUGHPUT)
        record.step("the link recovers")
        world.link.rate = 1_000_000
        download.succeeds()
        record.step("the next slow probe finds the link fast enough, and the file is complete")
        record.take(host.waits(download.id))
        download.is_whole_and_nothing_was_fetched_twice(first.offset, second.offset)
    return record


@play
def hot():
    record = Record(
        "hot", "A hot machine",
        "When the thermal state is serious, the discretionary transfer stops; when it is critical, both stop. They "
        "continue after the machine was cooler for half a minute.", "two transfers, one of them with --discretionary")
    with World("hot", rate=1_500_000) as world:
        world.machine.heat(50)
        host = world.host(**QUICK)
        record.begin(world)
        download = Download(world, host, size=4_000_000, policy=Policy(constraints=Constraints(preset="discretionary")))
        other = Download(world, host, "/other", size=16_000_000)
        download.receives(1_000_000)
        record.step("the processor is at 92 degrees; 100 are critical")
        world.machine.heat(92)
        stopped = explained(world, download, Reason.HEAT)
        other.receives(1_000_000)
        record.step("the processor is at 98 degrees")
        stop(world, record, lambda: world.machine.heat(98))
        also = other.waits_for(Reason.HEAT)
        record.step("the processor is at 60 degrees")
        world.machine.heat(60)
        download.succeeds(120)
        other.succeeds(120)
        record.step("both files are complete")
        record.take(host.waits(download.id), "the discretionary one")
        record.take(host.waits(other.id), "the other")
        assert [asked.offset for asked in download.requests()] == [0, stopped.offset]
        assert [asked.offset for asked in other.requests()] == [0, also.offset]
    return record


@play
def overnight():
    record = Record(
        "overnight", "An overnight job with a deadline",
        "The download waits for the night and for external power. The laptop is not plugged in, so the download runs "
        "at its latest start, on battery.", "--overnight --latest-start 06:30")
    with World("overnight", library=CALENDAR["library"]) as world:
        world.calendar.set("2026-11-19 21:04")
        world.machine.laptop()
        world.machine.unplug(90)
        host = world.host(**QUICK)
        record.begin(world, world.calendar)
        record.step("the download is enqueued, on battery")
        download = Download(world, host, size=1_000_000, policy=Policy(constraints=Constraints(preset="overnight")),
                            latest_start=datetime(2026, 11, 20, 6, 30, tzinfo=timezone.utc))
        download.waits_for(Reason.QUIET_HOURS)
        record.take(host.waits(download.id))
        world.calendar.set("2026-11-19 23:00")
        download.waits_for(Reason.POWER)
        record.take(host.waits(download.id))
        assert download.requests() == []
        world.calendar.set("2026-11-20 06:30")
        download.succeeds()
        record.step("the latest start is reached, and the file is complete")
        record.take(host.waits(download.id))
        download.is_whole_and_nothing_was_fetched_twice()
    return record


@play
def month():
    record = Record(
        "month", "A month's budget is reached on the 20th",
        "The session may use 2 MB a month on any one network. The rest of the file arrives on the 1st.",
        "--monthly-budget 2MB")
    with World("month", bus=True, library=CALENDAR["library"]) as world:
        world.calendar.set("2026-11-20 15:10")
        world.bus.network_manager().connect("Home", "802-11-wireless", NO)
        host = world.host(budget=Budget(monthly=2_000_000), **QUICK)
        record.begin(world, world.calendar)
        record.step("a download of 3.5 MB is enqueued")
        download = Download(world, host, size=3_500_000)
        stopped = download.waits_for(Reason.BUDGET)
        record.take(host.waits(download.id))
        world.link.wait_until(lambda link: link.connections == 0)
        assert 2_000_000 <= stopped.offset < 3_300_000
        world.calendar.set("2026-11-30 23:58")
        assert download.waits_for(Reason.BUDGET).offset == stopped.offset
        world.calendar.set("2026-12-01 00:00")
        download.succeeds()
        record.step("a new month begins, and the file is complete")
        record.take(host.waits(download.id))
        download.is_whole_and_nothing_was_fetched_twice(stopped.offset)
    return record
