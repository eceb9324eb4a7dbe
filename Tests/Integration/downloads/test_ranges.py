"""Downloads of a byte range: only these bytes of the resource become the file."""

import hashlib

import pytest

from backhaul import BackhaulError, Part, Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content
from testbed.checkpoints import recorded_lengths, wait_for_checkpoint
from testbed.host import until

CONTENT = Content(6_000_000)
#: The range of most tests.
START, SIZE = 1_000_000, 4_000_000
SLICE = CONTENT.data[START:START + SIZE]
FAST = {"first_delay_ms": 50, "longest_delay_ms": 100}


@pytest.fixture
def one(host):
    made = host()
    made.session(**FAST)
    return made


def ended(one):
    return one.wait_for()[0]


@pytest.mark.both_hostings
@pytest.mark.parametrize(("start", "size", "asked"), [
    (START, SIZE, "bytes=1000000-4999999"), (0, 10, "bytes=0-9"), (5_999_990, None, "bytes=5999990-"),
    (5_999_999, 1, "bytes=5999999-5999999")])
def test_the_bytes_of_the_range_become_the_file(one, misbehaving, downloads, start, size, asked):
    wanted = CONTENT.data[start:][:size]
    digest = f"sha-256:{hashlib.sha256(wanted).hexdigest()}"
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", range_start=start, range_size=size,
                 checksum=digest)
    event = ended(one)
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert (downloads / "a").read_bytes() == wanted
    assert (event.size, event.checksum, event.http_status) == (len(wanted), digest, 206)
    assert [request.range for request in misbehaving.log()] == [asked]


def test_slices_of_a_resource_are_downloaded_into_files_of_their_own(one, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT)
    for number in range(6):
        one.download(url, downloads / str(number), range_start=number * 1_000_000, range_size=1_000_000)
    one.wait_for()
    assert b"".join((downloads / str(number)).read_bytes() for number in range(6)) == CONTENT.data


@pytest.mark.both_hostings
def test_after_a_broken_connection_the_rest_of_the_range_is_requested(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", CONTENT, [Behaviour(drop_after=3_000_000)]), downloads / "a",
                 range_start=START, range_size=SIZE)
    assert ended(one).state is TaskState.SUCCEEDED
    assert (downloads / "a").read_bytes() == SLICE
    assert [(request.range, request.if_range) for request in misbehaving.log()] == [
        ("bytes=1000000-4999999", None), ("bytes=4000000-4999999", CONTENT.etag)]


@pytest.mark.both_hostings
def test_a_kill_in_the_middle_of_the_range_loses_nothing(host, one, store, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(stall_after=3_000_000)])
    one.download(url, downloads / "a", range_start=START, range_size=SIZE)
    wait_for_checkpoint(store)
    until(lambda: recorded_lengths(store), lambda lengths: 3_000_000 in lengths.values())
    one.kill_with_engine()
    again = host()
    again.attach()
    assert ended(again).state is TaskState.SUCCEEDED
    assert (downloads / "a").read_bytes() == SLICE
    assert misbehaving.log()[1].range == "bytes=4000000-4999999"


def test_if_the_resource_has_changed_the_whole_range_is_fetched_again(one, misbehaving, downloads):
    other = Content(6_000_000, seed=1)
    url = misbehaving.serve("/a", other, [Behaviour(content=CONTENT, drop_after=3_000_000)])
    misbehaving.serve("/a", other, [Behaviour(content=CONTENT, drop_after=3_000_000,
                                              headers={"ETag": CONTENT.etag})], etag=other.etag)
    one.download(url, downloads / "a", range_start=START, range_size=SIZE)
    assert ended(one).state is TaskState.SUCCEEDED
    assert (downloads / "a").read_bytes() == other.data[START:START + SIZE]


@pytest.mark.parametrize("form", [{}, {"chunked": True}, {"without_length": True}], ids=["length", "chunked", "close"])
@pytest.mark.parametrize("size", [SIZE, None], ids=["slice", "to the end"])
def test_the_range_is_taken_out_of_the_response_of_a_server_that_ignores_it(one, misbehaving, downloads, form, size):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(ignores_range=True, **form)), downloads / "a",
                 range_start=START, range_size=size)
    event = ended(one)
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert (downloads / "a").read_bytes() == CONTENT.data[START:][:size]
    assert event.http_status == 200


def test_a_server_that_ignores_the_range_is_stopped_after_its_last_byte(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", CONTENT, [Behaviour(ignores_range=True, stall_after=START + SIZE)]),
                 downloads / "a", range_start=START, range_size=SIZE)
    assert ended(one).state is TaskState.SUCCEEDED
    assert (downloads / "a").read_bytes() == SLICE


@pytest.mark.both_hostings
@pytest.mark.parametrize("behaviour", [Behaviour(), Behaviour(ignores_range=True),
                                       Behaviour(ignores_range=True, chunked=True)], ids=["range", "length", "chunked"])
@pytest.mark.parametrize("start", [5_000_000, 6_000_000], ids=["end missing", "all missing"])
def test_a_resource_that_is_shorter_than_the_range_fails_with_a_size_mismatch(
        one, misbehaving, downloads, behaviour, start):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=behaviour), downloads / "a", range_start=start,
                 range_size=1_000_001)
    event = ended(one)
    assert event.state is TaskState.FAILED and event.status is Status.SIZE_MISMATCH
    assert "6000000" in event.error_message and f"{start} to {start + 1_000_000}" in event.error_message
    assert not list(downloads.iterdir())


def test_a_response_with_other_bytes_than_the_requested_ones_never_becomes_the_file(host, misbehaving, downloads):
    one = host()
    one.session(**FAST, maximum_attempts=2)
    wrong = {"Content-Range": f"bytes 0-{SIZE - 1}/{CONTENT.size}"}
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(headers=wrong)), downloads / "a",
                 range_start=START, range_size=SIZE)
    event = ended(one)
    assert event.state is TaskState.FAILED and event.status is Status.BAD_RESPONSE
    assert not list(downloads.iterdir())


@pytest.mark.parametrize(("options", "message"), [
    ({"headers": [("Range", "bytes=0-9")]}, "set range_start and range_size instead"),
    ({"range_start": 5, "method": "HEAD"}, "only GET has them"),
    ({"range_start": 5, "if_changed": True, "if_exists": "replace"}, "for a whole file"),
    ({"range_size": 5, "expected_size": 6}, "expected_size is 6, but range_size is 5"),
    ({"range_start": 5, "body": b"a body"}, "the request has another body"),
    ({"range_start": 5, "parts": [Part("a", "b")]}, "the request has another body"),
    ({"range_start": (1 << 63) - 10, "range_size": 11}, "longest possible file"),
], ids=lambda value: value if isinstance(value, str) else "")
def test_a_range_that_contradicts_another_field_is_refused(one, downloads, options, message):
    with pytest.raises(BackhaulError, match=message) as refused:
        one.download("http://127.0.0.1:9/a", downloads / "a", **options)
    assert refused.value.status is Status.INVALID_ARGUMENT
