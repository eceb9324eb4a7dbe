"""Events: durable facts for hosts."""

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
    """The part of a session that its events use."""

    def acknowledge(self, events: Iterable[Identity], *, timeout: float | None = None) -> int: ...


@dataclass(frozen=True)
class Event:
    """A durable fact for the host: a task, group or round has ended, a credential is requested, or an activity is
    due."""

    #: Ids increase, and are never reused in a store.
    id: int
    kind: EventKind
    #: The round that ended, or that the task belongs to.
    round: int
    #: The time of the commit in Unix milliseconds.
    time_ms: int
    #: 0 if the event does not belong to a task. Then the fields below are unset, too.
    task_id: int
    #: Succeeded, failed or cancelled; None if the event does not belong to a task.
    state: TaskState | None
    #: OK, or the reason why the task did not succeed.
    status: Status
    error_domain: Domain
    error_detail: int
    error_message: str | None
    #: The URL as enqueued.
    url: str | None
    #: The URL after redirects; None without a response.
    final_url: str | None
    #: The path of the complete, synced file; None unless the task succeeded.
    path: str | None
    media_type: str | None
    #: The idempotency key.
    key: str | None
    #: The status of the last response, or 0.
    http_status: int
    #: The number of attempts.
    attempts: int
    #: The size of the file in bytes.
    size: int
    #: Body bytes received in all attempts.
    bytes_received: int
    user_data: bytes
    #: Selected headers of the last response.
    headers: tuple[tuple[str, str], ...]
    #: The first bytes of the body of a response that was not accepted.
    error_body: bytes
    #: The challenge, if it is still open; None if it was answered, and for other events.
    challenge: Challenge | None
    #: The group of the task, or the group that has finished.
    group: str | None
    #: For EventKind.GROUP_FINISHED: how many tasks ended so since the group last finished.
    group_succeeded: int
    group_failed: int
    group_cancelled: int
    #: The computed digest of the file, in the form of ``Request.checksum``.
    checksum: str | None
    #: Body bytes sent in all attempts.
    bytes_sent: int
    #: For an upload that succeeded: the first 65,536 bytes of the response's body.
    response_body: bytes
    #: None if the event does not belong to a task.
    task_kind: TaskKind | None
    #: For EventKind.ACTIVITY: its identifier.
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
        """Whether the event is the end of a task."""
        return self.kind is EventKind.TASK_ENDED

    @property
    def is_challenge(self) -> bool:
        """Whether a server or proxy requires a credential. Acknowledging the event does not answer the challenge."""
        return self.kind is EventKind.CHALLENGE

    @property
    def is_activity(self) -> bool:
        """Whether an activity without a request is due."""
        return self.kind is EventKind.ACTIVITY

    @property
    def succeeded(self) -> bool:
        """Whether a task succeeded: it has a complete file, or its upload was accepted."""
        return self.state is TaskState.SUCCEEDED

    @property
    def time(self) -> datetime:
        return moment(self.time_ms)

    @property
    def error(self) -> BackhaulError | None:
        """The reason why the task did not succeed, as an exception to raise or to show."""
        if self.status is Status.OK:
            return None
        return error_for(self.status, self.error_message or "", domain=self.error_domain, detail=self.error_detail)

    def header(self, name: str) -> str | None:
        """Returns a selected header of the last response, by its name in any case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def acknowledge(self, *, timeout: float | None = None) -> None:
        """Acknowledges the event after the host has processed it: it never comes again, and its unclaimed kept file is
        removed."""
        self._session.acknowledge([self], timeout=timeout)
