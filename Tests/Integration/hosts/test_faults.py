"""Faults of servers, and how a task ends after each fault. The request time-out limits the time without a byte. The
resource time-out limits the time from the enqueue of a task to its end."""

import os
import socket
import time
from email.utils import formatdate

import pytest

from backhaul import Domain, Reason, Status, TaskState
from servers.behaviour import Behaviour, redirect, retry_after
from servers.content import Content, sha256_of
from servers.misbehaving import MisbehavingServer
from testbed.host import until

CONTENT = Content(200_000)
QUICK = {"first_delay_ms": 20, "longest_delay_ms": 50}

#: Temporary faults. The server shows a fault in its first two responses, and then the task succeeds.
PASSING = {
    "the connection ends early": Behaviour(drop_after=1_000),
    "the connection ends before the answer": Behaviour(raw=b""),
    "the connection is reset": Behaviour(drop_after=1_000, reset=True),
    "the answer is shorter than its length": Behaviour(length_lie=10),
    "408": Behaviour(status=408),
    "429": Behaviour(status=429),
    "500": Behaviour(status=500),
    "502": Behaviour(status=502),
    "503": Behaviour(status=503),
    "504": Behaviour(status=504),
}

#: Temporary faults that last until the request time-out.
STALLS = {
    "the server stalls in the body": Behaviour(stall_after=1_000),
    "the server stalls before the answer": Behaviour(silent=True),
}

#: Permanent faults. The two values after a fault are the status and the HTTP status with which the task ends. The test
#: does not compare a value that is None.
LASTING = {
    "400": (Behaviour(status=400, body=b"bad"), Status.HTTP_STATUS, 400),
    "401": (Behaviour(status=401), Status.HTTP_STATUS, 401),
    "403": (Behaviour(status=403), Status.HTTP_STATUS, 403),
    "404": (Behaviour(status=404, body=b"<h1>not here</h1>"), Status.HTTP_STATUS, 404),
    "410": (Behaviour(status=410), Status.HTTP_STATUS, 410),
    "501": (Behaviour(status=501), Status.HTTP_STATUS, 501),
    "505": (Behaviour(status=505), Status.HTTP_STATUS, 505),
    "304 without a condition": (Behaviour(status=304), Status.HTTP_STATUS, 304),
    "a redirect to itself": (redirect("/a"), Status.REDIRECT_REFUSED, None),
    "a redirect to a file": (redirect("file:///etc/passwd"), Status.REDIRECT_REFUSED, None),
    "a redirect to another scheme": (redirect("ftp://127.0.0.1/a"), Status.REDIRECT_REFUSED, None),
    "a redirect without a target": (Behaviour(status=302), None, 302),
    "an endless header": (Behaviour(endless_header=True), Status.BAD_RESPONSE, None),
    "no HTTP at all": (Behaviour(raw=b"220 mail.example.org ESMTP\r\n" * 10), Status.BAD_RESPONSE, None),
    "binary noise": (Behaviour(raw=Content(5_000).data), Status.BAD_RESPONSE, None),
}


def assert_success_of_third_attempt(one, downloads):
    event = one.wait_for()[0]
    assert (event.state, event.attempts) == (TaskState.SUCCEEDED, 3), event.error_message
    assert sha256_of(downloads / "a") == CONTENT.sha256
    assert os.listdir(downloads) == ["a"]


@pytest.mark.parametrize("name", PASSING)
def test_a_task_succeeds_after_a_temporary_fault(host, misbehaving, downloads, name):
    url = misbehaving.serve("/a", CONTENT, [PASSING[name]] * 2)
    one = host()
    one.session(**QUICK)
    one.download(url, downloads / "a")
    assert_success_of_third_attempt(one, downloads)


@pytest.mark.parametrize("name", STALLS)
def test_a_task_succeeds_after_two_request_timeouts(host, misbehaving, downloads, name):
    url = misbehaving.serve("/a", CONTENT, [STALLS[name]] * 2)
    one = host()
    one.session(request_timeout_ms=1_500, first_delay_ms=60_000)
    one.download(url, downloads / "a")

    def wait_for_attempt(number):
        misbehaving.wait_until(lambda log: len(log) == number)
        until(one.tasks, lambda tasks: tasks[0].attempts == number and tasks[0].reason is Reason.RETRY)

    wait_for_attempt(1)
    one.resume()
    wait_for_attempt(2)
    # A slow machine may send no byte for longer than the short time-out.
    one.reconfigure(request_timeout_ms=60_000)
    one.resume()
    assert_success_of_third_attempt(one, downloads)


@pytest.mark.parametrize("name", LASTING)
def test_after_a_permanent_fault_the_task_fails_and_leaves_no_file(host, misbehaving, downloads, name):
    behaviour, status, http_status = LASTING[name]
    url = misbehaving.serve("/a", CONTENT, otherwise=behaviour)
    one = host()
    one.session(maximum_attempts=3, **QUICK)
    one.download(url, downloads / "a")
    event, finished = one.wait_for()
    assert event.state is TaskState.FAILED
    assert len(event.error_message) > 15
    assert event.path is None
    if status is not None:
        assert event.status is status
    if http_status is not None:
        assert event.http_status == http_status
    if event.status is Status.HTTP_STATUS:
        assert (event.error_domain, event.error_detail) == (Domain.HTTP, http_status)
        assert event.error_body == behaviour.body
        assert event.attempts == 1
    assert finished.is_session_finished
    assert os.listdir(downloads) == []


def test_a_task_fails_after_the_configured_number_of_attempts_if_a_temporary_fault_repeats(
        host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=503, body=b"overloaded"))
    one = host()
    one.session(maximum_attempts=3, **QUICK)
    one.download(url, downloads / "a")
    event = one.wait_for()[0]
    assert (event.state, event.status, event.http_status) == (TaskState.FAILED, Status.HTTP_STATUS, 503)
    assert event.attempts == len(misbehaving.log()) == 3


def test_the_event_has_the_error_body_of_the_last_attempt(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=503, body=b"overloaded"))
    one = host()
    one.session(maximum_attempts=2, **QUICK)
    one.download(url, downloads / "a")
    assert one.wait_for()[0].error_body == b"overloaded"


def test_bytes_beyond_the_content_length_do_not_corrupt_the_file(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(length_lie=-1_000)])
    one = host()
    one.session(maximum_attempts=3, **QUICK)
    one.download(url, downloads / "a")
    event = one.wait_for()[0]
    # HTTP/1.1 cannot distinguish the bytes after Content-Length from the next response (RFC 9112, section 6.3).
    if event.state is TaskState.SUCCEEDED:
        assert event.size in (CONTENT.size, CONTENT.size - 1_000)
        assert (downloads / "a").read_bytes() == CONTENT.data[:event.size]


def test_a_silent_server_causes_a_request_timeout(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(silent=True))
    one = host()
    one.session(maximum_attempts=1, request_timeout_ms=300, **QUICK)
    one.download(url, downloads / "a")
    assert one.wait_for()[0].status is Status.REQUEST_TIMEOUT


def test_a_very_slow_server_causes_a_resource_timeout(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(pace=2_000))
    one = host()
    one.session(request_timeout_ms=1_000, resource_timeout_ms=2_500, **QUICK)
    one.download(url, downloads / "a")
    event = one.wait_for()[0]
    assert (event.state, event.status) == (TaskState.FAILED, Status.RESOURCE_TIMEOUT)
    assert os.listdir(downloads) == []


def test_a_task_ends_with_the_status_connection_failed_if_no_process_listens_at_the_port(host, downloads):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/a"
        one = host()
        one.session(maximum_attempts=2, **QUICK)
        one.download(url, downloads / "a")
        event = one.wait_for()[0]
    assert (event.status, event.http_status, event.final_url) == (Status.CONNECTION_FAILED, 0, None)


def test_a_task_ends_with_the_status_name_not_resolved_if_the_host_name_does_not_resolve(host, downloads):
    one = host()
    one.session(maximum_attempts=2, **QUICK)
    one.download("http://name.invalid/a", downloads / "a")
    assert one.wait_for()[0].status is Status.NAME_NOT_RESOLVED


def test_a_certificate_of_an_unknown_authority_fails_the_task_with_the_status_tls_failed(host, certificates, downloads):
    with MisbehavingServer(certificates.server_context()) as server:
        one = host()
        one.session(**QUICK)
        one.download(server.serve("/a", CONTENT), downloads / "a")
        event = one.wait_for()[0]
        assert (event.state, event.status, event.attempts) == (TaskState.FAILED, Status.TLS_FAILED, 1)
        assert "certificate" in event.error_message.lower()


def test_a_certificate_for_another_host_name_fails_the_task_with_the_status_tls_failed(host, certificates, downloads):
    with MisbehavingServer(certificates.server_context(), address="127.0.0.2") as server:
        one = host()
        one.session(ca_file=str(certificates.authority), **QUICK)
        one.download(server.serve("/a", CONTENT), downloads / "a")
        assert one.wait_for()[0].status is Status.TLS_FAILED


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_retry_waits_until_the_time_in_the_field_retry_after(host, misbehaving, downloads, form):
    def pause_for(seconds):
        """Returns the end of a pause, and the response that asks for it."""
        moment = time.time() + seconds
        return moment, retry_after(str(seconds) if form == "seconds" else formatdate(moment, usegmt=True))

    one = host()
    one.session(**QUICK)
    moment, pause = pause_for(3_600)
    task = one.download(misbehaving.serve("/a", CONTENT, [pause]), downloads / "a")
    info = until(lambda: one.task(task), lambda info: info.reason is Reason.ORIGIN)
    assert moment - 1 <= info.next_attempt_ms / 1000, "the retry is before the time of Retry-After"
    assert info.next_attempt_ms / 1000 - time.time() <= 3_600.5, "the retry is after the time of Retry-After"
    assert (info.state, info.status, info.http_status) == (TaskState.WAITING, Status.HTTP_STATUS, 503)
    # The pause of an origin cannot be ended. So a server of another origin sends the short pause.
    with MisbehavingServer() as other:
        moment, pause = pause_for(3)
        one.download(other.serve("/b", CONTENT, [pause]), downloads / "b")
        assert one.wait_for(1)[0].state is TaskState.SUCCEEDED
        # A date has no fractions of a second.
        assert moment - 1 <= time.time(), "the retry came before the time of Retry-After"
        assert len(other.log()) == 2


def test_resuming_a_waiting_task_starts_its_next_attempt_at_once(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, [Behaviour(status=503)])
    one = host()
    one.session(first_delay_ms=3_600_000, longest_delay_ms=3_600_000)
    task = one.download(url, downloads / "a")
    until(lambda: one.task(task), lambda info: info.reason is Reason.RETRY)
    assert one.resume([task]) == 1
    assert one.wait_for()[0].state is TaskState.SUCCEEDED


def test_a_chain_of_redirects_is_followed(host, misbehaving, downloads):
    steps = [301, 302, 303, 307, 308]
    for number, status in enumerate(steps):
        misbehaving.serve(f"/{number}", CONTENT, otherwise=redirect(f"/{number + 1}", status))
    end = misbehaving.serve(f"/{len(steps)}", CONTENT)
    one = host()
    one.session()
    one.download(misbehaving.url + "/0", downloads / "a")
    event = one.wait_for()[0]
    assert (event.state, event.final_url) == (TaskState.SUCCEEDED, end)


def test_a_redirect_from_https_to_http_is_refused(host, misbehaving, certificates, downloads):
    with MisbehavingServer(certificates.server_context()) as secure:
        url = secure.serve("/a", CONTENT, otherwise=redirect(misbehaving.serve("/b", CONTENT)))
        one = host()
        one.session(ca_file=str(certificates.authority))
        one.download(url, downloads / "a")
        assert one.wait_for()[0].status is Status.REDIRECT_REFUSED
        assert misbehaving.log() == []


def test_one_silent_server_does_not_delay_downloads_from_other_servers(host, misbehaving, nginx, served, downloads):
    one = host()
    one.session(request_timeout_ms=60_000, **QUICK)
    for number in range(20):
        url = misbehaving.serve(f"/{number}", CONTENT, otherwise=Behaviour(silent=True))
        one.download(url, downloads / str(number))
    good = one.download(f"{nginx.url}/{served.names[0]}", downloads / "good")
    assert one.wait_for(count=1)[0].task_id == good
