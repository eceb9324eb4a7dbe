"""What to transfer, and what an enqueue did with it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from ._constants import BodySource, Disposition, IfExists, Refresh, TaskState
from ._rules import Policy
from ._types import Headers, Moment, Path


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
    """The task of one request."""

    #: Number of the request, from 0.
    request: int
    task_id: int
    disposition: Disposition
    #: Of a task that the idempotency key found; None: it is new.
    state: TaskState | None = None
    #: Of the end of a found task, while it is not acknowledged.
    event_id: int | None = None

    @property
    def is_new(self) -> bool:
        """False when the idempotency key found an earlier task."""
        return self.disposition is Disposition.NEW

    @property
    def has_ended(self) -> bool:
        """Whether the task had ended when it was found."""
        return self.state in (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.CANCELLED)

    @property
    def is_acknowledged(self) -> bool:
        """Whether its event was acknowledged. No event of the task comes again; another transfer needs another key."""
        return self.has_ended and self.event_id is None
