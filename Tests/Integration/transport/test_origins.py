"""Downloads from nginx, Apache httpd and Caddy: complete downloads, and downloads that resume after a kill of the
engine."""

import os

import pytest

from backhaul import TaskState
from servers.caddy import Caddy
from servers.content import Content, sha256_of
from servers.nginx import Nginx
from servers.webdav import ApacheDAV
from testbed.checkpoints import wait_for_checkpoint
from transport.conftest import QUICK

LARGE = Content(12_000_000, seed=4)


@pytest.fixture(scope="module", params=["nginx", "Apache", "Caddy", "Caddy, HTTP/2"])
def origin(request, tmp_path_factory, certificates):
    """The URL of a folder with two files."""
    folder = tmp_path_factory.mktemp("origin")
    files = folder / "files"
    files.mkdir()
    if request.param == "Apache":
        with ApacheDAV(certificates) as server:
            _fill(server.files)
            yield server.url
        return
    _fill(files)
    kind = Nginx if request.param == "nginx" else Caddy
    with kind(folder, files, certificates) as server:
        yield server.tls_url if request.param.endswith("HTTP/2") else server.url


def _fill(files):
    (files / "little").write_bytes(b"a small file")
    (files / "large").write_bytes(LARGE.data)
    # Apache gives a recently changed file a weak entity tag, with which a download cannot resume. So this file is made
    # old.
    os.utime(files / "large", (1_500_000_000, 1_500_000_000))


def test_a_file_arrives_complete(host, origin, certificates, downloads):
    one = host()
    one.session(ca_file=certificates.authority, **QUICK)
    one.download(f"{origin}/little", downloads / "little")
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert (downloads / "little").read_bytes() == b"a small file"


def test_a_download_resumes_after_a_kill_of_the_engine(host, store, origin, certificates, downloads):
    one = host()
    one.session(ca_file=certificates.authority, bytes_per_second=100_000, **QUICK)
    one.download(f"{origin}/large", downloads / "large")
    wait_for_checkpoint(store, synced=100_000)
    one.kill_with_engine()
    again = host()
    again.attach()
    again.reconfigure(bytes_per_second=None)
    event = again.wait_for()[0]
    assert (event.state, event.http_status) == (TaskState.SUCCEEDED, 206), event
    assert sha256_of(downloads / "large") == LARGE.sha256
