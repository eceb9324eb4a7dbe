"""Bytes that belong to no request never become the response of a task. Such bytes are called junk. A step is one task,
with the server's response and junk. A run is a list of steps. A violation is a task that does not end, or that ends
with anything else than a response to its request."""

import pytest

from desync import junk
from desync.record import BytesInjected, RequestReceived
from desync.runs import (
    ALWAYS,
    BEFORE_TUNNEL,
    BEHIND,
    BEHIND_TUNNEL,
    CERTIFICATE_REQUEST,
    CHANGED,
    HANDSHAKE,
    HEAD,
    IDLE,
    POINTS,
    POST,
    PUT,
    RESUME,
    TLS12,
    TLS13,
    TRANSPORTS,
    TUNNEL,
    WITH,
    Early,
    Injection,
    Run,
    Step,
)

GOOD = Step()
ENCRYPTED = (TLS12, TLS13, TUNNEL)


@pytest.fixture
def execute(fuzzer):
    """Returns a function that performs steps over a transport, checks that there is no violation, and returns the
    record."""
    def run(transport, *steps, **options):
        record, violations = fuzzer.execute(Run(transport, steps, **options))
        assert not violations, "\n".join(map(str, violations))
        return record

    return run


def connections(record):
    """Returns for each request the number of its connection, in the order of the requests."""
    return [entry.connection for entry in record.entries if isinstance(entry, RequestReceived)]


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_all_tasks_share_one_connection_if_the_server_sends_no_junk(execute, transport):
    steps = [GOOD, Step(HEAD), Step(framing="chunked"), Step(framing="no-content"), Step(PUT), Step(framing="missing"),
             Step(POST), GOOD]
    assert connections(execute(transport, *steps)) == [0] * len(steps)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("point", POINTS)
def test_a_surplus_response_is_not_used_for_the_next_task(execute, transport, point):
    record = execute(transport, Step(injection=Injection(point, "ok")), GOOD, GOOD)
    assert any(isinstance(entry, BytesInjected) for entry in record.entries)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("kind", junk.KINDS)
def test_the_next_task_succeeds_after_junk_on_an_idle_connection(execute, transport, kind):
    execute(transport, Step(injection=Injection(IDLE, kind)), GOOD, GOOD)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("point", [WITH, BEHIND])
@pytest.mark.parametrize("step", [
    Step(framing="chunked"), Step(framing="trailers"), Step(framing="empty"), Step(framing="no-content"),
    Step(framing="missing"), Step(HEAD), Step(HEAD, "chunked"), Step(PUT), Step(POST, "chunked"), Step(RESUME),
], ids=lambda step: f"{step.method}-{step.framing}")
def test_bytes_after_the_end_of_a_response_are_not_used_for_the_next_task(execute, transport, point, step):
    ended = Step(step.method, step.framing, injection=Injection(point, "ok"))
    execute(transport, ended, GOOD, GOOD)


@pytest.mark.parametrize("transport", ENCRYPTED)
@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize("step", [
    GOOD, Step(framing="chunked"), Step(framing="empty"), Step(framing="no-content"), Step(HEAD), Step(POST),
], ids=lambda step: f"{step.method}-{step.framing}")
def test_junk_in_the_last_tls_record_of_a_response_is_not_used_for_the_next_task(execute, transport, pieces, step):
    """With two pieces, the head is sent first. Then one TLS record has the body and the junk. If a client reads exactly
    the body, the junk stays in the buffer of the client's TLS library.
    """
    injection = Injection(WITH, "ok", shares_record=True)
    execute(transport, Step(step.method, step.framing, pieces=pieces, injection=injection), GOOD, GOOD)


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("point", [WITH, BEHIND])
def test_a_body_after_a_304_is_not_used_for_the_next_task(execute, transport, point):
    unchanged = Step(CHANGED, "unchanged-with-length", of=0, injection=Injection(point, "second-half"))
    execute(transport, GOOD, unchanged, GOOD)


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_404_that_was_sent_before_an_upload_does_not_fail_the_upload(execute, transport):
    execute(transport, Step(injection=Injection(IDLE, "missing")), Step(POST))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_post_is_sent_one_time_if_the_server_has_closed_the_idle_connection_with_a_408(execute, transport):
    record = execute(transport, Step(injection=Injection(IDLE, "too-late", closes=True)), Step(POST))
    assert [entry.task for entry in record.entries if isinstance(entry, RequestReceived)] == ["r0t0", "r0t1"]


@pytest.mark.parametrize("transport", ENCRYPTED)
@pytest.mark.parametrize("point", [BEHIND, IDLE])
@pytest.mark.parametrize("kind", ["ok", "record", "line-end"])
def test_bytes_that_are_no_tls_record_do_not_fail_the_next_task(execute, transport, point, kind):
    execute(transport, Step(injection=Injection(point, kind, is_raw=True)), Step(POST))


@pytest.mark.parametrize("transport", [TLS13, TUNNEL])
def test_a_request_for_a_client_certificate_between_responses_fails_no_task(execute, transport):
    execute(transport, Step(injection=Injection(IDLE, CERTIFICATE_REQUEST)), Step(POST), GOOD)


@pytest.mark.parametrize("transport", [TLS13, TUNNEL])
def test_a_connection_is_reused_after_late_tls_session_tickets(execute, transport):
    assert connections(execute(transport, GOOD, GOOD, GOOD, late_tickets=True)) == [0, 0, 0]


def test_a_response_that_is_sent_with_the_end_of_the_handshake_is_not_used_for_the_first_task(execute):
    execute(TLS12, GOOD, GOOD, early=Early(HANDSHAKE, "ok"))


def test_no_task_succeeds_if_the_server_sends_junk_with_each_handshake(fuzzer):
    record, violations = fuzzer.execute(Run(TLS12, (GOOD,), early=Early(HANDSHAKE, "ok", ALWAYS)))
    assert not violations
    assert not record.outcomes["r0t0"].succeeded


@pytest.mark.parametrize("point", [BEFORE_TUNNEL, BEHIND_TUNNEL])
def test_junk_that_is_sent_with_the_response_to_connect_is_not_used_for_a_task(execute, point):
    execute(TUNNEL, GOOD, GOOD, early=Early(point, "ok"))


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_junk_on_one_connection_does_not_affect_another_connection(execute, transport):
    first = Step(injection=Injection(WITH, "ok"), with_next=True)
    execute(transport, first, GOOD, Step(with_next=True), GOOD, connections=2)


def test_generated_runs_have_no_violation(fuzzer, random_runs):
    seed, numbers = random_runs
    failures = fuzzer.fuzz(seed, numbers)
    failures.sort(key=lambda failure: len(failure.record.entries))
    shown = "\n".join(failure.described(seed) for failure in failures[:5])
    assert not failures, f"{len(failures)} of {len(numbers)} runs with seed {seed}; the shortest:\n{shown}"
