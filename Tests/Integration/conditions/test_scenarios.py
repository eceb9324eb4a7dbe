"""Runs each scenario of docs/conditions.md, and compares its wait records with those on the page."""

import os

import pytest

from conditions.record import Record

NAMES = ["laptop", "hotspot", "slow", "hot", "overnight", "month"]
STOPS = ["laptop", "hotspot", "hot"]


@pytest.mark.parametrize("simulation", NAMES, indirect=True)
def test_the_file_is_complete_and_the_wait_records_match_the_docs(simulation):
    if os.environ.get("BACKHAUL_KEEP_RECORDS"):
        simulation.keep()
    kept = Record.load(simulation.name)
    assert simulation.pattern == kept.pattern, "BACKHAUL_KEEP_RECORDS=1 keeps it, scripts/document-scenarios"


@pytest.mark.parametrize("simulation", STOPS, indirect=True)
def test_the_last_byte_comes_within_a_second_after_the_change(simulation):
    assert simulation.seconds < 1
