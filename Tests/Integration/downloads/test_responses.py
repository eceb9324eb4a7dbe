"""Responses that become files, and responses that do not."""

import pytest

from backhaul import BackhaulError, Policy, Status, TaskState, TransferRules
from servers.behaviour import Behaviour
from servers.content import Content

CONTENT = Content(300_000, seed=1)


@pytest.fixture
def one(host):
    made = host()
    made.session(first_delay_ms=50, longest_delay_ms=100)
    return made


def ended_task(host):
    return host.wait_for()[-2]


@pytest.mark.both_hostings
def test_the_body_of_a_404_becomes_a_file_if_the_request_accepts_the_status_404(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=404, body=b"nothing here")),
                 downloads / "a", policy=Policy(rules=TransferRules(accepted_statuses="200,404")))
    event = ended_task(one)
    assert (event.state, event.http_status) == (TaskState.SUCCEEDED, 404)
    assert (downloads / "a").read_bytes() == b"nothing here"


def test_a_status_that_is_not_accepted_fails_the_task_and_its_event_has_the_response_body(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=203, body=b"changed")), downloads / "a",
                 policy=Policy(rules=TransferRules(accepted_statuses="200")))
    event = ended_task(one)
    assert (event.status, event.http_status, event.error_body) == (Status.HTTP_STATUS, 203, b"changed")
    assert not list(downloads.iterdir())


def test_a_download_resumes_although_the_accepted_statuses_do_not_contain_206(one, misbehaving, downloads):
    content = Content(3_000_000, seed=2)
    one.download(misbehaving.serve("/a", content, [Behaviour(drop_after=2_000_000)]), downloads / "a",
                 policy=Policy(rules=TransferRules(accepted_statuses="200")))
    assert ended_task(one).state is TaskState.SUCCEEDED
    assert misbehaving.log("/a")[1].status == 206


@pytest.mark.both_hostings
def test_a_response_of_another_media_type_is_refused_before_its_body_and_the_error_names_the_option(
        one, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(headers={"Content-Type": "text/html"}))
    one.download(url, downloads / "a", policy=Policy(rules=TransferRules(accepted_types="image/*")))
    event = ended_task(one)
    assert (event.status, event.attempts) == (Status.UNEXPECTED_TYPE, 3)
    assert "text/html" in event.error_message and "accepted_types" in event.error_message
    assert not list(downloads.iterdir())


def test_an_invalid_list_of_media_types_is_refused_and_the_error_names_the_field(one, downloads):
    with pytest.raises(BackhaulError, match="accepted_types"):
        one.download("http://127.0.0.1:9/a", downloads / "a", policy=Policy(rules=TransferRules(accepted_types="a")))


def test_a_204_creates_an_empty_file(one, misbehaving, downloads):
    one.download(misbehaving.serve("/a", CONTENT, otherwise=Behaviour(raw=b"HTTP/1.1 204 No\r\n\r\n")),
                 downloads / "a")
    event = ended_task(one)
    assert (event.state, event.http_status, event.size) == (TaskState.SUCCEEDED, 204, 0)
    assert (downloads / "a").read_bytes() == b""


def test_a_head_request_creates_an_empty_file_and_its_event_has_the_headers(one, misbehaving, downloads):
    head = Behaviour(raw=b"HTTP/1.1 200 OK\r\nContent-Length: 99999\r\nETag: \"v1\"\r\n\r\n")
    one.download(misbehaving.serve("/a", CONTENT, otherwise=head), downloads / "a", method="HEAD")
    event = ended_task(one)
    assert (event.state, event.size) == (TaskState.SUCCEEDED, 0)
    assert ("ETag", "\"v1\"") in [(header[0], header[1]) for header in event.headers]


def test_a_head_request_cannot_be_combined_with_a_checksum(one, misbehaving, downloads):
    with pytest.raises(BackhaulError) as raised:
        one.download(misbehaving.serve("/a", CONTENT), downloads / "a", method="HEAD",
                     checksum=f"sha-256:{CONTENT.sha256}")
    assert raised.value.status is Status.INVALID_ARGUMENT and "HEAD" in str(raised.value)


def test_a_partial_response_with_another_content_coding_is_not_appended(one, misbehaving, downloads):
    content = Content(3_000_000, seed=3)
    url = misbehaving.serve("/a", content, [
        Behaviour(drop_after=2_000_000), Behaviour(headers={"Content-Encoding": "gzip"})])
    one.download(url, downloads / "a")
    assert ended_task(one).state is TaskState.SUCCEEDED
    assert (downloads / "a").read_bytes() == content.data
    assert [asked.offset for asked in misbehaving.log("/a")] == [0, 2_000_000, 0]
