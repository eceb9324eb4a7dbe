"""Requests, and the results of an enqueue."""

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
    #: The absolute path of a file, which is read according to the request's ``body_source``.
    file: Path | None = None
    #: The file name that is sent to the server; None: the last part of ``file``, and none for a value.
    file_name: str | None = None
    #: None: application/octet-stream for a file, and none for a value.
    media_type: str | None = None


@dataclass(frozen=True)
class Request:
    """A download or an upload.

    A request with a body (``body_file``, ``body`` or ``parts``) and without a destination is an upload, and its
    event has the response's body. With both it is a download by that method.
    """

    #: An http or https URL without user name and password.
    url: str
    #: The absolute path of the file to make; None: the file is kept in the store until it is claimed, or the request is
    #: an upload.
    destination: Path | None = None
    #: The idempotency key: the same key finds the same task again, until the end of its round is acknowledged.
    key: str | None = None
    #: These are sent only to the URL's origin. ``repr`` does not show them, because they may contain secrets.
    headers: Headers = field(default=(), repr=False)
    #: This is returned with each event and listing.
    user_data: bytes = b""
    #: "fail", "replace" or "skip".
    if_exists: str | IfExists = IfExists.FAIL
    #: A higher priority runs first within the session; -100 to 100, or PRIORITY_NOW.
    priority: int = 0
    #: Whether the task waits for ``resume``.
    suspended: bool = False
    #: The permission bits of the file; None: 0o666 without the bits of the umask.
    mode: int | None = None
    #: None: GET without a body, PUT with ``body_file`` or ``body``, POST with ``parts``.
    method: str | None = None
    #: The name of a group. An event reports that the last live task of the group has ended.
    group: str | None = None
    #: "sha-256:" and 64, or "sha-512:" and 128 hexadecimal digits.
    checksum: str | None = None
    #: The size of the file in bytes. Another size fails with Status.SIZE_MISMATCH.
    expected_size: int | None = None
    #: The absolute path of a regular file.
    body_file: Path | None = None
    #: Bytes of at most one mebibyte, which are stored.
    body: bytes | None = field(default=None, repr=False)
    #: The parts of a form.
    parts: Sequence[Part] = ()
    #: How the engine takes ``body_file`` and the files of ``parts``: "reference", "snapshot" or "consume".
    body_source: str | BodySource = BodySource.REFERENCE
    #: The part of the request that expires: "none", "headers" or "url".
    refresh: str | Refresh = Refresh.NONE
    #: Until when that part is valid: an attempt that starts later asks the host first. None: only a 401 or 403 does.
    expires: Moment | None = None
    policy: Policy | None = None
    #: Fetches the file only if the server has another representation than the one that an earlier task of the session
    #: put at the destination. Otherwise the task succeeds with ``http_status`` 304. It needs ``if_exists="replace"``.
    if_changed: bool = False
    #: The destination is an existing directory. The server names the file in it, and the event has the path.
    named_by_server: bool = False
    #: The server's Repr-Digest and Content-Digest are not verified.
    ignores_digests: bool = False
    #: The task does not start before this time.
    earliest_start: Moment | None = None
    #: From this time on presets do not hold the task, including its session's preset; not before ``earliest_start``.
    latest_start: Moment | None = None
    #: An upper bound in bytes, for budgets: the task waits while less is left. None: ``expected_size``, or unknown.
    expected_bytes_received: int | None = None
    #: An upper bound for the sent bytes; None: the body's size.
    expected_bytes_sent: int | None = None


class TransferOptions(TypedDict, total=False):
    """Fields of ``Request`` for downloads and uploads."""

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
    """Fields of ``Request`` for downloads."""

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

    #: The index of the request, from 0.
    request: int
    task_id: int
    disposition: Disposition
    #: The state of a task that the idempotency key found; None: the task is new.
    state: TaskState | None = None
    #: The event id of a found task's end, while it is not acknowledged.
    event_id: int | None = None

    @property
    def is_new(self) -> bool:
        """False if the idempotency key found an earlier task."""
        return self.disposition is Disposition.NEW

    @property
    def has_ended(self) -> bool:
        """Whether the task had ended when it was found."""
        return self.state in (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.CANCELLED)

    @property
    def is_acknowledged(self) -> bool:
        """Whether its end is acknowledged. Then no event of the task comes, and another transfer needs another key."""
        return self.has_ended and self.event_id is None
