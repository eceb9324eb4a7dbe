"""Addresses to which no connection can be made: they disturb no other transfer, and a name's other addresses are
used."""

import pytest

from backhaul import Status, TaskState

from hosts.host import until
from retries.network import Unavailable
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from transport.addresses import NAME, SERVER, SERVER_6, SILENT, SILENT_6, SilentNetwork
from transport.conftest import QUICK
from transport.dripping import DrippingServer

ONE_TRY = {"maximum_attempts": 1, **QUICK}
SHORT, LONG = Content(20_000), Content(400_000)
#: Of a response that takes four seconds: a transport that checks its sockets once a second does so meanwhile.
PACE = Behaviour(pace=100_000)


@pytest.fixture
def network(place):
    """Two namespaces; servers listen in one, hosts start in the other with names of the test's own."""
    try:
        made = SilentNetwork(place)
    except Unavailable as reason:
        pytest.skip(f"no network can be made: {reason}")
    yield made
    made.end()


@pytest.fixture
def one(host, network):
    # The resolver returns all addresses of a name in /etc/hosts (host.conf(5)).
    return host(prefix=network.prefix, environment={"RESOLV_MULTI": "on"})


@pytest.fixture
def server(network):
    made = MisbehavingServer(address=SERVER)
    network.there(made.__enter__)
    yield made
    made.__exit__()


@pytest.fixture
def dripping(network):
    made = DrippingServer(SERVER)
    network.there(made.__enter__)
    yield made
    made.__exit__()


def connect_in_vain(one, downloads):
    """Downloads from silent addresses, all of which have failed when it returns."""
    one.session("in vain", request_timeout_ms=1_000, **ONE_TRY)
    for number, address in enumerate(SILENT[:2]):
        one.download(f"http://{address}/a", downloads / f"in vain {number}")
    until(one.tasks, lambda seen: [task.state for task in seen] == [TaskState.FAILED] * 2)
    one.turn_to("gallery")


@pytest.mark.both_hostings
def test_a_silent_address_disturbs_no_download_of_another_session(one, dripping, downloads):
    one.session(**ONE_TRY)
    task = one.download(dripping.url + "/a", downloads / "a")
    until(lambda: dripping.dripped, lambda count: count > 0)
    connect_in_vain(one, downloads)
    # Two seconds of the download, or another request.
    enough = dripping.dripped + 40
    until(lambda: dripping.dripped, lambda count: count > enough or one.task(task).state.has_ended)
    dripping.finish()
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event.error_message
    assert len(one.attempts(task)) == 1 and dripping.requests == ["GET"]


def test_a_silent_address_disturbs_no_post_under_way(one, dripping, downloads):
    one.session(**ONE_TRY)
    one.upload(dripping.url + "/post", body=b"once", method="POST")
    until(lambda: dripping.requests, lambda seen: seen == ["POST"])
    connect_in_vain(one, downloads)
    # A download with the same settings, to measure two more seconds.
    one.session("meanwhile", **ONE_TRY)
    other = one.download(dripping.url + "/a", downloads / "a")
    until(lambda: dripping.dripped, lambda count: count > 40 or one.task(other).state.has_ended)
    dripping.finish()
    one.turn_to("gallery")
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.attempts, event.response_body) == (TaskState.SUCCEEDED, 1, b"done"), event.error_message
    assert dripping.requests.count("POST") == 1


@pytest.mark.parametrize("content", [SHORT, LONG], ids=["short", "long"])
@pytest.mark.parametrize("addresses", [
    pytest.param((SILENT_6, SERVER), id="silent IPv6"),
    pytest.param((SERVER_6, SERVER), id="IPv6 that refuses"),
    pytest.param((SILENT[0], SERVER, *SILENT[1:3]), id="first of four silent"),
    pytest.param((SILENT_6, SILENT[0], SERVER), id="silent IPv6, first of two silent"),
])
def test_a_file_arrives_from_the_address_that_answers(one, network, server, downloads, addresses, content):
    network.name(*addresses)
    server.serve("/a", content, otherwise=PACE)
    one.session(request_timeout_ms=4_000, **ONE_TRY)
    one.download(f"http://{NAME}:{server.port}/a", downloads / "a")
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event.error_message
    assert sha256_of(downloads / "a") == content.sha256
    assert len(server.log("/a")) == 1


def test_without_an_address_that_answers_no_connection_is_made_in_time(one, network, downloads):
    network.name(*SILENT)
    one.session(request_timeout_ms=4_000, **ONE_TRY)
    one.download(f"http://{NAME}:8080/a", downloads / "a")
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.status) == (TaskState.FAILED, Status.REQUEST_TIMEOUT), event.error_message
    assert NAME in event.error_message and "connect" in event.error_message
