"""The proxy squid demands a credential (Digest), for plain requests and for tunnels. With default handling of this
demand, the host gives no credential, and the task ends with the proxy's response."""

import pytest

from backhaul import ChallengeKind, Proxy, Scheme, Status, TaskState
from credentials.squid import Squid
from servers.content import sha256_of
from testbed.challenges import ASK_FOR_CREDENTIALS, challenge, task_events


@pytest.fixture(scope="module")
def squid():
    with Squid() as running:
        yield running


@pytest.fixture(params=["plain", "tunnel"])
def address(request, nginx):
    return nginx.url if request.param == "plain" else nginx.tls_url


def through(host, squid, certificates, **options):
    one = host()
    fixed = {**ASK_FOR_CREDENTIALS, "ca_file": str(certificates.authority), "proxy": Proxy(url=squid.url)}
    one.session(**{**fixed, **options})
    return one


def test_all_tasks_use_one_credential_for_squid(host, squid, address, certificates, served, downloads):
    one = through(host, squid, certificates)
    for name in served.names[:20]:
        one.download(f"{address}/{name}", downloads / name)
    asked = challenge(one, 20)
    assert (asked.kind, asked.schemes, asked.realm, asked.origin) == (
        ChallengeKind.PROXY, Scheme.DIGEST, "the way out", squid.url)
    one.respond(asked.id, user="porter", password="wrong")
    one.respond(challenge(one, 20, failures=1).id, user="porter", password="key")
    assert [event.state for event in task_events(one.wait_for())] == [TaskState.SUCCEEDED] * 20
    assert all(sha256_of(downloads / name) == served.digests[name] for name in served.names[:20])


def test_the_configuration_of_a_session_may_contain_the_proxy_credential(
        host, squid, address, certificates, served, downloads):
    one = through(host, squid, certificates, asks_for_credentials=False, proxy=Proxy(user="porter", password="key"))
    name = served.names[0]
    one.download(f"{address}/{name}", downloads / name)
    assert task_events(one.wait_for())[0].state is TaskState.SUCCEEDED


def test_a_refusal_by_the_host_fails_the_task_and_default_handling_ends_the_task_with_status_407(
        host, squid, address, certificates, served, downloads):
    one = through(host, squid, certificates)
    one.download(f"{address}/{served.names[0]}", downloads / "a")
    one.respond(challenge(one).id, refuse=True)
    assert task_events(one.wait_for())[0].status is Status.AUTHENTICATION_REQUIRED
    one.acknowledge_through(one.wait_for()[-1].id)
    one.download(f"{address}/{served.names[0]}", downloads / "b")
    one.respond(challenge(one).id, default=True)
    event = task_events(one.wait_for())[0]
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 407)
