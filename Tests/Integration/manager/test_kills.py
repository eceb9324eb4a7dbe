"""A daemon that is killed repeatedly.

The user manager of systemd starts the daemon again only five times in a minute (DaemonProcess.swift). With --kills=30,
as in the soak tests of scripts/test, the test kills the daemon more often.
"""

import pytest
from pausing_server import PausingServer

from manager.manager import until
from manager.test_hosts import DAEMON

FILES, SIZE = 6, 400 << 10


@pytest.fixture
def server(tmp_path):
    """No transfer ends before the test releases the server. So the daemon has work until the last kill."""
    folder = tmp_path / "served"
    folder.mkdir()
    for number in range(FILES):
        (folder / str(number)).write_bytes(bytes([number]) * SIZE)
    made = PausingServer({f"/{number}": folder / str(number) for number in range(FILES)}, SIZE // 2, 1 << 20)
    yield made
    made.close()


def test_all_files_arrive_although_the_daemon_is_killed_repeatedly(manager, backhaul, server, tmp_path, request):
    kills = request.config.getoption("--kills")
    daemon = {"BACKHAUL_DAEMON": DAEMON} if DAEMON else {}
    (tmp_path / "here").mkdir()
    backhaul("add", "--directory", tmp_path / "here", *[f"{server.url}/{number}" for number in range(FILES)], **daemon)
    unit = backhaul.json("service", "status", code=3)["unit"]
    killed = set()
    while len(killed) < kills:
        # Usually the manager starts the next daemon. When the manager has given up, this command starts the daemon.
        backhaul("tasks", **daemon)
        process = until(lambda: {manager.property(unit, "MainPID")} - killed - {"0", ""}, "the next daemon").pop()
        manager("kill", "-KILL", process, check=False)
        killed.add(process)
    server.release()
    backhaul("wait", timeout=60, **daemon)
    for number in range(FILES):
        assert (tmp_path / "here" / str(number)).read_bytes() == bytes([number]) * SIZE
    manager("systemctl", "--user", "stop", unit, check=False)
