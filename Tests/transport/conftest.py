"""What the transport tests stand on: the host tests' world, and servers whose certificates are wrong in one way."""

import contextlib
import datetime
import ssl
import sys
from pathlib import Path

import pytest
import trustme

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from hosts.conftest import (  # noqa: E402, F401
    certificates,
    downloads,
    host,
    hosting,
    library,
    misbehaving,
    nginx,
    place,
    pytest_configure,
    pytest_generate_tests,
    served,
    store,
)
from servers.content import Content  # noqa: E402
from servers.misbehaving import MisbehavingServer  # noqa: E402

#: No test here waits long between tries.
QUICK = {"first_retry_delay_ms": 20, "longest_retry_delay_ms": 100}


class Authority:
    """Issues certificates, and writes them as files that a session can name."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = trustme.CA()
        self.file = folder / "authority.pem"
        self.ca.cert_pem.write_to_path(self.file)

    def context(self, *names, **options):
        """Of a server with a certificate for these names, or for loopback."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*(names or ("localhost", "127.0.0.1")), **options).configure_cert(context)
        return context

    def client(self, name):
        """The file of a client certificate with its key."""
        path = self.folder / f"{name}.pem"
        issued = self.ca.issue_cert(f"{name}@example.org", common_name=name)
        path.write_bytes(issued.private_key_and_cert_chain_pem.bytes())
        return path


@pytest.fixture(scope="session")
def authority(tmp_path_factory):
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture(scope="session")
def long_ago():
    return datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


@pytest.fixture
def serve():
    """Starts servers that have one content at /a, and stops them after the test."""
    with contextlib.ExitStack() as stack:
        def start(tls=None, size=1_000, **options):
            server = stack.enter_context(MisbehavingServer(tls, **options))
            server.serve("/a", Content(size))
            return server

        yield start


@pytest.fixture
def fetch(host, downloads):
    """Downloads one URL in a session of its own and returns the task's event."""
    opened = []

    def run(url, *, environment=None, name="a", request=None, **options):
        if not opened or environment != opened[-1][1]:
            # The environment that counts is that of the engine.
            if opened:
                opened[-1][0].kill_with_engine()
            opened.append((host(environment=environment), environment))
        else:
            opened.append(opened[-1])
        one = opened[-1][0]
        one.session(f"session {len(opened)}", **{**QUICK, "maximum_attempts": 1, **options})
        one.download(url, downloads / f"{len(opened)} {name}", **(request or {}))
        return next(event for event in one.wait_for() if event.task_id)

    yield run
