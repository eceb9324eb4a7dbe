"""Requests, and the results of an enqueue, which stores requests as tasks. The engine runs the tasks, in a separate
process or in this process."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypedDict

from ._constants import BodySource, DependencyFailure, Disposition, IfExists, Refresh, TaskState
from ._rules import Policy
from ._types import Headers, Moment, StrPath
from ._words import BodySourceWord, DependencyFailureWord, IfExistsWord, RefreshWord


@dataclass(frozen=True)
class Part:
    """One part of a multipart/form-data body: a value or a file. A value that is a ``str`` is sent as UTF-8."""

    #: The name of the part.
    name: str
    #: The value of a part without a file.
    value: str | bytes | None = field(default=None, repr=False)
    #: The absolute path of a file. The request's ``body_source`` determines whether the engine reads, copies or moves
    #: the file.
    file: StrPath | None = None
    #: The file name that is sent to the server. None: the last component of ``file``, or no file name for a value.
    file_name: str | None = None
    #: The media type that is sent to the server. None: application/octet-stream for a file, no media type for a value.
    media_type: str | None = None


@dataclass(frozen=True)
class Dependency:
    """A task that a request waits for, and what the request takes from the response to that task.

    A place in a response is a text: "url" is the URL that sent it, "body" is its body, "header:Location" is a header
    field, and "json:/a/b" is a text or number in its body, which is a JSON document (RFC 6901). Bodies can be taken
    only from responses to uploads, up to 65,536 bytes.
    """

    #: The id of the task.
    task_id: int | None = None
    #: Or the idempotency key of the task. It may be a request before this one in the same call.
    key: str | None = None
    #: The place of the request's URL, which may be relative to the URL of the response. If its origin is not that of
    #: ``Request.url``, the headers of the request and of the session are not sent.
    url: str | None = None
    #: The place of the request's body.
    body: str | None = None
    #: Header fields whose values are places. They replace headers of the same name.
    headers: Headers = ()
    #: What happens if the task fails or is cancelled: this task fails ("fail"), is cancelled ("cancel"), or runs
    #: ("ignore").
    if_fails: DependencyFailure | DependencyFailureWord = DependencyFailure.FAIL


@dataclass(frozen=True)
class Request:
    """A download or an upload.

    A request with a body (``body_file``, ``body`` or ``parts``) and without a destination is an upload. Its event has
    the body of the response. A request with a body and a destination is a download.
    """

    #: An http or https URL without user name and password.
    url: str
    #: The absolute path at which the file is placed. None: the request is an upload, or the file stays in the store
    #: (the directory with all durable data) until ``claim`` moves it to another path.
    destination: StrPath | None = None
    #: The idempotency key. While a task has the key, a later request with the same key returns this task, and does not
    #: change the task's priority, rate, constraints and start times. If the task succeeds, an event follows when all
    #: tasks of its session have ended. The key is free when the host (the program that uses this package) has
    #: acknowledged this event. If the task fails or is cancelled, the key is free when the event about its end is
    #: acknowledged.
    key: str | None = None
    #: The header fields. They are sent only to the URL's origin (scheme, host name and port). ``repr`` does not show
    #: them, because they may contain secrets.
    headers: Headers = field(default=(), repr=False)
    #: Bytes that the host (the program that uses this package) chooses. The event at the end of the task and each
    #: listing of the task return these bytes.
    user_data: bytes = b""
    #: What happens if the destination exists: "fail", "replace" or "skip". "skip" keeps the file if it has the
    #: ``checksum`` and the ``expected_size``, and otherwise replaces it. It needs at least one of these fields.
    if_exists: IfExists | IfExistsWord = IfExists.FAIL
    #: The priority, -100 to 100 or PRIORITY_NOW. In a session, tasks with a higher priority run first.
    priority: int = 0
    #: Whether the task is suspended from the start, until ``resume`` is called.
    suspended: bool = False
    #: The permission bits of the file. None: those of the replaced file, or of the directory's default ACL, or 0o666
    #: without the bits of the umask.
    mode: int | None = None
    #: The method. None: GET without a body, PUT with ``body_file`` or ``body``, POST with ``parts``.
    method: str | None = None
    #: The name of a group. When all tasks of the group have ended, one event reports this end.
    group: str | None = None
    #: The expected digest of the file: "sha-256:" and 64 hexadecimal digits, or "sha-512:" and 128 hexadecimal digits.
    #: With a checksum, ``if_changed`` has no effect; ``if_exists="skip"`` keeps a file that has the checksum.
    checksum: str | None = None
    #: The size of the file in bytes. A file of another size is downloaded a second time. If the second file also has
    #: another size, the task fails with Status.SIZE_MISMATCH.
    expected_size: int | None = None
    #: The absolute path of the regular file that is the body.
    body_file: StrPath | None = None
    #: The body, at most one mebibyte. The engine stores it.
    body: bytes | None = field(default=None, repr=False)
    #: The parts of a form.
    parts: Sequence[Part] = ()
    #: Whether the engine reads ``body_file`` and the files of ``parts`` in place ("reference"), copies them
    #: ("snapshot") or moves them ("consume").
    body_source: BodySource | BodySourceWord = BodySource.REFERENCE
    #: Which part of the request expires and can be refreshed: "none", "headers" or "url".
    refresh: Refresh | RefreshWord = Refresh.NONE
    #: When the part in ``refresh`` expires. An attempt (a run of the task) that starts after this time first opens a
    #: challenge, which demands new headers or a new URL. None: only a response opens this challenge: one with status
    #: 401 or 403, or for a URL also another one, such as 404.
    expires: Moment | None = None
    #: The settings of this task. None: the session's settings.
    policy: Policy | None = None
    #: Whether the engine downloads the file only if it has changed on the server. The comparison is with the file that
    #: an earlier task with this option has downloaded from the same URL to the destination. If the file has not
    #: changed, the task succeeds with ``http_status`` 304. This option needs ``if_exists="replace"``, and has no effect
    #: in a request with a ``checksum``, which a 304 would not verify.
    if_changed: bool = False
    #: Whether the server chooses the name of the file. If so, the destination is an existing directory, and the event
    #: has the path of the file.
    named_by_server: bool = False
    #: Whether the engine ignores the header fields Repr-Digest and Content-Digest of the response.
    ignores_digests: bool = False
    #: The task does not start before this time.
    earliest_start: Moment | None = None
    #: After this time, the presets of the task and of its session (such as "discretionary") do not delay the task any
    #: more. This time must not be before ``earliest_start``.
    latest_start: Moment | None = None
    #: An upper bound of the received bytes. The task waits while a budget (a limit on bytes in a day or month) has
    #: fewer bytes left than this bound. None: the bound is ``expected_size``. If both fields are None, the bound is
    #: unknown.
    expected_bytes_received: int | None = None
    #: An upper bound of the sent bytes. None: the size of the body.
    expected_bytes_sent: int | None = None
    #: The first byte to transfer. A download without a body fetches only these bytes of the resource; ``checksum`` and
    #: ``expected_size`` then apply to them. An upload of ``body_file`` sends only these bytes of the file. If the
    #: resource is shorter than the range, the task fails with Status.SIZE_MISMATCH.
    range_start: int = 0
    #: The number of bytes to transfer from ``range_start`` on. None: all bytes up to the end.
    range_size: int | None = None
    #: The tasks of the session that must have ended before this task starts. The task waits for them without a host.
    after: Sequence[Dependency] = ()


class TransferOptions(TypedDict, total=False):
    """The fields of ``Request`` that downloads and uploads have."""

    key: str | None
    headers: Headers
    user_data: bytes
    priority: int
    suspended: bool
    method: str | None
    group: str | None
    body_source: BodySource | BodySourceWord
    refresh: Refresh | RefreshWord
    expires: Moment | None
    policy: Policy | None
    earliest_start: Moment | None
    latest_start: Moment | None
    expected_bytes_received: int | None
    expected_bytes_sent: int | None
    range_start: int
    range_size: int | None
    after: Sequence[Dependency]


class DownloadOptions(TransferOptions, total=False):
    """The fields of ``Request`` that downloads have."""

    if_exists: IfExists | IfExistsWord
    mode: int | None
    checksum: str | None
    expected_size: int | None
    body_file: StrPath | None
    body: bytes | None
    parts: Sequence[Part]
    if_changed: bool
    named_by_server: bool
    ignores_digests: bool


class Enqueued(NamedTuple):
    """The result of one request of an enqueue: a new task, or an earlier task with the same key."""

    #: The index of the request, from 0.
    request: int
    #: The id of the new or the earlier task.
    task_id: int
    #: Whether the enqueue made a task, or found an earlier one.
    disposition: Disposition
    #: If the idempotency key found an earlier task, the state of this task. None if the task is new.
    state: TaskState | None = None
    #: If the key found a task that has ended, the id of the event that reports its end. None if the task is new, if it
    #: has not ended, or if its event is acknowledged.
    event_id: int | None = None

    @property
    def is_new(self) -> bool:
        """Whether the enqueue made the task. False if the idempotency key found an earlier task."""
        return self.disposition is Disposition.NEW

    @property
    def has_ended(self) -> bool:
        """Whether the enqueue found a task that had already ended."""
        return self.state in (TaskState.SUCCEEDED, TaskState.FAILED, TaskState.CANCELLED)

    @property
    def is_acknowledged(self) -> bool:
        """Whether the end of the found task was acknowledged. If so, no event will report this task again, and another
        transfer needs another key."""
        return self.has_ended and self.event_id is None
