"""What a session tells of its tasks, and what it does with them."""

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
    """The part of a session that is about its tasks."""

    #: The verbs in their started form.
    start: SessionVerbs

    def tasks(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        states: Iterable[TaskState] = (),
        group: str | None = None,
        timeout: float | None = None,
    ) -> Iterator[TaskInfo]:
        """Tasks by id with their live progress, fetched in pages: these tasks or all, in these states or any, of this
        group or any. Ended tasks are listed until their event is acknowledged."""
        chosen, wanted, after = None if tasks is None else list(tasks), list(states), 0
        while True:
            page = self.start.tasks(chosen, states=wanted, group=group, after=after).result(timeout)
            yield from page
            if len(page) < PAGE:
                return
            after = page[-1].id

    def task(self, task: Identity, *, timeout: float | None = None) -> TaskInfo:
        """One task with its live progress. Raises NotFound."""
        return self.start.task(task).result(timeout)

    def attempts(self, task: Identity, *, timeout: float | None = None) -> list[Attempt]:
        """What was measured of the requests of a task that is listed or in the history, oldest first; of many the first
        and the newest, at most 100. Raises NotFound."""
        return self.start.attempts(task).result(timeout)

    def waits(self, task: Identity, *, timeout: float | None = None) -> list[Wait]:
        """When and why a task that is listed or in the history has waited, oldest first; of many the newest 1,000.
        Waits for a slot, for a rate and for a response are too short and too many to be recorded. Raises NotFound."""
        return self.start.waits(task).result(timeout)

    def history(self, after: Identity = 0, *, timeout: float | None = None) -> Iterator[TaskInfo]:
        """Tasks whose event was acknowledged, by id, those after one, fetched in pages. The session keeps the newest,
        as many as its ``history_limit`` says."""
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
        """Ends these tasks (None: all) as cancelled and removes their part files; ``states`` and ``group`` narrow the
        choice, here and below. Returns how many changed."""
        return self.start.cancel(tasks, **among).result(timeout)

    def suspend(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Stops these tasks (None: all) and keeps what is there. Returns how many changed."""
        return self.start.suspend(tasks, **among).result(timeout)

    def resume(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Lets suspended tasks run and sends waiting ones to their next attempt at once, as far as the conditions allow
        it; not before ``earliest_start``. Returns how many changed."""
        return self.start.resume(tasks, **among).result(timeout)

    def set_priority(
        self,
        priority: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Higher runs first within the session; -100 to 100, or PRIORITY_NOW. Returns how many changed."""
        return self.start.set_priority(priority, tasks, **among).result(timeout)

    def set_rate(
        self,
        bytes_per_second: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Limits each of these tasks (None: all) to so many bytes per second, both ways, from now on; 0: to no less
        than the session and the engine. Returns how many changed."""
        return self.start.set_rate(bytes_per_second, tasks, **among).result(timeout)

    def set_constraints(
        self,
        constraints: Constraints | None,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Replaces the own constraints of each of these tasks (None: all); constraints of None removes them. Those of
        the session stay. Returns how many changed."""
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
        """When each of these tasks (None: all) is to start from now on; None: at once, and no latest start. What may
        start now waits no longer, what runs goes on, and its next try waits. Raises InvalidArgument, and changes
        nothing, where the latest start of a task would be before its earliest. Returns how many changed."""
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
        """Moves the kept file of a succeeded task to ``destination``, synced, across file systems if needed."""
        self.start.claim(task, destination, if_exists=if_exists).result(timeout)
