"""Types for arguments that identify a task or an event, by its id or by an object with the id, and that select
tasks."""

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
    """Restricts a selection to tasks that are in one of the states and belong to the group."""

    states: Iterable[TaskState]
    group: str | None
