"""A large download over a server that loses every connection, moves to other addresses and once replaces the resource,
by an engine that is killed on the way: no byte of a representation is read twice but at the seams that kills leave.

1 GiB as the suite soak-seams of `make soak`, the slice of a sixth of it here.
"""

import os
import shutil
import subprocess
from collections import Counter
from contextlib import contextmanager, suppress

import pytest

from backhaul import TaskState
from daemons import daemons_of
from servers.content import sha256_of
from servers.large import LargeContent
from servers.moving import MovingServer, Script
from testbed.host import Host, HostEnded, stopped

MEGABYTE = 1_000_000
#: What a kill may cost.
SEAM = 1 << 20
QUICK = {"first_delay_ms": 20, "longest_delay_ms": 100}
#: A host whose names are those of a file.
VIEW = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


@pytest.fixture
def size(request):
    return request.config.getoption("--seams-size") << 20


@pytest.fixture
def server(place, size):
    # A slice has shorter connections, so that there are some.
    scale = 1 if size >= 1 << 30 else 2
    script = Script(
        seed=20_251, shortest=20 * MEGABYTE // scale, longest=60 * MEGABYTE // scale,
        contents=[LargeContent(size, 1), LargeContent(size, 2)], replaced_at=[int(size * 0.4)],
        # Of both at once, when nothing can be synced yet, and in the middle.
        kills=[(0, 3 << 19), (0, int(size * 0.3)), (1, 3 << 19), (1, int(size * 0.7))])
    with MovingServer(script, place) as running:
        yield running


@pytest.fixture
def start(host, server):
    """Starts hosts that look names up in the server's file."""
    if shutil.which("unshare") is None or subprocess.run([*UNSHARE, "true"], check=False).returncode:
        pytest.skip("names of its own need a mount namespace, which this user may not have here")
    return lambda: host(prefix=[*UNSHARE, "sh", "-c", VIEW, "sh", server.hosts])


def seams(deliveries):
    """For each answer how it came to be, and how many of its bytes had been read before. None may begin behind them."""
    furthest, before = {}, {}
    for delivery in deliveries:
        reached = furthest.get(delivery.etag, 0)
        assert delivery.start <= reached, "bytes were left out"
        yield before.get(delivery.etag), reached - delivery.start
        furthest[delivery.etag] = max(reached, delivery.stop)
        before[delivery.etag] = delivery.end


class Downloader:
    """A host that downloads, and the next one when it is killed as the engine."""

    def __init__(self, start, place):
        self._start, self._place, self._host = start, place, None

    @contextmanager
    def stopped_engine(self):
        (engine,) = daemons_of(self._place) or [self._host.pid]
        with stopped(engine) as kill:
            yield kill

    def download(self, url, destination):
        """Returns the event of the end."""
        def begin(one):
            one.session(**QUICK)
            one.download(url, destination)

        def attach(one):
            one.attach()

        act = begin
        while True:
            with suppress(HostEnded):
                self._host = self._start()
                act(self._host)
                return self._host.wait_for(timeout=Host.LIMIT - 10)[0]
            act = attach


@pytest.mark.both_hostings
def test_a_kill_costs_at_most_a_mebibyte_and_nothing_else_is_fetched_twice(start, server, place, downloads):
    downloader = Downloader(start, place)
    server.killer = downloader.stopped_engine
    event = downloader.download(server.url, downloads / "large")
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert os.listdir(downloads) == ["large"]
    assert sha256_of(downloads / "large") == server.content.sha256

    ends = Counter(delivery.end for delivery in server.deliveries)
    assert ends["killed"] == 4 and ends["whole"] == 1 and "the client left" not in ends, ends
    costs = list(seams(server.deliveries))
    assert [cost for cut, cost in costs if cut != "killed" and cost > 0] == [], server.deliveries
    assert [cost for cut, cost in costs if cut == "killed" and cost > SEAM] == [], server.deliveries
