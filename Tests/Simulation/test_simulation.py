"""The library in a simulated world (docs/internals/simulation.md)."""

import os
import subprocess
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def simulate():
    """Runs the simulator with these arguments, and with the library as `make` builds it, or another one. Returns its
    status and its output."""
    subprocess.run(["make", "--no-print-directory", "build/bin/simulate"], cwd=PROJECT, check=True)

    def run(*arguments, library=PROJECT / "build/lib/libbackhaul.so.1"):
        done = subprocess.run(
            [PROJECT / "build/bin/simulate", *map(str, arguments)], capture_output=True, text=True, check=False,
            env={**os.environ, "BACKHAUL_LIBRARY": str(library)})
        return done.returncode, done.stdout + done.stderr
    return run


def test_no_history_of_faults_breaks_a_promise(simulate, pytestconfig):
    status, output = simulate("--seed", 1, "--count", pytestconfig.getoption("--seeds"))
    assert status == 0, output


#: Seeds that once broke a promise, or seemed to, and the features that are younger than these seeds.
SEEDS = {
    ("reuse",): [81],
    ("rare",): [200406, 200609, 201014, 201675, 202325, 202629, 203338, 303191, 403390, 1004141, 1013526, 1016826,
                1017635],
    ("credentials", "store-files", "groups", "reuse"): [1020619, 1022145, 1060659, 2100566, 2101031],
    ("credentials", "store-files", "reuse"): [2200314, 2200871, 2200906, 2201085, 2201553, 2201661],
}


@pytest.mark.parametrize("features, seed", [(features, seed) for features in SEEDS for seed in SEEDS[features]])
def test_a_history_that_once_broke_a_promise_breaks_none(simulate, features, seed):
    status, output = simulate("--seed", seed, *(word for feature in features for word in ("--without", feature)))
    assert status == 0, output


def test_a_kill_or_a_power_cut_at_any_step_breaks_no_promise(simulate, pytestconfig):
    status, output = simulate("--seed", 2, "--stride", pytestconfig.getoption("--stride"))
    assert status == 0 and not output.startswith("2 runs,"), output


def test_a_failure_of_any_call_on_the_system_breaks_no_promise(simulate, pytestconfig):
    stride = pytestconfig.getoption("--stride")
    status, output = simulate("--seed", 13, "--call-stride", 7 if stride == 1 else 15 * stride)
    assert status == 0 and not output.startswith("1 runs,"), output


#: In this order, the histories have a daemon; two programs, of which one is the engine; and uploads.
@pytest.mark.parametrize("seed", [16, 18, 25])
def test_a_failure_of_any_allocation_in_a_library_breaks_no_promise(simulate, pytestconfig, seed):
    status, output = simulate("--seed", seed, "--allocation-stride", 450 * pytestconfig.getoption("--stride"))
    assert status == 0 and not output.startswith("1 runs,"), output


def test_a_newer_library_that_is_installed_during_a_history_breaks_no_promise(
        simulate, debug_library, pytestconfig):
    count = 1 + pytestconfig.getoption("--seeds") // 4
    status, output = simulate("--seed", 13, "--count", count, "--upgrade", "--story", library=debug_library)
    assert status == 0 and "its engine has another version" in output, output[-20_000:]


def test_the_same_seed_gives_the_same_story(simulate):
    assert simulate("--seed", 4, "--count", 3, "--story") == simulate("--seed", 4, "--count", 3, "--story")


@pytest.mark.parametrize("what", ["file", "directory"])
def test_a_disk_that_ignores_syncs_is_found(simulate, what):
    status, output = simulate("--seed", 1, "--count", 1000, f"--ignore-{what}-syncs", "--no-shrinking", "--stop")
    assert status == 1, output
