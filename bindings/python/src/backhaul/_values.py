"""Classes that describe tasks, progress, challenges and sessions. All times are in UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ._constants import Attention, ChallengeKind, LaunchState, Reason, Scheme, Status, TaskKind, TaskState
from ._rules import Constraints
from ._types import OptionalTime, Time


@dataclass(frozen=True)
class TaskInfo:
    """The current state of a task, with live progress."""

    #: The id. Ids increase, and a store never uses an id twice.
    id: int
    #: The number of the round to which the task belongs.
    round: int
    #: The state. An ended task succeeded, failed or was cancelled.
    state: TaskState
    #: The reason why the task does not progress.
    reason: Reason
    #: The reason in one sentence. None if ``reason`` is NONE.
    reason_text: str | None
    #: The time of the next attempt (run of the task), in Unix milliseconds. If the task waits for a condition, this is
    #: the time of the next check of the condition. 0 if there is no such time.
    next_attempt_ms: int
    #: The URL of the request.
    url: str
    #: The path at which the file is placed. None if the task is an upload, or if the file stays in the store (the
    #: directory with all durable data).
    destination: str | None
    #: The idempotency key.
    key: str | None
    #: The bytes that the host chose for this task.
    user_data: bytes
    #: The priority: from the request, or from ``set_priority``.
    priority: int
    #: The status with which the task ended, or with which its last attempt failed. OK if there was no failure.
    status: Status
    #: The message about ``status``, which is one sentence. None if the status is OK.
    error_message: str | None
    #: The status of the last response, or 0.
    http_status: int
    #: The number of attempts (runs of the task).
    attempts: int
    #: The number of the file's bytes that are stored.
    offset: int
    #: The size of the whole file. None until a response has stated it.
    size: int | None
    #: The average rate of the last seconds. 0 if the task does not run.
    bytes_per_second: int
    #: When the task was enqueued, in Unix milliseconds.
    enqueued_ms: int
    #: Whether the task is a download or an upload.
    kind: TaskKind
    #: The name of the group, or None.
    group: str | None
    #: The bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: The size of the request's body. 0 if the request has no body.
    body_size: int
    #: When the task ended, in Unix milliseconds. 0 if it has not ended.
    ended_ms: int
    #: The path of the file, if the download has succeeded.
    path: str | None
    #: The earliest start in Unix milliseconds. 0 if the task has no earliest start.
    earliest_start_ms: int
    #: The latest start in Unix milliseconds. After this time, no preset (such as "discretionary") delays the task. 0 if
    #: the task has no latest start.
    latest_start_ms: int
    #: The largest number of bytes that the task will receive, as the request states it. None if the request states
    #: none.
    expected_bytes_received: int | None
    #: The largest number of bytes that the task will send, as the request states it. None if the request states none.
    expected_bytes_sent: int | None
    #: The task's own constraints (demands on the system), from its request or from ``set_constraints``. None if the
    #: task has no own constraints, or is in the history.
    constraints: Constraints | None = None
    #: The task's own limit in bytes per second, from its request or from ``set_rate``. 0 if the task has no own limit,
    #: or is in the history.
    rate_limit: int = 0

    #: When the next attempt starts, or when the condition for which the task waits is checked again. None if there is
    #: no such time.
    next_attempt = OptionalTime()
    #: When the task was enqueued.
    enqueued = Time()
    #: When the task ended. None if it has not ended.
    ended = OptionalTime()
    #: The earliest start, or None.
    earliest_start = OptionalTime()
    #: The latest start, or None.
    latest_start = OptionalTime()


class Progress(NamedTuple):
    """A reading of the live progress of a running task."""

    #: The id of the task.
    task_id: int
    #: The state of the task.
    state: TaskState
    #: The reason why the task does not progress.
    reason: Reason
    #: The number of the file's bytes that are stored.
    offset: int
    #: The size of the whole file. None until a response has stated it.
    size: int | None
    #: The average rate of the last seconds, in both directions together.
    bytes_per_second: int
    #: The bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: The size of the request's body. 0 if the request has no body.
    body_size: int

    @property
    def fraction(self) -> float | None:
        """The share of the transfer that is complete, from 0 to 1. If the size of the file is known, the result is the
        stored share of the file. Otherwise the result is the sent share of the request's body. The result is None if
        the size of the file is unknown and the request has no body."""
        if self.size is not None:
            return min(1.0, self.offset / self.size) if self.size else 1.0
        return min(1.0, self.body_sent / self.body_size) if self.body_size else None


@dataclass(frozen=True)
class Challenge:
    """A demand for a credential for one protection space, which is an origin (scheme, host name and port) and a realm.
    A challenge of kind REFRESH demands a new URL or new headers instead, because the URL or the headers of a request
    have expired.

    A challenge stays open until the host (the program that uses the session) responds with ``session.respond``, or
    until no task waits for the challenge. The acknowledgement of its event does not close the challenge.
    """

    #: The id. Ids increase, and a store never uses an id twice.
    id: int
    #: The source of the demand: a server, a proxy, or a request whose URL or headers have expired.
    kind: ChallengeKind
    #: The authentication schemes that the server or proxy offers.
    schemes: Scheme
    #: The origin of the server or of the proxy, such as "https://example.org:443".
    origin: str
    #: The realm, or None if the server named none.
    realm: str | None
    #: The number of consecutive responses of the host that the server or proxy did not accept.
    failures: int
    #: When the challenge was opened, in Unix milliseconds.
    time_ms: int
    #: The number of tasks that waited for the challenge when this object was made.
    waiting_tasks: int
    #: If the challenge demands a new URL: the id of the task that needs this URL. Otherwise 0.
    task_id: int = 0
    #: If the challenge demands a new URL: the current URL. ``repr`` does not show it, because it may have a signature.
    url: str | None = field(default=None, repr=False)

    #: When the challenge was opened.
    time = Time()


@dataclass(frozen=True)
class SessionInfo:
    """A session in a listing."""

    #: The name of the session.
    identifier: str
    #: The number of the current round, or of the last round. A round begins when a task is added to a session without
    #: unfinished tasks. It ends when all tasks of the session have ended. This field is 0 before the first enqueue.
    round: int
    #: The number of tasks that have not ended.
    live_tasks: int
    #: The number of events that are not acknowledged.
    events: int
    #: The reasons why the session needs attention.
    attention: Attention
    #: Whether the session was invalidated. An invalidated session is listed until it has no tasks and no events.
    is_invalidated: bool
    #: The process id of the consumer, which reads the session's events. None if the session has no consumer.
    consumer: int | None
    #: When the session was created, in Unix milliseconds.
    created_ms: int
    #: The number of open challenges.
    open_challenges: int
    #: The time, in Unix milliseconds, at which the engine (the process that runs the tasks) found that the consumer's
    #: process is stopped (by SIGSTOP, a debugger or the freezer). 0 if the process is not stopped.
    consumer_stopped_ms: int
    #: The number of attached handles (open session objects) that wait to become the consumer (Role.CONSUME_WHEN_FREE).
    waiting_consumers: int
    #: The state of the application's launch (the start of its program by the engine), if this session needs its host.
    #: Otherwise LaunchState.NONE.
    launch_state: LaunchState
    #: The time of the next launch for this session, in Unix milliseconds. 0 if no launch is scheduled.
    next_launch_ms: int

    #: When the session was created.
    created = Time()
    #: The time at which the engine found that the consumer's process is stopped. None if the process is not stopped.
    consumer_stopped = OptionalTime()
    #: The time of the next launch for this session. None if no launch is scheduled.
    next_launch = OptionalTime()
