"""Uploads of a byte range of a file."""

import pytest

from backhaul import PRIORITY_NOW, BackhaulError, Status, TaskState
from servers.content import Content
from servers.receiving import ReceivingServer
from servers.resumable import ResumableServer
from testbed.host import continue_now, wait_until_interrupted

CONTENT = Content(6_000_000)
START, SIZE = 1_000_000, 4_000_000
SLICE = CONTENT.data[START:START + SIZE]


@pytest.fixture
def sink():
    with ReceivingServer() as running:
        yield running


@pytest.fixture
def resumable():
    with ResumableServer() as running:
        yield running


@pytest.fixture
def body(sources):
    (sources / "a").write_bytes(CONTENT.data)
    return sources / "a"


def ended(one):
    return one.wait_for()[0]


@pytest.mark.both_hostings
@pytest.mark.parametrize("source", ["reference", "snapshot"])
@pytest.mark.parametrize(("start", "size"), [(START, SIZE), (0, 10), (5_999_999, 1), (5_000_000, None)])
def test_only_the_bytes_of_the_range_are_sent(one, sink, body, source, start, size):
    one.upload(f"{sink.url}/a", body, range_start=start, range_size=size, body_source=source,
               headers=[("X-Part", "1")])
    task = one.tasks()[0]
    event = ended(one)
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert sink.received == {"a": CONTENT.data[start:][:size]}
    assert event.bytes_sent == len(sink.received["a"]) == task.body_size


def test_the_parts_of_a_file_are_sent_by_uploads_of_their_own(one, sink, body):
    for number in range(6):
        one.upload(f"{sink.url}/{number}", body, range_start=number * 1_000_000, range_size=1_000_000)
    one.wait_for()
    assert b"".join(sink.received[str(number)] for number in range(6)) == CONTENT.data


@pytest.mark.both_hostings
@pytest.mark.parametrize("choice", ["automatic", "tus"])
def test_an_interrupted_upload_continues_inside_the_range(host, resumable, body, choice):
    resumable.drop_after = [1_500_000]
    one = host()
    one.session(first_delay_ms=10, resumable_uploads=choice)
    one.upload(resumable.url + ("/tus" if choice == "tus" else "/files/a"), body, range_start=START, range_size=SIZE)
    event = ended(one)
    assert event.state is TaskState.SUCCEEDED, event.error_message
    assert resumable.whole == [SLICE]


def test_an_upload_of_a_range_continues_after_the_engine_was_killed(host, resumable, body):
    resumable.drop_after = [1_500_000]
    one = host()
    one.session(first_delay_ms=60_000)
    one.upload(resumable.url + "/files/a", body, range_start=START, range_size=SIZE)
    wait_until_interrupted(one)
    one.kill_with_engine()
    again = host()
    again.attach()
    again.set_priority(PRIORITY_NOW)
    assert ended(again).state is TaskState.SUCCEEDED
    assert resumable.whole == [SLICE]
    assert resumable.methods().count("PUT") == 1


def test_if_the_file_changes_outside_of_the_range_the_upload_fails(host, resumable, body):
    resumable.drop_after = [1_500_000]
    one = host()
    one.session(first_delay_ms=60_000)
    one.upload(resumable.url + "/files/a", body, range_start=START, range_size=SIZE)
    wait_until_interrupted(one)
    with body.open("r+b") as file:
        file.write(b"changed")
    continue_now(one)
    assert ended(one).status is Status.BODY_CHANGED


@pytest.mark.parametrize(("options", "message"), [
    ({"range_start": 6_000_000}, "has 6000000 bytes, so it does not have the bytes from 6000000"),
    ({"range_start": 5_000_000, "range_size": 1_000_001}, "does not have the bytes 5000000 to 6000000"),
    ({"range_start": 5, "body_source": "consume"}, "BodySource.CONSUME, which removes the whole file"),
], ids=["behind", "too long", "consumed"])
def test_a_range_outside_of_the_file_is_refused(one, body, options, message):
    with pytest.raises(BackhaulError, match=message) as refused:
        one.upload("http://127.0.0.1:9/a", body, **options)
    assert refused.value.status is Status.INVALID_ARGUMENT
    assert body.read_bytes() == CONTENT.data
