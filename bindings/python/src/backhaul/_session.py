"""Sessions: named collections of transfers that outlive the process."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from ctypes import byref
from itertools import islice
from typing import TYPE_CHECKING

from . import _reading, _writing
from ._constants import IfExists, Role, Status, TaskState
from ._ctypes import bh_batch, bh_ticket
from ._errors import BackhaulError, error_from
from ._events import EventStream
from ._handles import ApplicationHandle, BatchHandle, SessionHandle, TicketHandle, new_error
from ._library import library
from ._task import Task
from ._tickets import Ticket
from ._values import Enqueued, Headers, Path, Request, SessionConfiguration, TaskInfo
from ._verbs import PAGE, SessionVerbs, events_from
from ._waiting import Deadline
from ._writing import Identity

if TYPE_CHECKING:
    from types import TracebackType

#: Requests of one call into the library.
ENQUEUE_CHUNK = 10_000


class Session:
    """A session of an application. Closing it gives up its role; transfers go on and events stay.

    Each verb waits for the engine up to ``timeout`` seconds (30 by default). ``session.start`` has the same verbs in a
    form that returns a Ticket at once: ``await session.start.cancel([task])``.
    """

    def __init__(
        self, application: ApplicationHandle, handle: SessionHandle, identifier: str, role: Role, created: bool
    ) -> None:
        self._application = application
        self._handle = handle
        self.identifier = identifier
        #: What this handle may do.
        self.role = role
        #: Whether opening it made the session; False when it was there.
        self.created = created
        #: The verbs in their started form.
        self.start = SessionVerbs(self, application, handle)

    def __repr__(self) -> str:
        return f"<Session {self.identifier!r}{' closed' if self._handle.closed else ''}>"

    # Handing over

    def download(
        self,
        url: str,
        destination: Path | None = None,
        *,
        key: str | None = None,
        headers: Headers = (),
        user_data: bytes = b"",
        if_exists: str | IfExists = IfExists.FAIL,
        priority: int = 0,
        suspended: bool = False,
        mode: int | None = None,
        timeout: float | None = None,
    ) -> Task:
        """Hands over one download. When it returns, the task survives the end of this process and a power loss."""
        request = Request(url, destination, key, headers, user_data, if_exists, priority, suspended, mode)
        result = self.start.enqueue([request]).result(timeout)[0]
        return Task(self, result.task_id, result.disposition)

    def enqueue(
        self, requests: Iterable[Request], *, chunk: int = ENQUEUE_CHUNK, timeout: float | None = None
    ) -> list[Enqueued]:
        """Hands over many downloads, read from the iterable in chunks. Each chunk is checked whole before any of it is
        applied, and ``timeout`` holds for each. When a request is refused, the error's ``index`` is its number and
        ``applied`` has the results of those before it; with idempotency keys everything may simply be said again."""
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
        """The events after an id (0: from the first that is not acknowledged), for ``for`` and ``async for``. Waits
        for each next one; with a ``timeout`` it ends when none has come for so many seconds (0: what is there now)."""
        return EventStream(self, after, timeout, maximum)

    def poll(self, after: int = 0, maximum: int = PAGE, *, timeout: float | None = None) -> _reading.Events:
        """Up to ``maximum`` events after an id, waiting up to ``timeout`` seconds (None: any time) for the first."""
        deadline = Deadline(timeout)
        while not deadline.is_over:
            found = self._poll_slice(after, maximum, deadline)
            if found.items:
                return found
        return self.start.poll(after, maximum).result()

    def _poll_slice(self, after: int, maximum: int, deadline: Deadline) -> _reading.Events:
        batch, details = bh_batch(), new_error()
        cursor, size = _writing.cursor(after), _writing.maximum(maximum)
        status = library.bh_session_poll(
            self._handle.pointer, cursor, size, deadline.slice_ms(), byref(batch), byref(details)
        )
        read = events_from(self)
        if status == Status.OK:
            return _reading.released(BatchHandle(batch), lambda owned: _reading.events(owned, self))
        if details.ticket.value is not None:
            # The engine is slower than this wait; its answer still comes.
            return Ticket(self._application, TicketHandle(bh_ticket(details.ticket.value)), read).result()
        raise error_from(status, details)

    def acknowledge(self, events: Iterable[Identity], *, timeout: float | None = None) -> int:
        """Events, or their ids, that the host has made use of: they never come again. Returns how many were there."""
        return self.start.acknowledge(events).result(timeout)

    def acknowledge_through(self, event: Identity, *, timeout: float | None = None) -> int:
        """Acknowledges all events that were handed out up to and including this one."""
        return self.start.acknowledge_through(event).result(timeout)

    def complete(self, *, timeout: float | None = None) -> None:
        """Says that nothing is outstanding: every event that was handed out is acknowledged."""
        self.start.complete().result(timeout)

    def fileno(self) -> int:
        """A descriptor that is readable while there are events that were not handed out. Only to be waited on."""
        return self._handle.descriptor

    # Tasks

    def tasks(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        timeout: float | None = None,
    ) -> Iterator[TaskInfo]:
        """Tasks by id with their live progress, fetched in pages: these tasks or all, in these states or any. Ended
        tasks are listed until their event is acknowledged."""
        chosen, wanted, after = None if tasks is None else list(tasks), list(states), 0
        while True:
            page = self.start.tasks(chosen, states=wanted, after=after).result(timeout)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].id

    def task(self, task: Identity, *, timeout: float | None = None) -> TaskInfo:
        """One task with its live progress. Raises NotFound."""
        return self.start.task(task).result(timeout)

    def cancel(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        timeout: float | None = None,
    ) -> int:
        """Ends these tasks (None: all) as cancelled and removes their part files. Returns how many changed."""
        return self.start.cancel(tasks, states=states).result(timeout)

    def suspend(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        timeout: float | None = None,
    ) -> int:
        """Stops these tasks (None: all) and keeps what is there. Returns how many changed."""
        return self.start.suspend(tasks, states=states).result(timeout)

    def resume(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        timeout: float | None = None,
    ) -> int:
        """Lets suspended tasks run and sends waiting ones to their next attempt at once. Returns how many changed."""
        return self.start.resume(tasks, states=states).result(timeout)

    def set_priority(
        self,
        priority: int,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        timeout: float | None = None,
    ) -> int:
        """Higher runs first within the session; -100 to 100. Returns how many changed."""
        return self.start.set_priority(priority, tasks, states=states).result(timeout)

    def claim(
        self,
        task: Identity,
        destination: Path,
        *,
        if_exists: str | IfExists = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None:
        """Moves the kept file of a succeeded task to ``destination``, synced, across file systems if needed."""
        self.start.claim(task, destination, if_exists=if_exists).result(timeout)

    # The session itself

    def configuration(self, *, timeout: float | None = None) -> SessionConfiguration:
        """The remembered configuration with its defaults filled in."""
        return self.start.configuration().result(timeout)

    def update(self, configuration: SessionConfiguration, *, timeout: float | None = None) -> None:
        """Replaces the remembered configuration; ``dataclasses.replace(session.configuration(), …)`` makes a changed
        one. Holds for attempts that start from now on."""
        self.start.update(configuration).result(timeout)

    def invalidate(self, *, cancel: bool = False, timeout: float | None = None) -> None:
        """No further task can be enqueued. Tasks end, or are cancelled; when all events are acknowledged the session is
        removed and its identifier is free again."""
        self.start.invalidate(cancel=cancel).result(timeout)

    def close(self) -> None:
        """Frees the handle and gives up its role. Harmless when repeated."""
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
