"""Which errors are retried, how often and when. The session has a policy for retries. A task's own policy overrides the
session's policy."""

import dataclasses
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, UTC
from email.utils import formatdate

import pytest

import backhaul
from backhaul import Next, Policy, Reason, Request, RetryErrors, RetryPolicy, Status, TaskState, TransferRules
from servers.behaviour import Behaviour, retry_after
from servers.content import Content, sha256_of
from testbed.host import until

CONTENT = Content(50_000)
#: Short delays before retries, so that the tests take little time.
SOON = {"first_delay_ms": 1, "longest_delay_ms": 5}
DROP = Behaviour(drop_after=10)


def only_end(one):
    return one.wait_for()[0]


@pytest.mark.parametrize("limit", ["session", "task"])
def test_the_attempt_limit_is_respected(host, misbehaving, downloads, limit):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=503))
    one = host()
    one.session(**SOON, maximum_attempts=3 if limit == "session" else 9)
    policy = Policy(retry=RetryPolicy(maximum_attempts=3)) if limit == "task" else None
    one.download(url, downloads / "a", policy=policy)
    ended = only_end(one)
    assert (ended.status, ended.http_status, ended.attempts) == (Status.HTTP_STATUS, 503, 3)
    assert len(misbehaving.log("/a")) == 3


def test_an_attempt_that_stores_durable_bytes_does_not_count_for_the_attempt_limit(host, misbehaving, downloads):
    content = Content(8_000_000)
    drops = [Behaviour(drop_after=1_500_000) for _ in range(4)]
    url = misbehaving.serve("/a", content, drops)
    one = host()
    one.session(**SOON, maximum_attempts=1)
    one.download(url, downloads / "a")
    ended = only_end(one)
    assert (ended.state, ended.attempts) == (TaskState.SUCCEEDED, 5)
    assert sha256_of(downloads / "a") == content.sha256


def test_the_host_chooses_which_statuses_are_retried(host, misbehaving, downloads):
    missing = [Behaviour(status=404), Behaviour(status=404)]
    one = host()
    one.session(**SOON)
    one.download(misbehaving.serve("/soon", CONTENT, missing), downloads / "soon", key="soon",
                 policy=Policy(retry=RetryPolicy(statuses="404")))
    one.download(misbehaving.serve("/never", CONTENT, [Behaviour(status=503)]), downloads / "never", key="never",
                 policy=Policy(retry=RetryPolicy(statuses="404")))
    ends = {event.key: event for event in one.wait_for()[:2]}
    assert (ends["soon"].state, ends["soon"].attempts) == (TaskState.SUCCEEDED, 3)
    assert (ends["never"].state, ends["never"].http_status, ends["never"].attempts) == (TaskState.FAILED, 503, 1)


@pytest.mark.parametrize("errors, status, behaviour", [
    (RetryErrors.NAME, Status.CONNECTION_LOST, DROP), (RetryErrors.LOST, Status.HTTP_STATUS, Behaviour(status=503)),
    (RetryErrors.NONE, Status.CONNECTION_LOST, DROP),
], ids=["lost", "status", "nothing"])
def test_a_task_fails_at_once_with_an_error_that_its_policy_does_not_retry(
        host, misbehaving, downloads, errors, status, behaviour):
    one = host()
    one.session(**SOON, retry=RetryPolicy(errors=errors))
    one.download(misbehaving.serve("/a", CONTENT, [behaviour]), downloads / "a")
    ended = only_end(one)
    assert (ended.status, ended.attempts) == (status, 1)


def test_a_bad_response_is_retried_only_if_the_policy_demands_it(host, misbehaving, downloads):
    nonsense = [Behaviour(raw=b"nonsense\r\n\r\n")]
    one = host()
    one.session(**SOON)
    # Both requests are enqueued in one call. So a single event reports that all tasks of the session have ended.
    one.enqueue([
        Request(misbehaving.serve("/no", CONTENT, nonsense), downloads / "no", key="no"),
        Request(misbehaving.serve("/yes", CONTENT, nonsense), downloads / "yes", key="yes",
                policy=Policy(retry=RetryPolicy(errors=RetryErrors.BAD_RESPONSE)))])
    ends = {event.key: event for event in one.wait_for()[:2]}
    assert (ends["no"].status, ends["no"].attempts) == (Status.BAD_RESPONSE, 1)
    assert (ends["yes"].state, ends["yes"].attempts) == (TaskState.SUCCEEDED, 2)


@pytest.mark.parametrize("form", ["seconds", "date"])
def test_a_retry_respects_the_delay_in_the_field_retry_after(host, misbehaving, downloads, form):
    one = host()
    one.session(**SOON)
    # A date has whole seconds, so the date may be up to a second too early. The test must see the task while it waits.
    due = time.time() + 12
    value = "10" if form == "seconds" else formatdate(due, usegmt=True)
    url = misbehaving.serve("/a", CONTENT, [retry_after(value)])
    task = one.download(url, downloads / "a")
    until(lambda: one.task(task), lambda seen: seen.reason is Reason.ORIGIN)
    assert only_end(one).state is TaskState.SUCCEEDED
    [first, second] = one.attempts(task)
    earliest = first.started_ms + 10_000 if form == "seconds" else int(due) * 1_000
    assert min(first.next_attempt_ms, second.started_ms) >= earliest - 1_000


@pytest.mark.parametrize("value", ["999999999999999999999", "soon", "-5", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_long_or_invalid_delay_in_the_field_retry_after_postpones_a_retry_by_a_day_at_most(
        host, misbehaving, downloads, value):
    one = host()
    one.session(**SOON)
    task = one.download(misbehaving.serve("/a", CONTENT, otherwise=retry_after(value)), downloads / "a")
    until(lambda: one.attempts(task), lambda seen: seen)
    [first, *_] = one.attempts(task)
    assert first.next is Next.RETRY
    assert 0 < first.next_attempt_ms - first.started_ms <= 86_400_000 + 60_000


def test_the_resource_timeout_of_a_task_is_paused_while_the_task_is_suspended(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT, otherwise=Behaviour(status=503))
    one = host()
    one.session(**SOON)
    policy = Policy(rules=TransferRules(resource_timeout_ms=1_500))
    first = one.download(url, downloads / "first", policy=policy)
    second = one.download(url, downloads / "second", policy=policy, suspended=True)
    one.download(url, downloads / "third")
    [ended] = one.wait_for(1)
    assert (ended.task_id, ended.status) == (first, Status.RESOURCE_TIMEOUT)
    states = {task.id: task.state for task in one.tasks()}
    assert states[second] is TaskState.SUSPENDED
    one.resume([second])
    ended = one.wait_for(2)[1]
    assert (ended.task_id, ended.status) == (second, Status.RESOURCE_TIMEOUT)
    # The task was suspended until the first one had ended. So after the resume it had its whole resource time-out,
    # which the engine measures with another clock.
    assert one.task(second).ended_ms - one.task(first).ended_ms > 1_400


def test_the_resource_timeout_also_ends_tasks_that_wait_for_a_slot(host, misbehaving, downloads):
    one = host()
    one.session(connections_per_origin=1)
    one.download(misbehaving.serve("/slow", Content(10_000_000), otherwise=Behaviour(pace=100_000)), downloads / "slow")
    until(lambda: misbehaving.log("/slow"), bool)
    policy = Policy(rules=TransferRules(resource_timeout_ms=500))
    behind = [one.download(misbehaving.serve("/a", CONTENT), downloads / f"{number}", policy=policy)
              for number in range(20)]
    ends = one.wait_for(20)
    assert {event.task_id for event in ends} == set(behind)
    assert {(event.status, event.attempts) for event in ends} == {(Status.RESOURCE_TIMEOUT, 0)}
    assert not misbehaving.log("/a")


def test_the_resource_timeout_ends_a_task_that_waits_for_its_earliest_start(host, misbehaving, downloads):
    one = host()
    one.session()
    policy = Policy(rules=TransferRules(resource_timeout_ms=500))
    start = datetime.now(UTC) + timedelta(days=1)
    early = one.download(misbehaving.serve("/a", CONTENT), downloads / "a", policy=policy, earliest_start=start)
    end = only_end(one)
    assert (end.task_id, end.status, end.attempts) == (early, Status.RESOURCE_TIMEOUT, 0)


def test_a_shorter_resource_timeout_of_a_session_ends_a_running_task(host, misbehaving, downloads):
    one = host()
    one.session()
    url = misbehaving.serve("/slow", Content(10_000_000), otherwise=Behaviour(pace=100_000))
    running = one.download(url, downloads / "slow")
    until(lambda: misbehaving.log("/slow"), bool)
    now = one.configuration()
    one.set_configuration(dataclasses.replace(now, rules=dataclasses.replace(now.rules, resource_timeout_ms=1_000)))
    end = only_end(one)
    assert (end.task_id, end.status) == (running, Status.RESOURCE_TIMEOUT)


def test_if_a_policy_contradicts_its_session_the_error_message_names_both_fields(host, misbehaving, downloads):
    url = misbehaving.serve("/a", CONTENT)
    one = host()
    one.session(first_delay_ms=1_000, longest_delay_ms=10_000)
    for retry in (RetryPolicy(first_delay_ms=20_000), RetryPolicy(longest_delay_ms=500)):
        with pytest.raises(backhaul.InvalidArgument, match="retry.first_delay_ms.*retry.longest_delay_ms"):
            one.download(url, downloads / "a", policy=Policy(retry=retry))
    with pytest.raises(backhaul.InvalidArgument, match="retry.statuses.*accepted_statuses"):
        one.download(url, downloads / "a", policy=Policy(retry=RetryPolicy(statuses="204")))
    retry = RetryPolicy(first_delay_ms=20_000, longest_delay_ms=20_000)
    one.download(url, downloads / "a", policy=Policy(retry=retry))
    assert only_end(one).state is TaskState.SUCCEEDED


def test_a_post_is_sent_once_if_a_reused_connection_is_lost_and_a_new_one_cannot_be_made(host, downloads):
    """libcurl then tries a new connection by itself, so the attempt ends with the failure of the new connection."""
    requests = []

    def serve(listener):
        connection, _ = listener.accept()
        listener.close()
        with connection, connection.makefile("rb") as stream:
            for answer in (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", None):
                head = list(iter(lambda: stream.readline().strip().lower(), b""))
                stream.read(int(dict(line.split(b": ") for line in head[1:]).get(b"content-length", 0)))
                requests.append(head[0].split()[0])
                if answer:
                    connection.sendall(answer)

    one = host()
    one.session(**SOON, maximum_attempts=3)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        with ThreadPoolExecutor(1) as pool:
            served = pool.submit(serve, listener)
            one.download(f"{url}/a", downloads / "a")
            assert only_end(one).state == TaskState.SUCCEEDED
            [task] = one.enqueue([Request(f"{url}/b", method="POST", body=b"order")])
            served.result()
            [ended] = [event for event in one.wait_for() if event.task_id == task.task_id]
    assert (requests, ended.state, ended.attempts) == ([b"get", b"post"], TaskState.FAILED, 1)
