"""Types that several modules use, for paths, header fields and times."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any, TypedDict, Union

#: The path of a file or directory, such as a ``pathlib.Path``.
StrPath = Union[str, "os.PathLike[str]"]
#: Header fields: a mapping, or pairs of a name and a value if a name occurs several times.
Headers = Union[Mapping[str, str], Sequence[tuple[str, str]]]
#: A time: a ``datetime`` with a time zone, or the Unix time in seconds, as ``time.time()`` returns it.
Moment = Union[datetime, float]


class ResponseOptions(TypedDict, total=False):
    """The response to a challenge, as ``session.respond`` describes it."""

    user: str | None
    password: str | None
    headers: Headers | None
    url: str | None
    refuse: bool
    default: bool
    keep: bool
    expires: Moment | None


_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class _FieldTime:
    """A property with the time of a field in Unix milliseconds: ``began`` has the time of ``began_ms``."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = f"{name}_ms"

    def _milliseconds(self, value: Any) -> int:
        return int(getattr(value, self._field))


class Time(_FieldTime):
    def __get__(self, value: Any, owner: type) -> datetime:
        return self if value is None else _moment(self._milliseconds(value))  # type: ignore[return-value]


class OptionalTime(_FieldTime):
    """The property is None if the field is 0."""

    def __get__(self, value: Any, owner: type) -> datetime | None:
        if value is None:
            return self  # type: ignore[return-value]
        milliseconds = self._milliseconds(value)
        return _moment(milliseconds) if milliseconds else None


def _moment(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)
