"""Activities: work that repeats in windows of time."""

from __future__ import annotations

from dataclasses import dataclass

from ._constants import QualityOfService
from ._requests import Request
from ._types import Moment, OptionalTime, Time
from ._words import QualityOfServiceWord


@dataclass(frozen=True)
class Activity:
    """Work that repeats in windows of time.

    A window begins every ``interval_ms``, and stays open for ``tolerance_ms``. The activity starts once in each window:
    as soon as the state of the system (such as power and network) is good enough for ``quality_of_service``, or else at
    the end of the window. If several windows begin while no engine (the process that runs the tasks) runs, the activity
    starts once for all of them. """

    #: The name of the activity in its session, 1 to 255 bytes.
    identifier: str
    #: The time from the beginning of one window to the beginning of the next window. It is 1,000 milliseconds at least,
    #: and ten years at most.
    interval_ms: int
    #: How long a window stays open. It must be less than ``interval_ms``. 0: half of ``interval_ms``.
    tolerance_ms: int = 0
    #: False: the activity starts one time, and is then removed. None and True: the activity repeats.
    repeats: bool | None = None
    #: "background" (the default), "utility" or "user_initiated".
    quality_of_service: QualityOfService | QualityOfServiceWord | None = None
    #: The request that the activity enqueues. It must have no ``key``, ``body_file``, ``parts``, ``earliest_start`` or
    #: ``latest_start``, and must not be ``suspended``. A request with a destination must have ``if_exists="replace"``
    #: or ``named_by_server=True``. Until the newest task of the activity has ended, the activity makes no further task.
    #: None: the activity makes an event of EventKind.ACTIVITY, and the engine launches the application's program for
    #: this event. Until the program has processed and acknowledged the event, the activity makes no further event.
    request: Request | None = None
    #: When the first window opens. None: ``interval_ms`` after the call of ``set_activity``. If the activity exists
    #: already, this field is the time when the next window opens, and None leaves this time unchanged.
    first: Moment | None = None


@dataclass(frozen=True)
class ActivityInfo:
    """An activity in a listing."""

    #: The name of the activity in its session.
    identifier: str
    #: The time from the beginning of one window to the beginning of the next window.
    interval_ms: int
    #: How long a window stays open.
    tolerance_ms: int
    #: Whether the activity repeats. If not, it is removed after its only start.
    repeats: bool
    #: The state of the system for which the activity waits in its window.
    quality_of_service: QualityOfService
    #: When the present window opened, in Unix milliseconds. If no window is open: when the next window opens.
    next_ms: int
    #: When the window that begins at ``next_ms`` ends, in Unix milliseconds.
    next_ends_ms: int
    #: When the activity last started, in Unix milliseconds. 0 if it has not started yet.
    last_started_ms: int
    #: The id of the last task that the activity has enqueued, or None.
    last_task: int | None
    #: The URL of the request. None if the activity has no request and makes events instead.
    url: str | None

    #: When the present window opened. If no window is open: when the next window opens.
    next = Time()
    #: When the window that begins at ``next`` ends.
    next_ends = Time()
    #: When the activity last started. None if it has not started yet.
    last_started = OptionalTime()
