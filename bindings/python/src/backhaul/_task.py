"""Defines Task. A Task object stands for one task of a session."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

from ._attempt import Attempt
from ._conditions import Wait
from ._constants import IfExists
from ._identity import Identity
from ._numbers import TIME_UNCHANGED
from ._requests import Enqueued
from ._rules import Constraints
from ._types import Moment, StrPath
from ._values import TaskInfo
from ._words import IfExistsWord


class Controlling(Protocol):
    """The methods of a session that a Task calls."""

    identifier: str

    def task(self, task: Identity, *, timeout: float | None = None) -> TaskInfo: ...

    def cancel(self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None) -> int: ...

    def suspend(self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None) -> int: ...

    def resume(self, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None) -> int: ...

    def set_priority(
        self, priority: int, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None
    ) -> int: ...

    def set_rate(
        self, bytes_per_second: int, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None
    ) -> int: ...

    def set_constraints(
        self, constraints: Constraints | None, tasks: Iterable[Identity] | None = None, *, timeout: float | None = None
    ) -> int: ...

    def reschedule(
        self,
        tasks: Iterable[Identity] | None = None,
        *,
        earliest_start: Moment | None = TIME_UNCHANGED,
        latest_start: Moment | None = TIME_UNCHANGED,
        timeout: float | None = None,
    ) -> int: ...

    def attempts(self, task: Identity, *, timeout: float | None = None) -> list[Attempt]: ...

    def waits(self, task: Identity, *, timeout: float | None = None) -> list[Wait]: ...

    def claim(
        self,
        task: Identity,
        destination: StrPath,
        *,
        if_exists: IfExists | IfExistsWord = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None: ...


class Task:
    """One enqueued transfer. ``info()`` returns its current state."""

    def __init__(self, session: Controlling, task_id: int, enqueued: Enqueued | None = None) -> None:
        self._session = session
        #: The id. Ids increase, and a store (a directory with all durable data) never uses an id twice.
        self.id = task_id
        #: The result of the enqueue that returned this task. If ``enqueued.is_acknowledged`` is True, no event about
        #: the task will be delivered.
        self.enqueued = enqueued
        #: Whether the enqueue made the task. False if the idempotency key found an earlier task.
        self.is_new = enqueued is not None and enqueued.is_new

    def __repr__(self) -> str:
        return f"<Task {self.id} of {self._session.identifier!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and (other.id, other._session) == (self.id, self._session)

    def __hash__(self) -> int:
        return hash(self.id)

    def info(self, *, timeout: float | None = None) -> TaskInfo:
        """Returns the current state of the task. If the event at its end is acknowledged, returns the task's record in
        the session's history (the list of its ended tasks). Raises NotFound if the history does not have the task."""
        return self._session.task(self.id, timeout=timeout)

    def cancel(self, *, timeout: float | None = None) -> bool:
        """Cancels the task. Returns False if the task had already ended."""
        return self._session.cancel([self.id], timeout=timeout) > 0

    def suspend(self, *, timeout: float | None = None) -> bool:
        """Suspends the task, and keeps its received bytes. Returns False if the task had already ended or was already
        suspended."""
        return self._session.suspend([self.id], timeout=timeout) > 0

    def resume(self, *, timeout: float | None = None) -> bool:
        """Resumes the task, or ends its retry delay. Returns False if nothing changed."""
        return self._session.resume([self.id], timeout=timeout) > 0

    def set_priority(self, priority: int, *, timeout: float | None = None) -> bool:
        """Sets the priority: -100 to 100, or PRIORITY_NOW. In a session, tasks with a higher priority start first."""
        return self._session.set_priority(priority, [self.id], timeout=timeout) > 0

    def set_rate(self, bytes_per_second: int, *, timeout: float | None = None) -> bool:
        """Limits the bytes per second of the task. If the limit is 0, only the limits of its session and the engine
        apply."""
        return self._session.set_rate(bytes_per_second, [self.id], timeout=timeout) > 0

    def set_constraints(self, constraints: Constraints | None, *, timeout: float | None = None) -> bool:
        """Replaces the task's own constraints. None removes them. The constraints of its session still apply."""
        return self._session.set_constraints(constraints, [self.id], timeout=timeout) > 0

    def reschedule(
        self,
        *,
        earliest_start: Moment | None = TIME_UNCHANGED,
        latest_start: Moment | None = TIME_UNCHANGED,
        timeout: float | None = None,
    ) -> bool:
        """Sets the earliest and the latest start. The task does not start before its earliest start. After its latest
        start, presets (such as "discretionary") no longer delay it. If ``earliest_start`` is None, the task may start
        immediately. If ``latest_start`` is None, the task has no latest start. Raises InvalidArgument if the latest
        start would be before the earliest one. Returns False if the task had already ended, or already had these
        times."""
        return (
            self._session.reschedule(
                [self.id], earliest_start=earliest_start, latest_start=latest_start, timeout=timeout
            )
            > 0
        )

    def attempts(self, *, timeout: float | None = None) -> list[Attempt]:
        """Returns the attempts (runs) of the task, oldest first. Raises NotFound if neither the session's list of tasks
        nor its history (the list of its ended tasks) has the task."""
        return self._session.attempts(self.id, timeout=timeout)

    def waits(self, *, timeout: float | None = None) -> list[Wait]:
        """Returns the wait records of the task, oldest first. ``info()`` returns the reason why the task waits now.
        Raises NotFound if neither the session's list of tasks nor its history (the list of its ended tasks) has the
        task."""
        return self._session.waits(self.id, timeout=timeout)

    def claim(
        self,
        destination: StrPath,
        *,
        if_exists: IfExists | IfExistsWord = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None:
        """Moves the file of a succeeded download from the store to ``destination``."""
        self._session.claim(self.id, destination, if_exists=if_exists, timeout=timeout)
