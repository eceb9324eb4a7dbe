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

    Each window opens ``interval_ms`` after the previous one was due, and stays open for ``tolerance_ms``. The activity
    starts once in each window: when the conditions meet its quality of service, or at the end of the window. If
    several windows passed while no engine was running, the activity starts once for all of them.
    """

    #: The name of the activity in its session, 1 to 255 bytes.
    identifier: str
    #: The time from the opening of one window to the opening of the next: 1,000 milliseconds to ten years.
    interval_ms: int
    #: How long a window stays open, which is less than ``interval_ms``. 0: half of ``interval_ms``.
    tolerance_ms: int = 0
    #: False: the activity starts once, and is then removed. None and True: it repeats.
    repeats: bool | None = None
    #: "background" (the default), "utility" or "user_initiated".
    quality_of_service: str | QualityOfService | None = None
    #: The request that the activity enqueues. It has no key, no body files, and no earliest or latest start. It has
    #: ``if_exists="replace"`` or ``named_by_server=True``. While its last task has not ended, no second task is made.
    #: None: the activity delivers an event of EventKind.ACTIVITY, for which the application is launched. While that
    #: event is not acknowledged, no second event is made.
    request: Request | None = None
    #: When the first window opens. None: one interval after now. For an existing activity this sets the next window.
    first: Moment | None = None


@dataclass(frozen=True)
class ActivityInfo:
    """An activity in a listing."""

    identifier: str
    interval_ms: int
    tolerance_ms: int
    repeats: bool
    quality_of_service: QualityOfService
    #: When the present window opened or the next window opens, in Unix milliseconds.
    next_ms: int
    #: When that window ends, in Unix milliseconds.
    next_ends_ms: int
    #: When the activity last started, in Unix milliseconds, or 0.
    last_started_ms: int
    #: The id of the last task that the activity has enqueued, or None.
    last_task: int | None
    #: The URL of the request. None: the activity has no request, and delivers events.
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
