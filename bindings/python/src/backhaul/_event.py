"""Events: messages that the engine stores for the host. The engine is the process that runs the tasks. The host is the
program that uses this package."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from ._constants import Domain, EventKind, Status, TaskKind, TaskState
from ._errors import BackhaulError, error_for
from ._identity import Identity
from ._types import Time
from ._values import Challenge


class Acknowledging(Protocol):
    """The method of a session that ``Event.acknowledge`` calls."""

    def acknowledge(self, events: Iterable[Identity], *, timeout: float | None = None) -> int: ...


@dataclass(frozen=True, repr=False)
class Event:
    """A stored message for the host: a task, group or round has ended, a challenge was opened, or an activity is due.

    A round begins when a task is added to a session without unfinished tasks. It ends when all tasks of the session
    have ended. A challenge is a demand to the host, for example for a credential. An activity is work that repeats.
    """

    #: The id. Ids increase, and a store never uses an id twice.
    id: int
    #: What the event reports.
    kind: EventKind
    #: The number of the round that ended, or of the round to which the task belongs.
    round: int
    #: When the event was stored, in Unix milliseconds.
    time_ms: int
    #: The id of the task, or 0 if the event does not belong to a task.
    task_id: int
    #: Succeeded, failed or cancelled; None if the event does not belong to a task.
    state: TaskState | None
    #: The reason why the task did not succeed, or OK.
    status: Status
    #: What the number in ``error_detail`` is: an errno, a CURLcode, an HTTP status…
    error_domain: Domain
    #: A number that describes the error more precisely, or 0.
    error_detail: int
    #: The message about ``status``, which is one sentence. None if the status is OK.
    error_message: str | None
    #: The URL of the request.
    url: str | None
    #: The URL after redirects. None if there was no response.
    final_url: str | None
    #: If a download succeeded: the path of the complete, synced file. If a task with ``BodySource.CONSUME`` did not
    #: succeed: the path of its body file, which the engine had moved into the store. When the host acknowledges the
    #: event, the host gets this file back. In all other cases: None.
    path: str | None
    #: The media type of the last response, or None.
    media_type: str | None
    #: The idempotency key.
    key: str | None
    #: The status of the last response, or 0.
    http_status: int
    #: The number of attempts (runs of the task).
    attempts: int
    #: The size of the file in bytes.
    size: int
    #: How many bytes of bodies were received in all attempts together.
    bytes_received: int
    #: The bytes that the host chose for the task.
    user_data: bytes
    #: The stored header fields of the last response. The engine stores 16 KiB at most, the important fields first.
    headers: tuple[tuple[str, str], ...]
    #: If the last response was not accepted, the first 4,096 bytes of its body.
    error_body: bytes
    #: The challenge of EventKind.CHALLENGE. None for other kinds.
    challenge: Challenge | None
    #: The group of the task, or the group that has finished.
    group: str | None
    #: For EventKind.GROUP_FINISHED: how many tasks of the group succeeded since the previous event of this kind for the
    #: group.
    group_succeeded: int
    #: For EventKind.GROUP_FINISHED: how many tasks of the group failed since that event.
    group_failed: int
    #: For EventKind.GROUP_FINISHED: how many tasks of the group were cancelled since that event.
    group_cancelled: int
    #: The digest of the file in the form of ``Request.checksum``. None if the engine has not computed the digest.
    checksum: str | None
    #: How many bytes of bodies were sent in all attempts together.
    bytes_sent: int
    #: For an upload that succeeded: the first 65,536 bytes of the response's body, or what arrived of them within 30
    #: seconds.
    response_body: bytes
    #: The kind of the task. None if the event does not belong to a task.
    task_kind: TaskKind | None
    #: For EventKind.ACTIVITY: the identifier of the activity.
    activity: str | None

    def __repr__(self) -> str:
        # A query of a URL may contain a signature.
        shown = {
            "kind": self.kind.name, "task_id": self.task_id, "state": self.state and self.state.name,
            "status": self.status and self.status.name, "error_message": self.error_message, "group": self.group,
            "activity": self.activity, "key": self.key, "url": self.url and self.url.partition("?")[0],
            "path": self.path, "origin": self.challenge and self.challenge.origin,
            "realm": self.challenge and self.challenge.realm,
        }
        fields = [f"{name}={value}" for name, value in shown.items() if value]
        return f"<Event {self.id}: {', '.join(fields)}>"

    def __getstate__(self) -> dict[str, Any]:
        # A session cannot be copied. So a copy of an event, such as a pickled one, has no session.
        return {name: value for name, value in vars(self).items() if name != "_session"}

    def _with(self, session: Acknowledging) -> Event:
        """Returns this event with the session that acknowledges it."""
        object.__setattr__(self, "_session", session)  # The class is frozen, and the session is no field.
        return self

    @property
    def is_session_finished(self) -> bool:
        """Whether the event reports that all tasks of the round have ended."""
        return self.kind is EventKind.SESSION_FINISHED

    @property
    def is_group_finished(self) -> bool:
        """Whether the event reports that all tasks of a group have ended."""
        return self.kind is EventKind.GROUP_FINISHED

    @property
    def is_task_ended(self) -> bool:
        """Whether the event reports the end of a task."""
        return self.kind is EventKind.TASK_ENDED

    @property
    def is_challenge(self) -> bool:
        """Whether the event reports a challenge. The challenge stays open after the event is acknowledged."""
        return self.kind is EventKind.CHALLENGE

    @property
    def is_activity(self) -> bool:
        """Whether the event reports that an activity is due. If an activity has a request, the engine enqueues this
        request instead of storing such an event."""
        return self.kind is EventKind.ACTIVITY

    @property
    def succeeded(self) -> bool:
        """Whether the event reports a success: a complete file, or an accepted upload."""
        return self.state is TaskState.SUCCEEDED

    #: When the event was stored.
    time = Time()

    @property
    def error(self) -> BackhaulError | None:
        """The reason why the task did not succeed, as an exception that can be raised. None if the status is OK."""
        if self.status is Status.OK:
            return None
        return error_for(self.status, self.error_message or "", domain=self.error_domain, detail=self.error_detail)

    def header(self, name: str) -> str | None:
        """Returns the value of a header field of the last response, or None if the engine has not stored this field.
        The comparison of names ignores case."""
        return next((value for key, value in self.headers if key.lower() == name.lower()), None)

    def acknowledge(self, *, timeout: float | None = None) -> None:
        """Acknowledges the event. Call this method after the host has processed the event. The event is then not
        delivered again. If the downloaded file is still in the store (the directory with all durable data), the engine
        removes this file. ``claim`` moves a file out of the store.

        A copy of an event, for example from ``pickle`` or ``copy``, belongs to no session. Acknowledge a copy with
        ``session.acknowledge([event])``.
        """
        session: Acknowledging | None = vars(self).get("_session")
        if session is None:
            raise error_for(
                Status.WRONG_STATE, "the event is a copy and belongs to no session; call session.acknowledge([event])"
            )
        session.acknowledge([self], timeout=timeout)
