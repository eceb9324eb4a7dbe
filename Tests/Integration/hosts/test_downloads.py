"""Valid requests to a correct server: the file, the event, and the rules for an existing file."""

import os
import stat
import threading
from urllib.parse import urlsplit

import pytest

from backhaul import AlreadyExists, Conflict, EventKind, NotFound, Request, TaskState, WrongState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from servers.paced import PacedServer
from testbed.host import until

pytestmark = pytest.mark.both_hostings

CONTENT = Content(300_000)


def test_a_download_ends_with_the_complete_file_and_one_event(host, misbehaving, downloads):
    url = misbehaving.serve("/photo.bin", CONTENT)
    one = host()
    assert one.session() is True
    task = one.download(url, downloads / "photo.bin", key="photo", user_data=b"\0any bytes")
    ended, finished = one.wait_for()

    assert ended.kind is EventKind.TASK_ENDED
    assert (ended.task_id, ended.state, ended.status) == (task, TaskState.SUCCEEDED, 0)
    assert (ended.url, ended.final_url, ended.key, ended.user_data) == (url, url, "photo", b"\0any bytes")
    assert (ended.path, ended.size, ended.http_status) == (str(downloads / "photo.bin"), CONTENT.size, 200)
    assert (ended.attempts, ended.bytes_received) == (1, CONTENT.size)
    assert ended.media_type == "application/octet-stream"
    assert ended.header("etag") == CONTENT.etag
    assert sha256_of(ended.path) == CONTENT.sha256
    assert (finished.kind, finished.round, finished.task_id) == (EventKind.SESSION_FINISHED, 1, 0)
    assert ended.round == 1
    assert ended.id < finished.id
    assert os.listdir(downloads) == ["photo.bin"]


def test_a_download_of_an_empty_file_creates_an_empty_file(misbehaving, downloads, one):
    one.download(misbehaving.serve("/empty", Content(0)), downloads / "empty")
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert (downloads / "empty").read_bytes() == b""


def test_chunked_responses_and_responses_without_a_length_are_accepted(misbehaving, downloads, one):
    for name, behaviour in {"chunked": Behaviour(chunked=True), "endless": Behaviour(without_length=True)}.items():
        one.download(misbehaving.serve(f"/{name}", CONTENT, otherwise=behaviour), downloads / name)
    assert [event.state for event in one.wait_for()[:2]] == [TaskState.SUCCEEDED] * 2
    assert {sha256_of(file) for file in downloads.iterdir()} == {CONTENT.sha256}


@pytest.mark.parametrize("over", ["HTTP/1.1", "HTTP/2.0"])
def test_two_hundred_files_arrive_over_each_http_version(host, nginx, served, certificates, downloads, over):
    base = nginx.url if over == "HTTP/1.1" else nginx.tls_url
    one = host()
    one.session(ca_file=str(certificates.authority))
    one.enqueue([Request(f"{base}/{name}", downloads / name, key=name) for name in served.names])
    events = one.wait_for()
    assert len(events) == 201
    assert {event.state for event in events[:-1]} == {TaskState.SUCCEEDED}
    assert {name: sha256_of(downloads / name) for name in served.names} == served.digests
    assert sorted(os.listdir(downloads)) == sorted(served.names)
    assert {asked.protocol for asked in nginx.log()[-200:]} == {over}


def test_the_file_of_a_download_without_a_destination_is_kept_until_the_host_claims_it(misbehaving, downloads, one):
    task = one.download(misbehaving.serve("/a", CONTENT))
    kept = one.wait_for()[0]
    assert sha256_of(kept.path) == CONTENT.sha256

    one.claim(task, downloads / "mine.bin")
    assert sha256_of(downloads / "mine.bin") == CONTENT.sha256
    assert not os.path.exists(kept.path)
    one.claim(task, downloads / "mine.bin")
    assert one.poll(timeout=0)[0].path == str(downloads / "mine.bin")
    with pytest.raises(WrongState):
        one.claim(task, downloads / "other.bin")
    one.acknowledge([kept])
    assert sha256_of(downloads / "mine.bin") == CONTENT.sha256
    with pytest.raises(NotFound):
        one.claim(task, downloads / "mine.bin")


def test_a_claim_replaces_an_existing_file_only_if_the_host_requests_it(host, misbehaving, downloads):
    (downloads / "mine.bin").write_bytes(b"older")
    one = host()
    one.session()
    task = one.download(misbehaving.serve("/a", CONTENT))
    one.wait_for()
    with pytest.raises(AlreadyExists):
        one.claim(task, downloads / "mine.bin")
    assert (downloads / "mine.bin").read_bytes() == b"older"
    one.claim(task, downloads / "mine.bin", if_exists="replace")
    assert sha256_of(downloads / "mine.bin") == CONTENT.sha256


def test_a_kept_file_can_be_claimed_into_another_file_system(host, misbehaving, tmp_path_factory):
    elsewhere = "/dev/shm"
    if not os.access(elsewhere, os.W_OK):
        pytest.skip("there is no second file system to write to")
    target = os.path.join(elsewhere, f"backhaul-claim-{os.getpid()}")
    one = host()
    one.session()
    task = one.download(misbehaving.serve("/a", CONTENT))
    kept = one.wait_for()[0]
    try:
        one.claim(task, target)
        assert sha256_of(target) == CONTENT.sha256
        assert not os.path.exists(kept.path)
    finally:
        if os.path.exists(target):
            os.unlink(target)


def test_an_unclaimed_kept_file_is_removed_when_its_event_is_acknowledged(misbehaving, one):
    one.download(misbehaving.serve("/a", CONTENT))
    kept = one.wait_for()[0]
    one.acknowledge([kept])
    until(lambda: os.path.exists(kept.path), lambda exists: not exists)


def test_the_mode_of_a_file_comes_from_the_request_or_from_the_umask_of_the_host(misbehaving, downloads, one):
    one.set_umask(0o027)
    one.download(misbehaving.serve("/a", CONTENT), downloads / "by-umask")
    one.download(misbehaving.serve("/b", CONTENT), downloads / "by-request", mode=0o604)
    one.wait_for()
    modes = {name: stat.S_IMODE((downloads / name).stat().st_mode) for name in ("by-umask", "by-request")}
    assert modes == {"by-umask": 0o640, "by-request": 0o604}


def test_an_existing_file_is_replaced_only_if_the_request_allows_it(host, misbehaving, downloads):
    (downloads / "a").write_bytes(b"older")
    url = misbehaving.serve("/a", CONTENT)
    one = host()
    one.session()
    with pytest.raises(AlreadyExists):
        one.download(url, downloads / "a")
    assert (downloads / "a").read_bytes() == b"older"
    one.download(url, downloads / "a", if_exists="replace")
    assert one.wait_for()[0].state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_file_that_appears_during_the_download_is_not_overwritten(downloads, one):
    sends_rest = threading.Event()
    with PacedServer(CONTENT, 10_000_000, lambda _: not sends_rest.wait(60)) as server:
        one.download(server.url, downloads / "a")
        until(lambda: server.deliveries and server.deliveries[0].sent, bool)
        (downloads / "a").write_bytes(b"a stranger's")
        sends_rest.set()
        event = one.wait_for()[0]
    assert (event.state, event.status.name) == (TaskState.FAILED, "DESTINATION_EXISTS")
    assert (downloads / "a").read_bytes() == b"a stranger's"
    assert os.listdir(downloads) == ["a"]


def test_the_headers_of_a_request_are_not_sent_to_another_origin_after_a_redirect(host, misbehaving, downloads):
    with type(misbehaving)() as other:
        end = other.serve("/b", CONTENT)
        url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=302, headers={"Location": end}))
        one = host()
        one.session()
        one.download(url, downloads / "a", headers={"Authorization": "Bearer secret", "X-Own": "1"})
        event = one.wait_for()[0]
        assert (event.state, event.final_url) == (TaskState.SUCCEEDED, end)
        assert misbehaving.log()[0].headers["authorization"] == "Bearer secret"
        assert misbehaving.log()[0].headers["x-own"] == "1"
        assert not {"authorization", "x-own"} & set(other.log()[0].headers)


def test_a_repeated_idempotency_key_returns_the_first_task_until_the_tasks_end_is_acknowledged(
        host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT)
    one = host()
    one.session()
    request = Request(url, downloads / "a", key="a")
    first, again = (one.enqueue([request])[0] for _ in range(2))
    assert (first.is_new, again.is_new, again.task_id) == (True, False, first.task_id)

    events = one.wait_for()
    after_its_end = one.enqueue([request])[0]
    assert (after_its_end.is_new, after_its_end.task_id) == (False, first.task_id)
    one.acknowledge(events)
    (downloads / "a").unlink()
    assert one.enqueue([request])[0].is_new
    assert len(misbehaving.log()) <= 2


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "/b"}, "url"),
        ({"destination": "other"}, "destination"),
        ({"headers": {"A": "1"}}, "header"),
        ({"user_data": b"1"}, "user_data"),
    ],
)
def test_the_error_for_another_request_with_the_same_idempotency_key_names_the_field_that_differs(
        host, misbehaving, downloads, change, field):
    base = misbehaving.serve("/a", CONTENT)
    one = host()
    one.session()
    one.download(base, downloads / "a", key="a", suspended=True)
    options = {"key": "a", "suspended": True, **change}
    url = base.replace(urlsplit(base).path, options.pop("url", "/a"))
    with pytest.raises(Conflict, match=f"(?i){field.replace('_', '.')}") as caught:
        one.download(url, downloads / options.pop("destination", "a"), **options)
    assert caught.value.status.name == "KEY_CONFLICT"


def test_the_key_of_a_cancelled_task_causes_a_conflict_until_its_end_event_is_acknowledged(misbehaving, downloads, one):
    wrong = Request(misbehaving.serve("/a", CONTENT), downloads / "a", key="a", suspended=True)
    right = Request(misbehaving.serve("/b", CONTENT), downloads / "a", key="a")
    one.cancel([one.enqueue([wrong])[0].task_id])
    with pytest.raises(Conflict, match="acknowledge the event about its end"):
        one.enqueue([right])
    one.acknowledge(one.wait_for(1)[:1])
    assert one.enqueue([right])[0].is_new


def test_a_request_with_the_destination_of_an_unfinished_task_is_refused(misbehaving, downloads, one):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", suspended=True)
    with pytest.raises(Conflict) as caught:
        one.download(misbehaving.serve("/b", CONTENT), downloads / "a")
    assert caught.value.status.name == "DESTINATION_IN_USE"
