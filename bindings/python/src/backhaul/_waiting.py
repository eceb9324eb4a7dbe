"""Waiting in blocking code and in asyncio. Blocking code waits in short slices, so that Python can handle signals."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ._numbers import WAIT_MAXIMUM

if TYPE_CHECKING:
    # This module does not load asyncio, because that would double the time to import the package. Only programs that
    # use asyncio load it.
    import asyncio

#: The longest wait of one C call, in seconds. Python runs signal handlers, such as the handler of Ctrl-C, only between
#: C calls.
SLICE_SECONDS = 0.2

#: The time-out for which BH_WAIT_DEFAULT stands, in seconds.
DEFAULT_SECONDS = 30.0


class Deadline:
    """The time until which a call may wait. If ``seconds`` is None, the call may wait without a limit."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + max(0.0, seconds)

    @property
    def remaining(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def slice_ms(self) -> int:
        """Returns how long the next C call may wait, in milliseconds. The result is 0 only if the deadline is over."""
        remaining = self.remaining
        seconds = SLICE_SECONDS if remaining is None else min(SLICE_SECONDS, remaining)
        return min(WAIT_MAXIMUM, max(1, round(seconds * 1000)) if seconds > 0 else 0)


_Waiters = dict[int, set["asyncio.Future[None]"]]
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiters] = WeakKeyDictionary()


def _wake(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    """Wakes all waiters of a descriptor. The event loop then stops watching the descriptor, because the descriptor
    stays readable until the waiters have read their data."""
    loop.remove_reader(descriptor)
    for future in _loops[loop].pop(descriptor, set()):
        if not future.done():
            future.set_result(None)


async def readable(descriptor: int, seconds: float | None) -> bool:
    """Waits until a descriptor is readable. Several coroutines may wait for the same descriptor. Returns False if the
    descriptor does not become readable within ``seconds``."""
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
        # `asyncio.wait_for` cannot be used: before Python 3.12, it ignores a cancellation that comes at the same time
        # as the result.
        done, _ = await asyncio.wait((future,), timeout=seconds)
        return bool(done)
    finally:
        mine.discard(future)
        if not mine and waiters.get(descriptor) is mine:
            del waiters[descriptor]
            loop.remove_reader(descriptor)


def wait_readable(descriptor: int, seconds: float) -> bool:
    """Does the same as ``readable``, but for blocking code. Python handles signals during the wait."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


class Backoff:
    """Growing pauses for a loop that waits for a descriptor. The descriptor may stay readable for a reason that does
    not concern the loop. The pauses then prevent a busy loop."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next = 0.001

    def reset(self) -> None:
        self._next = 0.001

    async def pause(self) -> None:
        import asyncio

        await asyncio.sleep(self._grow())

    def sleep(self, deadline: Deadline) -> None:
        """Does the same as ``pause``, but for blocking code. The pause ends at the deadline at the latest."""
        remaining = deadline.remaining
        time.sleep(self._grow() if remaining is None else min(self._grow(), remaining))

    def _grow(self) -> float:
        pause, self._next = self._next, min(self._longest, self._next * 2)
        return pause
