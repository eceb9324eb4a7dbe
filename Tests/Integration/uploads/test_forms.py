"""Forms and bodies, read by a parser that is not part of this project."""

import pytest

from backhaul import Part, Request, Status, TaskState
from servers.content import Content
from servers.resumable import ResumableServer
from testbed.host import until

pytestmark = pytest.mark.both_hostings


def test_pythons_parser_reads_a_form_with_files_and_values(host, forms, sources):
    photo, empty = Content(1_500_000), sources / "empty"
    (sources / "photo.jpg").write_bytes(photo.data)
    empty.write_bytes(b"")
    one = host()
    one.session()
    one.upload(forms.url("/form"), parts=[
        Part("title", "Ein schöner Tag"),
        Part("blank", ""),
        Part("photo", file=sources / "photo.jpg", media_type="image/jpeg"),
        Part("empty", file=empty, file_name="nothing.txt"),
        Part("data", b"\x00\r\n--\xff", media_type="application/octet-stream"),
    ])
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED
    assert event.response_body == b'{"id": 7}' and event.media_type == "application/json"
    [sent] = forms.sent
    assert sent.method == "POST"
    assert [(part.name, part.file_name, part.media_type) for part in sent.parts] == [
        ("title", None, None), ("blank", None, None), ("photo", "photo.jpg", "image/jpeg"),
        ("empty", "nothing.txt", "application/octet-stream"), ("data", None, "application/octet-stream")]
    assert [part.content for part in sent.parts] == [
        "Ein schöner Tag".encode(), b"", photo.data, b"", b"\x00\r\n--\xff"]


def test_a_form_keeps_its_type_after_a_redirect_to_another_origin(host, forms):
    with ResumableServer() as redirecting:
        redirecting.redirects_to = forms.url("")
        one = host()
        one.session()
        one.upload(redirecting.url + "/form", parts=[Part("title", "Sea")])
        [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED, event.error_message
    [sent] = forms.sent
    assert [(part.name, part.content) for part in sent.parts] == [("title", b"Sea")]


@pytest.mark.parametrize("method", ["PUT", "POST", "PATCH"])
def test_a_small_body_from_memory_is_sent_after_its_host_has_ended(host, forms, method, one):
    # The task is suspended until its host has ended.
    one.upload(forms.url("/body"), body=b"one two three", method=method, suspended=True,
               headers={"Content-Type": "text/plain"})
    one.kill()
    again = host()
    again.attach()
    again.resume()
    [event, _] = again.wait_for()
    assert event.state is TaskState.SUCCEEDED
    assert [(sent.method, sent.body, sent.headers["content-type"]) for sent in forms.sent] == [
        (method, b"one two three", "text/plain")]


def end_after_kill(host, forms, one):
    """Kills the host and the engine, and lets the server read again. Returns the end of the only task of the session,
    which another host has read."""
    one.kill_with_engine()
    forms.reads.set()
    again = host()
    again.attach()
    [event, _] = again.wait_for()
    return event


@pytest.mark.parametrize("repeats", [False, True])
def test_a_post_is_repeated_after_a_kill_of_the_engine_only_if_the_session_allows_it(host, forms, repeats):
    one = host()
    one.session(unsafe_methods=repeats)
    forms.reads.clear()
    one.upload(forms.url("/a"), body=b"x" * 900_000, method="POST")
    until(one.tasks, lambda tasks: tasks[0].body_sent > 0)
    assert one.tasks()[0].body_size == 900_000
    event = end_after_kill(host, forms, one)
    if repeats:
        assert event.state is TaskState.SUCCEEDED
    else:
        assert event.status is Status.CONNECTION_LOST and "POST" in event.error_message
        assert event.attempts == 1


@pytest.mark.parametrize("repeats", [False, True])
def test_a_download_by_post_is_repeated_after_a_kill_of_the_engine_only_if_the_session_allows_it(
        host, forms, downloads, repeats):
    forms.response_body = b"answer"
    one = host()
    one.session(unsafe_methods=repeats)
    forms.reads.clear()
    one.download(forms.url("/q"), downloads / "q", body=b"x" * 900_000, method="POST")
    until(one.tasks, lambda tasks: tasks[0].attempts == 1)
    event = end_after_kill(host, forms, one)
    if repeats:
        assert event.state is TaskState.SUCCEEDED and (downloads / "q").read_bytes() == b"answer"
    else:
        assert event.status is Status.CONNECTION_LOST and "POST" in event.error_message
        assert event.attempts == 1 and list(downloads.iterdir()) == []


def test_a_download_by_post_starts_from_the_beginning_when_its_response_is_cut_off(host, forms, downloads):
    forms.response_body, forms.drops[:] = Content(3_000_000).data, [2_000_000]
    one = host()
    one.session(first_delay_ms=10, unsafe_methods=True)
    one.download(forms.url("/q"), downloads / "q", method="POST", body=b"query")
    [event, _] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED
    assert (downloads / "q").read_bytes() == forms.response_body
    asked = [(sent.method, sent.body, sent.headers.get("range")) for sent in forms.sent]
    assert asked == [("POST", b"query", None)] * 2


def test_a_response_body_above_the_limit_is_truncated(host, forms):
    forms.response_body = Content(200_000).data
    one = host()
    one.session()
    one.upload(forms.url("/a"), body=b"?")
    [event, _] = one.wait_for()
    assert event.response_body == forms.response_body[:65_536]


def test_a_put_is_retried_after_a_503_response_and_a_post_is_not_retried(host, forms):
    one = host()
    one.session(first_delay_ms=10)
    forms.statuses[:] = [503]
    one.upload(forms.url("/put"), body=b"1")
    [event, _] = one.wait_for()
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 2)
    one.acknowledge([event])
    forms.statuses[:] = [503]
    one.enqueue([Request(forms.url("/post"), body=b"1", method="POST")])
    [event, _] = one.wait_for()
    assert (event.status, event.http_status) == (Status.HTTP_STATUS, 503)
    assert [sent.path for sent in forms.sent] == ["/put", "/put", "/post"]
    assert not any("expect" in sent.headers for sent in forms.sent), "a small body is sent without `Expect`"
