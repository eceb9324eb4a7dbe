"""Uploads to nginx and Apache. Some tests kill the engine, the process that runs the uploads."""

import random

import pytest

from backhaul import Request, Status, TaskState
from servers.content import Content
from testbed.host import until

pytestmark = pytest.mark.both_hostings


def write(folder, contents):
    for name, content in contents.items():
        (folder / name).write_bytes(content.data)


def ends(events):
    return [event for event in events if not event.is_session_finished]


def test_a_thousand_files_arrive_complete_despite_kills_of_the_engine(host, webdav, sources):
    generator = random.Random(4)
    contents = {f"{i:04}.bin": Content(generator.choice([0, 1, 700, 5_000, 40_000]), i) for i in range(1_000)}
    write(sources, contents)
    one = host()
    one.session(first_delay_ms=10, connections_per_origin=16)
    one.enqueue([Request(f"{webdav.url}/{name}", body_file=sources / name, key=name) for name in contents])
    for number in range(5):
        until(lambda: len(list(webdav.files.iterdir())), lambda count: count >= 150 * (number + 1))
        one.kill_with_engine()
        one = host()
        one.attach()
    events = one.wait_for(timeout=60)
    assert [event.error_message for event in ends(events) if event.state is not TaskState.SUCCEEDED] == []
    assert sorted(event.key for event in ends(events)) == sorted(contents)
    assert webdav.put() == {name: content.data for name, content in contents.items()}
    assert all((sources / name).exists() for name in contents)


def test_after_a_kill_of_the_engine_a_large_upload_starts_from_the_beginning_and_arrives_complete(
        host, webdav, sources):
    content = Content(30_000_000)
    write(sources, {"large": content})
    one = host()
    one.session(first_delay_ms=10)
    one.upload(f"{webdav.url}/large", sources / "large")
    until(one.tasks, lambda tasks: tasks[0].body_sent > 0)
    one.kill_with_engine()
    again = host()
    again.attach()
    [event, _] = again.wait_for()
    assert event.state is TaskState.SUCCEEDED and event.http_status in (201, 204)
    assert event.bytes_sent >= 30_000_000
    assert webdav.put() == {"large": content.data}


def test_uploads_over_http_2_arrive_complete(host, nginx_dav, certificates, sources):
    contents = {str(i): Content(size, i) for i, size in enumerate([0, 1, 70_000, 1_500_000, 6_000_000])}
    write(sources, contents)
    one = host()
    one.session(ca_file=certificates.authority)
    one.enqueue([Request(f"{nginx_dav.tls_url}/{name}", body_file=sources / name) for name in contents])
    events = one.wait_for()
    assert [event.error_message for event in ends(events)] == [None] * 5
    assert nginx_dav.put() == {name: content.data for name, content in contents.items()}


def test_an_upload_that_the_server_refuses_as_too_large_fails_with_the_servers_status(host, nginx_dav, sources):
    write(sources, {"a": Content(3_000_000)})
    one = host()
    one.session()
    one.upload(f"{nginx_dav.url}/small/a", sources / "a")
    [event, _] = one.wait_for()
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 413)
    assert event.bytes_sent == 0, "the body was sent before the server refused it"
    assert b"413" in event.error_body


def test_a_suspended_upload_starts_from_the_beginning_when_it_is_resumed(host, forms, sources):
    content = Content(20_000_000)
    write(sources, {"a": content})
    one = host()
    one.session()
    forms.reads.clear()
    one.upload(forms.url("/a"), sources / "a")
    until(one.tasks, lambda tasks: tasks[0].body_sent > 0)
    one.suspend()
    until(one.tasks, lambda tasks: tasks[0].state is TaskState.SUSPENDED)
    forms.reads.set()
    one.resume()
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED
    assert [sent.body for sent in forms.sent] == [content.data]
    assert event.bytes_sent > len(content.data)


def test_a_cancelled_upload_leaves_no_file(host, nginx_dav, sources):
    write(sources, {"a": Content(40_000_000)})
    one = host()
    # The upload takes twenty seconds, so the server cannot have the complete file when the task is cancelled.
    one.session(bytes_per_second=2_000_000)
    one.upload(f"{nginx_dav.url}/a", sources / "a")
    until(one.tasks, lambda tasks: tasks[0].body_sent > 0)
    one.cancel()
    [event, _] = one.wait_for()
    assert event.state is TaskState.CANCELLED
    assert nginx_dav.put() == {}
