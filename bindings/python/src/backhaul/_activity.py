"""Activities: work that repeats."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._constants import QualityOfService
from ._requests import Request
from ._types import Moment, moment, moment_or_none


@dataclass(frozen=True)
class Activity:
    """Work that repeats: in a window that opens ``interval_ms`` after the last one was due and stays open for
    ``tolerance_ms``. It starts in it when the conditions are as its quality of service asks, and at its end in any
    case, once; windows that passed while no engine ran are made up for by one."""

    #: Its name within the session; 1 to 255 bytes.
    identifier: str
    #: 1,000 or more, at most ten years.
    interval_ms: int
    #: How long the window stays open; less than ``interval_ms``; 0: half of it.
    tolerance_ms: int = 0
    #: False: once, then it is removed; None: again and again.
    repeats: bool | None = None
    #: "background" (the default), "utility" or "user_initiated".
    quality_of_service: str | QualityOfService | None = None
    #: What is enqueued, without a key, files of a body, earliest and latest start; a destination with
    #: ``if_exists="replace"``, or named by the server. While its last task lives no other is made. None: an event of
    #: EventKind.ACTIVITY, which launches; while that is unacknowledged no other is made.
    request: Request | None = None
    #: When the first window opens; None: after the interval. Of one that exists: its next window.
    first: Moment | None = None


@dataclass(frozen=True)
class ActivityInfo:
    """An activity as listings show it."""

    identifier: str
    interval_ms: int
    tolerance_ms: int
    repeats: bool
    quality_of_service: QualityOfService
    #: Unix time in milliseconds when the next window opens, or the open one has.
    next_ms: int
    #: Unix time in milliseconds when that window ends.
    next_ends_ms: int
    #: Unix time in milliseconds, or 0.
    last_started_ms: int
    #: Id of the last task that it has made, or None.
    last_task: int | None
    #: Of its request; None: it is told by an event.
    url: str | None

    @property
    def next(self) -> datetime:
        return moment(self.next_ms)

    @property
    def next_ends(self) -> datetime:
        return moment(self.next_ends_ms)

    @property
    def last_started(self) -> datetime | None:
        return moment_or_none(self.last_started_ms)
