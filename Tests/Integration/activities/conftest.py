"""Fixtures for activities, which are repeated work. The engine, which runs the tasks, is in the daemon, or is
embedded in a host."""

import pytest

from backhaul import Hosting
from testbed.launches import LaunchListener


@pytest.fixture
def switched(host, debug_library, calendar):
    """Returns a function that starts a host with an embedded engine of a debug build. Only such an engine obeys
    settings for tests, such as a clock that can be set.
    """

    def start(**switches):
        named = {f"BACKHAUL_{name.upper()}": str(value) for name, value in switches.items()}
        return host(environment={
            "BACKHAUL_LIBRARY": str(debug_library), "BACKHAUL_CLOCK": str(calendar.path), **named})

    return start


@pytest.fixture
def launch_listener(place):
    made = LaunchListener(place, Hosting.DAEMON)
    yield made
    made.close()
