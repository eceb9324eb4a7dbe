"""What the table stands on: scripted servers of both versions, squid, and one host."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pytest  # noqa: E402
from hosts.conftest import _make_place, certificates, library, pytest_configure  # noqa: E402, F401

from behaviours.player import Player, Stage  # noqa: E402
from behaviours.squid import Squid  # noqa: E402


@pytest.fixture(scope="session")
def stage(certificates, tmp_path_factory):  # noqa: F811
    with Squid(tmp_path_factory.mktemp("squid")) as squid, Stage(certificates, squid) as made:
        yield made


@pytest.fixture(scope="session")
def player(stage, library):  # noqa: F811
    import shutil

    assert library.exists(), f"{library} is not built: run make"
    place = _make_place("table")
    downloads = place / "downloads"
    downloads.mkdir()
    made = Player(stage, place / "store", downloads)
    yield made
    made.close()
    shutil.rmtree(place, ignore_errors=True)
