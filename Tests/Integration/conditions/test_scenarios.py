"""Runs each scenario of docs/conditions.md. In a scenario, conditions such as power change while tasks download files.
The tests compare the steps (the changes) and the wait records with the stored record of the scenario. A wait record has
the reason, the begin and the end of a time in which a task waits."""

import os

import pytest

from conditions.record import Record

NAMES = ["laptop", "hotspot", "slow", "hot", "overnight", "month"]
STOPS = ["laptop", "hotspot", "hot"]


@pytest.mark.parametrize("simulation", NAMES, indirect=True)
def test_the_steps_and_wait_records_of_a_scenario_match_its_stored_record(simulation):
    if os.environ.get("BACKHAUL_KEEP_RECORDS"):
        simulation.keep()
    kept = Record.load(simulation.name)
    assert simulation.pattern == kept.pattern, "BACKHAUL_KEEP_RECORDS=1 keeps it, scripts/document-scenarios"


@pytest.mark.parametrize("simulation", STOPS, indirect=True)
def test_a_transfer_stops_within_a_second_after_a_condition_has_changed(simulation):
    # The engine has one second. The other second is for delays on a busy machine.
    assert simulation.seconds < 2
