"""Values that identify a task or an event: its id, or an object that has the id. Also the selection of tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypedDict, Union

from ._constants import TaskState


class Identified(Protocol):
    """An object with an id: a task, a listed task or an event."""

    @property
    def id(self) -> int: ...


Identity = Union[int, Identified]


class Among(TypedDict, total=False):
    """Restricts a selection of tasks to those in one of these states, and to those of a group."""

    states: Iterable[TaskState]
    group: str | None
