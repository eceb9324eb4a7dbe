"""Fixtures for limits: the fixtures of the tests in Tests/Integration/hosts, a server with large files, and a server
that accepts uploads."""

import shutil

import pytest

from servers.nginx import Nginx
from servers.receiving import ReceivingServer
from testbed.work_dirs import make_place

#: Names and sizes of the files that nginx serves.
FILES = {"200k": 200_000, "1m": 1_000_000, "100m": 100_000_000}


@pytest.fixture(scope="session")
def nginx(certificates, tmp_path_factory):
    folder = make_place("large")
    for name, size in FILES.items():
        with open(folder / name, "wb") as file:
            file.truncate(size)
    with Nginx(tmp_path_factory.mktemp("nginx"), folder, certificates) as running:
        yield running
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(params=["HTTP/1.1", "HTTP/2"])
def large(request, nginx, certificates):
    """Returns the address of nginx's files over one HTTP version, and the session options for this version."""
    if request.param == "HTTP/1.1":
        return nginx.url, {}
    return nginx.tls_url, {"ca_file": str(certificates.authority)}


@pytest.fixture
def upload_sink():
    with ReceivingServer() as running:
        yield running
