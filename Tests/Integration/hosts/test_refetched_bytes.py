"""A large download by an engine that is killed several times. The server cuts every connection, moves to other
addresses, and replaces the resource one time. Only after a kill may the engine fetch bytes of the same content twice.

In the suite soak-refetch of `make soak`, the test downloads 1 GiB. In other suites, it downloads 160 MiB. The
engine, which runs the downloads, is in the host or in a daemon.
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
#: The largest number of bytes that may be fetched again after a kill.
SEAM = 1 << 20
QUICK = {"first_delay_ms": 20, "longest_delay_ms": 100}
#: A shell script that mounts a file of the test in place of /etc/hosts, and then runs a host.
VIEW = 'mount --bind "$1" /etc/hosts && shift && exec "$@"'
UNSHARE = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--map-root-user", "--mount"]


@pytest.fixture
def size(request):
    return request.config.getoption("--refetch-size") << 20


@pytest.fixture
def server(place, size):
    # A smaller download gets shorter connections, so it still needs several connections.
    scale = 1 if size >= 1 << 30 else 2
    script = Script(
        seed=20_251, shortest=20 * MEGABYTE // scale, longest=60 * MEGABYTE // scale,
        contents=[LargeContent(size, 1), LargeContent(size, 2)], replaced_at=[int(size * 0.4)],
        # The engine is killed twice during the download of each content. The first kill comes soon after the first
        # bytes, before the first sync. The second kill comes later, in the middle of the content.
        kills=[(0, 3 << 19), (0, int(size * 0.3)), (1, 3 << 19), (1, int(size * 0.7))])
    with MovingServer(script, place) as running:
        yield running


@pytest.fixture
def start(host, server):
    """Returns a function that starts a host. For this host, the file ``server.hosts`` replaces /etc/hosts, so the host
    finds the present addresses of the server."""
    if shutil.which("unshare") is None or subprocess.run([*UNSHARE, "true"], check=False).returncode:
        pytest.skip("the test's names need a mount namespace, which this user may not create")
    return lambda: host(prefix=[*UNSHARE, "sh", "-c", VIEW, "sh", server.hosts])


def seams(deliveries):
    """Yields two values for each response. The first value shows how the previous response with the same content ended.
    The second value is the number of this response's bytes that the client had already read from earlier responses.
    Fails if a response omits bytes."""
    furthest, before = {}, {}
    for delivery in deliveries:
        reached = furthest.get(delivery.etag, 0)
        assert delivery.start <= reached, "bytes were left out"
        yield before.get(delivery.etag), reached - delivery.start
        furthest[delivery.etag] = max(reached, delivery.stop)
        before[delivery.etag] = delivery.end


class Downloader:
    """Runs the host that downloads. If the kill of an engine ends the host, the next host is started."""

    def __init__(self, start, place):
        self._start, self._place, self._host = start, place, None

    @contextmanager
    def stopped_engine(self):
        (engine,) = daemons_of(self._place) or [self._host.pid]
        with stopped(engine) as kill:
            yield kill

    def download(self, url, destination):
        """Returns the event of the task's end."""
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
def test_a_kill_causes_at_most_one_mebibyte_to_be_fetched_twice_and_no_other_byte_is_fetched_twice(
        start, server, place, downloads):
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
