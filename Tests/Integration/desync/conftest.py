"""Fixtures of the desynchronisation tests: one engine in this process, and the generated runs. A run is a list of
tasks, with the responses and other bytes that the server sends."""

import secrets

import pytest

from desync.fuzz import Fuzzer


def pytest_addoption(parser):
    parser.addoption("--desync-runs", type=int, default=300, help="how many runs are generated from the seed")
    parser.addoption("--desync-seed", type=int, default=1, help="the seed of the runs; 0: a random one")


@pytest.fixture(scope="session")
def fuzzer(certificates, library):
    assert library.exists(), f"{library} is not built: run make"
    with Fuzzer(certificates) as made:
        yield made


@pytest.fixture
def random_runs(request):
    """Returns the seed and the numbers of the runs."""
    seed = request.config.getoption("--desync-seed") or secrets.randbits(32)
    return seed, range(request.config.getoption("--desync-runs"))
