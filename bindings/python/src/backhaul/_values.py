"""What hosts give and get: requests, events, tasks, sessions, configurations. Plain values; all times are UTC."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from typing import TYPE_CHECKING, NamedTuple, Union

from ._constants import Attention, Disposition, Domain, EventKind, IfExists, Reason, Status, TaskState
from ._errors import BackhaulError, error_for

if TYPE_CHECKING:
    from ._session import Session

Path = Union[str, "os.PathLike[str]"]
Headers = Union[Mapping[str, str], Sequence[tuple[str, str]]]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def _moment(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


@dataclass(frozen=True)
class Request:
    """A download to make."""

    #: http or https, without user name or password.
    url: str
    #: Absolute path of the file to make; None: kept in the store until claimed.
    destination: Path | None = None
    #: Idempotency key: the same key again finds the same task, until the end of its round is acknowledged.
    key: str | None = None
    #: Sent to the URL's origin only.
    headers: Headers = ()
    #: Comes back with each event and listing.
    user_data: bytes = b""
    #: "fail" or "replace".
    if_exists: str | IfExists = IfExists.FAIL
    #: Higher runs first within the session; -100 to 100.
    priority: int = 0
    #: Waits for ``resume``.
    suspended: bool = False
    #: Permission bits of the file; None: 0o666 less the umask.
    mode: int | None = None


class Enqueued(NamedTuple):
    """What an enqueue did with one request."""

    task_id: int
    disposition: Disposition
    status: Status

    @property
    def is_new(self) -> bool:
        """False when the idempotency key found a task that was there."""
        return self.disposition is Disposition.NEW


@dataclass(frozen=True)
class Event:
    """A durable fact addressed to the host: a task has ended, or a round of the session has."""

    #: Grows; never used twice in a store.
    id: int
    kind: EventKind
    #: Which round ended, or to which the task belonged.
    round: int
    #: Unix time of the commit in milliseconds.
    time_ms: int
    #: 0 for a finished session, and so are the fields below.
    task_id: int
    #: Succeeded, failed or cancelled; None for a finished session.
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
    _session: Session = field(repr=False, compare=False)

    @property
    def is_session_finished(self) -> bool:
        """Whether the round's last task has ended."""
        return self.kind is EventKind.SESSION_FINISHED

    @property
    def succeeded(self) -> bool:
        """Whether a task ended with a whole file."""
        return self.state is TaskState.SUCCEEDED

    @property
    def time(self) -> datetime:
        return _moment(self.time_ms)

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

    @property
    def next_attempt(self) -> datetime | None:
        return _moment(self.next_attempt_ms) if self.next_attempt_ms else None

    @property
    def enqueued(self) -> datetime:
        return _moment(self.enqueued_ms)


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
    invalidating: bool
    #: Process id of the consumer, or None.
    consumer: int | None
    created_ms: int

    @property
    def created(self) -> datetime:
        return _moment(self.created_ms)


@dataclass(frozen=True)
class SessionConfiguration:
    """What is remembered with a session from its creation. 0 or None stands for the library's default."""

    identifier: str
    connections_per_origin: int = 0
    maximum_running_tasks: int = 0
    #: Tries in a row without new durable bytes.
    maximum_attempts: int = 0
    first_retry_delay_ms: int = 0
    longest_retry_delay_ms: int = 0
    #: Without a byte from the server.
    request_timeout_ms: int = 0
    #: From enqueue.
    resource_timeout_ms: int = 0
    #: Absolute path of PEM certificates to trust instead of the system's.
    ca_file: Path | None = None
