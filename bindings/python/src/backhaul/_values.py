"""What hosts get: tasks, progress, challenges, sessions. Plain values; all times are UTC."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Optional

from ._constants import Attention, ChallengeKind, LaunchState, Reason, Scheme, Status, TaskKind, TaskState
from ._rules import Constraints
from ._types import moment, moment_or_none


@dataclass(frozen=True)
class TaskInfo:
    """A task as it stands now, with live progress."""

    id: int
    round: int
    state: TaskState
    #: Why it is not moving.
    reason: Reason
    reason_text: str | None
    #: Unix time in milliseconds when it will be looked at again, or 0.
    next_attempt_ms: int
    url: str
    #: None: kept in the store.
    destination: str | None
    key: str | None
    user_data: bytes
    priority: int
    #: Of the last failed attempt or of the end, else OK.
    status: Status
    error_message: str | None
    http_status: int
    attempts: int
    #: Bytes of the file that are here.
    offset: int
    #: Bytes of the whole file; None when no answer has told.
    size: int | None
    #: Over the last seconds; 0 when not moving.
    bytes_per_second: int
    #: Unix time in milliseconds.
    enqueued_ms: int
    kind: TaskKind
    group: str | None
    #: Bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: Of the request's body; 0 without one.
    body_size: int
    #: Unix time in milliseconds, or 0.
    ended_ms: int
    #: Where the file of a succeeded download lies.
    path: str | None
    #: Unix time in milliseconds before which it does not start, or 0.
    earliest_start_ms: int
    #: Unix time in milliseconds from which on it waits for no preset's wishes, or 0.
    latest_start_ms: int
    #: As its request told.
    expected_bytes_received: int | None
    expected_bytes_sent: int | None
    #: The task's own, as enqueued or set since; None: none, and in the history.
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
    """A live reading of a task that runs."""

    task_id: int
    state: TaskState
    #: Why it is not moving.
    reason: Reason
    #: Bytes of the file that are here.
    offset: int
    #: Bytes of the whole file; None when no answer has told.
    size: Optional[int]
    #: Over the last seconds, both ways.
    bytes_per_second: int
    #: Bytes of the request's body that were sent in this attempt.
    body_sent: int
    #: Of the request's body; 0 without one.
    body_size: int

    @property
    def fraction(self) -> float | None:
        """Between 0 and 1: of the file, or of the body until an answer has told the file's size; None while neither is
        known."""
        if self.size is not None:
            return min(1.0, self.offset / self.size) if self.size else 1.0
        return min(1.0, self.body_sent / self.body_size) if self.body_size else None


@dataclass(frozen=True)
class Challenge:
    """A question for a credential, for one protection space: the origin and the realm; or for what a request's
    ``refresh`` names. It stays open until it is answered with ``session.respond``, whatever happens to its event."""

    #: Grows; never used twice in a store.
    id: int
    #: Who asks.
    kind: ChallengeKind
    #: How the credential may be given.
    schemes: Scheme
    #: "https://example.org:443", of the server or of the proxy.
    origin: str
    realm: str | None
    #: Answers in a row that did not serve.
    failures: int
    #: Unix time of its opening in milliseconds.
    time_ms: int
    #: When this was read.
    waiting_tasks: int
    #: Of ChallengeKind.REFRESH for a URL, whose space is this task alone; otherwise 0.
    task_id: int = 0
    #: Of the same: as it is now. Not shown by ``repr``, for it may be signed.
    url: str | None = field(default=None, repr=False)

    @property
    def time(self) -> datetime:
        return moment(self.time_ms)


@dataclass(frozen=True)
class SessionInfo:
    """A session as listings show it."""

    identifier: str
    #: Number of the current or last round; 0 before the first enqueue.
    round: int
    #: Tasks that have not ended.
    live_tasks: int
    #: Events that are not acknowledged.
    events: int
    attention: Attention
    #: Whether it was invalidated and still has tasks or events.
    is_invalidated: bool
    #: Process id of the consumer, or None.
    consumer: int | None
    #: Unix time in milliseconds.
    created_ms: int
    #: Challenges that are not answered.
    open_challenges: int
    #: Unix time in milliseconds since when the consumer's process is seen to be stopped (SIGSTOP, debugger, freezer),
    #: or 0.
    consumer_stopped_ms: int
    #: Handles that wait with Role.CONSUME_WHEN_FREE.
    waiting_consumers: int
    #: How the launch of the application fares, as far as it concerns this session.
    launch_state: LaunchState
    #: Unix time in milliseconds, or 0.
    next_launch_ms: int

    @property
    def created(self) -> datetime:
        return moment(self.created_ms)

    @property
    def consumer_stopped(self) -> datetime | None:
        """Since when the consumer's process is seen to be stopped."""
        return moment_or_none(self.consumer_stopped_ms)

    @property
    def next_launch(self) -> datetime | None:
        return moment_or_none(self.next_launch_ms)
