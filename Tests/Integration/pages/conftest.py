"""A server with the file of the start pages, and a home directory for their programs."""

import pytest
from daemons import end_daemons
from pausing_server import PausingServer

SIZE = 512_000


def pytest_addoption(parser):
    parser.addoption("--site", action="store_true", help="also build and run the Swift program of its start page")


@pytest.fixture
def home(tmp_path):
    home = tmp_path / "home"
    home.mkdir()
    yield home
    end_daemons(home)


@pytest.fixture
def served(tmp_path):
    """The file that the server sends."""
    file = tmp_path / "large.bin"
    file.write_bytes(bytes(range(256)) * (SIZE // 256))
    return file


@pytest.fixture
def server(served):
    server = PausingServer({"/large.bin": served}, pause_at=SIZE // 2)
    yield server
    server.close()
