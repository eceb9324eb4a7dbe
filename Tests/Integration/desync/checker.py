"""Compares the end of each task of a run with the server's own responses to the task's requests. A run is a list of
tasks, with the responses and the junk that the server sends. Junk is bytes that belong to no request."""

from dataclasses import dataclass

from desync.record import BytesInjected, ResponseSent
from desync.runs import ALWAYS, BEFORE_TUNNEL, BEHIND_TUNNEL

#: Statuses with which a task may fail if each new connection, or the tunnel of a proxy, begins with junk.
_BROKEN = {"BAD_RESPONSE", "CONNECTION_LOST", "CONNECTION_FAILED", "TLS_FAILED"}
#: An event contains at most this number of bytes of the body of an error response.
_ERROR_BODY = 4_096


@dataclass(frozen=True)
class Violation:
    task: str
    text: str

    def __str__(self):
        return f"{self.task}: {self.text}"


def check(run, record):
    """Returns the violations of a run: tasks that did not end, and tasks whose end does not match a response to their
    request."""
    tasks_in_race = record.tasks_in_race()
    found = []
    for number in range(len(run.steps)):
        task = run.task(number)
        text = _problem(run, number, record)
        if text and not (task in tasks_in_race or _may_fail(run, record.outcomes.get(task))):
            found.append(Violation(task, text))
    return found


def _may_fail(run, outcome):
    if run.early is None or outcome is None or outcome.succeeded:
        return False
    if run.early.point in (BEFORE_TUNNEL, BEHIND_TUNNEL):
        # libcurl 7.88 reports a bad argument if the response to CONNECT contains a NUL byte.
        return outcome.status in _BROKEN or run.early.point == BEFORE_TUNNEL and outcome.status == "INTERNAL"
    return run.early.connections == ALWAYS and outcome.status in _BROKEN


def _problem(run, number, record):
    task, step = run.task(number), run.steps[number]
    outcome, responses = record.outcomes.get(task), record.responses(task)
    if outcome is None:
        return "it did not end"
    if any(_is_outcome(run, step, response, outcome, record) for response in responses if response.is_final):
        return None
    return f"{_violation(task, outcome, responses, record)}: {outcome.described()}; its own responses: " + (
        ", ".join(f"{response.status} of {len(response.content)} bytes" for response in responses) or "none")


def _is_outcome(run, step, response, outcome, record):
    """Whether a task that got this response may end with this outcome."""
    if response.status != outcome.http_status:
        return False
    if response.status == 404:
        return (outcome.succeeded, outcome.status, outcome.data) == (
            False, "HTTP_STATUS", response.content[:_ERROR_BODY])
    if not outcome.succeeded:
        return False
    if response.status == 304:
        return outcome.data in _earlier(run, step, record)
    return outcome.data == response.content


def _earlier(run, step, record):
    """Returns the contents that a file may have after a task with a conditional request. Each content is a file that
    another task stored at the same destination."""
    tasks = [run.task(number) for number, other in enumerate(run.steps)
             if number == step.of or other.of == step.of and other is not step]
    return [record.outcomes[task].data for task in tasks if task in record.outcomes]


def _violation(task, outcome, responses, record):
    for entry in record.entries:
        if isinstance(entry, BytesInjected) and f"junk {entry.mark}".encode() in outcome.data:
            return "it has the bytes of junk"
        if isinstance(entry, ResponseSent) and entry.task != task and f"body of {entry.task},".encode() in outcome.data:
            return f"it has the bytes of {entry.task}"
    if not responses:
        return "it ended before the server had answered"
    if outcome.http_status and outcome.http_status not in [response.status for response in responses]:
        return "it has a status that the server did not send for it"
    return "it has other bytes than its response" if outcome.succeeded else "it failed although its response is good"
