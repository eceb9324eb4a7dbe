"""Usage and budgets of networks. A budget is the number of bytes that may be moved in a day or month. The server
`outside` has a network address of this machine and not a loopback address. The reason is that the engine, which runs
the transfers, does not count loopback traffic."""

import socket

import pytest

from backhaul import BUDGET_NOTHING, Budget, Network, Reason, TaskState
from servers.content import Content
from servers.misbehaving import MisbehavingServer
from testbed.host import until

CONTENT = Content(300_000)


@pytest.fixture
def outside():
    """A server at this machine's address on the network of its default route."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            # Connecting a datagram socket sends no bytes. The kernel only finds the route.
            probe.connect(("198.51.100.1", 9))
        except OSError:
            pytest.skip("this machine has no default route")
        address = probe.getsockname()[0]
    with MisbehavingServer(address=address) as server:
        yield server


def current(host):
    found = [network for network in host.networks() if network.is_current]
    return found[0] if found else None


def test_usage_of_a_network_is_counted_and_kept_for_the_next_engine(host, outside, misbehaving, downloads, one):
    before = current(one)
    if before is None:
        pytest.skip("the network of this machine cannot be read")
    one.download(outside.serve("/a", CONTENT), downloads / "a")
    one.download(misbehaving.serve("/b", CONTENT), downloads / "b")
    assert [event.state for event in one.wait_for() if event.task_id] == [TaskState.SUCCEEDED] * 2
    after = current(one)
    assert after.used_today == after.used_this_month == CONTENT.size
    assert after.name == before.name and after.day_ends_ms <= after.month_ends_ms
    one.close()
    again = host()
    assert current(again).used_today == CONTENT.size


def test_a_used_up_data_budget_delays_tasks_until_the_budget_is_increased(outside, downloads, one):
    network = current(one)
    if network is None:
        pytest.skip("the network of this machine cannot be read")
    one.set_network(Network(network.name, budget=Budget(daily=BUDGET_NOTHING)))
    one.download(outside.serve("/a", CONTENT), downloads / "a")
    waiting, = until(one.tasks, lambda tasks: tasks[0].reason is Reason.BUDGET)
    assert network.name in waiting.reason_text
    one.set_network(Network(network.name, budget=Budget(daily=10**12)))
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    one.set_network(Network(network.name))
    assert current(one).budget == Budget()
