"""Sessions: named collections of transfers that outlive the process."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from ._activity import Activity, ActivityInfo
from ._configuration import SessionConfiguration
from ._constants import Role
from ._errors import BackhaulError
from ._events import EventSource, EventStream
from ._handles import ApplicationHandle, SessionHandle
from ._identity import Identity
from ._progress import ProgressStream, poll_progress
from ._reading import Events
from ._requests import DownloadOptions, Enqueued, Part, Request, TransferOptions
from ._session_tasks import SessionTasks
from ._session_verbs import PAGE, SessionVerbs
from ._task import Task
from ._types import Headers, Moment, Path
from ._values import Challenge, Progress

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

#: The most requests in one call of the library.
ENQUEUE_CHUNK = 10_000


class Session(SessionTasks):
    """A session of an application. Closing it gives up its role; transfers continue and events are kept.

    Each verb waits for the engine up to ``timeout`` seconds (30 by default). ``session.start`` has the same verbs in
    a form that returns a Ticket at once: ``await session.start.cancel([task])``.
    """

    def __init__(
        self, application: ApplicationHandle, handle: SessionHandle, identifier: str, role: Role, created: bool
    ) -> None:
        self._handle = handle
        self._events = EventSource(self, application, handle)
        self.identifier = identifier
        #: The role of this handle.
        self.role = role
        #: Whether opening it created the session; False if the session existed.
        self.created = created
        #: The verbs in their started form.
        self.start = SessionVerbs(self, self._events, application, handle)

    def __repr__(self) -> str:
        return f"<Session {self.identifier!r}{' closed' if self._handle.closed else ''}>"

    # Enqueue

    def download(
        self,
        url: str,
        destination: Path | None = None,
        *,
        timeout: float | None = None,
        **options: Unpack[DownloadOptions],
    ) -> Task:
        """Enqueues one download. The options are fields of ``Request``, such as ``key``, ``headers``, ``if_exists`` and
        ``checksum``. When it returns, the task survives the end of this process and a power loss."""
        return self.start.download(url, destination, **options).result(timeout)

    def upload(
        self,
        url: str,
        body_file: Path | None = None,
        *,
        body: bytes | None = None,
        parts: Sequence[Part] = (),
        timeout: float | None = None,
        **options: Unpack[TransferOptions],
    ) -> Task:
        """Enqueues one upload of a file or of bytes (with PUT), or of a form (with POST). The options are fields of
        ``Request``.

        Its event has the response's body. When it returns, the task survives as a download does. The file must exist
        until the task has ended, unless ``body_source`` says otherwise.
        """
        return self.start.upload(url, body_file, body=body, parts=parts, **options).result(timeout)

    def enqueue(
        self, requests: Iterable[Request], *, chunk: int = ENQUEUE_CHUNK, timeout: float | None = None
    ) -> list[Enqueued]:
        """Enqueues many requests, read from the iterable in chunks.

        Each chunk is checked completely before any request of it is applied, and ``timeout`` holds for each chunk.
        If a request is refused, the error's ``index`` is its number, and ``applied`` has the results of the applied
        ones. With idempotency keys the call can be repeated.
        """
        done: list[Enqueued] = []
        remaining = iter(requests)
        while True:
            part = list(islice(remaining, max(1, chunk)))
            if not part:
                return done
            try:
                done += self.start.enqueue(part, first=len(done)).result(timeout)
            except BackhaulError as error:
                error.applied = [*done, *error.applied]
                raise

    # Events

    def events(self, *, after: int = 0, timeout: float | None = None, maximum: int = PAGE) -> EventStream:
        """Yields the events after an id (0: from the first unacknowledged one), for ``for`` and ``async for``.

        It waits for each next event. With a ``timeout`` it ends when no event came for so many seconds (0: only the
        events that are there now).
        """
        return EventStream(self._events, after, timeout, maximum)

    def poll(self, after: int = 0, maximum: int = PAGE, *, timeout: float | None = None) -> Events:
        """Returns up to ``maximum`` events after an id. Waits up to ``timeout`` seconds (None: no limit) for the
        first."""
        return self._events.poll(after, maximum, timeout)

    def acknowledge(self, events: Iterable[Identity], *, timeout: float | None = None) -> int:
        """Acknowledges events, given by themselves or their ids, after the host has processed them: they never come
        again. Returns how many of them existed."""
        return self.start.acknowledge(events).result(timeout)

    def acknowledge_through(self, event: Identity, *, timeout: float | None = None) -> int:
        """Acknowledges all delivered events up to and including this one."""
        return self.start.acknowledge_through(event).result(timeout)

    def complete(self, *, timeout: float | None = None) -> None:
        """Reports that the host has processed all delivered events, which must be acknowledged.

        It ends the launch for this session. If this object was attached for the launch, its later calls raise
        Completed, and attaching again works at once. Without a launch, and when repeated, it has no effect.
        """
        self.start.complete().result(timeout)

    def fileno(self) -> int:
        """A descriptor that is readable while there are undelivered events. Use it only for waiting."""
        return self._handle.descriptor

    # Credentials

    def challenges(self, *, timeout: float | None = None) -> list[Challenge]:
        """The open challenges. Their tasks wait with Reason.CREDENTIAL."""
        return self.start.challenges().result(timeout)

    def respond(
        self,
        challenge: Challenge | int,
        *,
        user: str | None = None,
        password: str | None = None,
        headers: Headers | None = None,
        url: str | None = None,
        refuse: bool = False,
        default: bool = False,
        keep: bool = False,
        expires: Moment | None = None,
        timeout: float | None = None,
    ) -> None:
        """Responds to an open challenge, and acknowledges its event.

        The response is one of these: ``user`` and ``password`` for the schemes Basic and Digest (both empty for
        Negotiate: the user's own Kerberos ticket); ``headers`` such as ``{"Authorization": "Bearer …"}``; the new
        ``url`` of a refresh; ``refuse=True``, which fails the waiting tasks; ``default=True``, with which they
        continue without a credential. ``keep`` stores the response for later engines. When it ``expires``, the host
        is asked again. Raises NotFound if the challenge is not open any more.
        """
        verb = self.start.respond(
            challenge,
            user=user,
            password=password,
            headers=headers,
            url=url,
            refuse=refuse,
            default=default,
            keep=keep,
            expires=expires,
        )
        verb.result(timeout)

    # Activities

    def set_activity(self, activity: Activity, *, timeout: float | None = None) -> None:
        """Makes the activity, durably, or replaces the one with its identifier, whose next window stays unless
        ``first`` or ``interval_ms`` changes. A session has at most 1,000."""
        self.start.set_activity(activity).result(timeout)

    def remove_activity(self, identifier: str, *, timeout: float | None = None) -> None:
        """Removes the activity; its tasks continue. Raises NotFound."""
        self.start.remove_activity(identifier).result(timeout)

    def activities(self, *, timeout: float | None = None) -> list[ActivityInfo]:
        """The session's activities by identifier."""
        return self.start.activities().result(timeout)

    # Progress

    def progress(self, interval: float = 0.5, *, timeout: float | None = None) -> ProgressStream:
        """Yields live progress of the running tasks, for ``for`` and ``async for``.

        Each step returns a list with the newest reading of every task that has changed, at most one for each task in
        ``interval`` seconds (0.1 to 60). With a ``timeout`` it ends when no reading came for so many seconds.
        """
        return ProgressStream(self.start, self._handle, interval, timeout)

    def watch_progress(self, interval: float = 0.5, *, timeout: float | None = None) -> None:
        """Starts the stream of readings for ``poll_progress``; an interval of 0 ends it."""
        self.start.watch_progress(interval).result(timeout)

    def poll_progress(self, *, timeout: float | None = 0) -> list[Progress]:
        """Returns the newest readings of all tasks that have changed since the last call. Waits up to ``timeout``
        seconds (None: without a limit) for the first."""
        return poll_progress(self._handle, timeout)

    # The session itself

    def configuration(self, *, timeout: float | None = None) -> SessionConfiguration:
        """The stored configuration with its defaults filled in."""
        return self.start.configuration().result(timeout)

    def set_configuration(self, configuration: SessionConfiguration, *, timeout: float | None = None) -> None:
        """Replaces the stored configuration. ``dataclasses.replace(session.configuration(), …)`` changes single fields.

        It applies to attempts that start later. ``bytes_per_second``, the limits on tasks, connections and history,
        and shorter delays and time-outs apply at once.
        """
        self.start.set_configuration(configuration).result(timeout)

    def invalidate(self, *, cancel: bool = False, timeout: float | None = None) -> None:
        """Allows no further enqueue. The tasks continue to their end, or are cancelled. When all events are
        acknowledged, the session is removed, and its identifier can be used again."""
        self.start.invalidate(cancel=cancel).result(timeout)

    def close(self) -> None:
        """Frees the handle and gives up its role. Closing again is harmless."""
        self._handle.close()

    def __enter__(self) -> Session:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
