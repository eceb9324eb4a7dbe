"""Which task or event is meant: its id, or anything that has it; and which of many."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypedDict, Union

from ._constants import TaskState


class Identified(Protocol):
    """A task, a listed task or an event: anything with the id that is meant."""

    @property
    def id(self) -> int: ...


Identity = Union[int, Identified]


class Among(TypedDict, total=False):
    """Narrows a choice of tasks: to those in one of these states, and to those of a group."""

    states: Iterable[TaskState]
    group: str | None
