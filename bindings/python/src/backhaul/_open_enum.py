"""Enumerations that accept unknown values, because a newer library can have more values than this package."""

from __future__ import annotations

from enum import IntEnum, IntFlag

from ._words import WORDS


def _word(name: str) -> str:
    return WORDS.get(name) or name.lower()


def _formatted(value: IntEnum | IntFlag, specification: str) -> str:
    is_number = specification[-1:] in tuple("bcdeEfFgGnoxX%")
    return format(int(value) if is_number else str(value), specification)


class OpenEnum(IntEnum):
    """An enumeration that accepts unknown values. An unknown value becomes a member such as ``UNKNOWN_7``. ``str``
    returns the member's name in the JSON of the command line, such as ``running``."""

    def __str__(self) -> str:
        return _word(self.name)

    def __format__(self, specification: str) -> str:
        return _formatted(self, specification)

    def __reduce_ex__(self, protocol: object) -> tuple[type[OpenEnum], tuple[int]]:
        # Python 3.11.0 to 3.11.3 copies a member by its name, and an unknown member has no attribute with its name.
        return type(self), (int(self),)

    @classmethod
    def _missing_(cls, value: object) -> OpenEnum | None:
        if not isinstance(value, int):
            return None
        member = int.__new__(cls, value)
        member._name_ = f"UNKNOWN_{value}"
        member._value_ = value
        return member


class OpenFlag(IntFlag):
    """A set of bits that accepts unknown bits. ``str`` returns the names of the bits, such as ``ethernet|wifi``."""

    def __str__(self) -> str:
        kind = type(self)
        known = {int(member): _word(name) for name, member in kind.__members__.items()}
        bits = [1 << place for place in range(int(self).bit_length()) if int(self) >> place & 1]
        return "|".join(known.get(bit, f"unknown_{bit}") for bit in bits) or "none"

    def __format__(self, specification: str) -> str:
        return _formatted(self, specification)


class StatusNames(OpenEnum):
    """The base class of Status. ``str`` returns the name of the status in the header, such as ``BH_IN_USE``."""

    def __str__(self) -> str:
        return f"BH_{self.name}"


class FinalStates(OpenEnum):
    """The base class of TaskState."""

    @property
    def has_ended(self) -> bool:
        """Whether the task has ended."""
        return self.name in ("SUCCEEDED", "FAILED", "CANCELLED")
