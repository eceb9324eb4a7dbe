"""Fixtures: the user manager of systemd that all tests of this folder share, and programs that run under this
manager."""

import json

import pytest

from manager.manager import COMMAND, LIMIT, Unavailable, UserManager


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
    """Returns a function that runs `backhaul` under the manager, with the test's store."""
    def run(*words, code=0, timeout=LIMIT, **variables):
        ended = manager(COMMAND, "--store", store, *words, check=False, timeout=timeout, **variables)
        assert ended.returncode == code, f"{ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended

    run.json = lambda *words, **options: json.loads(run("--json", *words, **options).stdout)
    return run
