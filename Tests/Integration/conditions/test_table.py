"""Tasks with a constraint wait until the condition meets it. All other tasks are not affected."""

import pytest

from conditions.table import ROWS, expected, levels

CASES = [pytest.param(row.name, row, level, id=f"{row.name}-{level}") for row in ROWS for level in levels(row)]


@pytest.mark.parametrize(("simulation", "row", "level"), CASES, indirect=["simulation"])
def test_tasks_with_the_constraint_wait_until_it_is_met(simulation, row, level):
    assert simulation[level] == expected(row, level)
