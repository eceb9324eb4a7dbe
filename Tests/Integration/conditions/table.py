"""A table of conditions of the system, such as power. For each row, a test makes the condition bad and then good
again while downloads with different constraints wait or run. A preset is a name for several constraints. Sessions
and tasks can state constraints or a preset. Tests/Unit/Model has the complete table. The tests with that table run
no download: they test only the functions that decide whether a task waits.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta, UTC
from collections.abc import Callable

from backhaul import ConditionKind, Constraints, NetworkKind, Policy, Reason, TaskState
from conditions.buses import FULL, NO, PORTAL, YES
from conditions.environment import Download, Environment
from conditions.simulations import CALENDAR, SIMULATIONS, WITH_CALENDAR
from testbed.host import until

QUICK = {"first_delay_ms": 100, "longest_delay_ms": 200}


@dataclass(frozen=True)
class Row:
    """One condition. `impair` makes the condition bad, and `restore` makes it good again."""

    name: str
    reason: Reason
    impair: Callable
    #: The constraints of a session or a task that depend on the condition.
    asks: dict
    restore: Callable
    #: The preset that contains the constraint, or None if no preset contains it. `loosened` has fields that override
    #: the constraint of the preset, so that the task does not wait.
    preset: str | None = None
    loosened: dict = field(default_factory=dict)
    bus: bool = False
    #: Whether the test sets the calendar: the date and time that the engine sees.
    calendar: bool = False
    #: Whether all tasks of the row have a constraint. A task without a constraint would get a response from a server
    #: outside the local network. This response would override the state that NetworkManager reports.
    alone: bool = False


def around_now():
    """Returns quiet hours (hours in which tasks wait) that include the current time."""
    now, hour = datetime.now(UTC), timedelta(hours=1)
    return f"{now - hour:%H:%M}-{now + hour:%H:%M}"


def on_battery(percent):
    def impair(env):
        env.machine.laptop()
        env.machine.unplug(percent)
    return impair


def network(name, kind, metered):
    def connect(env):
        if not hasattr(env, "manager"):
            env.manager = env.bus.network_manager()
        env.manager.connect(name, kind, metered)
    return connect


def portal(env):
    network("Hotel", "802-11-wireless", NO)(env)
    env.manager.set_connectivity(PORTAL)


ROWS = [
    Row("pressure", Reason.PRESSURE, lambda env: env.machine.pressure(cpu=40),
        {"maximum_cpu_pressure_percent": 20}, lambda env: env.machine.pressure(cpu=14)),
    Row("heat", Reason.HEAT, lambda env: env.machine.heat(92), {"maximum_thermal_state": "fair"},
        lambda env: env.machine.heat(40), "discretionary", {"maximum_thermal_state": "serious"}),
    Row("external_power", Reason.POWER, on_battery(80), {"requires_external_power": True},
        lambda env: env.machine.plug(), "discretionary", {"requires_external_power": False}),
    Row("battery", Reason.BATTERY, on_battery(40), {"minimum_battery_percent": 50},
        lambda env: env.machine.battery(60)),
    Row("metered", Reason.METERED, network("Ann's phone", "802-11-wireless", YES), {"requires_unmetered": True},
        network("Home", "802-11-wireless", NO), "discretionary", {"requires_unmetered": False}, bus=True),
    Row("kind_of_network", Reason.NETWORK, network("Modem", "gsm", NO),
        {"networks": NetworkKind.ETHERNET | NetworkKind.WIFI}, network("Home", "802-3-ethernet", NO), bus=True),
    Row("portal", Reason.PORTAL, portal, {"requires_unmetered": True},
        lambda env: env.manager.set_connectivity(FULL), "discretionary", bus=True, alone=True),
    Row("quiet_hours", Reason.QUIET_HOURS, lambda env: env.calendar.set("2026-11-19 12:00"),
        {"quiet_hours": "11:30-13:00"}, lambda env: env.calendar.set("2026-11-19 23:30"), "overnight",
        {"quiet_hours": "04:00-05:00"}, calendar=True),
]


@dataclass(frozen=True)
class Outcome:
    """The outcome of one task: why the task waited while the condition was bad, and the task's state at the end."""

    waited_for: Reason | None
    ended: TaskState | None


def levels(row):
    """Maps the name of each level to the constraints of the session and of the task. A level is a place where the
    constraint is stated, such as the session, or a preset of the task."""
    made = {"session": (row.asks, {}), "task": ({}, row.asks)}
    if row.preset:
        made["preset"] = ({"preset": row.preset}, {})
        made["task_with_preset"] = ({}, {"preset": row.preset})
    if row.loosened:
        made["loosened_preset"] = ({"preset": row.preset, **row.loosened}, {})
    return made if row.alone else {"unconstrained": ({}, {}), **made}


def expected(row, level):
    """Returns the expected outcome. Each task succeeds. If the level's constraints depend on the condition, the task
    waits before it succeeds."""
    return Outcome(None if level in ("unconstrained", "loosened_preset") else row.reason, TaskState.SUCCEEDED)


def run_row(row):
    """Runs the row, and returns the outcome for each level."""
    with Environment(row.name, bus=row.bus, library=CALENDAR.get("library") if row.calendar else None) as env:
        row.impair(env)
        host = env.host()
        if row.bus:
            # A task waits for the first reply of NetworkManager for two seconds only.
            until(host.conditions, lambda seen: any(
                one.kind is ConditionKind.METERED and one.source == "NetworkManager" for one in seen))
        downloads = {}
        for level, (session, task) in levels(row).items():
            host.session(level, **session, **QUICK)
            downloads[level] = Download(env, host, f"/{level}", 1_000, policy=Policy(constraints=Constraints(**task)))

        def read_info(level):
            host.select_session(level)
            return downloads[level].info()

        def wait_for_state(level):
            wanted = expected(row, level).waited_for
            return until(lambda: read_info(level), lambda task: task.ended_ms or task.reason is wanted)

        waited = {level: None if (seen := wait_for_state(level)).ended_ms else seen.reason for level in downloads}
        row.restore(env)
        ended = {level: until(lambda: read_info(level), lambda task: task.ended_ms, 90).state for level in downloads}
        return {level: Outcome(waited[level], ended[level]) for level in downloads}


WITH_CALENDAR.update(row.name for row in ROWS if row.calendar)
for one in ROWS:
    SIMULATIONS[one.name] = lambda row=one: run_row(row)
