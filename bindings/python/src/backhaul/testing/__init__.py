"""Tests of hosts in milliseconds. A *host* is a program that uses Backhaul.

    from backhaul.testing import Testbed

    def test_a_killed_host_finishes(backhaul_testbed: Testbed) -> None:
        photo = backhaul_testbed.serve("/1.jpg", b"a picture")
        photo.stall(at=4)
        host = backhaul_testbed.start(photos, photo.url)
        photo.wait_for_bytes(4)
        host.kill()
        photo.release()
        backhaul_testbed.launched().wait()

A ``Testbed`` is all that a host meets in a test: an empty store in a temporary directory, the daemon of this store, an
HTTP server (the *origin*), the clock of the daemon, and the machine's conditions. The test moves the clock, changes the
conditions, decides how the origin answers, and starts and kills the host and the daemon. pytest finds the fixture
``backhaul_testbed`` by itself. With another test framework, use ``with Testbed() as testbed``.
"""

from ._hosts import Host, HostFailed, launch_command
from ._origin import Request, Resource
from ._testbed import Point, Testbed

__all__ = ["Host", "HostFailed", "Point", "Request", "Resource", "Testbed", "launch_command"]
