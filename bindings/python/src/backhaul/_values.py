"""What hosts give and get: requests, tasks, progress, challenges, sessions. Plain values; all times are UTC."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import NamedTuple, Optional, Union

from ._constants import (
    Attention,
    ChallengeKind,
    Disposition,
    IfExists,
    LaunchState,
    Reason,
    Scheme,
    Status,
    TaskState,
)

Path = Union[str, "os.PathLike[str]"]
Headers = Union[Mapping[str, str], Sequence[tuple[str, str]]]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def moment_or_none(milliseconds: int) -> datetime | None:
    """0 stands for no time at all."""
    return moment(milliseconds) if milliseconds else None


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
        return moment_or_none(self.next_attempt_ms)

    @property
    def enqueued(self) -> datetime:
        return moment(self.enqueued_ms)


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
    #: Over the last seconds.
    bytes_per_second: int

    @property
    def fraction(self) -> float | None:
        """Between 0 and 1; None while the size is not known."""
        if self.size is None:
            return None
        return min(1.0, self.offset / self.size) if self.size else 1.0


@dataclass(frozen=True)
class Challenge:
    """A question for a credential, for one protection space: the origin and the realm. It stays open until it is
    answered with ``session.respond``, whatever happens to its event."""

    #: Grows; never used twice in a store.
    id: int
    #: The server or a proxy.
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
    invalidating: bool
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
    #: Whether its rounds and challenges launch the application; None: they do.
    sends_launch_events: bool | None = None
    #: Whether a 401 or 407 becomes a challenge, for which its tasks wait; None: it does not, and is a failure.
    asks_for_credentials: bool | None = None
    #: When the consumer's process has been stopped for so long while the session needs it, launch all the same.
    launch_if_stopped_ms: int = 0
