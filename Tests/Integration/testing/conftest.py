"""The fixture of the test kit, and a session of a host in the process of the test. With an installed package, pytest
finds the fixture of the kit by itself."""

import pytest
from pytest_backhaul import backhaul_testbed

__all__ = ["backhaul_testbed", "session"]


@pytest.fixture
def session(backhaul_testbed):
    with backhaul_testbed.application("org.example.test") as application, application.session("s") as session:
        yield session
