"""What may stand for a task or an event: its id, or anything that has it."""

from __future__ import annotations

from typing import Protocol, Union


class Identified(Protocol):
    """A task, a listed task or an event: anything with the id that is meant."""

    @property
    def id(self) -> int: ...


Identity = Union[int, Identified]
