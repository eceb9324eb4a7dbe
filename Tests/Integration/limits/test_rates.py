"""Rate limits in bytes per second. The engine, a session and a task can each have a limit.

The tests check that transfers do not exceed a limit. They do not check that transfers reach the limit, because a
busy machine may be slower.
"""

import dataclasses
import time

import pytest

from backhaul import Limits, Policy, Reason, Request, TaskState
from testbed.host import until

pytestmark = pytest.mark.both_hostings

#: The largest number of bytes that a transfer may move earlier than its limit permits. The engine moves chunks of
#: 16,384 bytes, and may exceed the limit by one chunk.
AHEAD = 20_000


def limited(one, level, rate, session):
    """Opens the session with a rate limit at one level. Returns the options that a request needs for this limit."""
    one.session(**session, **({"bytes_per_second": rate} if level == "session" else {}))
    if level == "engine":
        one.set_limits(Limits(bytes_per_second=rate))
    return {"policy": Policy(bytes_per_second=rate)} if level == "task" else {}


@pytest.mark.parametrize("level", ["engine", "session", "task"])
def test_a_download_does_not_exceed_its_rate_limit(host, large, downloads, level):
    url, session = large
    one = host()
    options = limited(one, level, 100_000, session)
    start = time.monotonic()
    one.download(f"{url}/200k", downloads / "a", **options)
    [event] = one.wait_for(1)
    assert event.succeeded and event.size == 200_000
    assert time.monotonic() - start >= (200_000 - AHEAD) / 100_000


@pytest.mark.parametrize("level", ["engine", "session", "task"])
def test_an_upload_does_not_exceed_its_rate_limit(host, upload_sink, place, level):
    (place / "body").write_bytes(bytes(200_000))
    one = host()
    options = limited(one, level, 100_000, {})
    start = time.monotonic()
    one.upload(f"{upload_sink.url}/a", place / "body", **options)
    [event] = one.wait_for(1)
    assert event.succeeded and upload_sink.received == {"a": bytes(200_000)}
    assert time.monotonic() - start >= (200_000 - AHEAD) / 100_000


def test_downloads_and_uploads_share_one_rate_limit(host, nginx, upload_sink, place):
    (place / "body").write_bytes(bytes(200_000))
    one = host()
    one.session(bytes_per_second=200_000)
    start = time.monotonic()
    one.upload(f"{upload_sink.url}/a", place / "body")
    one.download(f"{nginx.url}/200k")
    assert all(event.succeeded for event in one.wait_for(2))
    assert time.monotonic() - start >= (400_000 - AHEAD) / 200_000


def test_a_listing_shows_that_a_task_waits_for_its_rate_limit(host, nginx):
    one = host()
    one.session(bytes_per_second=1_000)
    task = one.download(f"{nginx.url}/1m")
    seen = until(lambda: one.task(task), lambda info: info.reason is Reason.RATE)
    assert seen.state is TaskState.RUNNING and "rate limit" in seen.reason_text


def change_engine(one, _, rate):
    one.set_limits(Limits(bytes_per_second=rate))


def change_session(one, _, rate):
    one.set_configuration(dataclasses.replace(one.configuration(), bytes_per_second=rate))


def change_task(one, task, rate):
    assert one.set_rate(rate, [task]) == 1


@pytest.mark.parametrize("change", [change_engine, change_session, change_task])
def test_a_rate_limit_is_set_and_removed_while_a_task_runs(host, large, change):
    url, session = large
    one = host()
    one.session(**session)
    one.set_limits(Limits(bytes_per_second=1_000_000))
    task = one.download(f"{url}/100m")
    until(lambda: one.task(task).offset, lambda offset: offset > 200_000)
    change(one, task, 1_000)
    until(lambda: one.task(task), lambda info: info.reason is Reason.RATE)
    before = one.task(task).offset
    time.sleep(1)  # the time over which the limit is measured
    assert one.task(task).offset - before <= 2 * 16_384
    change(one, task, 0)
    one.set_limits(Limits())
    assert one.wait_for(1)[0].succeeded


def test_a_raised_rate_limit_takes_effect_at_once(host, nginx):
    one = host()
    one.session(bytes_per_second=100)
    task = one.download(f"{nginx.url}/1m")
    until(lambda: one.task(task), lambda info: info.reason is Reason.RATE)
    one.set_configuration(dataclasses.replace(one.configuration(), bytes_per_second=10_000_000))
    assert one.wait_for(1)[0].succeeded


def test_the_request_timeout_is_paused_while_a_task_waits_for_its_rate_limit(host, large):
    url, session = large
    one = host()
    one.session(request_timeout_ms=1_000, bytes_per_second=10_000, **session)
    one.download(f"{url}/200k")
    task = one.tasks()[0].id
    until(lambda: one.task(task).offset, lambda offset: offset >= 3 * 16_384)
    assert one.task(task).attempts == 1
    one.set_configuration(dataclasses.replace(one.configuration(), bytes_per_second=0))
    [event] = one.wait_for(1)
    assert event.succeeded and event.attempts == 1


def test_tasks_share_a_rate_limit_fairly(host, large):
    url, session = large
    one = host()
    one.session(bytes_per_second=2_000_000, **session)
    ids = [item.task_id for item in one.enqueue([Request(f"{url}/100m")] * 4)]
    offsets = until(lambda: [task.offset for task in one.tasks(ids)], lambda found: sum(found) >= 8_000_000)
    assert min(offsets) >= 0.5 * max(offsets), offsets


def test_tasks_with_a_rate_limit_use_http_1_1_so_that_each_has_its_own_connection(host, nginx, certificates):
    one = host()
    one.session(bytes_per_second=50_000_000, ca_file=str(certificates.authority))
    before = len(nginx.log())
    for rate, protocol in ((50_000_000, "HTTP/1.1"), (0, "HTTP/2.0")):
        one.set_configuration(dataclasses.replace(one.configuration(), bytes_per_second=rate))
        one.enqueue([Request(f"{nginx.tls_url}/200k")] * 3)
        one.acknowledge(one.wait_for())
        assert [request.protocol for request in nginx.log()[before:]] == [protocol] * 3
        before += 3


def test_the_next_engine_keeps_and_lists_the_rate_limit_of_a_task(host, nginx, one):
    task = one.download(f"{nginx.url}/100m", suspended=True)
    assert one.task(task).rate_limit == 0
    assert one.set_rate(1_000, [task]) == 1
    one.kill_with_engine()
    again = host()
    again.attach()
    assert again.task(task).rate_limit == 1_000
    again.resume()
    until(lambda: again.task(task), lambda info: info.reason is Reason.RATE)


def test_a_task_that_waits_for_its_rate_limit_can_be_suspended_or_cancelled_at_once(host, large):
    url, session = large
    one = host()
    one.session(bytes_per_second=1_000, **session)
    first, second = (item.task_id for item in one.enqueue([Request(f"{url}/1m")] * 2))
    until(lambda: one.tasks(), lambda found: all(task.reason is Reason.RATE for task in found))
    assert one.suspend([first]) == 1 and one.cancel([second]) == 1
    until(lambda: one.task(first), lambda info: info.state is TaskState.SUSPENDED)
    assert one.wait_for(1)[0].task_id == second
