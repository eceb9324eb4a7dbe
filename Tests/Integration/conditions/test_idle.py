"""An engine is idle if all its tasks wait for conditions, such as external power. Every 30 seconds, an idle engine
reads the values for which the kernel sends no event. It does nothing else."""

import re
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass

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
#: A pause of more than this number of seconds ends a burst of system calls. The pause between two readings of the
#: conditions is 30 seconds. On a busy machine, there may also be a shorter pause within one reading.
PAUSE = 5
#: A reading needs about 120 calls. An event loop that polls without a pause needs many more.
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


@dataclass(frozen=True)
class Burst:
    """System calls without a long pause between them."""

    began: float
    ended: float
    calls: list


@simulation
def waiting_for_everything():
    """Starts one task for each reason in HELD, and waits until the task has this reason to wait. Returns the folder
    of the fake machine, and the bursts of system calls of the engine's process."""
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
        return env.machine.folder, bursts(trace.read_text(errors="replace"), ended - idle.SECONDS, ended)


def bursts(text, begin, end):
    """Returns the bursts between two times. Later calls are left out, because strace interrupts all blocked calls when
    it detaches, and the process repeats these calls."""
    found = []
    for moment, name, rest in CALL.findall(text):
        moment = float(moment)
        if not begin <= moment < end or name in RESUMED:
            continue
        if not found or moment - found[-1].ended > PAUSE:
            found.append(Burst(moment, moment, []))
        found[-1] = Burst(found[-1].began, moment, [*found[-1].calls, f"{name}({rest}"])
    return found


def is_of_other_devices(burst):
    """Whether the burst only reads events of other devices, such as loop devices of another program. The kernel sends
    the events of all devices to every listener."""
    return (any("nl_groups=0x000001" in call for call in burst.calls)
            and not any(call.startswith("open") for call in burst.calls))


@pytest.mark.skipif(shutil.which("strace") is None, reason="needs strace")
@pytest.mark.parametrize("simulation", ["waiting_for_everything"], indirect=True)
def test_an_idle_engine_reads_conditions_every_30_seconds_and_does_nothing_else(simulation):
    machine, found = simulation
    for burst in found:
        print(f"{burst.ended - burst.began:.3f} s: {len(burst.calls)} calls, such as {burst.calls[:3]}")
    found = [burst for burst in found if not is_of_other_devices(burst)]
    assert 1 <= len(found) <= idle.SECONDS // 30 + 1
    for burst in found:
        assert len(burst.calls) < MOST_CALLS
        opened = [path for call in burst.calls for path in re.findall(r'^open(?:at)?\(.*?"([^"]*)"', call)]
        assert opened and all(path.startswith(str(machine)) for path in opened), opened
