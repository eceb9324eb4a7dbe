"""Fixtures for the tests of the daemon. The hosts use a daemon. After each test, the daemons of the test are ended."""

import os

import pytest

from backhaul import Hosting
from daemons import daemons_of, end_daemons
from testbed.host import Host, until

# Without these variables, hosts start daemons as detached processes, even if the user has a user manager of systemd.
# The tests in Tests/Integration/manager start daemons as services.
for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "BACKHAUL_STORE"):
    os.environ.pop(name, None)


@pytest.fixture
def host(store, place):
    """Returns a function that starts a host and opens the test's store. The host uses a daemon. After the test, all
    hosts and their daemons are ended."""
    started = []

    def start(*, opened=True, **options):
        new = Host(store, hosting=Hosting.DAEMON, **options)
        started.append(new)
        return new.open() if opened else new

    yield start
    for one in started:
        one.end()
    end_daemons(place)


@pytest.fixture
def daemon(place, store):
    """Returns a function that waits until the store has one daemon, and returns the daemon's process id."""
    return lambda: until(lambda: daemons_of(place), lambda found: len(found) == 1)[0]
