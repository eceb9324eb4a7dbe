"""The fixture of the test kit, and a session of a host in the process of the test. With an installed package, pytest
finds the fixture of the kit by itself."""

import pytest
from pytest_backhaul import backhaul_testbed

from backhaul.testing import Host, Resource, Testbed

__all__ = ["backhaul_testbed", "session"]


@pytest.fixture(autouse=True)
def patience(monkeypatch):
    """By default, the waits of the kit end after ten seconds. On a busy machine, a start may take longer."""
    for wait in (Testbed.launched, Testbed.wait_for_death, Host.wait, Resource.wait_for_requests,
                 Resource.wait_for_bytes):
        assert wait.__defaults__ == (10,)
        monkeypatch.setattr(wait, "__defaults__", (60,))


@pytest.fixture
def session(backhaul_testbed):
    with backhaul_testbed.application("org.example.test") as application, application.session("s") as session:
        yield session


def pytest_addoption(parser):
    parser.addoption("--count", type=int, default=1, help="run each story this number of times")


def pytest_generate_tests(metafunc):
    if metafunc.definition.get_closest_marker("story") and metafunc.config.getoption("count") > 1:
        metafunc.fixturenames.append("run")
        metafunc.parametrize("run", range(metafunc.config.getoption("count")))
