"""Servers that require a credential before they accept a body. A challenge is a demand for a credential, such as a
password."""

import pytest

from backhaul import EventKind, Request, Scheme, TaskState
from servers.content import Content
from testbed.host import until

pytestmark = pytest.mark.both_hostings

CREDENTIAL = {"user": "user", "password": "password"}


def ends(events):
    return [event for event in events if event.kind is EventKind.TASK_ENDED]


def test_fifty_uploads_share_one_challenge_and_one_credential(host, nginx_dav, sources):
    contents = {str(i): Content(2_000, i) for i in range(50)}
    for name, content in contents.items():
        (sources / name).write_bytes(content.data)
    one = host()
    one.session(asks_for_credentials=True)
    one.enqueue([Request(f"{nginx_dav.url}/private/{name}", body_file=sources / name) for name in contents])
    [asked] = until(one.challenges, lambda found: found and found[0].waiting_tasks == 50)
    assert asked.schemes & Scheme.BASIC and asked.realm == "staff only"
    one.respond(asked.id, **CREDENTIAL)
    events = one.wait_for()
    assert [event.state for event in ends(events)] == [TaskState.SUCCEEDED] * 50
    assert nginx_dav.put() == {f"private/{name}": content.data for name, content in contents.items()}


def test_a_large_body_is_sent_only_one_time_despite_a_challenge(host, nginx_dav, sources):
    content = Content(8_000_000)
    (sources / "a").write_bytes(content.data)
    one = host()
    one.session(asks_for_credentials=True)
    one.upload(f"{nginx_dav.url}/private/a", sources / "a")
    [asked] = until(one.challenges, lambda found: found)
    one.respond(asked.id, **CREDENTIAL)
    [event] = ends(one.wait_for())
    assert event.state is TaskState.SUCCEEDED
    assert event.bytes_sent == len(content.data)
    assert nginx_dav.put() == {"private/a": content.data}


def test_an_upload_to_apache_with_digest_authentication_succeeds(host, certificates, sources):
    from servers.webdav import ApacheDAV

    content = Content(3_000_000)
    (sources / "a").write_bytes(content.data)
    with ApacheDAV(certificates) as apache:
        one = host()
        one.session(asks_for_credentials=True)
        one.upload(f"{apache.url}/private/a", sources / "a")
        [asked] = until(one.challenges, lambda found: found)
        assert asked.schemes & Scheme.DIGEST
        one.respond(asked.id, **CREDENTIAL)
        [event] = ends(one.wait_for())
        assert event.state is TaskState.SUCCEEDED
        assert apache.put() == {"private/a": content.data}
