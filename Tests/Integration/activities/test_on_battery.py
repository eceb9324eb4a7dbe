"""Activities on a machine that runs on battery or on external power. An activity is work that repeats in windows of
time. Each test writes a fake /sys before it starts a program with the engine, which runs the tasks."""

import time

import pytest

from activities.test_activities import CONTENT, ends, fetching, soon
from backhaul import Activity, EventKind, TaskState, Reason
from testbed.host import until


class Machine:
    """A fake /sys of a laptop, and an empty /proc."""

    def __init__(self, folder):
        self.folder = folder
        self.environment = {
            "BACKHAUL_SYS_ROOT": str(folder / "sys"), "BACKHAUL_PROC_ROOT": str(folder / "proc"),
            "DBUS_SYSTEM_BUS_ADDRESS": f"unix:path={folder}/no-bus",
        }
        (folder / "proc").mkdir(parents=True)
        self.plug(False)

    def plug(self, is_on_external_power):
        supplies = {
            "AC/type": "Mains", "AC/online": str(int(is_on_external_power)),
            "BAT0/type": "Battery", "BAT0/present": "1", "BAT0/capacity": "63",
            "BAT0/status": "Charging" if is_on_external_power else "Discharging",
        }
        for name, text in supplies.items():
            file = self.folder / "sys" / "class" / "power_supply" / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text + "\n")


@pytest.fixture
def machine(place):
    return Machine(place / "machine")


def background(url, downloads, **options):
    return fetching(url, downloads, quality_of_service="background", **options)


def test_the_request_of_an_activity_runs_at_the_end_of_its_window_if_the_machine_is_on_battery(
        host, machine, misbehaving, downloads):
    url = misbehaving.serve("/feed", CONTENT)
    one = host(environment=machine.environment)
    one.session()
    first = soon()
    one.set_activity(background(url, downloads, interval_ms=60_000, tolerance_ms=10_000, first=first))
    waiting, = until(one.tasks, lambda tasks: tasks and tasks[0].reason is Reason.POWER)
    assert waiting.latest_start_ms == pytest.approx(first * 1_000 + 10_000, abs=2)
    assert not misbehaving.log()
    ended, = ends(one.wait_for(2))
    assert ended.state is TaskState.SUCCEEDED
    assert time.time() >= first + 10
    waits = one.waits(ended.task_id)
    assert [wait.reason for wait in waits] == [Reason.POWER]
    assert waits[0].ended_ms - waits[0].began_ms <= 30_000


def test_the_request_of_an_activity_runs_when_its_window_opens_if_the_machine_has_external_power(
        host, machine, misbehaving, downloads):
    machine.plug(True)
    url = misbehaving.serve("/feed", CONTENT)
    one = host(environment=machine.environment)
    one.session()
    first = soon()
    one.set_activity(background(url, downloads, interval_ms=3_600_000, first=first))
    ended, = ends(one.wait_for(2))
    assert ended.state is TaskState.SUCCEEDED


@pytest.mark.parametrize("plugged", [True, False])
def test_the_event_of_an_activity_waits_for_external_power_until_the_window_ends(host, machine, plugged):
    machine.plug(plugged)
    one = host(environment=machine.environment)
    one.session()
    first_ms, tolerance_ms = int(soon() * 1_000), 30_000 if plugged else 1_500
    one.set_activity(Activity("index", 60_000, tolerance_ms, quality_of_service="background", first=first_ms / 1_000))
    event, = one.wait_for(1)
    assert event.kind is EventKind.ACTIVITY
    assert (event.time_ms - first_ms < tolerance_ms) == plugged
