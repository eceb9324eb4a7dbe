"""Checksums that the host states, digests that the server sends (RFC 9530), and sizes."""

import base64
import hashlib

import pytest

from backhaul import Status, TaskState
from servers.behaviour import Behaviour
from servers.content import Content, sha256_of
from testbed.checkpoints import wait_for_checkpoint
from testbed.settings import policy

FAST = {"first_delay_ms": 50, "longest_delay_ms": 100}
CONTENT = Content(300_000, seed=1)
OTHER = Content(300_000, seed=2)


def ended_task(host):
    [event, _] = host.wait_for()
    return event


def checksum(content, name="sha256"):
    return f"sha-{name[3:]}:{hashlib.new(name, content.data).hexdigest()}"


def digest(content, name="sha256"):
    return f"sha-{name[3:]}=:{base64.b64encode(hashlib.new(name, content.data).digest()).decode()}:"


@pytest.fixture
def one(host):
    made = host()
    made.session(**FAST)
    return made


@pytest.mark.both_hostings
@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_a_file_with_the_right_checksum_reaches_its_destination_and_its_event_has_the_checksum(
        one, misbehaving, downloads, algorithm):
    one.download(misbehaving.serve("/a", CONTENT), downloads / "a", checksum=checksum(CONTENT, algorithm).upper()
                 .replace("SHA", "sha"), expected_size=CONTENT.size)
    event = ended_task(one)
    assert event.state is TaskState.SUCCEEDED and event.checksum == checksum(CONTENT, algorithm)
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_a_file_with_a_wrong_checksum_is_fetched_twice_and_never_reaches_its_destination(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", OTHER), downloads / "a", checksum=checksum(CONTENT))
    event = ended_task(one)
    assert event.state is TaskState.FAILED and event.status is Status.CHECKSUM_MISMATCH
    assert checksum(CONTENT) in event.error.message and checksum(OTHER) in event.error.message
    assert [asked.range for asked in misbehaving.log("/a")] == [None, None]
    assert not list(downloads.iterdir())


def test_a_second_attempt_succeeds_after_the_first_attempt_got_a_wrong_file(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", CONTENT, [Behaviour(content=OTHER)]), downloads / "a",
                 checksum=checksum(CONTENT))
    assert ended_task(one).state is TaskState.SUCCEEDED
    assert sha256_of(downloads / "a") == CONTENT.sha256


def test_after_a_kill_the_next_engine_still_counts_the_earlier_checksum_mismatch(host, store, misbehaving, downloads):
    first = host()
    first.session(first_delay_ms=3_000)
    first.download(misbehaving.serve("/a", OTHER), downloads / "a", checksum=checksum(CONTENT))
    misbehaving.wait_until(lambda log: log and log[0].ended)
    while not any(task.status is Status.CHECKSUM_MISMATCH for task in first.tasks()):
        pass
    first.kill_with_engine()
    second = host()
    second.attach()
    assert ended_task(second).status is Status.CHECKSUM_MISMATCH
    assert len(misbehaving.log("/a")) == 2


def test_a_resumed_file_is_verified_from_its_first_byte(one, misbehaving, downloads):
    content = Content(6_000_000, seed=3)
    url = misbehaving.serve("/a", content, [Behaviour(drop_after=2_500_000), Behaviour(drop_after=1_500_000)])
    one.download(url, downloads / "a", checksum=checksum(content))
    event = ended_task(one)
    assert event.state is TaskState.SUCCEEDED and event.checksum == checksum(content)
    assert [asked.offset for asked in misbehaving.log("/a")] == [0, 2_500_000, 4_000_000]


def test_a_file_that_resumes_after_a_kill_is_verified(host, store, misbehaving, downloads):
    content = Content(6_000_000, seed=4)
    url = misbehaving.serve("/a", content, [Behaviour(stall_after=3_000_000)])
    first = host()
    first.session()
    first.download(url, downloads / "a", checksum=checksum(content))
    wait_for_checkpoint(store, synced=1)
    first.kill_with_engine()
    second = host()
    second.attach()
    event = ended_task(second)
    assert event.state is TaskState.SUCCEEDED and event.checksum == checksum(content)
    assert misbehaving.log("/a")[1].offset > 0


@pytest.mark.parametrize("field", ["Repr-Digest", "Content-Digest"])
@pytest.mark.parametrize("algorithm", ["sha256", "sha512"])
def test_a_file_is_verified_with_the_digest_that_the_server_sends(one, misbehaving, downloads, field, algorithm):
    right = {field: f"unixsum=:AAAA:, {digest(CONTENT, algorithm)}"}
    wrong = {field: digest(OTHER, algorithm)}
    one.download(misbehaving.serve("/right", CONTENT, otherwise=Behaviour(headers=right)), downloads / "right")
    one.download(misbehaving.serve("/wrong", CONTENT, otherwise=Behaviour(headers=wrong)), downloads / "wrong")
    one.download(misbehaving.serve("/ignored", CONTENT, otherwise=Behaviour(headers=wrong)), downloads / "ignored",
                 ignores_digests=True)
    one.download(misbehaving.serve("/own", CONTENT, otherwise=Behaviour(headers=wrong)), downloads / "own",
                 checksum=checksum(CONTENT))
    ends = {event.url[event.url.rindex("/"):]: event for event in one.wait_for()[:-1]}
    assert ends["/right"].checksum == checksum(CONTENT, algorithm)
    assert ends["/wrong"].status is Status.CHECKSUM_MISMATCH and "the server says" in ends["/wrong"].error.message
    assert ends["/ignored"].state is TaskState.SUCCEEDED and ends["/ignored"].checksum is None
    assert ends["/own"].checksum == checksum(CONTENT)
    assert sorted(path.name for path in downloads.iterdir()) == ["ignored", "own", "right"]


@pytest.mark.parametrize("value", [
    "sha-256", "sha-256=:!!!!:", "sha-256=:AAAA:", "sha-256=:" + "A" * 3_000, "=" * 2_000, "(" * 3_000,
    "sha-256=\"\xff\"", ",,,,", "sha-256=:AAAA:;" * 200,
])
def test_invalid_digest_fields_are_ignored(one, misbehaving, downloads, value):
    headers = {"Repr-Digest": value, "Content-Digest": value}
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(headers=headers)), downloads / "a")
    event = ended_task(one)
    assert event.state is TaskState.SUCCEEDED and event.checksum is None


def test_only_the_repr_digest_of_a_partial_response_is_used_for_the_whole_file(one, misbehaving, downloads):
    content = Content(3_000_000, seed=5)
    rest = Behaviour(headers={"Content-Digest": digest(OTHER), "Repr-Digest": digest(content)})
    one.download(misbehaving.serve("/a", content, [Behaviour(drop_after=2_000_000), rest]), downloads / "a")
    event = ended_task(one)
    assert event.state is TaskState.SUCCEEDED and event.checksum == checksum(content)


def test_a_download_fails_before_its_whole_body_has_arrived_if_the_content_length_is_wrong(one, misbehaving, downloads):
    large = Content(50_000_000, seed=6)
    one.download(misbehaving.serve("/a", large), downloads / "a", expected_size=7)
    event = ended_task(one)
    assert event.status is Status.SIZE_MISMATCH and "50000000" in event.error.message
    assert len(misbehaving.log("/a")) == 2 and event.bytes_received < 10_000_000
    assert not list(downloads.iterdir())


@pytest.mark.parametrize("size", [CONTENT.size - 1, CONTENT.size + 1])
def test_a_download_with_a_wrong_size_fails_if_the_response_has_no_content_length(one, misbehaving, downloads, size):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(chunked=True)), downloads / "a",
                 expected_size=size)
    assert ended_task(one).status is Status.SIZE_MISMATCH
    assert not list(downloads.iterdir())


def test_no_file_is_larger_than_the_maximum_size(one, misbehaving, downloads):
    one.download(misbehaving.serve("/told", CONTENT), downloads / "told", policy=policy(maximum_size=1_000))
    one.download(misbehaving.serve("/untold", CONTENT, otherwise=Behaviour(chunked=True)), downloads / "untold",
                 policy=policy(maximum_size=1_000))
    one.download(misbehaving.serve("/right", CONTENT), downloads / "right", policy=policy(maximum_size=CONTENT.size))
    ends = {event.url[event.url.rindex("/"):]: event for event in one.wait_for()[:-1]}
    assert ends["/told"].status is ends["/untold"].status is Status.TOO_LARGE
    assert ends["/right"].state is TaskState.SUCCEEDED
    assert [path.name for path in downloads.iterdir()] == ["right"]
    assert len(misbehaving.log("/told")) == len(misbehaving.log("/untold")) == 1
