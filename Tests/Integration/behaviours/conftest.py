"""Fixtures for the table of HTTP behaviours: scripted servers for HTTP/1.1 and HTTP/2, the proxy squid, and one
host."""

import shutil

import pytest

from behaviours.runner import Origins, RowRunner
from behaviours.squid import Squid
from testbed.work_dirs import make_place


@pytest.fixture(scope="session")
def origins(certificates, tmp_path_factory):
    with Squid(tmp_path_factory.mktemp("squid")) as squid, Origins(certificates, squid) as made:
        yield made


@pytest.fixture(scope="session")
def runner(origins, library):
    assert library.exists(), f"{library} is not built: run make"
    place = make_place("table")
    downloads = place / "downloads"
    downloads.mkdir()
    made = RowRunner(origins, place / "store", downloads)
    yield made
    made.close()
    shutil.rmtree(place, ignore_errors=True)
