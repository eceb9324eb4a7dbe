"""Fixtures of the table: scripted servers for HTTP/1.1 and HTTP/2, squid, and one host."""

import shutil

import pytest

from behaviours.player import Player, Stage
from behaviours.squid import Squid
from testbed.places import make_place


@pytest.fixture(scope="session")
def stage(certificates, tmp_path_factory):
    with Squid(tmp_path_factory.mktemp("squid")) as squid, Stage(certificates, squid) as made:
        yield made


@pytest.fixture(scope="session")
def player(stage, library):
    assert library.exists(), f"{library} is not built: run make"
    place = make_place("table")
    downloads = place / "downloads"
    downloads.mkdir()
    made = Player(stage, place / "store", downloads)
    yield made
    made.close()
    shutil.rmtree(place, ignore_errors=True)
