"""The checker reads the record of a run, and finds violations. A run is a list of tasks, with the responses and the
junk that the server sends. Junk is bytes that belong to no request. The record has what the server did, and how the
tasks ended. A violation is a task that does not end, or that ends with anything else than a response to its request.
Most tests falsify a record, and expect that the checker finds the violation."""

import pytest

from desync.checker import check
from desync.record import BytesInjected, Outcome, Record, RequestReceived, ResponseSent
from desync.responses import Request, Response, respond
from desync.runs import CHANGED, PLAIN, POST, WITH, Injection, Run, Step, generate

RUN = Run(PLAIN, (Step(injection=Injection(WITH, "ok")), Step(), Step(POST)))


def record_of(run):
    """Returns the record of a run in which each task ended with its own response."""
    record = Record()
    for number in range(len(run.steps)):
        task = run.task(number)
        response = respond(run, Request("GET", f"/{task}", {"x-task": task}), 0)
        record.entries += [RequestReceived(0, task), ResponseSent(0, task, response, frozenset({task}))]
        record.outcomes[task] = Outcome(task, True, "OK", response.status, response.content)
    return record


def problems(run, record):
    return [(violation.task, violation.text.partition(":")[0]) for violation in check(run, record)]


def test_tasks_that_end_with_their_own_responses_are_no_violation():
    assert problems(RUN, record_of(RUN)) == []


def test_a_task_that_ends_with_junk_is_a_violation():
    record = record_of(RUN)
    record.entries.insert(2, BytesInjected(0, "0.1", "ok with r0t0", True))
    record.outcomes["r0t1"].data = b"junk 0.1"
    assert problems(RUN, record) == [("r0t1", "it has the bytes of junk")]


def test_a_task_that_ends_with_the_file_of_an_earlier_task_is_a_violation():
    record = record_of(RUN)
    record.outcomes["r0t1"].data = record.outcomes["r0t0"].data
    assert problems(RUN, record) == [("r0t1", "it has the bytes of r0t0")]


def test_an_upload_that_ends_with_the_response_to_another_task_is_a_violation():
    record = record_of(RUN)
    record.outcomes["r0t2"].data = record.outcomes["r0t1"].data
    assert problems(RUN, record) == [("r0t2", "it has the bytes of r0t1")]


def test_a_task_that_ends_with_a_status_that_the_server_did_not_send_is_a_violation():
    record = record_of(RUN)
    record.outcomes["r0t1"] = Outcome("r0t1", False, "HTTP_STATUS", 404, b"")
    assert problems(RUN, record) == [("r0t1", "it has a status that the server did not send for it")]


def test_a_task_that_fails_despite_a_good_response_is_a_violation():
    record = record_of(RUN)
    record.outcomes["r0t1"] = Outcome("r0t1", False, "BAD_RESPONSE", 0, b"")
    assert problems(RUN, record) == [("r0t1", "it failed although its response is good")]


def test_a_task_that_ended_before_its_response_was_sent_is_a_violation():
    record = record_of(RUN)
    record.entries = [entry for entry in record.entries if entry.task != "r0t2"]
    assert problems(RUN, record) == [("r0t2", "it ended before the server had answered")]


def test_a_task_that_did_not_end_is_a_violation():
    record = record_of(RUN)
    del record.outcomes["r0t1"]
    assert problems(RUN, record) == [("r0t1", "it did not end")]


@pytest.mark.parametrize("is_atomic, found", [(True, True), (False, False)])
def test_a_task_that_ends_with_junk_is_a_violation_unless_the_junk_may_have_arrived_after_its_request(is_atomic, found):
    record = record_of(RUN)
    record.entries.insert(0, BytesInjected(0, "0.1", "ok at accept", is_atomic, frozenset({"r0t0"})))
    record.outcomes["r0t0"].data = b"junk 0.1"
    assert bool(problems(RUN, record)) is found


def test_a_response_for_an_ended_task_is_junk_for_running_tasks():
    record = record_of(RUN)
    response = record.entries[1].response
    record.entries[1] = ResponseSent(0, "r0t0", response, frozenset({"r0t1"}))
    assert record.tasks_in_race() == {"r0t1"}


def test_the_same_seed_and_number_generate_the_same_run():
    assert [generate(3, number) for number in range(50)] == [generate(3, number) for number in range(50)]
    assert generate(3, 1) != generate(4, 1)


def test_a_task_that_gets_a_304_must_end_with_the_file_of_the_earlier_task():
    run = Run(PLAIN, (Step(), Step(CHANGED, "unchanged", of=0)))
    record = record_of(run)
    record.entries[3] = ResponseSent(0, "r0t1", Response(304, framing="none"), frozenset({"r0t1"}))
    record.outcomes["r0t1"] = Outcome("r0t1", True, "OK", 304, record.outcomes["r0t0"].data)
    assert problems(run, record) == []
    record.outcomes["r0t1"].data = b"another file"
    assert problems(run, record) == [("r0t1", "it has other bytes than its response")]
