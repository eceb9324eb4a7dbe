"""Fixtures of the command line's tests: a server, a folder, and a command line that runs `backhaul` there."""

import pytest

from command_line import CommandLine
from demo_parts.server import Server  # supports ranges, entity tags, a speed limit and a log


@pytest.fixture(params=["daemon", "embedded"])
def hosting(request):
    """Where the engine runs: in the daemon or in the command. Most tests run with both values. Tests that need one of
    them override this fixture."""
    return request.param


@pytest.fixture
def backhaul(tmp_path, hosting):
    command_line = CommandLine(tmp_path, hosting)
    yield command_line
    command_line.end()


@pytest.fixture
def serve(tmp_path):
    """Starts servers of files: `serve({"/path": bytes}, speed)`."""
    servers = []

    def start(contents, speed=1 << 30):
        folder = tmp_path / f"served-{len(servers)}"
        folder.mkdir()
        files = {}
        for number, (path, content) in enumerate(contents.items()):
            file = folder / str(number)
            file.write_bytes(content)
            files[path] = file
        servers.append(Server(files, speed))
        return servers[-1]

    yield start
    for server in servers:
        server.close()
