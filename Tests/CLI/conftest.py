"""Fixtures for tests of the command line: the hosting (which process runs the transfers), a command line that runs
`backhaul` in its own folder, and servers."""

import pytest

from command_line import CommandLine
from demo_parts.server import Server  # supports ranges, entity tags, a speed limit and a log
from servers.misbehaving import MisbehavingServer


def pytest_configure(config):
    config.addinivalue_line("markers", "hosting(name): the test runs only with this hosting: daemon or embedded")


def pytest_generate_tests(metafunc):
    """Most tests run with the daemon, and again with an engine in the process of the command."""
    if "hosting" in metafunc.fixturenames:
        marker = metafunc.definition.get_closest_marker("hosting")
        metafunc.parametrize("hosting", marker.args if marker else ["daemon", "embedded"])


@pytest.fixture
def backhaul(tmp_path, hosting):
    command_line = CommandLine(tmp_path, hosting)
    yield command_line
    command_line.end()


@pytest.fixture
def server():
    with MisbehavingServer() as one:
        yield one


@pytest.fixture
def serve(tmp_path):
    """Returns a function that starts a server of files: `serve({"/path": bytes}, speed)`, with the speed in bytes per
    second."""
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
