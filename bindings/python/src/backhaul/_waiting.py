"""Waiting: in short slices for blocking calls, so that signals are handled, and on descriptors for asyncio."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ._numbers import WAIT_MAXIMUM

if TYPE_CHECKING:
    # A program that awaits has loaded asyncio. For other programs it would be half the time to load the package.
    import asyncio

#: Python runs signal handlers only between C calls. No call waits longer than this, so that Ctrl-C works.
SLICE_SECONDS = 0.2

#: The value of BH_WAIT_DEFAULT.
DEFAULT_SECONDS = 30.0


class Deadline:
    """The time until which a call may wait. Seconds of None: without a limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + max(0.0, seconds)

    @property
    def remaining(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def slice_ms(self) -> int:
        """Returns how long the next C call may wait, in milliseconds: at least 1 unless the time is over."""
        remaining = self.remaining
        seconds = SLICE_SECONDS if remaining is None else min(SLICE_SECONDS, remaining)
        return min(WAIT_MAXIMUM, max(1, round(seconds * 1000)) if seconds > 0 else 0)


_Waiters = dict[int, set["asyncio.Future[None]"]]
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiters] = WeakKeyDictionary()


def _wake(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    """Wakes all waiters of a descriptor. It stays readable until they have acted, so it is not watched meanwhile."""
    loop.remove_reader(descriptor)
    for future in _loops[loop].pop(descriptor, set()):
        if not future.done():
            future.set_result(None)


async def readable(descriptor: int, seconds: float | None) -> bool:
    """Waits until a descriptor is readable. Several coroutines may wait for one. Returns False if the time was over
    first."""
    import asyncio

    loop = asyncio.get_running_loop()
    waiters = _loops.setdefault(loop, {})
    future: asyncio.Future[None] = loop.create_future()
    if descriptor not in waiters:
        waiters[descriptor] = set()
        loop.add_reader(descriptor, _wake, loop, descriptor)
    mine = waiters[descriptor]
    mine.add(future)
    try:
        # Before Python 3.12 a `wait_for` that is cancelled when its result arrives returns the result and continues.
        done, _ = await asyncio.wait((future,), timeout=seconds)
        return bool(done)
    finally:
        mine.discard(future)
        if not mine and waiters.get(descriptor) is mine:
            del waiters[descriptor]
            loop.remove_reader(descriptor)


def wait_readable(descriptor: int, seconds: float) -> bool:
    """The same for blocking code, which handles signals meanwhile."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


class Patience:
    """Growing pauses for a descriptor that stays readable for another reason, so that the loop does not use the
    processor."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next = 0.001

    def reset(self) -> None:
        self._next = 0.001

    async def pause(self) -> None:
        import asyncio

        await asyncio.sleep(self._grow())

    def sleep(self, deadline: Deadline) -> None:
        """The same for blocking code, not beyond the deadline."""
        remaining = deadline.remaining
        time.sleep(self._grow() if remaining is None else min(self._grow(), remaining))

    def _grow(self) -> float:
        pause, self._next = self._next, min(self._longest, self._next * 2)
        return pause
