"""Uploads that continue after an interruption: by the draft of the IETF, and by tus."""

import os

import pytest

from backhaul import ResumableUploads, Status, TaskState
from servers.content import Content
from servers.resumable import ResumableServer
from testbed.challenges import challenge, task_events
from testbed.checkpoints import numbers
from testbed.host import continue_now, until, wait_until_interrupted

pytestmark = pytest.mark.both_hostings
CONTENT = Content(3_000_000)


@pytest.fixture
def server():
    with ResumableServer() as running:
        yield running


@pytest.fixture
def upload(host, server, sources):
    """Returns a function that starts an upload and returns the host."""
    def start(path="/files/a", **rules):
        (sources / "a").write_bytes(CONTENT.data)
        one = host()
        one.session(**{"first_delay_ms": 10, **rules})
        one.upload(server.url + path, sources / "a")
        return one

    return start


def succeeded(one):
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED, event.error_message
    return event


def test_a_put_that_was_cut_asks_for_the_offset_and_sends_the_rest(server, upload):
    server.drop_after = [2_000_000]
    event = succeeded(upload())
    assert server.whole == [CONTENT.data]
    assert server.methods() == ["PUT", "HEAD", "PATCH"]
    assert server.requests[2][2]["Content-Length"] == str(1_000_000)
    assert event.http_status == 200 and event.response_body == b"stored"


def test_a_post_that_was_cut_is_continued_although_posts_are_not_repeated(server, host, sources):
    server.drop_after = [2_000_000]
    (sources / "a").write_bytes(CONTENT.data)
    one = host()
    one.session(first_delay_ms=10)
    one.upload(server.url + "/files/a", sources / "a", method="POST")
    succeeded(one)
    assert server.whole == [CONTENT.data]
    assert server.methods() == ["POST", "HEAD", "PATCH"]


def test_an_upload_continues_after_the_engine_was_killed(server, upload, host):
    server.drop_after = [1_000_000, 500_000]
    one = upload(first_delay_ms=60_000)
    wait_until_interrupted(one)
    one.kill_with_engine()
    again = host()
    again.attach()
    continue_now(again)
    succeeded(again)
    assert server.whole == [CONTENT.data]
    assert server.methods().count("PUT") == 1


def test_a_post_is_not_sent_again_if_its_engine_is_killed_after_the_server_has_lost_it(server, host, sources, store):
    server.drop_after, server.refused, server.stalls_refusal = [2_000_000], 404, True
    (sources / "a").write_bytes(CONTENT.data)
    one = host()
    one.session(first_delay_ms=10)
    one.upload(server.url + "/files/a", sources / "a", method="POST")
    until(server.methods, lambda methods: "PATCH" in methods)
    until(lambda: numbers(store, "SELECT count(*) FROM upload_resources"), lambda found: found == [0])
    one.kill_with_engine()
    again = host()
    again.attach()
    [event, _] = again.wait_for()
    assert event.status is Status.CONNECTION_LOST
    assert server.methods().count("POST") == 1


def test_an_upload_whose_token_expires_between_two_attempts_continues_with_new_headers(server, host, sources):
    server.drop_after, server.token = [2_000_000], "new"
    (sources / "a").write_bytes(CONTENT.data)
    one = host()
    one.session(first_delay_ms=10)
    one.upload(server.url + "/files/a", sources / "a", headers={"Authorization": "Bearer old"}, refresh="headers")
    one.respond(challenge(one).id, headers={"Authorization": "Bearer new"})
    [event] = task_events(one.wait_for())
    assert event.state is TaskState.SUCCEEDED and server.whole == [CONTENT.data]
    assert server.methods() == ["PUT", "HEAD", "HEAD", "PATCH"]


def test_a_server_that_has_forgotten_the_upload_gets_the_whole_body_once_more(server, upload):
    server.drop_after = [2_000_000]
    one = upload(first_delay_ms=60_000)
    wait_until_interrupted(one)
    server.forget()
    continue_now(one)
    succeeded(one)
    assert server.whole == [CONTENT.data]
    assert server.methods() == ["PUT", "HEAD", "PUT"]


def test_a_server_without_the_draft_gets_an_ordinary_upload(server, upload):
    server.knows_draft = False
    server.drop_after = [2_000_000]
    succeeded(upload())
    assert server.whole == [CONTENT.data]
    assert server.methods() == ["PUT", "PUT"]


def test_a_server_with_a_limit_for_each_request_gets_the_body_in_parts(server, upload):
    server.limits = "max-append-size=1000000"
    succeeded(upload())
    assert server.whole == [CONTENT.data]
    parts = [int(fields["Content-Length"]) for method, _, fields in server.requests if method == "PATCH"]
    assert len(parts) >= 3 and max(parts) <= 1_000_000


def test_a_server_may_report_its_progress_any_number_of_times(server, upload):
    server.progress_every = 1_000
    succeeded(upload())
    assert server.whole == [CONTENT.data]


def test_the_store_has_what_the_server_confirmed_when_an_attempt_ends(server, upload, store):
    server.progress_every, server.drop_after = 50_000, [2_000_000]
    wait_until_interrupted(upload(first_delay_ms=60_000))
    assert numbers(store, "SELECT upload_offset FROM upload_resources") == [2_000_000]


@pytest.mark.parametrize("path", ["/files/a", "/tus"])
def test_a_server_that_refuses_the_rest_of_the_body_is_not_sent_it_again(server, upload, path):
    # With tus, the first request with a body is a PATCH. It is refused after the server has read it whole.
    server.drop_after, server.refused = [] if path == "/tus" else [2_000_000], 422
    choice = ResumableUploads.TUS if path == "/tus" else ResumableUploads.IETF
    [event, _] = upload(path, resumable_uploads=choice).wait_for()
    assert event.status is Status.HTTP_STATUS and event.http_status == 422
    assert server.methods().count("PATCH") == 1


def test_an_upload_without_the_draft_forgets_no_upload_that_was_begun_by_it(server, upload):
    """If the setting is changed between two attempts, the resource is used by the protocol that made it."""
    server.drop_after = [2_000_000]
    one = upload(first_delay_ms=60_000)
    wait_until_interrupted(one)
    one.reconfigure(resumable_uploads=ResumableUploads.NEVER)
    continue_now(one)
    succeeded(one)
    assert server.whole == [CONTENT.data]


def test_a_small_body_is_sent_without_the_fields_of_the_draft(server, host, sources):
    (sources / "a").write_bytes(b"small")
    one = host()
    one.session()
    one.upload(server.url + "/files/a", sources / "a")
    succeeded(one)
    assert "Upload-Complete" not in server.requests[0][2]


@pytest.mark.parametrize("cuts", [[], [2_000_000], [1_000_000, 1_000_000]])
def test_tus_makes_an_upload_and_sends_what_the_server_does_not_have(server, upload, cuts):
    server.drop_after = list(cuts)
    succeeded(upload("/tus", resumable_uploads=ResumableUploads.TUS))
    assert server.whole == [CONTENT.data]
    assert server.methods() == ["POST", "PATCH", *(["HEAD", "PATCH"] * len(cuts))]


def test_a_file_that_changes_between_two_attempts_is_not_sent_as_a_mixture(server, upload, sources):
    server.drop_after = [2_000_000]
    one = upload(first_delay_ms=60_000)
    wait_until_interrupted(one)
    (sources / "a").write_bytes(Content(3_000_000, 9).data)
    continue_now(one)
    [event, _] = one.wait_for()
    assert event.status is Status.BODY_CHANGED
    assert server.whole == []


def removed(server):
    until(lambda: server.uploads, lambda uploads: uploads == {})
    assert "DELETE" in server.methods()


@pytest.mark.parametrize("path", ["/files/a", "/tus"])
def test_the_server_of_a_cancelled_upload_is_asked_to_remove_what_it_has(server, upload, path):
    server.drop_after = [2_000_000]
    choice = ResumableUploads.TUS if path == "/tus" else ResumableUploads.IETF
    one = upload(path, first_delay_ms=60_000, resumable_uploads=choice)
    wait_until_interrupted(one)
    one.cancel()
    removed(server)


def test_the_server_of_an_upload_that_failed_is_asked_to_remove_what_it_has(server, upload, sources):
    server.drop_after = [2_000_000]
    one = upload(first_delay_ms=60_000)
    wait_until_interrupted(one)
    (sources / "a").write_bytes(Content(3_000_000, 9).data)
    continue_now(one)
    one.wait_for()
    removed(server)


def test_an_engine_that_starts_asks_the_servers_of_uploads_that_were_cancelled_before(server, upload, host):
    server.drop_after, server.refuses_removal = [2_000_000], True
    one = upload(first_delay_ms=60_000)
    wait_until_interrupted(one)
    one.cancel()
    until(server.methods, lambda methods: "DELETE" in methods)
    one.kill_with_engine()
    assert len(server.uploads) == 1
    server.refuses_removal = False
    host().attach()
    until(lambda: server.uploads, lambda uploads: uploads == {})


@pytest.mark.parametrize("choice", [ResumableUploads.AUTOMATIC, ResumableUploads.TUS], ids=["automatic", "tus"])
def test_a_file_that_was_replaced_by_one_of_the_same_size_and_time_is_sent_from_its_first_byte(
        server, upload, sources, choice):
    server.drop_after = [500_000]
    path = "/tus" if choice is ResumableUploads.TUS else "/files/a"
    one = upload(path, first_delay_ms=60_000, resumable_uploads=choice)
    wait_until_interrupted(one)
    other, times = Content(3_000_000, 9).data, os.stat(sources / "a")
    (sources / "b").write_bytes(other)
    os.utime(sources / "b", ns=(times.st_atime_ns, times.st_mtime_ns))
    os.rename(sources / "b", sources / "a")
    continue_now(one)
    succeeded(one)
    assert server.whole == [other]


def test_after_a_redirect_to_another_origin_the_fields_of_the_protocol_are_still_sent(server, host, sources):
    (sources / "a").write_bytes(CONTENT.data)
    with ResumableServer() as redirecting:
        redirecting.redirects_to = server.url
        one = host()
        one.session(first_delay_ms=10, resumable_uploads=ResumableUploads.TUS)
        one.upload(redirecting.url + "/tus", sources / "a")
        succeeded(one)
    assert server.whole == [CONTENT.data]


@pytest.mark.parametrize("path", ["/files/a", "/tus"])
def test_a_server_that_loses_an_upload_three_times_in_a_row_ends_it(server, upload, path):
    server.drop_after, server.refused = [10] * 99, 404
    choice = ResumableUploads.TUS if path == "/tus" else ResumableUploads.IETF
    [event, _] = upload(path, resumable_uploads=choice).wait_for()
    assert event.status is Status.BAD_RESPONSE and "the upload is lost" in event.error_message
    assert len(server.uploads) <= 4
