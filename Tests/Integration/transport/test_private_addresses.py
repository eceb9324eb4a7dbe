"""With `refuses_private_addresses`, no connection is made to this machine or to a local network."""

import pytest

import backhaul
from backhaul import Policy, Status, TaskState, TransferRules

from servers.behaviour import Behaviour, redirect
from servers.content import Content
from testbed.host import until
from transport.addresses import RESOLVE_ALL, SERVER
from transport.conftest import QUICK

REFUSED = {"refuses_private_addresses": True}
NAME = "server.example.org"


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "2130706433", "[::ffff:127.0.0.1]"])
def test_no_request_reaches_a_server_with_a_private_address(fetch, misbehaving, name):
    misbehaving.serve("/a", Content(10))
    event = fetch(f"http://{name}:{misbehaving.port}/a", **REFUSED)
    assert (event.status, event.attempts) == (Status.ADDRESS_REFUSED, 1), event.error_message
    assert "127.0.0.1" in event.error_message or "::1" in event.error_message
    assert misbehaving.log() == []


def test_a_connection_that_another_task_has_opened_is_not_used_if_its_address_is_private(fetch, misbehaving):
    url = misbehaving.serve("/a", Content(10))
    assert fetch(url).state is TaskState.SUCCEEDED
    assert fetch(url, **REFUSED).status is Status.ADDRESS_REFUSED
    assert fetch(url).state is TaskState.SUCCEEDED
    assert len(misbehaving.log()) == 2


def test_a_task_overrides_the_refusal_of_its_session(fetch, misbehaving):
    url = misbehaving.serve("/a", Content(10))
    policy = Policy(rules=TransferRules(refuses_private_addresses=False))
    assert fetch(url, request={"policy": policy}, **REFUSED).state is TaskState.SUCCEEDED


def test_a_proxy_may_have_a_private_address_and_resolves_the_names_itself(fetch, misbehaving):
    """Over a proxy, only an address and the name of this machine in the URL are refused."""
    misbehaving.serve(f"http://{NAME}/a", Content(10))
    through = {"proxy": backhaul.Proxy(url=misbehaving.url), **REFUSED}
    assert fetch(f"http://{NAME}/a", **through).state is TaskState.SUCCEEDED
    for name in ("127.0.0.1", "localhost", "[::1]"):
        event = fetch(f"http://{name}/a", **through)
        assert event.status is Status.ADDRESS_REFUSED, event.error_message
    assert len(misbehaving.log()) == 1


@pytest.fixture
def one(host, network):
    made = host(prefix=network.prefix, environment=RESOLVE_ALL)
    made.session(**QUICK, **REFUSED)
    return made


def ends(one):
    return [event for event in one.wait_for() if event.task_id]


def test_a_redirect_to_a_private_address_is_not_followed(one, network, distant_server, downloads):
    network.name({"inside.example.org": ["127.0.0.1"]})
    targets = ["http://127.0.0.1:9/", "http://inside.example.org:9/", "http://[::1]:9/"]
    for number, target in enumerate(targets):
        one.download(distant_server.serve(f"/{number}", Content(10), [redirect(target)]), downloads / f"{number}")
    assert [(event.status, event.attempts) for event in ends(one)] == [(Status.ADDRESS_REFUSED, 1)] * len(targets)


def test_a_redirect_between_public_addresses_is_followed(one, distant_server, downloads):
    distant_server.serve("/b", Content(10))
    one.download(distant_server.serve("/a", Content(10), [redirect("/b")]), downloads / "a")
    assert [event.state for event in ends(one)] == [TaskState.SUCCEEDED]


def test_a_name_that_becomes_private_at_a_later_resolution_is_refused(one, network, distant_server, downloads):
    network.name({NAME: [SERVER]})
    distant_server.serve("/a", Content(10), otherwise=Behaviour(status=503, headers={"Connection": "close"}))
    one.download(f"http://{NAME}:{distant_server.port}/a", downloads / "a")
    until(distant_server.log, lambda requests: requests)
    network.name({NAME: ["127.0.0.1"]})
    [event] = ends(one)
    assert event.status is Status.ADDRESS_REFUSED and "127.0.0.1" in event.error_message, event.error_message


def test_only_the_public_addresses_of_a_name_are_used(one, network, distant_server, downloads):
    network.name({NAME: ["127.0.0.1", SERVER, "10.9.8.7"]})
    distant_server.serve("/a", Content(10))
    one.download(f"http://{NAME}:{distant_server.port}/a", downloads / "a")
    assert [event.state for event in ends(one)] == [TaskState.SUCCEEDED]
