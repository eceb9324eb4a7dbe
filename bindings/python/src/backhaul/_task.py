"""A task of a session, by its id."""

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
from ._types import Moment, Path
from ._values import TaskInfo


class Controlling(Protocol):
    """What a task asks of the session that it is of."""

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
        destination: Path,
        *,
        if_exists: str | IfExists = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None: ...


class Task:
    """One transfer that was enqueued. ``info()`` asks how it stands."""

    def __init__(self, session: Controlling, task_id: int, enqueued: Enqueued | None = None) -> None:
        self._session = session
        #: Grows; never used twice in a store.
        self.id = task_id
        #: What the enqueue found that gave it: its ``is_acknowledged`` tells that no event of the task comes any more.
        self.enqueued = enqueued
        #: Whether this enqueue made it; False when the idempotency key found it.
        self.is_new = enqueued is not None and enqueued.is_new

    def __repr__(self) -> str:
        return f"<Task {self.id} of {self._session.identifier!r}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Task) and (other.id, other._session) == (self.id, self._session)

    def __hash__(self) -> int:
        return hash(self.id)

    def info(self, *, timeout: float | None = None) -> TaskInfo:
        """How it stands now. Raises NotFound once its event is acknowledged."""
        return self._session.task(self.id, timeout=timeout)

    def cancel(self, *, timeout: float | None = None) -> bool:
        """Ends it as cancelled. False when it had ended."""
        return self._session.cancel([self.id], timeout=timeout) > 0

    def suspend(self, *, timeout: float | None = None) -> bool:
        """Stops it and keeps what is there. False when it had ended or was suspended."""
        return self._session.suspend([self.id], timeout=timeout) > 0

    def resume(self, *, timeout: float | None = None) -> bool:
        """Lets it run, or sends it to its next attempt at once. False when nothing changed."""
        return self._session.resume([self.id], timeout=timeout) > 0

    def set_priority(self, priority: int, *, timeout: float | None = None) -> bool:
        """Higher runs first within the session; -100 to 100, or PRIORITY_NOW."""
        return self._session.set_priority(priority, [self.id], timeout=timeout) > 0

    def set_rate(self, bytes_per_second: int, *, timeout: float | None = None) -> bool:
        """Limits it to so many bytes per second from now on; 0: to no less than its session and the engine."""
        return self._session.set_rate(bytes_per_second, [self.id], timeout=timeout) > 0

    def set_constraints(self, constraints: Constraints | None, *, timeout: float | None = None) -> bool:
        """Replaces its own constraints; None removes them. Those of its session stay."""
        return self._session.set_constraints(constraints, [self.id], timeout=timeout) > 0

    def reschedule(
        self,
        *,
        earliest_start: Moment | None = TIME_UNCHANGED,
        latest_start: Moment | None = TIME_UNCHANGED,
        timeout: float | None = None,
    ) -> bool:
        """When it is to start from now on; None: at once, and no latest start. Raises InvalidArgument where the latest
        would be before the earliest. False when it had ended, or is to start so already."""
        return (
            self._session.reschedule(
                [self.id], earliest_start=earliest_start, latest_start=latest_start, timeout=timeout
            )
            > 0
        )

    def attempts(self, *, timeout: float | None = None) -> list[Attempt]:
        """What was measured of its requests, oldest first. Raises NotFound when the history has lost it, too."""
        return self._session.attempts(self.id, timeout=timeout)

    def waits(self, *, timeout: float | None = None) -> list[Wait]:
        """When and why it has waited, oldest first; ``info()`` tells why it waits now. Raises NotFound when the history
        has lost it, too."""
        return self._session.waits(self.id, timeout=timeout)

    def claim(
        self,
        destination: Path,
        *,
        if_exists: str | IfExists = IfExists.FAIL,
        timeout: float | None = None,
    ) -> None:
        """Moves the kept file of a succeeded download to ``destination``."""
        self._session.claim(self.id, destination, if_exists=if_exists, timeout=timeout)
