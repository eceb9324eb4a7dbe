"""The tasks of a session: listings, and verbs that change them."""

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
    """The part of a session that concerns its tasks."""

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
        """Yields tasks by id with their live progress, fetched in pages.

        ``tasks``, ``states`` and ``group`` restrict the listing; None and an empty list of states mean all. An ended
        task is listed until its event is acknowledged.
        """
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
        """The attempts of a task that is listed or in the history, oldest first. Of many it has the first and the
        newest, at most 100. Raises NotFound."""
        return self.start.attempts(task).result(timeout)

    def waits(self, task: Identity, *, timeout: float | None = None) -> list[Wait]:
        """The wait records of a task that is listed or in the history, oldest first; of many the newest 1,000.

        Waits for a slot, for a rate and for a response are not recorded, because they are short and frequent. Raises
        NotFound.
        """
        return self.start.waits(task).result(timeout)

    def history(self, after: Identity = 0, *, timeout: float | None = None) -> Iterator[TaskInfo]:
        """Yields tasks whose event was acknowledged, by id, after a given one, fetched in pages. The session keeps the
        newest ``history_limit`` of them."""
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
        the selection, here and below. Returns how many tasks changed."""
        return self.start.cancel(tasks, **among).result(timeout)

    def suspend(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Stops these tasks (None: all), and keeps their received bytes. Returns how many tasks changed."""
        return self.start.suspend(tasks, **among).result(timeout)

    def resume(
        self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None, **among: Unpack[Among]
    ) -> int:
        """Releases suspended tasks, and ends the retry delay of waiting ones, as far as conditions and
        ``earliest_start`` allow. Returns how many tasks changed."""
        return self.start.resume(tasks, **among).result(timeout)

    def set_priority(
        self,
        priority: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Sets the priority. A higher one runs first within the session; -100 to 100, or PRIORITY_NOW. Returns how many
        tasks changed."""
        return self.start.set_priority(priority, tasks, **among).result(timeout)

    def set_rate(
        self,
        bytes_per_second: int,
        tasks: Iterable[Identity] | None = None,
        *,
        timeout: float | None = None,
        **among: Unpack[Among],
    ) -> int:
        """Limits each of these tasks (None: all) to so many bytes per second, in both directions together; 0: only the
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
        """Replaces the own constraints of each of these tasks (None: all); constraints of None removes them. Those of
        the session stay. Returns how many tasks changed."""
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
        """Sets the earliest and the latest start of each of these tasks (None: all). A start of None means at once, or
        no latest start.

        A task that may start now stops waiting. A running task continues, and its next attempt waits. Raises
        InvalidArgument and changes nothing if the latest start of a task would be before its earliest. Returns how
        many tasks changed.
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
        """Moves the kept file of a succeeded task to ``destination``, synced, across file systems if needed."""
        self.start.claim(task, destination, if_exists=if_exists).result(timeout)
