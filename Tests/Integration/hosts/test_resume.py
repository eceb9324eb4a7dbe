"""A partial download resumes only if a validator (ETag or Last-Modified) shows that the resource is the same. A
checkpoint is what the store records about the partial file. The engine, which runs the downloads, is in the host or
in a daemon."""

import os

import pytest

from backhaul import TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.checkpoints import wait_for_checkpoint
from testbed.host import until

pytestmark = pytest.mark.both_hostings

CONTENT = Content(6_000_000)
OTHER = Content(6_000_000, seed=99)
#: The number of bytes that arrive before the interruption. The first checkpoint is due earlier: at about 1 MiB, or
#: after a second.
PART = 4_000_000
QUICK = {"first_delay_ms": 50, "longest_delay_ms": 100}


def interrupted_by_the_server(host, misbehaving, downloads, store, behaviours=(), **resource):
    """The server cuts off the first response in the middle. `behaviours` has the server's later responses."""
    url = misbehaving.serve("/a", CONTENT, [Behaviour(drop_after=PART), *behaviours], **resource)
    one = host()
    one.session(**QUICK)
    one.download(url, downloads / "a")
    return one.wait_for()[0]


def interrupted_by_a_kill(host, misbehaving, downloads, store, behaviours=(), **resource):
    """The server stalls the first response, and then the host and the engine are killed. The next host opens the
    session."""
    url = misbehaving.serve("/a", CONTENT, [Behaviour(stall_after=PART), *behaviours], **resource)
    one = host()
    one.session(**QUICK)
    one.download(url, downloads / "a")
    until(lambda: [file.stat().st_size for file in downloads.iterdir()], lambda sizes: sizes == [PART])
    if has_strong_validator(**resource):
        wait_for_checkpoint(store)
    one.kill_with_engine()
    again = host()
    again.attach()
    return again.wait_for()[0]


def has_strong_validator(etag="", last_modified=None, **_):
    """Whether the resource has a strong validator. Without a strong validator, the engine makes no checkpoint."""
    return last_modified is not None or etag is not None and not etag.startswith("W/")


@pytest.fixture(params=[interrupted_by_the_server, interrupted_by_a_kill], ids=["dropped", "killed"])
def interrupted(request, host, misbehaving, downloads, store):
    def interrupt(behaviours=(), **resource):
        event = request.param(host, misbehaving, downloads, store, behaviours, **resource)
        assert event.state is TaskState.SUCCEEDED, event.error_message
        assert os.listdir(downloads) == ["a"]
        return event

    return interrupt


def test_a_download_resumes_with_the_entity_tag(interrupted, misbehaving, downloads):
    event = interrupted()
    first, second = misbehaving.log()
    assert (first.range, first.if_range) == (None, None)
    assert second.offset == PART
    assert second.if_range == CONTENT.etag
    assert second.status == 206
    assert event.http_status == 206
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_download_without_an_entity_tag_resumes_with_last_modified(interrupted, misbehaving, downloads):
    moment = "Wed, 21 Oct 2015 07:28:00 GMT"
    interrupted(etag=None, last_modified=moment)
    assert (misbehaving.log()[1].offset, misbehaving.log()[1].if_range) == (PART, moment)
    assert sha256_of(downloads / "a") == CONTENT.sha256


@pytest.mark.parametrize("etag", [None, 'W/"weak"'], ids=["no validator", "a weak entity tag"])
def test_a_download_without_a_strong_validator_starts_from_the_beginning(interrupted, misbehaving, downloads, etag):
    interrupted(etag=etag)
    assert misbehaving.log()[1].range is None
    assert sha256_of(downloads / "a") == CONTENT.sha256


@pytest.mark.parametrize(
    "behaviour",
    [
        Behaviour(ignores_range=True),
        Behaviour(content=OTHER),
        # The server ignores If-Range, and sends the requested range of another resource.
        Behaviour(content=OTHER, ignores_if_range=True),
        Behaviour(headers={"Content-Range": f"bytes 0-{CONTENT.size - 1}/{CONTENT.size}"}),
        Behaviour(headers={"Content-Range": f"bytes {PART}-{CONTENT.size - 1}/{CONTENT.size + 1}"}),
        Behaviour(headers={"Content-Range": f"bytes {PART + 1}-{CONTENT.size - 1}/{CONTENT.size}"}, shifted=1),
        Behaviour(headers={"Content-Range": None}),
        Behaviour(headers={"Content-Range": "bytes nonsense"}),
        Behaviour(headers={"ETag": '"another node"'}),
        Behaviour(content=Content(CONTENT.size + 1_000, seed=5)),
        Behaviour(content=Content(PART - 1_000, seed=6)),
        Behaviour(status=416, headers={"Content-Range": f"bytes */{PART - 1}"}),
        Behaviour(status=416),
    ],
    ids=[
        "200 to a range", "another resource", "another resource under the range", "Content-Range from 0",
        "another total", "a shifted range", "no Content-Range", "a malformed Content-Range", "another entity tag",
        "a longer resource", "a shorter resource", "416 with another total", "416 without a total",
    ],
)
def test_after_any_response_to_a_range_request_the_file_has_bytes_of_only_one_representation(
        host, misbehaving, downloads, store, behaviour):
    event = interrupted_by_the_server(host, misbehaving, downloads, store, [behaviour])
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert os.listdir(downloads) == ["a"]
    whole = {CONTENT.sha256, behaviour.content.sha256 if behaviour.content else CONTENT.sha256}
    assert sha256_of(downloads / "a") in whole
    assert misbehaving.log()[1].range == f"bytes={PART}-"


def test_a_changed_resource_is_fetched_completely(interrupted, misbehaving, downloads):
    interrupted(otherwise=Behaviour(content=OTHER))
    assert sha256_of(downloads / "a") == OTHER.sha256


def test_a_416_at_the_exact_end_of_the_file_completes_the_file(host, misbehaving, downloads):
    """All bytes have arrived, but the first response has announced one more byte."""
    url = misbehaving.serve("/a", CONTENT, [Behaviour(length_lie=1)])
    one = host()
    one.session(**QUICK)
    one.download(url, downloads / "a")
    event = one.wait_for()[0]
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert sha256_of(downloads / "a") == CONTENT.sha256
    assert os.listdir(downloads) == ["a"]


def test_a_download_resumes_many_times(host, misbehaving, downloads):
    drops = [Behaviour(drop_after=700_000, reset=reset) for reset in (True, False) * 4]
    url = misbehaving.serve("/a", CONTENT, drops)
    one = host()
    one.session(maximum_attempts=2, **QUICK)
    one.download(url, downloads / "a")
    event = one.wait_for()[0]
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 9)
    assert sha256_of(downloads / "a") == CONTENT.sha256
    offsets = [asked.offset for asked in misbehaving.log()]
    assert offsets == sorted(offsets)
    assert offsets[-1] > 2_000_000  # the bound is low, because a reset discards the unread bytes in the socket


def test_a_resumed_download_sends_the_headers_of_its_request(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(drop_after=PART)])
    one = host()
    one.session(**QUICK)
    one.download(url, downloads / "a", headers={"Authorization": "Bearer secret"})
    one.wait_for()
    assert [asked.headers.get("authorization") for asked in misbehaving.log()] == ["Bearer secret"] * 2
