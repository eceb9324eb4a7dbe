"""Fixtures for launches by both kinds of engines: a daemon, and an engine in a process of another application. A launch
is the start of a program by the engine, because sessions of the program need it.

A conftest.py imports the fixtures that its tests use.
"""

import pytest

from backhaul import Hosting
from testbed.host import Host
from testbed.launches import LaunchListener

APPLICATION = "org.example.hosts"


@pytest.fixture(params=[Hosting.DAEMON, Hosting.EMBEDDED], ids=["daemon", "embedded"])
def hosting(request):
    return request.param


@pytest.fixture
def launch_listener(place, hosting):
    made = LaunchListener(place, hosting)
    yield made
    made.close()


class Hosts:
    """Starts hosts that use the test's store. If there is no daemon, the engine runs in the first host. This host
    belongs to another application than the other hosts.
    """

    def __init__(self, store, hosting):
        self.store, self.hosting, self._started = store, hosting, []
        self.engine = None if hosting is Hosting.DAEMON else self.start("org.example.engine")

    def start(self, application=APPLICATION, **options):
        new = Host(self.store, application, hosting=self.hosting)
        self._started.append(new)
        return new.open(**options)

    def engine_process(self, host):
        return host.engine().process_id

    def end(self):
        for one in self._started:
            one.end()


@pytest.fixture
def hosts(store, hosting, launch_listener):
    made = Hosts(store, hosting)
    yield made
    made.end()
