"""Fixtures for the tests of conditions. A play runs a scenario in its own world; many plays run at the same time."""

import pytest

from conditions import idle, scenarios, table  # noqa: F401
from conditions.stage import CALENDAR, PLAYS, WITH_CALENDAR, Stage
from conditions.world import Unavailable


@pytest.fixture(scope="session")
def stage(request):
    """The stage, which runs all plays that the selected tests use."""
    wanted = {item.callspec.params["play"]: None for item in request.session.items if "play" in item.fixturenames}
    if WITH_CALENDAR & set(wanted):
        CALENDAR["library"] = request.getfixturevalue("debug_library")
    return Stage([name for name in wanted if name in PLAYS])


@pytest.fixture
def play(request, stage):
    """The result of the play that the test's parameter names."""
    try:
        return stage.result(request.param)
    except Unavailable as reason:
        pytest.skip(f"this machine cannot run the test: {reason}")


def pytest_addoption(parser):
    parser.addoption("--idle-seconds", type=int, default=35, help="how many seconds an idle engine is watched")


def pytest_collection(session):
    idle.SECONDS = session.config.getoption("--idle-seconds")
