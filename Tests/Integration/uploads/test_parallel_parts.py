"""Parts of one upload to S3 that are sent in parallel."""

from collections import Counter

import pytest

from backhaul import PRIORITY_NOW, Limits, Status, TaskState
from servers.content import Content
from servers.s3 import ACCESS_KEY, MEBIBYTE, SECRET_KEY, S3Server
from testbed.host import until

pytestmark = pytest.mark.both_hostings
#: Six parts.
CONTENT = Content(48 * MEBIBYTE)
SMALL = Content(1_000)
KEYS = f"[default]\naws_access_key_id={ACCESS_KEY}\naws_secret_access_key={SECRET_KEY}\n"


@pytest.fixture
def server():
    with S3Server() as running:
        yield running
        running.release()


@pytest.fixture
def environment(place):
    (place / "credentials").write_text(KEYS)
    return {"AWS_CONFIG_FILE": str(place / "config"), "AWS_SHARED_CREDENTIALS_FILE": str(place / "credentials"),
            "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture
def engine(server, host, environment):
    """Returns a function that starts a host whose uploads go to the server."""
    def start(**options):
        one = host(environment=environment)
        one.session(**{"s3_endpoint": server.url, "first_delay_ms": 10, **options})
        return one

    return start


@pytest.fixture
def large(sources):
    (sources / "large").write_bytes(CONTENT.data)
    return sources / "large"


def hold(server, *numbers):
    server.held = {str(number) for number in numbers}


@pytest.fixture
def four_in_flight(server, engine, large):
    """A host with an upload. Four of its parts are in flight, and the server holds all six."""
    hold(server, 1, 2, 3, 4, 5, 6)
    one = engine()
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 4)
    return one


def succeeded(one):
    [event, *_] = one.wait_for()
    assert event.state is TaskState.SUCCEEDED, event.error_message


def puts(server):
    """How many requests the server got for each part."""
    return Counter(int(step.partition("=")[2]) for step in server.steps() if step.startswith("PUT partNumber"))


def test_up_to_four_parts_are_in_flight_together(server, four_in_flight):
    one = four_in_flight
    server.release()
    succeeded(one)
    assert server.objects["bucket", "a"] == CONTENT.data
    assert server.most_in_flight == 4 and puts(server) == {number: 1 for number in range(1, 7)}
    assert server.steps()[-2:] == ["GET uploadId", "POST uploadId"]


@pytest.mark.parametrize("count", [1, 2])
def test_the_limit_of_the_session_counts_the_connections_of_parts(server, engine, large, count):
    hold(server, 1, 2, 3, 4, 5, 6)
    one = engine(connections_per_origin=count)
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == count)
    server.release()
    succeeded(one)
    assert server.most_in_flight == count


def test_the_limit_of_the_engine_counts_the_connections_of_parts(server, engine, large):
    hold(server, 1, 2, 3, 4, 5, 6)
    one = engine()
    one.set_limits(Limits(connections_per_origin=2))
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 2)
    server.release()
    succeeded(one)
    assert server.most_in_flight == 2


def test_a_limit_that_changes_applies_to_the_next_parts(server, four_in_flight):
    one = four_in_flight
    one.set_limits(Limits(connections_per_origin=1))
    server.release("1", "2", "3", "4")
    server.wait_until(lambda: server.parts() == {1, 2, 3, 4} and server.in_flight == 1)
    server.most_in_flight = 0
    server.release()
    succeeded(one)
    assert server.most_in_flight == 1


def test_a_rate_limit_stops_all_parts_but_one(server, four_in_flight):
    one = four_in_flight
    one.set_limits(Limits(bytes_per_second=1 << 30))
    server.release("2", "3", "4")
    until(lambda: server.in_flight, lambda count: count == 1)
    server.most_in_flight = 0
    server.release()
    succeeded(one)
    assert server.objects["bucket", "a"] == CONTENT.data
    assert server.most_in_flight == 1


def test_another_task_gets_the_connection_of_a_part(server, engine, large, sources):
    (sources / "small").write_bytes(SMALL.data)
    hold(server, 1, 2, 3, 4, 5, 6)
    one = engine(connections_per_origin=2)
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 2)
    one.upload("s3://bucket/small", sources / "small")
    server.release("2")
    server.wait_until(lambda: ("bucket", "small") in server.objects)
    server.wait_until(lambda: puts(server) == {1: 1, 2: 1, 3: 1})
    steps = server.steps()
    assert steps.index("PUT") < steps.index("PUT partNumber=3")


def test_after_a_kill_only_the_parts_in_flight_are_sent_again(server, engine, host, large, environment):
    hold(server, 1, 3)
    one = engine()
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 2 and server.parts() == {2, 4, 5, 6})
    one.kill_with_engine()
    server.release()
    host(environment=environment).attach()
    server.wait_until(lambda: server.objects)
    assert server.objects["bucket", "a"] == CONTENT.data
    assert puts(server) == {1: 2, 2: 1, 3: 2, 4: 1, 5: 1, 6: 1}
    assert server.uploads == {}


def test_a_part_that_fails_ends_the_others_and_the_finished_parts_stay(server, engine, large):
    hold(server, 1, 2)
    server.fail("PUT", "partNumber=2", 503, "SlowDown")
    one = engine()
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.parts() == {3, 4, 5, 6})
    server.release("2")
    server.wait_until(lambda: "GET uploadId" in server.steps())
    server.release()
    succeeded(one)
    assert server.objects["bucket", "a"] == CONTENT.data
    assert puts(server) == {1: 2, 2: 2, 3: 1, 4: 1, 5: 1, 6: 1}


def test_a_cancelled_upload_is_aborted_when_no_part_is_in_flight(server, engine, large):
    hold(server, 1, 2, 3, 4)
    one = engine()
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 4)
    one.cancel()
    server.wait_until(lambda: len(server.aborted) == 1)
    server.release()
    server.wait_until(lambda: server.in_flight == 0)
    assert server.uploads == {} and server.objects == {}


def test_a_suspended_upload_continues_with_the_missing_parts(server, engine, large):
    hold(server, 2)
    one = engine()
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.parts() == {1, 3, 4, 5, 6})
    [task] = until(one.tasks, lambda tasks: tasks[0].body_sent >= 40 * MEBIBYTE)
    assert task.body_size == CONTENT.size
    one.suspend()
    until(one.tasks, lambda tasks: tasks[0].state is TaskState.SUSPENDED)
    server.release()
    server.wait_until(lambda: server.in_flight == 0)
    one.resume()
    succeeded(one)
    assert puts(server) == {1: 1, 2: 2, 3: 1, 4: 1, 5: 1, 6: 1}


def test_a_file_that_changes_is_never_sent_as_a_mixture(server, four_in_flight, large):
    one = four_in_flight
    large.write_bytes(bytes(CONTENT.size))
    server.release()
    [event, _] = one.wait_for()
    assert event.state is TaskState.FAILED and event.status is Status.BODY_CHANGED, event.error_message
    assert server.objects == {}
    server.wait_until(lambda: not server.uploads)


def test_credentials_that_expire_in_several_parts_are_fetched_once(server, engine, large, place):
    (place / "count").write_text("")
    command = (f"echo x >> {place}/count; printf '{{\"Version\":1,\"AccessKeyId\":\"{ACCESS_KEY}\",\"SecretAccessKey\":"
               f"\"{SECRET_KEY}\",\"SessionToken\":\"token-%d\"}}' $(wc -l < {place}/count)")
    server.tokens = {"token-1"}
    hold(server, 1, 2, 3, 4)
    one = engine(s3_credential_command=command, first_delay_ms=60_000)
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 4)
    server.tokens = {"token-2"}
    server.release()
    succeeded(one)
    assert server.objects["bucket", "a"] == CONTENT.data
    assert (place / "count").read_text() == "x\n" * 2


def test_all_bytes_of_the_parts_are_counted(server, engine, large):
    one = engine()
    task = one.upload("s3://bucket/a", large)
    [event, _] = one.wait_for()
    [attempt] = one.attempts(task)
    assert attempt.request_body_bytes == event.bytes_sent
    assert 0 <= event.bytes_sent - CONTENT.size < 10_000


def test_an_urgent_task_gets_the_connection_of_a_part_at_once(server, engine, large, sources):
    (sources / "small").write_bytes(SMALL.data)
    hold(server, 1, 2, 3, 4, 5, 6)
    one = engine(connections_per_origin=2)
    one.set_limits(Limits(connections_per_origin=2))
    one.upload("s3://bucket/a", large)
    server.wait_until(lambda: server.in_flight == 2)
    one.upload("s3://bucket/small", sources / "small", priority=PRIORITY_NOW)
    server.wait_until(lambda: ("bucket", "small") in server.objects)
    server.release()
    succeeded(one)
    assert puts(server)[1] == 1 and puts(server)[2] == 2
