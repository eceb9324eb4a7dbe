"""Fixtures for the transport tests: a certificate authority, servers whose certificate can have a fault, and hosts
that many tests share. The tests also use the fixtures of Tests/Integration/hosts."""

import contextlib
import datetime
import itertools
import ssl

import pytest
import trustme

from backhaul import Hosting
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from testbed.host import Host
from testbed.network import Unavailable
from testbed.work_dirs import new_place
from transport.addresses import SERVER, SilentNetwork

#: Short delays between attempts.
QUICK = {"first_delay_ms": 20, "longest_delay_ms": 100}


class Authority:
    """A certificate authority. It writes its certificates into files that a session can name."""

    def __init__(self, folder):
        self.folder = folder
        self.ca = trustme.CA()
        self.file = folder / "authority.pem"
        self.ca.cert_pem.write_to_path(self.file)

    def context(self, *names, **options):
        """Returns the TLS context of a server with a certificate for these names. Without names, the certificate is for
        loopback."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.ca.issue_cert(*(names or ("localhost", "127.0.0.1")), **options).configure_cert(context)
        return context

    def client(self, name):
        """Returns the path of a file with a new client certificate and its key."""
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
def network(place):
    """Two network namespaces. Servers listen in the first namespace. Hosts start in the second namespace, and know the
    server names of the test."""
    try:
        made = SilentNetwork(place)
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()


@pytest.fixture
def distant_server(network):
    """A server whose address belongs neither to this machine nor to a local network."""
    made = MisbehavingServer(address=SERVER)
    network.there(made.__enter__)
    yield made
    made.__exit__()


class SharedHosts:
    """Hosts that many tests share, because the start of a host takes longer than most tests.

    The *hosting* says whether the engine runs in the host or in a separate process. There is one host for each pair of
    hosting and environment, because an engine has the environment of its host.
    """

    def __init__(self, stack, library):
        assert library.exists(), f"{library} is not built: run make"
        self._stack, self._hosts, self._sessions = stack, {}, itertools.count(1)

    def host(self, hosting=Hosting.EMBEDDED, environment=None):
        key = hosting, *sorted((environment or {}).items())
        # A host that a test has killed is replaced by a host with a new store.
        if key not in self._hosts or self._hosts[key].has_ended:
            place = self._stack.enter_context(new_place())
            made = Host(place / "store", hosting=hosting, environment=environment)
            self._stack.callback(made.end)
            self._hosts[key] = made.open()
        return self._hosts[key]

    def new_session(self):
        """Returns a name that no test has used."""
        return f"session {next(self._sessions)}"


@pytest.fixture(scope="session")
def shared_hosts(library):
    with contextlib.ExitStack() as stack:
        yield SharedHosts(stack, library)


@pytest.fixture
def fetch(shared_hosts, downloads):
    """Returns a function that downloads one URL in a new session, and returns the task's event."""
    used = []

    def run(url, *, environment=None, name="a", request=None, **options):
        one = shared_hosts.host(environment=environment)
        one.session(shared_hosts.new_session(), **{**QUICK, "maximum_attempts": 1, **options})
        used.append(one)
        task = one.download(url, downloads / f"{len(used)} {name}", **(request or {}))
        try:
            events = [event for event in one.wait_for() if event.task_id]
            assert events, f"the task has not ended, and these are its last attempts: {one.attempts(task)[-3:]}"
            return events[0]
        except AssertionError:
            # The host is ended, because no other test may get a host with an outstanding reply or task.
            one.end()
            raise

    yield run
    for one in used:
        if not one.has_ended:
            one.close_session()
