"""Fixtures for the daemon's tests: those of the host tests with daemon hosting. All daemons are ended after a test."""

import os

import pytest

from backhaul import Hosting
from daemons import daemons_of, end_daemons
from testbed.host import Host, until

# Without these variables daemons are started detached, even if the user has a user manager. Tests/Integration/manager
# tests daemons as services.
for name in ("DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "BACKHAUL_STORE"):
    os.environ.pop(name, None)


@pytest.fixture
def host(store, place):
    """Starts hosts with daemon hosting, opened on the test's store. Ends them and their daemons after the test."""
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
def program(library):
    """Returns the path of backhauld."""
    path = library.parent.parent / "libexec" / "backhaul" / "backhauld"
    assert path.exists(), f"{path} is not built: run make"
    return path


@pytest.fixture
def daemon(place, store):
    """Waits for the store's one daemon, and returns its process id."""
    return lambda: until(lambda: daemons_of(place), lambda found: len(found) == 1)[0]
