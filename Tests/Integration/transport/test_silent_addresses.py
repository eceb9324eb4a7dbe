"""Addresses that accept no connection do not disturb other transfers. If some addresses of a host name accept no
connection, the other addresses of this name are used."""

from contextlib import ExitStack

import pytest

from backhaul import Status, TaskState

from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.host import Host, until
from transport.addresses import RESOLVE_ALL, SERVER, SERVER_6, SILENT, SILENT_6
from transport.conftest import QUICK
from transport.dripping import DrippingServer

ONE_TRY = {"maximum_attempts": 1, **QUICK}
SHORT, LONG = Content(20_000), Content(400_000)
#: At this pace, a response with `LONG` takes four seconds. The engine checks its sockets every second, so it checks
#: them several times during such a response.
PACE = Behaviour(pace=100_000)


@pytest.fixture
def one(host, network):
    return host(prefix=network.prefix, environment=RESOLVE_ALL)


@pytest.fixture
def dripping(network):
    made = DrippingServer(SERVER)
    network.there(made.__enter__)
    yield made
    made.__exit__()


def fail_to_connect(one, downloads):
    """Downloads from silent addresses, and returns when all of these downloads have failed."""
    one.session("in vain", request_timeout_ms=1_000, **ONE_TRY)
    for number, address in enumerate(SILENT[:2]):
        one.download(f"http://{address}/a", downloads / f"in vain {number}")
    until(one.tasks, lambda seen: [task.state for task in seen] == [TaskState.FAILED] * 2)
    one.select_session("gallery")


@pytest.mark.both_hostings
def test_a_silent_address_does_not_disturb_a_download_of_another_session(one, dripping, downloads):
    one.session(**ONE_TRY)
    task = one.download(dripping.url + "/a", downloads / "a")
    until(lambda: dripping.dripped, lambda count: count > 0)
    fail_to_connect(one, downloads)
    # The server sends 40 bytes of a response in two seconds. If the engine repeats the request, the bytes of the second
    # response count, too.
    enough = dripping.dripped + 40
    until(lambda: dripping.dripped, lambda count: count > enough or one.task(task).state.has_ended)
    dripping.finish()
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 1), event.error_message
    assert len(one.attempts(task)) == 1 and dripping.requests == ["GET"]


def test_a_silent_address_does_not_disturb_a_running_post_request(one, dripping, downloads):
    one.session(**ONE_TRY)
    one.upload(dripping.url + "/post", body=b"once", method="POST")
    until(lambda: dripping.requests, lambda seen: seen == ["POST"])
    fail_to_connect(one, downloads)
    # The engine checks its sockets every second. If a check can disturb the POST request, two seconds are enough to
    # find out. A download from the same server measures these two seconds.
    one.session("meanwhile", **ONE_TRY)
    other = one.download(dripping.url + "/a", downloads / "a")
    until(lambda: dripping.dripped, lambda count: count > 40 or one.task(other).state.has_ended)
    dripping.finish()
    one.select_session("gallery")
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.attempts, event.response_body) == (TaskState.SUCCEEDED, 1, b"done"), event.error_message
    assert dripping.requests.count("POST") == 1


NAMES = {
    "silent-ipv6.example.org": (SILENT_6, SERVER),
    "ipv6-that-refuses.example.org": (SERVER_6, SERVER),
    "first-of-four-silent.example.org": (SILENT[0], SERVER, *SILENT[1:3]),
    "silent-ipv6-and-first-of-two.example.org": (SILENT_6, SILENT[0], SERVER),
}


def test_a_file_arrives_if_one_address_of_the_host_name_responds(network, place, library, distant_server, downloads):
    """All cases run at the same time, but each case has its own engine. An engine with the sockets of several transfers
    runs libcurl more often than an engine with one transfer. So a shared engine would not show how one transfer
    behaves."""
    network.name(NAMES)
    cases = {f"{size}.{name}": content for name in NAMES for size, content in (("short", SHORT), ("long", LONG))}
    with ExitStack() as stack:
        hosts = {}
        for case in cases:
            hosts[case] = Host(place / case, prefix=network.prefix, environment=RESOLVE_ALL)
            stack.callback(hosts[case].end)
        for one in hosts.values():
            one.open().session(request_timeout_ms=20_000, **ONE_TRY)
        for case, one in hosts.items():
            distant_server.serve(f"/{case}", cases[case], otherwise=PACE)
            one.download(f"http://{case.partition('.')[2]}:{distant_server.port}/{case}", downloads / case)
        for one in hosts.values():
            one.begin("wait_for")
        ends = {case: [event for event in one.finish() if event.task_id] for case, one in hosts.items()}
    found = {case: [(event.state, event.attempts) for event in events] for case, events in ends.items()}
    assert found == dict.fromkeys(cases, [(TaskState.SUCCEEDED, 1)]), ends
    assert {case: sha256_of(downloads / case) for case in cases} == {case: cases[case].sha256 for case in cases}
    assert {case: len(distant_server.log(f"/{case}")) for case in cases} == dict.fromkeys(cases, 1)


def test_a_task_fails_at_the_timeout_if_no_address_of_the_host_name_responds(one, network, downloads):
    network.name({"nowhere.example.org": SILENT})
    one.session(request_timeout_ms=2_000, **ONE_TRY)
    one.download("http://nowhere.example.org:8080/a", downloads / "a")
    [event] = [event for event in one.wait_for() if event.task_id]
    assert (event.state, event.status) == (TaskState.FAILED, Status.REQUEST_TIMEOUT), event.error_message
    assert "nowhere.example.org" in event.error_message and "connect" in event.error_message
