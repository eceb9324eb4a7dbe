"""A constraint is a demand on a condition of the system, such as external power. Each task with a constraint waits
until the condition meets the constraint. Tasks without a constraint do not wait."""

import pytest

from conditions.table import ROWS, expected, levels

CASES = [pytest.param(row.name, row, level, id=f"{row.name}-{level}") for row in ROWS for level in levels(row)]


@pytest.mark.parametrize(("simulation", "row", "level"), CASES, indirect=["simulation"])
def test_a_task_waits_until_the_condition_meets_its_constraint(simulation, row, level):
    assert simulation[level] == expected(row, level)
