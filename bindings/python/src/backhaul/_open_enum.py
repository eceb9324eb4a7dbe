"""Enumerations that accept unknown values, because a newer library can have more values than this package."""

from __future__ import annotations

from enum import IntEnum


class OpenEnum(IntEnum):
    """An enumeration that accepts unknown values. An unknown value becomes a member such as ``UNKNOWN_7``."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member


class FinalStates(OpenEnum):
    """The base class of TaskState."""

    @property
    def has_ended(self) -> bool:
        """Whether the task has ended."""
        return self.name in ("SUCCEEDED", "FAILED", "CANCELLED")
