"""Routes that programs such as a VPN use to block all traffic (kill switches), and connections whose local address is
removed from the machine."""

import pytest

from backhaul import Reason, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from servers.sockets import ESTABLISHED, SYN_SENT, count
from testbed.host import until
from testbed.settings import policy

CONTENT = Content(200_000)
#: Without a reset, the transfer would wait for this time-out.
PATIENT = policy(maximum_attempts=9, request_timeout_ms=3_600_000, first_delay_ms=1, longest_delay_ms=1)
#: A limit in seconds. Without a removed address, the engine keeps an idle connection for 30 seconds.
SOON = 12


class Family:
    """The addresses of a family of protocols. `far` is a server's address that only a default route reaches."""

    def __init__(self, ip, here, new, there, far, bits, flags):
        self.ip, self.here, self.new, self.there, self.far = ip, here, new, there, far
        self.bits, self.flags = bits, flags

    def add(self, address):
        return f"{self.ip} addr add {address}/{self.bits} dev cable {self.flags}"

    def remove(self, address):
        return f"{self.ip} addr del {address}/{self.bits} dev cable"

    @property
    def default(self):
        return f"{self.ip} route replace default via {self.there} metric 100"

    @property
    def renumber(self):
        """Replaces the address by the new one. IPv4's default route disappears with the old address."""
        return f"{self.remove(self.here)} && {self.add(self.new)} && {self.default}"


IPV4 = Family("ip -4", "192.0.2.1", "192.0.2.3", "192.0.2.2", "198.51.100.1", 24, "")
IPV6 = Family("ip -6", "2001:db8::1", "2001:db8::3", "2001:db8::2", "2001:db8:1::1", 64, "nodad")


@pytest.fixture(params=[IPV4, IPV6], ids=["IPv4", "IPv6"])
def family(request, network):
    chosen = request.param
    if chosen is IPV6:
        network.add_server_address(f"{chosen.there}/64 dev other nodad")
    network.add_server_address(f"{chosen.far}/{32 if chosen is IPV4 else 128} dev other {chosen.flags}")
    network.here(f"ip link set cable up && {chosen.add(chosen.here)} && {chosen.default}")
    return chosen


@pytest.fixture
def server(network, family):
    made = MisbehavingServer(address=family.far)
    network.there(made.__enter__)
    yield made
    made.__exit__()


@pytest.fixture
def one(host, network):
    started = host(prefix=network.prefix)
    started.session(maximum_attempts=1)
    return started


def url_of(server, family, path, *arguments):
    server.serve(path, *arguments)
    return f"http://{f'[{family.far}]' if ':' in family.far else family.far}:{server.port}{path}"


def local_addresses(one, task):
    """The local addresses of the task's connections. An attempt between the old and the new address has none."""
    return [attempt.local_address for attempt in one.attempts(task) if attempt.local_address]


@pytest.mark.parametrize("kind", ["blackhole", "prohibit", "throw"])
def test_a_task_waits_without_an_attempt_while_a_route_blocks_all_traffic(
        one, network, family, server, downloads, kind):
    network.here(f"{family.ip} route add {kind} default metric 1")
    task = one.download(url_of(server, family, "/a", CONTENT), downloads / "a")
    seen = until(lambda: one.task(task), lambda seen: seen.reason is Reason.CONNECTIVITY)
    assert (seen.state, seen.attempts, seen.status) == (TaskState.WAITING, 0, Status.CONNECTION_FAILED)
    network.here(f"{family.ip} route del {kind} default metric 1")
    ended = one.wait_for()[0]
    assert (ended.state, ended.attempts) == (TaskState.SUCCEEDED, 1)


def test_a_task_for_a_link_local_address_without_an_interface_fails_and_does_not_wait(one, downloads):
    one.download("http://[fe80::1]:9/a", downloads / "a")
    ended = one.wait_for()[0]
    assert (ended.status, ended.attempts) == (Status.CONNECTION_FAILED, 1)


def test_a_download_continues_over_the_new_address_when_its_local_address_is_removed(
        one, network, family, server, downloads):
    url = url_of(server, family, "/a", CONTENT, [Behaviour(stall_after=100_000)])
    task = one.download(url, downloads / "a", policy=PATIENT)
    until(lambda: one.task(task), lambda seen: seen.offset == 100_000)
    network.here(family.renumber)
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256
    assert local_addresses(one, task) == [family.here, family.new]
    assert server.log("/a")[-1].offset == 100_000


def test_an_upload_is_repeated_over_the_new_address_when_its_local_address_is_removed(
        one, network, family, server, downloads):
    # The server reads the request, but does not respond. It would take a body for the next request.
    url = url_of(server, family, "/a", CONTENT, [Behaviour(silent=True)])
    task = one.upload(url, body=b"", policy=PATIENT)
    server.wait_until(lambda log: log)
    network.here(family.renumber)
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert local_addresses(one, task) == [family.here, family.new]


def test_a_connection_attempt_ends_when_its_local_address_is_removed(one, network, family, downloads):
    # The servers' namespace drops all packets to this address.
    silent = "198.51.100.9" if family is IPV4 else "[2001:db8:1::9]"
    task = one.download(f"http://{silent}/a", downloads / "a", policy=PATIENT)
    until(lambda: one.task(task), lambda seen: seen.state is TaskState.RUNNING)
    until(lambda: count(one.pid, SYN_SENT), lambda connecting: connecting == 1)
    network.here(f"{family.ip} route del default metric 100 && {family.remove(family.here)}")
    until(lambda: one.task(task), lambda seen: seen.reason is Reason.CONNECTIVITY)


def test_a_download_continues_in_its_attempt_when_its_local_address_stays_on_the_machine(
        one, network, family, server, downloads):
    content = Content(1_000_000)
    url = url_of(server, family, "/a", content, [Behaviour(pace=1_000_000)])
    task = one.download(url, downloads / "a", policy=PATIENT)
    until(lambda: one.task(task), lambda seen: seen.offset > 0)
    # Another address is removed.
    network.here(f"{family.add(family.new)} && {family.remove(family.new)}")
    if family is IPV6:
        # The address gets deprecated, as temporary addresses do (RFC 8981).
        network.here(f"ip -6 addr change {family.here}/64 dev cable preferred_lft 0 nodad")
    # The address moves to another interface. Its routes must stay.
    whole = 32 if family is IPV4 else 128
    network.here(f"{family.ip} addr add {family.here}/{whole} dev lo {family.flags} && "
                 f"{family.remove(family.here)} && "
                 f"{family.ip} route replace {family.there} dev cable src {family.here} && {family.default}")
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == content.sha256
    assert local_addresses(one, task) == [family.here]


def test_an_idle_connection_is_closed_when_its_local_address_is_removed(one, network, family, server, downloads):
    first = one.download(url_of(server, family, "/a", CONTENT), downloads / "a")
    until(lambda: one.task(first), lambda seen: seen.state is TaskState.SUCCEEDED)
    assert count(one.pid, ESTABLISHED) == 1
    network.here(family.renumber)
    until(lambda: count(one.pid, ESTABLISHED), lambda left: left == 0, SOON)
    second = one.download(url_of(server, family, "/b", CONTENT), downloads / "b")
    until(lambda: one.task(second), lambda seen: seen.state is TaskState.SUCCEEDED)
    [attempt] = one.attempts(second)
    assert (attempt.local_address, attempt.reused_connection) == (family.new, False)
