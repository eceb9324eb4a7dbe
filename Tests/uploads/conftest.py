"""What the upload tests stand on: the host tests' world, and servers that keep what they are sent."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hosts.conftest import (  # noqa: E402, F401
    certificates,
    downloads,
    host,
    hosting,
    library,
    misbehaving,
    place,
    pytest_configure,
    pytest_generate_tests,
    store,
)
from servers.webdav import ApacheDAV, NginxDAV  # noqa: E402
from uploads.forms import FormReceiver  # noqa: E402


@pytest.fixture
def sources(place):
    """An empty directory for files to upload."""
    made = place / "sources"
    made.mkdir()
    return made


@pytest.fixture(params=[NginxDAV, ApacheDAV], ids=["nginx", "apache"])
def webdav(request, certificates):
    with request.param(certificates) as running:
        yield running


@pytest.fixture
def nginx_dav(certificates):
    with NginxDAV(certificates) as running:
        yield running


@pytest.fixture
def forms():
    with FormReceiver() as running:
        yield running
