"""Values for hosts: tasks, progress, challenges, sessions. All times are UTC."""

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
    #: When the engine tries or checks again, in Unix milliseconds, or 0.
    next_attempt_ms: int
    url: str
    #: None: the file is kept in the store.
    destination: str | None
    key: str | None
    user_data: bytes
    priority: int
    #: The status of the last failed attempt or of the end, else OK.
    status: Status
    error_message: str | None
    http_status: int
    attempts: int
    #: The number of the file's bytes that are stored.
    offset: int
    #: The size of the whole file; None while no response has stated it.
    size: int | None
    #: The average of the last seconds; 0 when the task does not run.
    bytes_per_second: int
    #: The time of the enqueue in Unix milliseconds.
    enqueued_ms: int
    kind: TaskKind
    group: str | None
    #: Bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: The size of the request's body; 0 without one.
    body_size: int
    #: The end in Unix milliseconds, or 0.
    ended_ms: int
    #: The path of a succeeded download's file.
    path: str | None
    #: The earliest start in Unix milliseconds, or 0.
    earliest_start_ms: int
    #: The time in Unix milliseconds from which on presets do not hold the task, or 0.
    latest_start_ms: int
    #: The upper bounds that the request stated.
    expected_bytes_received: int | None
    expected_bytes_sent: int | None
    #: The task's own constraints, as enqueued or set later; None without any, and in the history.
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
    #: The size of the whole file; None while no response has stated it.
    size: Optional[int]
    #: The average of the last seconds, in both directions.
    bytes_per_second: int
    #: Bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: The size of the request's body; 0 without one.
    body_size: int

    @property
    def fraction(self) -> float | None:
        """A number between 0 and 1: the part of the file, or of the body while no response has stated the file's size.
        None if both sizes are unknown."""
        if self.size is not None:
            return min(1.0, self.offset / self.size) if self.size else 1.0
        return min(1.0, self.body_sent / self.body_size) if self.body_size else None


@dataclass(frozen=True)
class Challenge:
    """A demand for a credential for one protection space, which is the origin and the realm; or for the part of a
    request that ``refresh`` names.

    It stays open until ``session.respond`` answers it, even if its event is acknowledged.
    """

    #: Ids increase, and are never reused in a store.
    id: int
    #: Whether a server, a proxy or a refresh requires it.
    kind: ChallengeKind
    #: The authentication schemes that the host can use.
    schemes: Scheme
    #: The origin of the server or of the proxy, such as "https://example.org:443".
    origin: str
    realm: str | None
    #: The number of refused responses in a row.
    failures: int
    #: The time of its opening in Unix milliseconds.
    time_ms: int
    #: The number of waiting tasks when this was read.
    waiting_tasks: int
    #: For ChallengeKind.REFRESH of a URL, which concerns only this task; otherwise 0.
    task_id: int = 0
    #: For the same: the current URL. ``repr`` does not show it, because it may be signed.
    url: str | None = field(default=None, repr=False)

    @property
    def time(self) -> datetime:
        return moment(self.time_ms)


@dataclass(frozen=True)
class SessionInfo:
    """A session as listings show it."""

    identifier: str
    #: The number of the current or last round; 0 before the first enqueue.
    round: int
    #: The number of tasks that have not ended.
    live_tasks: int
    #: The number of events that are not acknowledged.
    events: int
    attention: Attention
    #: Whether it was invalidated and still has tasks or events.
    is_invalidated: bool
    #: The process id of the consumer, or None.
    consumer: int | None
    #: The time of its creation in Unix milliseconds.
    created_ms: int
    #: The number of open challenges.
    open_challenges: int
    #: When the engine saw that the consumer's process is stopped (SIGSTOP, debugger, freezer), in Unix milliseconds, or
    #: 0.
    consumer_stopped_ms: int
    #: The number of handles that wait with Role.CONSUME_WHEN_FREE.
    waiting_consumers: int
    #: The state of the application's launch, as far as it concerns this session.
    launch_state: LaunchState
    #: The time of the next launch in Unix milliseconds, or 0.
    next_launch_ms: int

    @property
    def created(self) -> datetime:
        return moment(self.created_ms)

    @property
    def consumer_stopped(self) -> datetime | None:
        """When the engine saw that the consumer's process is stopped, or None."""
        return moment_or_none(self.consumer_stopped_ms)

    @property
    def next_launch(self) -> datetime | None:
        return moment_or_none(self.next_launch_ms)
