"""The methods of a session that list or change its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Callable, TypeVar

from . import _writing
from ._attempt import Attempt
from ._conditions import Wait
from ._constants import IfExists, TaskState
from ._identity import Among, Identity
from ._numbers import TIME_UNCHANGED
from ._reading import Records
from ._rules import Constraints
from ._session_verbs import PAGE, SessionVerbs
from ._types import Moment, StrPath
from ._values import TaskInfo
from ._words import IfExistsWord

if TYPE_CHECKING:
    from typing_extensions import Unpack


Record = TypeVar("Record", Attempt, Wait)


def _by_task(
    tasks: Iterable[Identity], read: Callable[[list[int]], Records[Record]]
) -> dict[int, list[Record]]:
    """Reads the records of the tasks in parts, and returns them by the id of the task."""
    rest = sorted(set(_writing.identities("tasks", tasks)))
    found: dict[int, list[Record]] = {}
    while rest:
        page = read(rest[:PAGE])
        for record in page.items:
            found.setdefault(record.task_id, []).append(record)
        rest = [task for task in rest if task > page.items[-1].task_id] if page.more else rest[PAGE:]
    return found


class SessionTasks:
    """The methods of a session that concern its tasks. The engine is the process that runs the tasks. The list of tasks
    (``tasks``) has each task until its event is acknowledged. Then the history (``history``) has the task."""

    @property
    def start(self) -> SessionVerbs:
        """The methods of this session, in a form that does not wait for the engine: each one returns a ``Ticket``,
        which gives the result later. In asyncio, await the ticket: ``await session.start.cancel([task])``."""
        raise NotImplementedError

    def tasks(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        group: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[TaskInfo]:
        """Yields tasks with their live progress, in the order of their ids. The tasks are fetched in pages.

        ``tasks``, ``states`` and ``group`` restrict the listing. If ``tasks`` is None, the listing has all tasks. If
        ``states`` is empty, the listing has tasks in all states. An ended task is listed until its event is
        acknowledged.
        """
        chosen, after = None if tasks is None else list(_writing.several("tasks", tasks)), 0
        wanted = list(_writing.several("states", states))
        while True:
            page = self.start.tasks(chosen, states=wanted, group=group, after=after).result(timeout)
            # A page with large tasks has fewer tasks than were asked for.
            if not page:
                return
            yield from page
            after = page[-1].id

    def task(self, task: Identity, *, timeout: float | None = None) -> TaskInfo:
        """Returns one task with its live progress. If the task's event was acknowledged, returns the task's record in
        the history. Raises NotFound if neither the list nor the history has the task."""
        return self.start.task(task).result(timeout)

    def attempts(self, task: Identity, *, timeout: float | None = None) -> list[Attempt]:
        """Returns the attempts (runs) of a task that is in the list or in the history, oldest first. At most 100
        attempts are stored: the first one, and the 99 newest ones. Raises NotFound if neither the list nor the history
        has the task."""
        return self.start.attempts(task).result(timeout)

    def waits(self, task: Identity, *, timeout: float | None = None) -> list[Wait]:
        """Returns the wait records of a task that is in the list or in the history, oldest first. A wait record is a
        period in which the task did not run, with the reason. If there are more than 1,000 records, only the newest
        1,000 are returned.

        Three kinds of waits are short and frequent, so the engine does not record them: waits for the end of other
        tasks, for a rate limit, and for a response. Raises NotFound if neither the list nor the history has the task.
        """
        return self.start.waits(task).result(timeout)

    def attempts_of(
        self, tasks: Iterable[Identity], *, timeout: float | None = None
    ) -> dict[int, list[Attempt]]:
        """Returns the attempts of many tasks, by the id of the task, in few calls. Each list is what ``attempts``
        returns for the task. Tasks without attempts, and tasks that are neither in the list nor in the history, are
        left out."""
        return _by_task(tasks, lambda ids: self.start.attempts_of(ids).result(timeout))

    def waits_of(self, tasks: Iterable[Identity], *, timeout: float | None = None) -> dict[int, list[Wait]]:
        """Returns the wait records of many tasks, as ``attempts_of`` returns attempts."""
        return _by_task(tasks, lambda ids: self.start.waits_of(ids).result(timeout))

    def history(self, after: Identity = 0, *, timeout: float | None = None) -> Iterator[TaskInfo]:
        """Yields ended tasks whose event was acknowledged, in the order of their ids. The first task is the one after
        ``after``. The tasks are fetched in pages. The history keeps only the ``history_limit`` tasks that ended
        last."""
        last = after if isinstance(after, int) else after.id
        while True:
            page = self.start.history(last).result(timeout)
            if not page:
                return
            yield from page
            last = page[-1].id

    def cancel(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Cancels these tasks (None: all tasks), and removes their partly downloaded files. ``states`` and ``group``
        restrict the selection in this method and in the methods below. Returns how many tasks changed."""
        return self.start.cancel(tasks, **among).result(timeout)

    def suspend(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Suspends these tasks (None: all tasks), and keeps their received bytes. Returns how many tasks changed."""
        return self.start.suspend(tasks, **among).result(timeout)

    def set_aside(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Sets these tasks aside (None: all tasks): suspends them, so that the round of the session and the groups of
        the tasks end without them. The resource time-out of the tasks does not stop. ``resume`` continues the tasks.
        Returns how many tasks changed."""
        return self.start.set_aside(tasks, **among).result(timeout)

    def resume(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Resumes suspended tasks, and ends the retry delay of waiting tasks. Conditions and ``earliest_start`` still
        apply. Returns how many tasks changed."""
        return self.start.resume(tasks, **among).result(timeout)

    def set_priority(
        self,
        priority: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Sets the priority of these tasks (None: all tasks). The priority is -100 to 100, or PRIORITY_NOW. In a
        session, tasks with a higher priority start first. Returns how many tasks changed."""
        return self.start.set_priority(priority, tasks, **among).result(timeout)

    def set_rate(
        self,
        bytes_per_second: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Limits the bytes per second of each of these tasks (None: all tasks), in both directions together. If the
        limit is 0, only the limits of the session and the engine apply. Returns how many tasks changed."""
        return self.start.set_rate(bytes_per_second, tasks, **among).result(timeout)

    def set_constraints(
        self,
        constraints: Constraints | None,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Replaces these tasks' own constraints (``tasks`` is None: those of all tasks). A constraint is a demand on
        the system, such as external power. If ``constraints`` is None, the tasks no longer have their own constraints.
        The constraints of the session still apply. Returns how many tasks changed."""
        return self.start.set_constraints(constraints, tasks, **among).result(timeout)

    def reschedule(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        earliest_start: Moment | None = TIME_UNCHANGED,
        latest_start: Moment | None = TIME_UNCHANGED,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Sets the earliest and the latest start of each of these tasks (None: all tasks). A task does not start before
        its earliest start. After its latest start, presets (such as "discretionary") no longer delay it. If
        ``earliest_start`` is None, the tasks may start immediately. If ``latest_start`` is None, the tasks have no
        latest start.

        If a task waited for its earliest start and may now start, it no longer waits. A running task continues. The new
        times apply to its next attempt. If the latest start of a task would be before its earliest start, the method
        raises InvalidArgument and changes nothing. Returns how many tasks changed.
        """
        starts = self.start.reschedule(tasks, earliest_start=earliest_start, latest_start=latest_start, **among)
        return starts.result(timeout)

    def claim(
        self,
        task: Identity,
        destination: StrPath,
        *,
        if_exists: IfExists | IfExistsWord = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None:
        """Moves the file of a succeeded download out of the store (the directory with all durable data) to
        ``destination``, and syncs the file. The destination may be on another file system."""
        self.start.claim(task, destination, if_exists=if_exists).result(timeout)
