"""A test sets the conditions of the machine, and the engine follows at once."""

from datetime import timedelta

import pytest

from backhaul import Constraints, NetworkKind, Policy, Reason, ThermalState

CONTENT = b"content"


def power(bed, is_met):
    bed.set_power(external=is_met, battery_percent=50)


def battery(bed, is_met):
    bed.set_power(external=False, battery_percent=60 if is_met else 20)


def heat(bed, is_met):
    bed.set_heat(ThermalState.NOMINAL if is_met else ThermalState.SERIOUS)


def metered(bed, is_met):
    bed.set_network(NetworkKind.ETHERNET if is_met else NetworkKind.CELLULAR)


def network(bed, is_met):
    bed.set_network(NetworkKind.WIFI if is_met else NetworkKind.ETHERNET)


@pytest.mark.parametrize("change, constraints, reason", [
    (power, Constraints(requires_external_power=True), Reason.POWER),
    (battery, Constraints(minimum_battery_percent=40), Reason.BATTERY),
    (heat, Constraints(maximum_thermal_state=ThermalState.FAIR), Reason.HEAT),
    (metered, Constraints(requires_unmetered=True), Reason.METERED),
    (network, Constraints(networks=NetworkKind.WIFI), Reason.NETWORK),
])
def test_a_task_waits_for_a_condition(backhaul_testbed, session, change, constraints, reason):
    file = backhaul_testbed.serve("/file", CONTENT)
    change(backhaul_testbed, False)
    task = session.download(file.url, backhaul_testbed.directory / "file",
                            policy=Policy(constraints=constraints))
    backhaul_testbed.pass_time(timedelta(hours=1))
    assert (task.info().reason, file.requests) == (reason, [])
    change(backhaul_testbed, True)
    # The engine waits until the condition has been met for some time.
    backhaul_testbed.pass_time(timedelta(minutes=1))
    assert next(event for event in session.events() if event.is_task_ended).succeeded


def test_a_task_waits_for_a_network(backhaul_testbed, session):
    file = backhaul_testbed.serve("/file", CONTENT)
    backhaul_testbed.set_network(NetworkKind(0))
    task = session.download(file.url, backhaul_testbed.directory / "file")
    backhaul_testbed.pass_time(timedelta(hours=1))
    assert (task.info().reason, file.requests) == (Reason.CONNECTIVITY, [])
    backhaul_testbed.set_network(NetworkKind.WIFI)
    backhaul_testbed.pass_time(timedelta(minutes=1))
    assert next(event for event in session.events() if event.is_task_ended).succeeded
