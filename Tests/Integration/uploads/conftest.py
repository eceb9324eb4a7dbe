"""Fixtures for the upload tests: a directory for the files to upload, and servers that store what they receive."""

import pytest

from servers.webdav import ApacheDAV, NginxDAV
from uploads.forms import FormReceiver


def pytest_addoption(parser):
    parser.addoption("--upload-size", type=int, default=32, help="MiB of the upload whose engine is killed")
    parser.addoption("--upload-kills", type=int, default=3, help="how often the engine is killed during the upload")


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
