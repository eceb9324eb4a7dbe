"""Sessions. A session is a named collection of transfers, which continue after the process ends."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

from . import _writing
from ._activity import Activity, ActivityInfo
from ._configuration import SessionConfiguration
from ._constants import Role
from ._errors import BackhaulError
from ._events import EventSource, EventStream
from ._handles import ApplicationHandle, SessionHandle
from ._identity import Identity
from ._logging import log
from ._progress import ProgressStream, poll_progress
from ._reading import Events
from ._requests import DownloadOptions, Enqueued, Part, Request, TransferOptions
from ._session_tasks import SessionTasks
from ._session_verbs import PAGE, SessionVerbs
from ._task import Task
from ._types import ResponseOptions, StrPath
from ._values import Challenge, Progress

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Unpack

#: The largest number of requests in one call of the library.
ENQUEUE_CHUNK = 10_000


class Session(SessionTasks):
    """A session of an application. ``close`` detaches this program (the *host*) from the session. The session's
    transfers continue, and its events are kept.

    Each method waits up to ``timeout`` seconds (30 by default) for the engine, the process that runs the transfers.
    ``session.start`` has the same methods, and each one returns a Ticket instead, as in
    ``await session.start.cancel([task])``.
    """

    def __init__(
        self, application: ApplicationHandle, handle: SessionHandle, identifier: str, role: Role, created: bool
    ) -> None:
        self._application = application
        self._handle = handle
        #: The name of the session, which is unique in its application.
        self.identifier = identifier
        #: The role in which this object is attached. It determines which methods may be called.
        self.role = role
        #: Whether the call that returned this object created the session. False if the session existed before.
        self.created = created
        log.debug("%s the session %s as %s", "created" if created else "attached", identifier, role.name)

    def __repr__(self) -> str:
        return f"<Session {self.identifier!r}{' closed' if self._handle.closed else ''}>"

    # A session does not keep the objects that refer to it. Without such a cycle, a dropped session is closed at once.

    @property
    def start(self) -> SessionVerbs:
        """The methods of this session, in a form that does not wait for the engine: each one returns a ``Ticket``,
        which gives the result later. In asyncio, await the ticket: ``await session.start.cancel([task])``.

        The methods that enqueue or claim check files and directories before they return. If the file system does not
        respond, this check blocks the thread."""
        return SessionVerbs(self, self._application, self._handle)

    def _source(self) -> EventSource:
        return EventSource(self, self._application, self._handle)

    # Enqueue

    def download(
        self,
        url: str,
        destination: StrPath | None = None,
        *,
        timeout: float | None = None,
        **options: Unpack[DownloadOptions],
    ) -> Task:
        """Enqueues one download. The options are fields of ``Request``, such as ``key``, ``headers``, ``if_exists`` and
        ``checksum``. When this method returns, the task is stored: it survives the end of this process and a power
        loss."""
        return self.start.download(url, destination, **options).result(timeout)

    def upload(
        self,
        url: str,
        body_file: StrPath | None = None,
        *,
        body: bytes | None = None,
        parts: Sequence[Part] = (),
        timeout: float | None = None,
        **options: Unpack[TransferOptions],
    ) -> Task:
        """Enqueues one upload. The engine sends a file or bytes with PUT, and a form with POST. The options are fields
        of ``Request``.

        When this method returns, the task is stored: it survives the end of this process and a power loss. The file
        must exist until the task has ended. If ``body_source`` is "snapshot" or "consume", the file must exist only
        until this method returns. The event at the end of the task has the body of the response.
        """
        return self.start.upload(url, body_file, body=body, parts=parts, **options).result(timeout)

    def enqueue(
        self, requests: Iterable[Request], *, chunk: int = ENQUEUE_CHUNK, timeout: float | None = None
    ) -> list[Enqueued]:
        """Enqueues many requests. The method reads the requests from the iterable in chunks of ``chunk`` requests.

        The library checks all requests of a chunk before it applies the first one. ``timeout`` is the longest wait for
        each chunk. If a request is refused, the method raises an exception. ``index`` of the exception is the position
        of the refused request in the iterable. ``applied`` of the exception has the results of the requests that were
        applied. If all requests have idempotency keys, the call can be repeated.
        """
        done: list[Enqueued] = []
        remaining, size = iter(_writing.several("requests", requests)), _writing.chunk(chunk)
        while True:
            part = list(islice(remaining, size))
            if not part:
                return done
            try:
                done += self.start.enqueue(part, first=len(done)).result(timeout)
            except BackhaulError as error:
                error.applied = [*done, *error.applied]
                raise

    # Events

    def events(self, *, after: int = 0, timeout: float | None = None, maximum: int = PAGE) -> EventStream:
        """Yields the events with ids greater than ``after``, for ``for`` and ``async for``. If ``after`` is 0, the
        stream begins with the first unacknowledged event.

        The stream waits for further events. With a ``timeout``, the stream ends when no event has come for this number
        of seconds. With a ``timeout`` of 0, the stream yields only the available events. If other code closes the
        session or its application, the stream raises InvalidHandle at once.
        """
        return EventStream(self._source(), after, timeout, maximum)

    def poll(self, after: int = 0, maximum: int = PAGE, *, timeout: float | None = None) -> Events:
        """Returns up to ``maximum`` events with ids greater than ``after``. Waits for the first event up to ``timeout``
        seconds. If no event has come until then, the result has no items. If ``timeout`` is None, the wait has no
        limit."""
        return self._source().poll(after, maximum, timeout)

    def acknowledge(self, events: Iterable[Identity], *, timeout: float | None = None) -> int:
        """Acknowledges events, which are given as objects or as ids. Call this method after the host has processed the
        events. Acknowledged events are not delivered again. Returns how many of the events existed."""
        return self.start.acknowledge(events).result(timeout)

    def acknowledge_through(self, event: Identity, *, timeout: float | None = None) -> int:
        """Acknowledges this event, and all earlier events of the session."""
        return self.start.acknowledge_through(event).result(timeout)

    def complete(self, *, timeout: float | None = None) -> None:
        """States that the host has processed all delivered events. The host must acknowledge these events first.

        If the engine has launched a program for this session, this call ends the launch for this session. If this
        process is the launched program, later calls of this object raise Completed. The program can attach to the
        session again immediately. Without a launch, this call has no effect.
        """
        self.start.complete().result(timeout)

    def fileno(self) -> int:
        """Returns a descriptor. It is readable while there are events that no poll has returned. While a poll waits for
        the engine's reply, the descriptor is not readable. Use it only to wait: do not read from it."""
        return self._handle.descriptor

    # Credentials

    def challenges(self, *, timeout: float | None = None) -> list[Challenge]:
        """Returns the open challenges, at most 1,000. If there are more, call again after the responses.

        A challenge is a demand to the host for a credential, for new headers or for a new URL. A task that waits for a
        challenge has Reason.CREDENTIAL."""
        return self.start.challenges().result(timeout)

    def respond(
        self, challenge: Challenge | int, *, timeout: float | None = None, **response: Unpack[ResponseOptions]
    ) -> None:
        """Responds to an open challenge, and acknowledges its event.

        The response is exactly one of these:

        - ``user`` and ``password``, for the schemes Basic and Digest. For the scheme Negotiate, pass empty texts for
          both: the engine then uses the user's Kerberos ticket.
        - ``headers`` such as ``{"Authorization": "Bearer …"}``.
        - ``url``, if the challenge demands a new URL.
        - ``refuse=True``: the waiting tasks fail.
        - ``default=True``: the waiting tasks continue without a credential.

        ``keep=True`` stores the response, so that an engine that starts later can use it. After the time ``expires``,
        the engine opens a new challenge before it sends a request. Raises NotFound if the challenge is not open any
        more.
        """
        self.start.respond(challenge, **response).result(timeout)

    # Activities

    def set_activity(self, activity: Activity, *, timeout: float | None = None) -> None:
        """Stores the activity, which is work that repeats in windows of time. If the session already has an activity
        with this identifier, the new activity replaces it. If ``first`` is not set and ``interval_ms`` does not change,
        the next window stays the same. A session has at most 1,000 activities."""
        self.start.set_activity(activity).result(timeout)

    def remove_activity(self, identifier: str, *, timeout: float | None = None) -> None:
        """Removes the activity. Its tasks continue. Raises NotFound if the activity does not exist."""
        self.start.remove_activity(identifier).result(timeout)

    def activities(self, *, timeout: float | None = None) -> list[ActivityInfo]:
        """Returns the session's activities, in the order of their identifiers."""
        return self.start.activities().result(timeout)

    # Progress

    def progress(self, interval: float = 0.5, *, timeout: float | None = None) -> ProgressStream:
        """Yields live progress of the running tasks, for ``for`` and ``async for``.

        Each step yields a list. The list has the newest reading of each task that has changed since the last step. Each
        task has at most one reading in ``interval`` seconds. ``interval`` is 0.1 to 60. With a ``timeout``, the stream
        ends when no reading has come for this number of seconds. If other code closes the session or its application,
        the stream raises InvalidHandle at once.
        """
        return ProgressStream(self.start, self._handle, interval, timeout)

    def watch_progress(self, interval: float = 0.5, *, timeout: float | None = None) -> None:
        """Makes the engine send progress readings, which ``poll_progress`` returns. An interval of 0 stops the
        readings."""
        self.start.watch_progress(interval).result(timeout)

    def poll_progress(self, *, timeout: float | None = 0) -> list[Progress]:
        """Returns the newest reading of each task that has changed since the last call. Waits for the first reading up
        to ``timeout`` seconds. If ``timeout`` is None, the wait has no limit."""
        return poll_progress(self._handle, timeout)

    # The session itself

    def configuration(self, *, timeout: float | None = None) -> SessionConfiguration:
        """Returns the stored configuration. Fields that the host has not set have their defaults."""
        return self.start.configuration().result(timeout)

    def set_configuration(self, configuration: SessionConfiguration, *, timeout: float | None = None) -> None:
        """Replaces the stored configuration. To change single fields, pass
        ``dataclasses.replace(session.configuration(), …)``.

        The configuration applies to attempts (runs of tasks) that start later. Some fields apply immediately:
        ``constraints``, ``budget``, ``cookies``, ``bytes_per_second``, ``maximum_running_tasks``,
        ``connections_per_origin``, ``history_limit``, shorter delays, and a shorter ``resource_timeout_ms``.
        """
        self.start.set_configuration(configuration).result(timeout)

    def invalidate(self, *, cancel: bool = False, timeout: float | None = None) -> None:
        """Ends the session: no further request can be enqueued. If ``cancel`` is True, the tasks are cancelled.
        Otherwise they continue. When all tasks have ended and all events are acknowledged, the session is removed. Then
        its identifier can be used again."""
        self.start.invalidate(cancel=cancel).result(timeout)

    def close(self) -> None:
        """Detaches this program from the session. Streams of this object that wait, in asyncio or in other threads,
        raise InvalidHandle. A second call has no effect."""
        if not self._handle.closed:
            log.debug("closed the session %s", self.identifier)
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
