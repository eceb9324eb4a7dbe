"""Tasks without a network wait until the network is back. The wait uses no attempt."""

import time

import pytest

from backhaul import Reason, RetryErrors, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from testbed.host import until
from testbed.settings import policy

pytestmark = pytest.mark.both_hostings

CONTENT = Content(200_000)


@pytest.fixture
def server(network):
    made = MisbehavingServer(address=network.address)
    network.there(made.__enter__)
    yield made
    made.__exit__()


@pytest.fixture
def one(host, network):
    """A host in the network's namespace. Its daemon runs there, too."""
    started = host(prefix=network.prefix)
    started.session(maximum_attempts=1)
    return started


def waiting(one, task):
    return until(lambda: one.task(task), lambda seen: seen.reason is Reason.CONNECTIVITY)


def test_a_task_waits_for_its_network_without_using_an_attempt(one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    seen = waiting(one, task)
    assert (seen.state, seen.attempts, seen.status) == (TaskState.WAITING, 0, Status.CONNECTION_FAILED)
    assert "route to the server" in seen.reason_text and seen.next_attempt_ms > time.time() * 1_000
    assert one.attempts(task) == []
    network.plug()
    ended = one.wait_for()[0]
    assert (ended.state, ended.attempts) == (TaskState.SUCCEEDED, 1)
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_waiting_task_starts_at_once_when_the_network_is_back(one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    # A timer would start the next check more than eight seconds later. Only an event of the kernel starts it earlier.
    look = until(lambda: waiting(one, task), lambda seen: seen.next_attempt_ms - time.time() * 1_000 > 8_000)
    network.plug()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    [attempt] = one.attempts(task)
    assert attempt.started_ms < look.next_attempt_ms - 3_000


def test_a_download_continues_after_the_loss_of_its_link(one, network, server, downloads):
    network.plug()
    content = Content(6_000_000)
    task = one.download(
        server.serve("/a", content, [Behaviour(pace=2_000_000, drop_after=3_000_000)]), downloads / "a",
        policy=policy(first_delay_ms=1, longest_delay_ms=1, maximum_attempts=50))
    until(lambda: server.log("/a"), lambda asked: asked and asked[0].sent > 2_000_000)
    network.unplug()
    until(lambda: one.task(task), lambda seen: seen.reason in (Reason.STALLED, Reason.CONNECTIVITY, Reason.RETRY))
    network.plug()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == content.sha256


def test_a_task_waits_while_no_name_server_is_reachable(one, downloads):
    task = one.download("http://files.example.org/a", downloads / "a")
    seen = waiting(one, task)
    assert (seen.attempts, seen.status) == (0, Status.NAME_NOT_RESOLVED)


def test_loopback_is_never_waited_for(one, network, downloads):
    one.download("http://127.0.0.1:9/a", downloads / "a")
    ended = one.wait_for()[0]
    assert (ended.status, ended.attempts) == (Status.CONNECTION_FAILED, 1)


def test_a_task_that_does_not_retry_connection_errors_does_not_wait_for_a_network(one, network, server, downloads):
    one.download(server.serve("/a", CONTENT), downloads / "a", policy=policy(errors=RetryErrors.NONE))
    assert one.wait_for()[0].status == Status.CONNECTION_FAILED


def test_many_tasks_wait_after_few_attempts_and_all_list_the_reason(one, network, server, downloads):
    url = server.serve("/a", Content(100))
    for number in range(100):
        one.download(url, downloads / str(number))
    tasks = until(one.tasks, lambda seen: all(task.reason is Reason.CONNECTIVITY for task in seen))
    assert len(tasks) == 100
    # A few tasks of the server were tried and found no route; the others were not tried.
    assert sum(task.status == Status.CONNECTION_FAILED for task in tasks) <= 12
    network.plug()
    assert {event.state for event in one.wait_for()[:100]} == {TaskState.SUCCEEDED}


def test_the_resource_timeout_continues_while_a_task_waits_for_a_network(one, network, server, downloads):
    one.download(server.serve("/a", CONTENT), downloads / "a", policy=policy(resource_timeout_ms=1_500))
    assert one.wait_for()[0].status == Status.RESOURCE_TIMEOUT


def test_a_waiting_task_can_be_suspended_cancelled_and_resumed(one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    waiting(one, task)
    one.suspend()
    until(lambda: one.task(task), lambda seen: seen.state is TaskState.SUSPENDED)
    one.resume()
    waiting(one, task)
    one.cancel()
    assert one.wait_for()[0].state is TaskState.CANCELLED


def test_the_next_engine_keeps_a_task_waiting_for_its_network(host, one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    waiting(one, task)
    one.kill_with_engine()
    other = host(prefix=network.prefix)
    other.attach()
    waiting(other, task)
    network.plug()
    assert other.wait_for()[0].state is TaskState.SUCCEEDED


def test_a_flapping_link_costs_few_attempts(one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    waiting(one, task)
    for _ in range(20):
        network.here("ip link set lo down && ip link set lo up")
    seen = waiting(one, task)
    assert seen.attempts == 0
    network.plug()
    assert one.wait_for()[0].attempts == 1
