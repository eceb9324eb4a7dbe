"""Six scenarios of a download with changing conditions, such as power (docs/conditions.md). Each scenario has wait
records: the times in which the download waited, with their reasons."""

import subprocess
import time
from datetime import datetime, UTC

from backhaul import Budget, Constraints, Policy, Reason
from conditions.buses import NO, YES
from conditions.environment import Download, Environment
from conditions.record import Record
from conditions.simulations import CALENDAR, simulation
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


def stop(env, record, change):
    """Makes the change, waits until the transfer has stopped, and records for how long bytes still arrived."""
    change()
    changed = time.monotonic()
    env.link.wait_until(lambda link: link.connections == 0)
    seconds = max(0.0, env.link.last_byte - changed)
    print(f"{record.name}: the last byte came {seconds * 1000:.0f} ms after the change")
    record.seconds = seconds
    return seconds


def explained(env, download, reason):
    """Checks that `backhaul why` prints the reason why the download waits. Returns the state of the download.

    `backhaul why` uses the real date and time. So a scenario that sets the engine's date and time must not call this
    function.
    """
    seen = download.wait_for_reason(reason)
    output = subprocess.run(env.command("why", str(download.id)), stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, timeout=60, check=False,
                            env={**env.environment, "HOME": str(env.place)}).stdout
    assert seen.reason_text in " ".join(output.split()), output
    return seen


@simulation
def laptop():
    record = Record(
        "laptop", "A laptop is unplugged during a download",
        "The transfer stops within a second. It continues from the same byte after ten seconds of external power.",
        "--discretionary")
    with Environment("laptop") as env:
        env.machine.laptop()
        host = env.host(preset="discretionary", **QUICK)
        record.begin(env)
        download = Download(env, host)
        download.wait_for_bytes(1_000_000)
        record.step("the laptop is unplugged, with 63 % in the battery")
        stop(env, record, lambda: env.machine.unplug(63))
        stopped = explained(env, download, Reason.POWER)
        record.step("the laptop is plugged in")
        env.machine.plug()
        until(download.info, lambda task: "has lasted" in (task.reason_text or ""))
        download.wait_for_success()
        record.step("the file is complete")
        record.add_waits(host.waits(download.id))
        download.assert_no_bytes_fetched_twice(stopped.offset)
    return record


@simulation
def hotspot():
    record = Record(
        "hotspot", "On the way home over a phone's hotspot",
        "NetworkManager says that the phone's network is metered. The transfer waits for the network at home.",
        "--unmetered yes")
    with Environment("hotspot", bus=True) as env:
        manager = env.bus.network_manager()
        manager.connect("Office", "802-3-ethernet", NO)
        host = env.host(requires_unmetered=True, **QUICK)
        record.begin(env)
        download = Download(env, host)
        download.wait_for_bytes(1_000_000)
        record.step("the machine connects to the phone")
        stop(env, record, lambda: manager.connect("Ann's phone", "802-11-wireless", YES))
        stopped = explained(env, download, Reason.METERED)
        record.step("the machine connects to the Wi-Fi at home")
        manager.connect("Home", "802-11-wireless", NO)
        until(download.info, lambda task: "has lasted" in (task.reason_text or ""))
        download.wait_for_success()
        record.step("the file is complete")
        record.add_waits(host.waits(download.id))
        download.assert_no_bytes_fetched_twice(stopped.offset)
    return record


@simulation
def slow():
    record = Record(
        "slow", "A link falls to 3 KB/s and recovers",
        "The link is too slow, so the transfer is held. After each pause a slow probe measures the link for some "
        "seconds. This scenario sets `slow_after_ms` to 10 s and `slow_pause_ms` to 20 s; the defaults are one minute "
        "and five minutes.", "--minimum-rate 10k")
    with Environment("slow") as env:
        host = env.host(minimum_bytes_per_second=10_000, slow_after_ms=10_000, slow_pause_ms=20_000, **QUICK)
        record.begin(env)
        download = Download(env, host)
        download.wait_for_bytes(1_000_000)
        record.step("the link falls to 3 KB/s")
        env.link.rate = 3_000
        first = explained(env, download, Reason.THROUGHPUT)
        env.link.wait_until(lambda link: link.connections == 0)
        env.link.wait_until(lambda link: link.connections == 1, timeout=180)
        record.step("a slow probe: the link is not faster")
        env.link.wait_until(lambda link: link.connections == 0, timeout=180)
        second = download.wait_for_reason(Reason.THROUGHPUT)
        record.step("the link recovers")
        env.link.rate = 1_000_000
        download.wait_for_success()
        record.step("the next slow probe finds the link fast enough, and the file is complete")
        record.add_waits(host.waits(download.id))
        download.assert_no_bytes_fetched_twice(first.offset, second.offset)
    return record


@simulation
def hot():
    record = Record(
        "hot", "A hot machine",
        "Two transfers run, and one of them is discretionary. When the thermal state is serious, the discretionary "
        "transfer stops. When the state is critical, both transfers stop. They continue when the machine has been "
        "cooler for half a minute.",
        "two transfers, one of them with --discretionary")
    with Environment("hot", rate=1_500_000) as env:
        env.machine.heat(50)
        host = env.host(**QUICK)
        record.begin(env)
        download = Download(env, host, size=4_000_000, policy=Policy(constraints=Constraints(preset="discretionary")))
        other = Download(env, host, "/other", size=16_000_000)
        download.wait_for_bytes(1_000_000, sharing=2)
        record.step("the processor is at 92 degrees; 100 are critical")
        env.machine.heat(92)
        stopped = explained(env, download, Reason.HEAT)
        other.wait_for_bytes(1_000_000)
        record.step("the processor is at 98 degrees")
        stop(env, record, lambda: env.machine.heat(98))
        also = other.wait_for_reason(Reason.HEAT)
        record.step("the processor is at 60 degrees")
        env.machine.heat(60)
        download.wait_for_success(120)
        other.wait_for_success(120)
        record.step("both files are complete")
        record.add_waits(host.waits(download.id), "the discretionary one")
        record.add_waits(host.waits(other.id), "the other")
        assert [asked.offset for asked in download.requests()] == [0, stopped.offset]
        assert [asked.offset for asked in other.requests()] == [0, also.offset]
    return record


@simulation
def overnight():
    record = Record(
        "overnight", "An overnight job with a deadline",
        "The download waits for the night and for external power. The laptop is not plugged in, so the download runs "
        "at its latest start, on battery.", "--overnight --latest-start 06:30")
    with Environment("overnight", library=CALENDAR["library"]) as env:
        env.calendar.set("2026-11-19 21:04")
        env.machine.laptop()
        env.machine.unplug(90)
        host = env.host(**QUICK)
        record.begin(env, env.calendar)
        record.step("the download is enqueued, on battery")
        download = Download(env, host, size=1_000_000, policy=Policy(constraints=Constraints(preset="overnight")),
                            latest_start=datetime(2026, 11, 20, 6, 30, tzinfo=UTC))
        download.wait_for_reason(Reason.QUIET_HOURS)
        record.add_waits(host.waits(download.id))
        env.calendar.set("2026-11-19 23:00")
        download.wait_for_reason(Reason.POWER)
        record.add_waits(host.waits(download.id))
        assert download.requests() == []
        env.calendar.set("2026-11-20 06:30")
        download.wait_for_success()
        record.step("the latest start is reached, and the file is complete")
        record.add_waits(host.waits(download.id))
        download.assert_no_bytes_fetched_twice()
    return record


@simulation
def month():
    record = Record(
        "month", "A month's budget is reached on the 20th",
        "The session may use 2 MB a month on each network. The rest of the file arrives on the 1st.",
        "--monthly-budget 2MB")
    with Environment("month", bus=True, library=CALENDAR["library"]) as env:
        env.calendar.set("2026-11-20 15:10")
        env.bus.network_manager().connect("Home", "802-11-wireless", NO)
        host = env.host(budget=Budget(monthly=2_000_000), **QUICK)
        record.begin(env, env.calendar)
        record.step("a download of 3.5 MB is enqueued")
        download = Download(env, host, size=3_500_000)
        stopped = download.wait_for_reason(Reason.BUDGET)
        record.add_waits(host.waits(download.id))
        env.link.wait_until(lambda link: link.connections == 0)
        assert 2_000_000 <= stopped.offset < 3_300_000
        env.calendar.set("2026-11-30 23:58")
        assert download.wait_for_reason(Reason.BUDGET).offset == stopped.offset
        env.calendar.set("2026-12-01 00:00")
        download.wait_for_success()
        record.step("a new month begins, and the file is complete")
        record.add_waits(host.waits(download.id))
        download.assert_no_bytes_fetched_twice(stopped.offset)
    return record
