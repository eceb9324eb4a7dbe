"""The started form of each verb: what the blocking methods wait for, and what asyncio awaits."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import byref, c_int32, c_size_t, c_uint64, sizeof
from typing import TYPE_CHECKING, Any, Callable, TypeVar

from . import _reading, _writing
from ._constants import INVALIDATE_CANCEL, INVALIDATE_FINISH, IfExists, Role, SessionDisposition, TaskState
from ._ctypes import bh_batch, bh_enqueued, bh_request, bh_session
from ._errors import BackhaulError
from ._handles import ApplicationHandle, BatchHandle, SessionHandle, TicketHandle, call, take
from ._library import library
from ._task import Task
from ._tickets import AnsweredTicket, Ticket, wait_only
from ._values import Enqueued, Path, Request, SessionConfiguration, SessionInfo, TaskInfo
from ._writing import Identity

if TYPE_CHECKING:
    from ._session import Session

Result = TypeVar("Result")

#: Tasks of one page of a listing.
PAGE = 1_000


def _count(ticket: TicketHandle) -> int:
    count = c_uint64()
    call(library.bh_ticket_count, ticket.pointer, byref(count))
    return count.value


def _from_batch(read: Callable[[BatchHandle], Result]) -> Callable[[TicketHandle], Result]:
    def reader(ticket: TicketHandle) -> Result:
        return _reading.released(BatchHandle(take(bh_batch, library.bh_ticket_batch, ticket.pointer)), read)

    return reader


def events_from(session: Session) -> Callable[[TicketHandle], _reading.Events]:
    """Takes the events of a poll out of its ticket."""
    return _from_batch(lambda batch: _reading.events(batch, session))


class SessionVerbs:
    """The started form of each verb: returns a Ticket at once. ``await`` it, or ask it for its ``result()``."""

    def __init__(self, session: Session, application: ApplicationHandle, handle: SessionHandle) -> None:
        self._session = session
        self._application = application
        self._handle = handle

    def _start(
        self, read: Callable[[TicketHandle], Result], function: Callable[..., int], *arguments: Any
    ) -> Ticket[Result]:
        return Ticket.start(self._application, read, function, self._handle.pointer, *arguments)

    def enqueue(self, requests: Sequence[Request], *, first: int = 0) -> Ticket[list[Enqueued]]:
        """All in one call, checked whole before anything is applied. ``first``: the number of the first, for errors."""
        return self._enqueue(requests, first, lambda results: results)

    def download(self, url: str, destination: Path | None = None, **options: Any) -> Ticket[Task]:
        """One request; the options are those of ``Request``."""
        request = Request(url, destination, **options)
        return self._enqueue(
            [request], 0, lambda results: Task(self._session, results[0].task_id, results[0].disposition)
        )

    def _enqueue(
        self, requests: Sequence[Request], first: int, transform: Callable[[list[Enqueued]], Result]
    ) -> Ticket[Result]:
        count = len(requests)
        array = _writing.requests(requests, first)

        def read(ticket: TicketHandle) -> Result:
            results, applied = (bh_enqueued * count)(), c_size_t()
            try:
                call(library.bh_ticket_enqueued, ticket.pointer, results, count, byref(applied))
            except BackhaulError as error:
                error.applied = _reading.enqueued(results, min(count, applied.value))
                _renumber(error, first)
                raise
            return transform(_reading.enqueued(results, count))

        try:
            return self._start(read, library.bh_session_enqueue_start, array, count, sizeof(bh_request))
        except BackhaulError as error:
            _renumber(error, first)
            raise

    def poll(self, after: int = 0, maximum: int = PAGE) -> Ticket[_reading.Events]:
        """What is there now; does not wait for events."""
        cursor, size = _writing.cursor(after), _writing.maximum(maximum)
        return self._start(events_from(self._session), library.bh_session_poll_start, cursor, size)

    def acknowledge(self, events: Iterable[Identity]) -> Ticket[int]:
        ids = _writing.identities(events)
        if not ids:
            return AnsweredTicket(0)
        return self._start(_count, library.bh_session_acknowledge_start, ids, len(ids))

    def acknowledge_through(self, event: Identity) -> Ticket[int]:
        return self._start(_count, library.bh_session_acknowledge_through_start, _writing.identity(event))

    def complete(self) -> Ticket[None]:
        return self._start(wait_only, library.bh_session_complete_start)

    def configuration(self) -> Ticket[SessionConfiguration]:
        return self._start(_from_batch(_reading.configuration), library.bh_session_get_configuration_start)

    def update(self, configuration: SessionConfiguration) -> Ticket[None]:
        return self._start(wait_only, library.bh_session_update_start, byref(_writing.configuration(configuration)))

    def invalidate(self, *, cancel: bool = False) -> Ticket[None]:
        mode = INVALIDATE_CANCEL if cancel else INVALIDATE_FINISH
        return self._start(wait_only, library.bh_session_invalidate_start, mode)

    def tasks(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        after: int = 0,
        maximum: int = PAGE,
    ) -> Ticket[list[TaskInfo]]:
        """One page of the listing: tasks with ids greater than ``after``."""
        chosen = None if tasks is None else list(tasks)
        if chosen is not None and not chosen:
            return AnsweredTicket([])
        return self._start(
            _from_batch(_reading.tasks),
            library.bh_session_tasks_start,
            _writing.selection(chosen, states),
            _writing.cursor(after),
            _writing.maximum(maximum),
        )

    def task(self, task: Identity) -> Ticket[TaskInfo]:
        return self._start(
            _from_batch(lambda batch: _reading.tasks(batch)[0]), library.bh_task_info_start, _writing.identity(task)
        )

    def cancel(self, tasks: Iterable[Identity] | None = None, *, states: Iterable[TaskState] = ()) -> Ticket[int]:
        return self._control(library.bh_tasks_cancel_start, tasks, states)

    def suspend(self, tasks: Iterable[Identity] | None = None, *, states: Iterable[TaskState] = ()) -> Ticket[int]:
        return self._control(library.bh_tasks_suspend_start, tasks, states)

    def resume(self, tasks: Iterable[Identity] | None = None, *, states: Iterable[TaskState] = ()) -> Ticket[int]:
        return self._control(library.bh_tasks_resume_start, tasks, states)

    def set_priority(
        self, priority: int, tasks: Iterable[Identity] | None = None, *, states: Iterable[TaskState] = ()
    ) -> Ticket[int]:
        return self._control(
            library.bh_tasks_set_priority_start, tasks, states, _writing.number("priority", priority, _writing.INT32)
        )

    def _control(
        self,
        function: Callable[..., int],
        tasks: Iterable[Identity] | None,
        states: Iterable[TaskState],
        *arguments: Any,
    ) -> Ticket[int]:
        # In C an empty list means all tasks. Here None does, and an empty list none.
        chosen = None if tasks is None else list(tasks)
        if chosen is not None and not chosen:
            return AnsweredTicket(0)
        return self._start(_count, function, _writing.selection(chosen, states), *arguments)

    def claim(self, task: Identity, destination: Path, *, if_exists: str | IfExists = IfExists.FAIL) -> Ticket[None]:
        return self._start(
            wait_only,
            library.bh_task_claim_start,
            _writing.identity(task),
            _writing.path("destination", destination),
            _writing.if_exists(if_exists),
        )


class ApplicationVerbs:
    """The started form of each verb of an application."""

    def __init__(self, application: ApplicationHandle) -> None:
        self._application = application

    def sessions(self) -> Ticket[list[SessionInfo]]:
        return Ticket.start(
            self._application,
            _from_batch(_reading.sessions),
            library.bh_application_sessions_start,
            self._application.pointer,
        )

    def create(self, configuration: SessionConfiguration, role: Role = Role.CONSUME) -> Ticket[Session]:
        return Ticket.start(
            self._application,
            self._session_reader(configuration.identifier, role),
            library.bh_session_create_start,
            self._application.pointer,
            byref(_writing.configuration(configuration)),
            _writing.role(role),
        )

    def attach(self, identifier: str, role: Role = Role.CONSUME) -> Ticket[Session]:
        return Ticket.start(
            self._application,
            self._session_reader(identifier, role),
            library.bh_session_attach_start,
            self._application.pointer,
            _writing.text("identifier", identifier),
            _writing.role(role),
        )

    def session(self, identifier: str, *, role: Role = Role.CONSUME, **configuration: Any) -> Ticket[Session]:
        """Creates the session with this configuration, or attaches to it when it exists."""
        return self.create(SessionConfiguration(identifier, **configuration), role)

    def _session_reader(self, identifier: str, role: Role) -> Callable[[TicketHandle], Session]:
        from ._session import Session

        def read(ticket: TicketHandle) -> Session:
            pointer, disposition = bh_session(), c_int32(SessionDisposition.ATTACHED)
            call(library.bh_ticket_session, ticket.pointer, byref(pointer), byref(disposition))
            created = disposition.value == SessionDisposition.CREATED
            return Session(self._application, SessionHandle(pointer), identifier, Role(role), created)

        return read


def _renumber(error: BackhaulError, first: int) -> None:
    """Counts the index of a chunk's error from the beginning of all requests."""
    if error.index is not None:
        error.index += first
