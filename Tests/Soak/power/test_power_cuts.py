"""The power fails, and the disk loses what was not flushed (docs/reliability.md)."""

import random
import subprocess
import sys
from pathlib import Path

import disk
import pytest
from disk import SECTOR, Fact, Flush, Write

CUTS = Path(__file__).with_name("cuts.py")


def run(kind, *arguments):
    """Returns the exit status and the output of a run."""
    if reason := disk.missing_tool(kind):
        pytest.skip(reason)
    done = subprocess.run([sys.executable, CUTS, kind, *map(str, arguments)], stdout=subprocess.PIPE, text=True,
                          check=False)
    return done.returncode, done.stdout


def test_random_power_cuts_and_power_cuts_at_moments_of_recorded_runs_break_no_promise(kind, pytestconfig):
    cuts, points = pytestconfig.getoption("--cuts"), pytestconfig.getoption("--points")
    status, output = run(kind, "--cuts", cuts, "--points", points)
    assert status == 0, output
    print(output)


def test_a_disk_that_loses_flushed_writes_is_found(kind):
    status, output = run(kind, "--points", 4, "--seed", 1, "--ignore-flushes")
    assert status == 1 and "4 replayed points" in output, output


#: Two sectors that are flushed, what the host then knows, and two sectors that are not flushed.
RECORD = [Write(0, b"a" * 2 * SECTOR), Flush(), Fact(b"known\n"), Write(0, b"b" * 2 * SECTOR)]


@pytest.mark.parametrize("fate, left", [("lost", []), ("kept", [RECORD[3]])])
def test_a_power_cut_keeps_what_was_flushed_and_maybe_the_rest(fate, left):
    assert disk.cut(RECORD, 4, fate, random.Random(1)) == ([RECORD[0]], left)


def test_a_power_cut_can_tear_a_write_between_sectors():
    lefts = [disk.left_of([RECORD[3]], "mixed", random.Random(seed)) for seed in range(50)]
    assert {tuple(write.offset for write in left) for left in lefts} == {(), (0,), (SECTOR,), (0, SECTOR)}


def test_a_power_cut_leaves_the_complete_facts_before_it():
    parts = [Fact(b"one\ntw"), Fact(b"o\n")]
    assert (disk.facts_before(parts, 1), disk.facts_before(parts, 2)) == (b"one\n", b"one\ntwo\n")
    assert (disk.facts_before(RECORD, 2), disk.facts_before(RECORD, 3)) == (b"", b"known\n")
