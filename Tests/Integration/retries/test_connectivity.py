"""Tasks without a network wait until the network is back. This wait is no attempt (no run of the task), so it does
not reduce the number of attempts that the task has left."""

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
    """A host without a route to the servers until a test plugs in the cable (`network.plug()`). The host and its daemon
    run in one network namespace, and the servers run in another."""
    started = host(prefix=network.prefix)
    started.session(maximum_attempts=1)
    return started


def waiting(one, task):
    return until(lambda: one.task(task), lambda seen: seen.reason is Reason.CONNECTIVITY)


def test_a_task_that_waits_for_its_network_uses_no_attempt(one, network, server, downloads):
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
    # Waits until the engine's next timed check of the network is more than 15 seconds away. Until that check, only an
    # event of the kernel can start another check.
    info = until(lambda: waiting(one, task), lambda seen: seen.next_attempt_ms - time.time() * 1_000 > 15_000)
    network.plug()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    [attempt] = one.attempts(task)
    assert attempt.started_ms < info.next_attempt_ms - 3_000


def test_a_download_continues_after_its_network_link_was_lost_and_restored(one, network, server, downloads):
    network.plug()
    content = Content(6_000_000)
    task = one.download(
        server.serve("/a", content, [Behaviour(pace=100_000)]), downloads / "a",
        policy=policy(first_delay_ms=1, longest_delay_ms=1, maximum_attempts=50))
    until(lambda: server.log("/a"), lambda asked: asked and asked[0].sent > 200_000)
    network.unplug()
    until(lambda: one.task(task), lambda seen: seen.reason in (Reason.STALLED, Reason.CONNECTIVITY, Reason.RETRY))
    network.plug()
    server.end_connections()
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == content.sha256


def test_a_task_waits_while_no_name_server_is_reachable(one, downloads):
    task = one.download("http://files.example.org/a", downloads / "a")
    seen = waiting(one, task)
    assert (seen.attempts, seen.status) == (0, Status.NAME_NOT_RESOLVED)


def test_a_task_with_a_loopback_url_never_waits_for_a_network(one, network, downloads):
    one.download("http://127.0.0.1:9/a", downloads / "a")
    ended = one.wait_for()[0]
    assert (ended.status, ended.attempts) == (Status.CONNECTION_FAILED, 1)


def test_a_task_without_a_network_fails_if_its_policy_retries_no_errors(one, network, server, downloads):
    one.download(server.serve("/a", CONTENT), downloads / "a", policy=policy(errors=RetryErrors.NONE))
    assert one.wait_for()[0].status == Status.CONNECTION_FAILED


def test_all_tasks_of_a_server_wait_after_a_few_tasks_have_found_no_route(one, network, server, downloads):
    url = server.serve("/a", Content(100))
    for number in range(100):
        one.download(url, downloads / str(number))
    tasks = until(one.tasks, lambda seen: all(task.reason is Reason.CONNECTIVITY for task in seen))
    assert len(tasks) == 100
    # A few tasks tried to connect to the server and found no route. The other tasks did not try to connect.
    assert sum(task.status == Status.CONNECTION_FAILED for task in tasks) <= 12
    network.plug()
    assert {event.state for event in one.wait_for()[:100]} == {TaskState.SUCCEEDED}


def test_the_resource_timeout_ends_a_task_that_waits_for_a_network(one, network, server, downloads):
    one.download(server.serve("/a", CONTENT), downloads / "a", policy=policy(resource_timeout_ms=1_500))
    assert one.wait_for()[0].status == Status.RESOURCE_TIMEOUT


def test_a_task_that_waits_for_a_network_can_be_suspended_and_resumed_and_cancelled(one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    waiting(one, task)
    one.suspend()
    until(lambda: one.task(task), lambda seen: seen.state is TaskState.SUSPENDED)
    one.resume()
    waiting(one, task)
    one.cancel()
    assert one.wait_for()[0].state is TaskState.CANCELLED


def test_a_task_that_waits_for_its_network_continues_to_wait_in_the_next_engine(host, one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    waiting(one, task)
    one.kill_with_engine()
    other = host(prefix=network.prefix)
    other.attach()
    waiting(other, task)
    network.plug()
    assert other.wait_for()[0].state is TaskState.SUCCEEDED


def test_a_waiting_task_uses_no_attempt_while_a_link_often_fails_and_returns(one, network, server, downloads):
    task = one.download(server.serve("/a", CONTENT), downloads / "a")
    waiting(one, task)
    for _ in range(20):
        network.here("ip link set lo down && ip link set lo up")
    seen = waiting(one, task)
    assert seen.attempts == 0
    network.plug()
    assert one.wait_for()[0].attempts == 1
