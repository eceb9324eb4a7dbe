"""A fleet, and a server with a large file."""

import pytest

from servers.content import write_files
from servers.nginx import Nginx
from testbed.fleet import Database, Fleet


@pytest.fixture(scope="session")
def database():
    return Database()


@pytest.fixture(scope="session")
def large(certificates, tmp_path_factory):
    """A server with one file, whose download takes 16 seconds. Returns the file's URL and digest."""
    files = write_files(tmp_path_factory.mktemp("large"), [3_200_000])
    with Nginx(tmp_path_factory.mktemp("nginx"), files.folder, certificates) as running:
        [(name, digest)] = files.digests.items()
        yield f"{running.url}/slow/{name}", digest


@pytest.fixture
def fleet(database, place):
    made = Fleet(database.create(), place)
    yield made
    made.end()
