"""Activities: work that repeats in windows of time."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from ._constants import QualityOfService
from ._requests import Request
from ._types import Moment, moment, moment_or_none


@dataclass(frozen=True)
class Activity:
    """Work that repeats in windows of time.

    A window opens ``interval_ms`` after the last one was due, and stays open for ``tolerance_ms``. The activity
    starts once in each window: when the conditions meet its quality of service, or at the end of the window. If
    windows passed while no engine was running, it starts once for all of them.
    """

    #: The name within the session, 1 to 255 bytes.
    identifier: str
    #: From one window's opening to the next: 1,000 to ten years.
    interval_ms: int
    #: How long a window stays open; less than ``interval_ms``; 0: half of it.
    tolerance_ms: int = 0
    #: False: it runs once and is removed. None: it repeats.
    repeats: bool | None = None
    #: "background" (the default), "utility" or "user_initiated".
    quality_of_service: str | QualityOfService | None = None
    #: The request to enqueue, without a key, body files, earliest and latest start. Its destination has
    #: ``if_exists="replace"`` or is named by the server. No second task is made while one lives. None: the activity
    #: sends an event of EventKind.ACTIVITY, which launches the application; no second event is made while one is
    #: unacknowledged.
    request: Request | None = None
    #: The opening of the first window; None: after the interval. For an existing activity it is the next window.
    first: Moment | None = None


@dataclass(frozen=True)
class ActivityInfo:
    """An activity as listings show it."""

    identifier: str
    interval_ms: int
    tolerance_ms: int
    repeats: bool
    quality_of_service: QualityOfService
    #: The opening of the open or the next window, in Unix milliseconds.
    next_ms: int
    #: The end of that window, in Unix milliseconds.
    next_ends_ms: int
    #: The last start in Unix milliseconds, or 0.
    last_started_ms: int
    #: The id of the last task that the activity has enqueued, or None.
    last_task: int | None
    #: The URL of the request; None: the activity sends an event.
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
