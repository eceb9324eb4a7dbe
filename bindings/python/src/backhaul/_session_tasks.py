"""The methods of a session that list or change its tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from ._attempt import Attempt
from ._conditions import Wait
from ._constants import IfExists, TaskState
from ._identity import Among, Identity
from ._numbers import TIME_UNCHANGED
from ._rules import Constraints
from ._session_verbs import PAGE, SessionVerbs
from ._types import Moment, Path
from ._values import TaskInfo

if TYPE_CHECKING:
    from typing_extensions import Unpack


class SessionTasks:
    """The methods of a session that concern its tasks."""

    #: The methods in a form that returns a Ticket.
    start: SessionVerbs

    def tasks(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        group: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[TaskInfo]:
        """Yields tasks with their live progress, in the order of their ids. The tasks are fetched in pages.

        ``tasks``, ``states`` and ``group`` restrict the listing. None means all tasks, and an empty ``states`` means
        all states. An ended task is listed until its event is acknowledged.
        """
        chosen, wanted, after = None if tasks is None else list(tasks), list(states), 0
        while True:
            page = self.start.tasks(chosen, states=wanted, group=group, after=after).result(timeout)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].id

    def task(self, task: Identity, *, timeout: float | None = None) -> TaskInfo:
        """Returns one task with its live progress. Raises NotFound if the session has no such task."""
        return self.start.task(task).result(timeout)

    def attempts(self, task: Identity, *, timeout: float | None = None) -> list[Attempt]:
        """Returns the attempts of a task that is in the list or in the history, oldest first. At most 100 attempts are
        stored: the first one, and the newest ones. Raises NotFound if there is no such task."""
        return self.start.attempts(task).result(timeout)

    def waits(self, task: Identity, *, timeout: float | None = None) -> list[Wait]:
        """Returns the wait records of a task that is in the list or in the history, oldest first. At most 1,000 are
        returned, which are the newest ones.

        Waits for a slot, for a rate limit and for a response are not recorded, because they are short and frequent.
        Raises NotFound if there is no such task.
        """
        return self.start.waits(task).result(timeout)

    def history(self, after: Identity = 0, *, timeout: float | None = None) -> Iterator[TaskInfo]:
        """Yields tasks whose event was acknowledged, in the order of their ids, from the first one after ``after``. The
        tasks are fetched in pages. The session keeps the newest ``history_limit`` of these tasks."""
        last = after if isinstance(after, int) else after.id
        while True:
            page = self.start.history(last).result(timeout)
            yield from page
            if len(page) < PAGE:
                return
            last = page[-1].id

    def cancel(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Ends these tasks (None: all) as cancelled, and removes their part files. ``states`` and ``group`` restrict
        the selection, as in the methods below. Returns how many tasks changed."""
        return self.start.cancel(tasks, **among).result(timeout)

    def suspend(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Suspends these tasks (None: all), and keeps their received bytes. Returns how many tasks changed."""
        return self.start.suspend(tasks, **among).result(timeout)

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
        """Sets the priority of these tasks (None: all), -100 to 100 or PRIORITY_NOW. In a session, tasks with a higher
        priority run first. Returns how many tasks changed."""
        return self.start.set_priority(priority, tasks, **among).result(timeout)

    def set_rate(
        self,
        bytes_per_second: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Limits the bytes per second of each of these tasks (None: all), in both directions together. 0: only the
        limits of the session and the engine apply. Returns how many tasks changed."""
        return self.start.set_rate(bytes_per_second, tasks, **among).result(timeout)

    def set_constraints(
        self,
        constraints: Constraints | None,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Replaces the constraints that each of these tasks (None: all) has itself. None as ``constraints`` removes
        them. The constraints of the session still apply. Returns how many tasks changed."""
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
        """Sets the earliest and the latest start of each of these tasks (None: all). None as ``earliest_start`` means
        immediately, and None as ``latest_start`` means that the task has no latest start.

        A waiting task that may start now no longer waits. A running task continues; the times apply to its next
        attempt. If the latest start of a task would be before its earliest start, the method raises InvalidArgument
        and changes nothing. Returns how many tasks changed.
        """
        starts = self.start.reschedule(tasks, earliest_start=earliest_start, latest_start=latest_start, **among)
        return starts.result(timeout)

    def claim(
        self,
        task: Identity,
        destination: Path,
        *,
        if_exists: str | IfExists = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None:
        """Moves the kept file of a succeeded task to ``destination``, and syncs it. The destination may be on another
        file system."""
        self.start.claim(task, destination, if_exists=if_exists).result(timeout)
