"""An engine is idle if all its tasks wait for conditions, such as external power. Every 30 seconds, an idle engine
reads the values for which the kernel sends no event. It does nothing else."""

import re
import shutil
import signal
import subprocess
import time
from collections import Counter

import pytest

from backhaul import BUDGET_NOTHING, Budget, Reason
from conditions import idle
from conditions.buses import YES
from conditions.environment import Download, Environment
from conditions.simulations import simulation
from conditions.table import around_now

#: The number of seconds before the test begins to watch the engine. In this time, the engine syncs the row of the
#: database that records the last wait. Ten seconds after its start, the engine also releases the sessions of processes
#: that did not reconnect.
SETTLING = 12
#: A reading needs about 200 calls. An event loop that polls without a pause needs many more.
MOST_CALLS = 1_000
CALL = re.compile(r"\d+ +(\d+\.\d+) (\w+)\((.*)")
#: The name that strace shows for calls that were already blocked when strace attached.
RESUMED = {"restart_syscall"}
HELD = {
    Reason.POWER: {"requires_external_power": True},
    Reason.BATTERY: {"minimum_battery_percent": 50},
    Reason.HEAT: {"maximum_thermal_state": "fair"},
    Reason.PRESSURE: {"maximum_cpu_pressure_percent": 20},
    Reason.METERED: {"requires_unmetered": True},
    Reason.QUIET_HOURS: {"quiet_hours": around_now()},
    Reason.BUDGET: {"budget": Budget(monthly=BUDGET_NOTHING)},
}


@simulation
def waiting_for_everything():
    """Starts one task for each reason in HELD, and waits until the task has this reason to wait. Returns the folder
    of the fake machine, and the system calls of the engine's process."""
    with Environment("idle", bus=True) as env:
        env.bus.network_manager().connect("Ann's phone", "802-11-wireless", YES)
        env.bus.logind()
        env.machine.laptop()
        env.machine.unplug(40)
        env.machine.heat(92)
        env.machine.pressure(cpu=40, io=0, memory=0)
        host = env.host()
        for reason, asked in HELD.items():
            host.session(reason.name.lower(), **asked)
            Download(env, host, f"/{reason.name.lower()}", 1_000).wait_for_reason(reason)
        trace = env.place / "trace"
        strace = subprocess.Popen(["strace", "-f", "-ttt", "-o", trace, "-p", str(host.pid)],
                                  stderr=subprocess.DEVNULL)
        # This test checks that nothing happens, so there is no event for which the test could wait.
        time.sleep(SETTLING + idle.SECONDS)
        ended = time.time()
        strace.send_signal(signal.SIGINT)
        strace.wait()
        return env.machine.folder, calls(trace.read_text(errors="replace"), ended - idle.SECONDS, ended)


def calls(text, begin, end):
    """Returns the system calls between two times. Later calls are left out, because strace interrupts all blocked calls
    when it detaches, and the process repeats these calls."""
    return [f"{name}({rest}" for moment, name, rest in CALL.findall(text)
            if begin <= float(moment) < end and name not in RESUMED]


def of_other_devices(calls):
    """Returns the number of calls that an engine may make for events of other devices, such as loop devices of another
    program: the kernel sends the events of all devices to every listener. For each event, an engine waits, receives,
    and finds that there is no further event."""
    return 3 * sum("nl_groups=0x000001" in call for call in calls)


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("simulation", ["waiting_for_everything"], indirect=True)
def test_an_idle_engine_reads_conditions_every_30_seconds_and_does_nothing_else(simulation):
    machine, found = simulation
    # A reading may take seconds on a busy machine, so the test does not count pauses. A reading opens this file once.
    opened = Counter(path for call in found for path in re.findall(r'^open(?:at)?\(.*?"([^"]*)"', call))
    print(f"{len(found)} calls, of which {of_other_devices(found)} may be for other devices; opened: {opened}")
    assert opened and all(path.startswith(str(machine)) for path in opened), opened
    readings = opened[f"{machine}/proc/pressure/cpu"]
    assert 1 <= readings <= idle.SECONDS // 30 + 1
    assert len(found) - of_other_devices(found) < MOST_CALLS * readings
