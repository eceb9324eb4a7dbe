"""Types of arguments. Some types identify a task or an event, by its id or by an object with this id. One type selects
tasks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypedDict, Union

from ._constants import TaskState


class Identified(Protocol):
    """An object with an id: a task, a listed task or an event."""

    @property
    def id(self) -> int:
        """The id of the task or of the event."""


#: A task or an event: an object with its id, or the id.
Identity = Union[int, Identified]


class Among(TypedDict, total=False):
    """Restricts a selection of tasks. Each selected task is in one of ``states``, and belongs to ``group``."""

    states: Iterable[TaskState]
    group: str | None
