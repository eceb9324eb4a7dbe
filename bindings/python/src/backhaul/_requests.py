"""What to transfer, and how it differs from its session."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from ._constants import (
    BodySource,
    Disposition,
    HTTPVersion,
    IfExists,
    NetworkKind,
    Preset,
    Redirects,
    Refresh,
    RetryErrors,
    Status,
    TaskState,
    ThermalState,
)
from ._types import Headers, Moment, Path


@dataclass(frozen=True)
class Policy:
    """How a task differs from its session. 0 or None: as the session's configuration says. Of the fields from
    ``preset`` on the stricter of session and task holds: a task cannot loosen what its session asks for."""

    #: Tries in a row without new durable bytes.
    maximum_attempts: int = 0
    #: Doubles with each try, with jitter.
    first_retry_delay_ms: int = 0
    longest_retry_delay_ms: int = 0
    #: How much of each delay is random; 1 to 100.
    retry_jitter_percent: int = 0
    retry_errors: RetryErrors | None = None
    #: Whether a POST or PATCH is repeated although the server may have done what it asks.
    retries_unsafe_methods: bool | None = None
    #: "408,425,429,500,502-504"
    retry_statuses: str | None = None
    #: "200-299": others are failures.
    accepted_statuses: str | None = None
    #: Without a byte from the server.
    request_timeout_ms: int = 0
    #: From enqueue.
    resource_timeout_ms: int = 0
    http_version: HTTPVersion = HTTPVersion.DEFAULT
    #: "follow", "same_origin" or "none".
    redirects: str | Redirects | None = None
    maximum_redirects: int = 0
    #: Bytes that a file may have, else Status.TOO_LARGE.
    maximum_size: int = 0
    #: Of this task, beside the session's limit; changed with ``set_rate``.
    bytes_per_second: int = 0
    #: "discretionary" or "overnight": what it waits for when it can. A field that is set beside it takes its place.
    preset: str | Preset | None = None
    #: Whether it waits while the machine runs on battery.
    requires_external_power: bool | None = None
    #: Whether it waits while the network is metered.
    requires_unmetered: bool | None = None
    #: Kinds of network on which it runs; None: as the session.
    networks: NetworkKind | None = None
    #: Waits on battery with less, and then until it has 5 more; 1 to 100.
    minimum_battery_percent: int = 0
    #: "nominal", "fair" or "serious": waits while the machine is hotter.
    maximum_thermal_state: str | ThermalState | None = None
    #: Of the last ten seconds in which some process waited for a processor, a disk, memory; 1 to 100.
    maximum_cpu_pressure_percent: int = 0
    maximum_io_pressure_percent: int = 0
    maximum_memory_pressure_percent: int = 0
    #: When less has come for the session's ``slow_after_ms``, from an origin or from all, it pauses and probes.
    minimum_bytes_per_second: int = 0
    #: Hours of local time in which it waits: "22:00-06:30", or "mon-fri 08:00-18:00, sat 10:00-14:00".
    quiet_hours: str | None = None


@dataclass(frozen=True)
class Part:
    """One part of a multipart/form-data body: a value (a text is sent as UTF-8) or a file."""

    name: str
    value: str | bytes | None = field(default=None, repr=False)
    #: Absolute path, read as the request's ``body_source`` says.
    file: Path | None = None
    #: Told to the server; None: the last part of ``file``, none for a value.
    file_name: str | None = None
    #: None: application/octet-stream for a file, none for a value.
    media_type: str | None = None


@dataclass(frozen=True)
class Request:
    """A download, or an upload: a request with a body (``body_file``, ``body`` or ``parts``) and without a destination
    is an upload, and its event carries the answer's body. With both it is a download by that method."""

    #: http or https, without user name or password.
    url: str
    #: Absolute path of the file to make; None: kept in the store until claimed, or an upload.
    destination: Path | None = None
    #: Idempotency key: the same key again finds the same task, until the end of its round is acknowledged.
    key: str | None = None
    #: Sent to the URL's origin only. Not shown by ``repr``, for they may hold secrets.
    headers: Headers = field(default=(), repr=False)
    #: Comes back with each event and listing.
    user_data: bytes = b""
    #: "fail", "replace" or "skip".
    if_exists: str | IfExists = IfExists.FAIL
    #: Higher runs first within the session; -100 to 100, or PRIORITY_NOW.
    priority: int = 0
    #: Waits for ``resume``.
    suspended: bool = False
    #: Permission bits of the file; None: 0o666 less the umask.
    mode: int | None = None
    #: None: GET, with ``body_file`` or ``body`` PUT, with ``parts`` POST.
    method: str | None = None
    #: When the last live task of a group has ended, an event tells it.
    group: str | None = None
    #: "sha-256:" and 64, or "sha-512:" and 128 hexadecimal digits.
    checksum: str | None = None
    #: Of the file in bytes, else Status.SIZE_MISMATCH.
    expected_size: int | None = None
    #: Absolute path of a regular file.
    body_file: Path | None = None
    #: Bytes from memory, kept in the store; at most a mebibyte.
    body: bytes | None = field(default=None, repr=False)
    #: A form.
    parts: Sequence[Part] = ()
    #: What ``body_file`` and the files of ``parts`` are to the engine: "reference", "snapshot" or "consume".
    body_source: str | BodySource = BodySource.REFERENCE
    #: What expires: "none", "headers" or "url".
    refresh: str | Refresh = Refresh.NONE
    #: Until when that is good: the host is asked before an attempt starts later. None: it is asked at a 401 or 403.
    expires: Moment | None = None
    policy: Policy | None = None
    #: Fetched only if the server has another version than the one that an earlier task of the session has put at the
    #: destination: else the task succeeds with ``http_status`` 304. Needs ``if_exists="replace"``.
    if_changed: bool = False
    #: The destination is a directory, which exists; the file's name in it is the server's, and the event has the path.
    named_by_server: bool = False
    #: The server's Repr-Digest and Content-Digest are not verified.
    ignores_digests: bool = False
    #: Before this it does not start.
    earliest_start: Moment | None = None
    #: From this on it waits for no preset's wishes any more, its session's included; not before ``earliest_start``.
    latest_start: Moment | None = None
    #: An upper bound in bytes, for budgets: it waits when less is left; None: ``expected_size``, or not known.
    expected_bytes_received: int | None = None
    #: The same; None: the body's size.
    expected_bytes_sent: int | None = None


class TransferOptions(TypedDict, total=False):
    """Fields of ``Request`` that downloads and uploads have."""

    key: str | None
    headers: Headers
    user_data: bytes
    priority: int
    suspended: bool
    method: str | None
    group: str | None
    body_source: str | BodySource
    refresh: str | Refresh
    expires: Moment | None
    policy: Policy | None
    earliest_start: Moment | None
    latest_start: Moment | None
    expected_bytes_received: int | None
    expected_bytes_sent: int | None


class DownloadOptions(TransferOptions, total=False):
    """Fields of ``Request`` that downloads have."""

    if_exists: str | IfExists
    mode: int | None
    checksum: str | None
    expected_size: int | None
    body_file: Path | None
    body: bytes | None
    parts: Sequence[Part]
    if_changed: bool
    named_by_server: bool
    ignores_digests: bool


class Enqueued(NamedTuple):
    """What an enqueue did with one request."""

    task_id: int
    disposition: Disposition
    status: Status
    #: How the task stood that the idempotency key found. None: it is new, or the call has failed.
    state: TaskState | None = None
    #: Of the end of that task, while it is not acknowledged.
    event_id: int | None = None

    @property
    def is_new(self) -> bool:
        """False when the idempotency key found a task that was there."""
        return self.disposition is Disposition.NEW

    @property
    def has_ended(self) -> bool:
        """Whether the task had ended when it was found."""
        return self.state in (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.CANCELLED)

    @property
    def is_acknowledged(self) -> bool:
        """Whether its end was acknowledged: no event of the task comes any more."""
        return self.has_ended and self.event_id is None
