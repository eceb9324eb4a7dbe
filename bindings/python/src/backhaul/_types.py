"""Types that several modules use, for paths, header fields and times."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Union

Path = Union[str, "os.PathLike[str]"]
Headers = Union[Mapping[str, str], Sequence[tuple[str, str]]]
#: A time: a ``datetime`` with a time zone, or the Unix time in seconds, as ``time.time()`` returns it.
Moment = Union[datetime, float]

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


def moment(milliseconds: int) -> datetime:
    return _EPOCH + timedelta(milliseconds=milliseconds)


def moment_or_none(milliseconds: int) -> datetime | None:
    """Converts Unix milliseconds to a time. Returns None for 0."""
    return moment(milliseconds) if milliseconds else None
