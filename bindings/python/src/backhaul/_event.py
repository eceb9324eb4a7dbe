"""Events: what hosts are told, once and durably."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

from ._constants import Domain, EventKind, Status, TaskKind, TaskState
from ._errors import BackhaulError, error_for
from ._identity import Identity
from ._types import moment
from ._values import Challenge


class Acknowledging(Protocol):
    """What an event asks of the session that it came from."""

    def acknowledge(self, events: Iterable[Identity], *, timeout: float | None = None) -> int: ...


@dataclass(frozen=True)
class Event:
    """A durable fact addressed to the host: a task, group or round has ended, a credential is asked for, or an activity
    is due."""

    #: Grows; never used twice in a store.
    id: int
    kind: EventKind
    #: Which round ended, or to which the task belonged.
    round: int
    #: Unix time of the commit in milliseconds.
    time_ms: int
    #: 0 for an event that is not of a task, and so are the fields below.
    task_id: int
    #: Succeeded, failed or cancelled; None for an event that is not of a task.
    state: TaskState | None
    #: OK, or why the task did not succeed.
    status: Status
    error_domain: Domain
    error_detail: int
    error_message: str | None
    #: As enqueued.
    url: str | None
    #: After redirects; None when no answer came.
    final_url: str | None
    #: Where the whole, synced file lies; None unless succeeded.
    path: str | None
    media_type: str | None
    #: Idempotency key.
    key: str | None
    #: Of the last answer, or 0.
    http_status: int
    #: How many requests were sent.
    attempts: int
    #: Bytes of the file.
    size: int
    #: Body bytes received over all attempts.
    bytes_received: int
    user_data: bytes
    #: Chosen headers of the last answer.
    headers: tuple[tuple[str, str], ...]
    #: The first bytes of the body of an answer that was not accepted.
    error_body: bytes
    #: Of a challenge that is still open; None when it was answered meanwhile, and for other events.
    challenge: Challenge | None
    #: Of the task, or that has finished.
    group: str | None
    #: Of EventKind.GROUP_FINISHED: how its tasks ended since it last finished.
    group_succeeded: int
    group_failed: int
    group_cancelled: int
    #: Of a file whose digest was computed: as ``Request.checksum``.
    checksum: str | None
    #: Body bytes sent over all attempts.
    bytes_sent: int
    #: Of an upload that succeeded: the answer's body, its first 65,536 bytes.
    response_body: bytes
    #: None for an event that is not of a task.
    task_kind: TaskKind | None
    #: Of EventKind.ACTIVITY: its identifier.
    activity: str | None
    _session: Acknowledging = field(repr=False, compare=False)

    @property
    def is_session_finished(self) -> bool:
        """Whether the round's last task has ended."""
        return self.kind is EventKind.SESSION_FINISHED

    @property
    def is_group_finished(self) -> bool:
        """Whether the last live task of a group has ended."""
        return self.kind is EventKind.GROUP_FINISHED

    @property
    def is_task_ended(self) -> bool:
        """Whether it tells the end of a task."""
        return self.kind is EventKind.TASK_ENDED

    @property
    def is_challenge(self) -> bool:
        """Whether a server or proxy asks for a credential. To acknowledge it is not to answer it."""
        return self.kind is EventKind.CHALLENGE

    @property
    def is_activity(self) -> bool:
        """Whether an activity without a request is due."""
        return self.kind is EventKind.ACTIVITY

    @property
    def succeeded(self) -> bool:
        """Whether a task ended well: with a whole file, or with an upload that was accepted."""
        return self.state is TaskState.SUCCEEDED

    @property
    def time(self) -> datetime:
        return moment(self.time_ms)

    @property
    def error(self) -> BackhaulError | None:
        """Why the task did not succeed, as an exception to raise or to show."""
        if self.status is Status.OK:
            return None
        return error_for(self.status, self.error_message or "", domain=self.error_domain, detail=self.error_detail)

    def header(self, name: str) -> str | None:
        """A chosen header of the last answer, by its name in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def acknowledge(self, *, timeout: float | None = None) -> None:
        """The host has made use of this event: it never comes again, and an unclaimed kept file of it is removed."""
        self._session.acknowledge([self], timeout=timeout)
