"""Fixtures for the tests of conditions. A simulation runs transfers on a fake machine whose conditions change. Many
simulations run at the same time."""

import pytest

from conditions import idle, scenarios, table  # noqa: F401
from conditions.environment import Unavailable
from conditions.simulations import CALENDAR, SIMULATIONS, WITH_CALENDAR, SimulationPool


@pytest.fixture(scope="session")
def simulations(request):
    """The pool, which runs all simulations that the selected tests use."""
    wanted = {item.callspec.params["simulation"]: None for item in request.session.items
              if "simulation" in item.fixturenames}
    if WITH_CALENDAR & set(wanted):
        CALENDAR["library"] = request.getfixturevalue("debug_library")
    return SimulationPool([name for name in wanted if name in SIMULATIONS])


@pytest.fixture
def simulation(request, simulations):
    """The result of one simulation. The test's parameter is the name of this simulation."""
    try:
        return simulations.result(request.param)
    except Unavailable as reason:
        pytest.skip(f"this machine cannot run the test: {reason}")


def pytest_addoption(parser):
    parser.addoption("--idle-seconds", type=int, default=45, help="how many seconds an idle engine is watched")


def pytest_collection(session):
    idle.SECONDS = session.config.getoption("--idle-seconds")
