"""Methods of ``session.start``. Each one returns a Ticket, which gives the result later. asyncio code awaits the
Ticket. The blocking methods of a session are in other modules. They call these methods, and wait for the Ticket."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ctypes import byref
from typing import TYPE_CHECKING, Any, Callable, Protocol, TypeVar

from . import (
    _keywords,
    _reading,
    _reading_conditions,
    _reading_transfers,
    _writing,
    _writing_conditions,
    _writing_transfers,
)
from ._activity import Activity, ActivityInfo
from ._attempt import Attempt
from ._conditions import Wait
from ._configuration import SessionConfiguration
from ._constants import IfExists, Invalidation, Status, TaskState
from ._copying import released
from ._ctypes import bh_batch
from ._errors import BackhaulError, error_for, error_from, invalid
from ._event import Acknowledging
from ._events import EventSource
from ._handles import ApplicationHandle, BatchHandle, SessionHandle, TicketHandle, new_error
from ._identity import Among, Identity
from ._library import library
from ._numbers import TIME_UNCHANGED
from ._requests import DownloadOptions, Enqueued, Part, Request, TransferOptions
from ._rules import Constraints
from ._task import Controlling, Task
from ._tickets import CompletedTicket, Ticket, count_only, from_batch, wait_only
from ._types import Moment, ResponseOptions, StrPath
from ._values import Challenge, TaskInfo
from ._words import IfExistsWord

if TYPE_CHECKING:
    from typing_extensions import Unpack

Result = TypeVar("Result")

#: The number of tasks on one page of a listing.
PAGE = 1_000


class Host(Acknowledging, Controlling, Protocol):
    """The methods of a session that Task and Event objects call."""


class SessionVerbs:
    """Methods of a session. Each one returns a Ticket, and does not wait for the engine. To get the result, ``await``
    the Ticket, or call its ``result()``."""

    def __init__(self, session: Host, application: ApplicationHandle, handle: SessionHandle) -> None:
        self._session = session
        self._application = application
        self._handle = handle

    def _start(
        self, read: Callable[[TicketHandle], Result], function: Callable[..., int], *arguments: Any
    ) -> Ticket[Result]:
        return Ticket._start(self._application, read, function, self._handle.pointer, *arguments)

    def enqueue(self, requests: Sequence[Request], *, first: int = 0) -> Ticket[list[Enqueued]]:
        """Enqueues all requests in one call. The library checks all requests before it applies the first one. If the
        requests are a part of a longer list, ``first`` is the index in that list at which this part begins. The method
        adds ``first`` to the index of each request in results and exceptions."""
        return self._enqueue(list(_writing.several("requests", requests)), first, lambda results: results)

    def download(
        self, url: str, destination: StrPath | None = None, **options: Unpack[DownloadOptions]
    ) -> Ticket[Task]:
        """Enqueues one download. The options are fields of ``Request``."""
        _keywords.check("download", options, DownloadOptions.__optional_keys__)
        return self._one(Request(url, destination, **options))

    def upload(
        self,
        url: str,
        body_file: StrPath | None = None,
        *,
        body: bytes | None = None,
        parts: Sequence[Part] = (),
        **options: Unpack[TransferOptions],
    ) -> Ticket[Task]:
        """Enqueues one upload of a file, of bytes or of a form. The options are fields of ``Request``."""
        _keywords.check("upload", options, TransferOptions.__optional_keys__)
        if isinstance(body_file, (bytes, bytearray)):
            raise invalid("the body_file is bytes; give the path of a file, or give the bytes as body")
        if (body_file is not None) + (body is not None) + bool(parts) != 1:
            raise invalid("an upload is of a body_file, of a body or of parts; give exactly one of them")
        return self._one(Request(url, body_file=body_file, body=body, parts=parts, **options))

    def _one(self, request: Request) -> Ticket[Task]:
        return self._enqueue(
            [request], 0, lambda results: Task(self._session, results[0].task_id, results[0])
        )

    def _enqueue(
        self, requests: Sequence[Request], first: int, transform: Callable[[list[Enqueued]], Result]
    ) -> Ticket[Result]:
        array = _writing_transfers.requests(requests, first)

        def read(ticket: TicketHandle) -> Result:
            # An enqueue that fails may also return a batch (a list in C). This batch has the results of the requests
            # that were applied before the failure.
            batch, details = bh_batch(), new_error()
            status = library.bh_ticket_batch(ticket.pointer, byref(batch), byref(details))
            results = released(BatchHandle(batch), _reading_transfers.enqueued) if batch else []
            results = [result._replace(request=result.request + first) for result in results]
            if status != Status.OK:
                raise _partial(error_from(status, details), results, first)
            return transform(results)

        try:
            return self._start(read, library.bh_session_enqueue, array, len(requests))
        except BackhaulError as error:
            _renumber(error, first)
            raise

    def poll(self, after: int = 0, maximum: int = PAGE) -> Ticket[_reading.Events]:
        """Returns the available events, and does not wait for further ones."""
        return EventSource(self._session, self._application, self._handle).start(after, maximum)

    def acknowledge(self, events: Iterable[Identity]) -> Ticket[int]:
        """Acknowledges events: they are not delivered again. The result is how many of the events existed."""
        ids = _writing.identities("events", events)
        if not ids:
            return CompletedTicket(0)
        return self._start(count_only, library.bh_session_acknowledge, ids, len(ids))

    def acknowledge_through(self, event: Identity) -> Ticket[int]:
        """Acknowledges this event and all earlier events. The result is the number of acknowledged events."""
        return self._start(count_only, library.bh_session_acknowledge_through, _writing.identity(event))

    def complete(self) -> Ticket[None]:
        """States that the host has processed all delivered events, as ``Session.complete`` does."""
        return self._start(wait_only, library.bh_session_complete)

    def challenges(self) -> Ticket[list[Challenge]]:
        """Returns the open challenges, as ``Session.challenges`` does."""
        return self._start(from_batch(_reading.challenges), library.bh_session_challenges)

    def respond(self, challenge: Challenge | int, **response: Unpack[ResponseOptions]) -> Ticket[None]:
        """Responds to an open challenge, as ``Session.respond`` does."""
        _keywords.check("respond", response, ResponseOptions.__optional_keys__)
        value = _writing.response(**response)
        return self._start(wait_only, library.bh_session_respond, _writing.challenge(challenge), byref(value))

    def watch_progress(self, interval: float) -> Ticket[None]:
        """Makes the engine send progress readings, at most one for each task in ``interval`` seconds. 0 stops them."""
        return self._start(wait_only, library.bh_session_watch_progress, _writing.interval_ms(interval))

    def configuration(self) -> Ticket[SessionConfiguration]:
        """Returns the stored configuration, with its defaults filled in."""
        return self._start(from_batch(_reading_transfers.configuration), library.bh_session_get_configuration)

    def set_configuration(self, configuration: SessionConfiguration) -> Ticket[None]:
        """Replaces the stored configuration, as ``Session.set_configuration`` does."""
        value = _writing_transfers.configuration(configuration)
        return self._start(wait_only, library.bh_session_set_configuration, byref(value))

    def invalidate(self, *, cancel: bool = False) -> Ticket[None]:
        """Ends the session, as ``Session.invalidate`` does."""
        mode = Invalidation.CANCEL if cancel else Invalidation.FINISH
        return self._start(wait_only, library.bh_session_invalidate, mode)

    def set_activity(self, activity: Activity) -> Ticket[None]:
        """Stores the activity, as ``Session.set_activity`` does."""
        value = _writing_conditions.activity(activity)
        return self._start(wait_only, library.bh_session_set_activity, byref(value))

    def remove_activity(self, identifier: str) -> Ticket[None]:
        """Removes the activity. Its tasks continue."""
        name = _writing.text("activity's identifier", identifier)
        return self._start(wait_only, library.bh_session_remove_activity, name)

    def activities(self) -> Ticket[list[ActivityInfo]]:
        """Returns the session's activities, in the order of their identifiers."""
        return self._start(from_batch(_reading_conditions.activities), library.bh_session_activities)

    def tasks(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        group: str | None = None,
        after: int = 0,
        maximum: int = PAGE,
    ) -> Ticket[list[TaskInfo]]:
        """Returns one page of the listing: tasks with ids greater than ``after``."""
        chosen = None if tasks is None else list(_writing.several("tasks", tasks))
        if chosen is not None and not chosen:
            return CompletedTicket([])
        return self._start(
            from_batch(_reading.tasks),
            library.bh_session_tasks,
            _writing.selection(chosen, states, group),
            _writing.cursor(after),
            _writing.maximum(maximum),
        )

    def task(self, task: Identity) -> Ticket[TaskInfo]:
        """Returns one task, as ``Session.task``: from the list of tasks, or else from the history."""
        number = _writing.identity(task)

        def ended(batch: BatchHandle) -> TaskInfo:
            for info in _reading.tasks(batch):
                if info.id == number:
                    return info
            raise error_for(Status.NOT_FOUND, f"neither the list nor the history has task {number}")

        def in_history() -> Ticket[TaskInfo]:
            # The listing begins after the task before this one.
            return self._start(from_batch(ended), library.bh_session_history, max(number, 1) - 1, 1)

        listed = from_batch(lambda batch: _reading.tasks(batch)[0])
        return self._start(listed, library.bh_session_task, number)._or_else(in_history)

    def attempts(self, task: Identity) -> Ticket[list[Attempt]]:
        """Returns the attempts (runs) of a task, oldest first."""
        return self._start(
            from_batch(_reading_transfers.attempts), library.bh_task_attempts, _writing.identity(task)
        )

    def waits(self, task: Identity) -> Ticket[list[Wait]]:
        """Returns the wait records of a task, oldest first: when and why it did not run."""
        return self._start(
            from_batch(_reading_conditions.waits), library.bh_task_waits, _writing.identity(task)
        )

    def attempts_of(self, tasks: Iterable[Identity]) -> Ticket[_reading.Records[Attempt]]:
        """Returns the attempts of several tasks, at most 1,000, sorted by task. If the result's ``more`` is True, call
        the method again with the tasks that come after the task of the last attempt."""
        ids = _writing.identities("tasks", tasks)
        read = from_batch(_reading.records(_reading_transfers.attempts))
        return self._start(read, library.bh_tasks_attempts, ids, len(ids))

    def waits_of(self, tasks: Iterable[Identity]) -> Ticket[_reading.Records[Wait]]:
        """Returns the wait records of several tasks, as ``attempts_of`` returns attempts."""
        ids = _writing.identities("tasks", tasks)
        read = from_batch(_reading.records(_reading_conditions.waits))
        return self._start(read, library.bh_tasks_waits, ids, len(ids))

    def history(self, after: int = 0, maximum: int = PAGE) -> Ticket[list[TaskInfo]]:
        """Returns one page of the history: tasks with ids greater than ``after``."""
        return self._start(
            from_batch(_reading.tasks),
            library.bh_session_history,
            _writing.cursor(after),
            _writing.maximum(maximum),
        )

    def cancel(self, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]) -> Ticket[int]:
        """Cancels these tasks (None: all tasks). The result is how many tasks changed."""
        return self._control(library.bh_tasks_cancel, tasks, among)

    def suspend(self, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]) -> Ticket[int]:
        """Suspends these tasks (None: all tasks), and keeps their received bytes. The result is how many tasks
        changed."""
        return self._control(library.bh_tasks_suspend, tasks, among)

    def set_aside(self, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]) -> Ticket[int]:
        """Sets these tasks aside (None: all tasks), as ``Session.set_aside`` does. The result is how many tasks
        changed."""
        return self._control(library.bh_tasks_set_aside, tasks, among)

    def resume(self, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]) -> Ticket[int]:
        """Resumes these tasks (None: all tasks), and ends their retry delays. The result is how many tasks changed."""
        return self._control(library.bh_tasks_resume, tasks, among)

    def set_priority(
        self, priority: int, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]
    ) -> Ticket[int]:
        """Sets the priority of these tasks (None: all tasks). The result is how many tasks changed."""
        value = _writing.number("priority", priority, _writing.INT32)
        return self._control(library.bh_tasks_set_priority, tasks, among, value)

    def set_rate(
        self, bytes_per_second: int, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]
    ) -> Ticket[int]:
        """Limits the bytes per second of each of these tasks (None: all tasks). The result is how many tasks
        changed."""
        value = _writing.number("bytes per second", bytes_per_second, _writing.UINT64)
        return self._control(library.bh_tasks_set_rate, tasks, among, value)

    def set_constraints(
        self, constraints: Constraints | None, tasks: Iterable[Identity] | None = None, **among: Unpack[Among]
    ) -> Ticket[int]:
        """Replaces these tasks' own constraints (None: those of all tasks). The result is how many tasks changed."""
        slot = None if constraints is None else byref(_writing_transfers.constraints(constraints))
        return self._control(library.bh_tasks_set_constraints, tasks, among, slot)

    def reschedule(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        earliest_start: Moment | None = TIME_UNCHANGED,
        latest_start: Moment | None = TIME_UNCHANGED,
        **among: Unpack[Among],
    ) -> Ticket[int]:
        """Sets the earliest and the latest start of these tasks (None: all tasks), as ``Session.reschedule`` does. The
        result is how many tasks changed."""
        earliest = _writing.start_ms("earliest start", earliest_start)
        latest = _writing.start_ms("latest start", latest_start)
        return self._control(library.bh_tasks_reschedule, tasks, among, earliest, latest)

    def _control(
        self, function: Callable[..., int], tasks: Iterable[Identity] | None, among: Among, *arguments: Any
    ) -> Ticket[int]:
        _keywords.check(function.__name__.removeprefix("bh_tasks_"), among, Among.__optional_keys__)
        chosen = None if tasks is None else list(_writing.several("tasks", tasks))
        selected = _writing.selection(chosen, **among)
        # In C, an empty list means all tasks. In Python, None means all tasks, and an empty list means no task.
        if chosen is not None and not chosen:
            return CompletedTicket(0)
        return self._start(count_only, function, selected, *arguments)

    def claim(
        self, task: Identity, destination: StrPath, *, if_exists: IfExists | IfExistsWord = IfExists.FAIL
    ) -> Ticket[None]:
        """Moves the file of a succeeded download out of the store to ``destination``, and syncs the file."""
        return self._start(
            wait_only,
            library.bh_task_claim,
            _writing.identity(task),
            _writing.path("destination", destination),
            _writing.if_exists(if_exists),
        )


def _partial(error: BackhaulError, results: list[Enqueued], first: int) -> BackhaulError:
    """Returns the error of an enqueue with the results of the requests that were applied before the failure."""
    error.applied = results
    _renumber(error, first)
    return error


def _renumber(error: BackhaulError, first: int) -> None:
    """Adds ``first`` to the index of a request in the error, if the error has such an index. The error counts from the
    first request of one call. ``first`` is the index of that request in the whole list."""
    if error.index is not None:
        error.index += first
