"""Enumerations of a library that may grow."""

from __future__ import annotations

from enum import IntEnum


class OpenEnum(IntEnum):
    """An enumeration that also takes values which only a newer library knows."""

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member


class FinalStates(OpenEnum):
    """The base of TaskState."""

    @property
    def has_ended(self) -> bool:
        """Whether nothing more will happen to the task."""
        return self.name in ("SUCCEEDED", "FAILED", "CANCELLED")
