"""The user manager that all tests of this folder share, and what runs in it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(PROJECT / "scripts"), str(Path(__file__).parent)]

from manager import LIMIT, Unavailable, UserManager  # noqa: E402

COMMAND = os.environ.get("BACKHAUL_COMMAND", str(PROJECT / "build" / "bin" / "backhaul"))


def pytest_addoption(parser):
    parser.addoption("--kills", type=int, default=2, help="how often the daemon is killed in test_kills.py")


@pytest.fixture(scope="session")
def manager():
    try:
        made = UserManager()
    except Unavailable as reason:
        pytest.skip(f"no user manager can be made here: {reason}")
    yield made
    made.end()


@pytest.fixture
def store(tmp_path):
    return tmp_path / "store"


@pytest.fixture
def backhaul(manager, store):
    """Runs `backhaul` inside, with a store of the test's own."""
    def run(*words, code=0, timeout=LIMIT, **variables):
        ended = manager(COMMAND, "--store", store, *words, check=False, timeout=timeout, **variables)
        assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended

    run.json = lambda *words, **options: json.loads(run("--json", *words, **options).stdout)
    return run


def until(condition, what):
    """Waits for what another process does."""
    limit = time.monotonic() + LIMIT
    while not (result := condition()):
        assert time.monotonic() < limit, f"{what} did not happen"
        time.sleep(0.02)
    return result
