"""The values that describe tasks, progress, challenges and sessions. All times are in UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Optional

from ._constants import Attention, ChallengeKind, LaunchState, Reason, Scheme, Status, TaskKind, TaskState
from ._rules import Constraints
from ._types import moment, moment_or_none


@dataclass(frozen=True)
class TaskInfo:
    """The current state of a task, with live progress."""

    id: int
    round: int
    state: TaskState
    #: The reason why the task does not run.
    reason: Reason
    reason_text: str | None
    #: When the engine starts the next attempt or checks the condition again, in Unix milliseconds, or 0.
    next_attempt_ms: int
    url: str
    #: The path at which the file is placed. None: the task is an upload, or the file is kept in the store.
    destination: str | None
    key: str | None
    user_data: bytes
    priority: int
    #: The status with which the task ended or its last attempt failed, or OK.
    status: Status
    error_message: str | None
    http_status: int
    attempts: int
    #: The number of the file's bytes that are stored.
    offset: int
    #: The size of the whole file. None until a response has stated it.
    size: int | None
    #: The average of the last seconds. 0 if the task does not run.
    bytes_per_second: int
    #: When the task was enqueued, in Unix milliseconds.
    enqueued_ms: int
    kind: TaskKind
    group: str | None
    #: The bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: The size of the request's body. 0 if the request has no body.
    body_size: int
    #: When the task ended, in Unix milliseconds. 0 if it has not ended.
    ended_ms: int
    #: The path of a succeeded download's file.
    path: str | None
    #: The earliest start in Unix milliseconds, or 0.
    earliest_start_ms: int
    #: The latest start in Unix milliseconds, or 0. After this time no preset holds the task.
    latest_start_ms: int
    #: The upper bounds of moved bytes that the request states.
    expected_bytes_received: int | None
    expected_bytes_sent: int | None
    #: The constraints of the task itself, as enqueued or set later. None if it has none, and for tasks of the history.
    constraints: Constraints | None = None

    @property
    def next_attempt(self) -> datetime | None:
        return moment_or_none(self.next_attempt_ms)

    @property
    def enqueued(self) -> datetime:
        return moment(self.enqueued_ms)

    @property
    def ended(self) -> datetime | None:
        return moment_or_none(self.ended_ms)

    @property
    def earliest_start(self) -> datetime | None:
        return moment_or_none(self.earliest_start_ms)

    @property
    def latest_start(self) -> datetime | None:
        return moment_or_none(self.latest_start_ms)


class Progress(NamedTuple):
    """A live reading of a running task."""

    task_id: int
    state: TaskState
    #: The reason why the task does not run.
    reason: Reason
    #: The number of the file's bytes that are stored.
    offset: int
    #: The size of the whole file. None until a response has stated it.
    size: Optional[int]
    #: The average of the last seconds, in both directions.
    bytes_per_second: int
    #: The bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: The size of the request's body. 0 if the request has no body.
    body_size: int

    @property
    def fraction(self) -> float | None:
        """The share of the file that is stored, from 0 to 1. Until a response has stated the size of the file, the
        share of the request's body that was sent. None if both sizes are unknown."""
        if self.size is not None:
            return min(1.0, self.offset / self.size) if self.size else 1.0
        return min(1.0, self.body_sent / self.body_size) if self.body_size else None


@dataclass(frozen=True)
class Challenge:
    """A demand for a credential for one protection space, which is an origin and a realm. A challenge of kind REFRESH
    demands a new URL or new headers instead.

    A challenge stays open until ``session.respond`` is called for it, even if its event is acknowledged.
    """

    #: The id. Ids increase, and a store never uses an id twice.
    id: int
    #: Whether a server or a proxy demands the credential, or a request needs a refresh.
    kind: ChallengeKind
    #: The authentication schemes that the host can use.
    schemes: Scheme
    #: The origin of the server or of the proxy, such as "https://example.org:443".
    origin: str
    realm: str | None
    #: How many of the host's responses in a row were not accepted.
    failures: int
    #: When the challenge was opened, in Unix milliseconds.
    time_ms: int
    #: The number of tasks that waited for the challenge when it was read.
    waiting_tasks: int
    #: For the refresh of a URL: the id of the only task that needs it. Otherwise 0.
    task_id: int = 0
    #: For the refresh of a URL: the current URL. ``repr`` does not show it, because it may have a signature.
    url: str | None = field(default=None, repr=False)

    @property
    def time(self) -> datetime:
        return moment(self.time_ms)


@dataclass(frozen=True)
class SessionInfo:
    """A session in a listing."""

    identifier: str
    #: The number of the current or last round; 0 before the first enqueue.
    round: int
    #: The number of tasks that have not ended.
    live_tasks: int
    #: The number of events that are not acknowledged.
    events: int
    attention: Attention
    #: Whether the session was invalidated, and still has tasks or events.
    is_invalidated: bool
    #: The process id of the consumer, or None.
    consumer: int | None
    #: When the session was created, in Unix milliseconds.
    created_ms: int
    #: The number of open challenges.
    open_challenges: int
    #: When the engine found that the consumer's process is stopped (by SIGSTOP, a debugger or the freezer), in Unix
    #: milliseconds. 0 if it is not stopped.
    consumer_stopped_ms: int
    #: The number of attached handles that wait to become the consumer (Role.CONSUME_WHEN_FREE).
    waiting_consumers: int
    #: The state of the application's launch with regard to this session.
    launch_state: LaunchState
    #: The time of the next launch in Unix milliseconds, or 0.
    next_launch_ms: int

    @property
    def created(self) -> datetime:
        return moment(self.created_ms)

    @property
    def consumer_stopped(self) -> datetime | None:
        """When the engine found that the consumer's process is stopped, or None."""
        return moment_or_none(self.consumer_stopped_ms)

    @property
    def next_launch(self) -> datetime | None:
        return moment_or_none(self.next_launch_ms)
