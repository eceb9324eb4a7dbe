"""Waiting without an end and without deafness: in slices for blocking calls, on descriptors for asyncio."""

from __future__ import annotations

import select
import time
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from ._numbers import WAIT_MAXIMUM

if TYPE_CHECKING:
    # Whoever awaits has loaded it; for everybody else it would be half the time that the package takes to load.
    import asyncio

#: Python runs signal handlers between C calls only: no call waits longer than this, so that Ctrl-C is heard.
SLICE_SECONDS = 0.2

#: What BH_WAIT_DEFAULT means.
DEFAULT_SECONDS = 30.0


class Deadline:
    """A moment up to which one may wait. Seconds of None: without an end."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + max(0.0, seconds)

    @property
    def remaining(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    @property
    def is_over(self) -> bool:
        return self.remaining == 0.0

    def slice_ms(self) -> int:
        """How long the next C call may wait, in milliseconds: at least 1 unless the time is over."""
        remaining = self.remaining
        seconds = SLICE_SECONDS if remaining is None else min(SLICE_SECONDS, remaining)
        return min(WAIT_MAXIMUM, max(1, round(seconds * 1000)) if seconds > 0 else 0)


_Waiters = dict[int, set["asyncio.Future[None]"]]
_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, _Waiters] = WeakKeyDictionary()


def _wake(loop: asyncio.AbstractEventLoop, descriptor: int) -> None:
    """Wakes all who wait for a descriptor. It stays readable until they have acted, so it is not watched meanwhile."""
    loop.remove_reader(descriptor)
    for future in _loops[loop].pop(descriptor, set()):
        if not future.done():
            future.set_result(None)


async def readable(descriptor: int, seconds: float | None) -> bool:
    """Waits until a descriptor is readable; any number may wait for one. False when the time was over first."""
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
        # Before Python 3.12 a `wait_for` that is cancelled in the moment of the result returns it, and goes on.
        done, _ = await asyncio.wait((future,), timeout=seconds)
        return bool(done)
    finally:
        mine.discard(future)
        if not mine and waiters.get(descriptor) is mine:
            del waiters[descriptor]
            loop.remove_reader(descriptor)


def wait_readable(descriptor: int, seconds: float) -> bool:
    """The same for blocking code, which hears signals meanwhile."""
    poller = select.poll()
    poller.register(descriptor, select.POLLIN)
    return bool(poller.poll(seconds * 1000))


class Patience:
    """Growing pauses for a descriptor that stays readable for somebody else's reason, so that no processor spins."""

    def __init__(self, longest: float) -> None:
        self._longest = longest
        self._next = 0.001

    def reset(self) -> None:
        self._next = 0.001

    async def pause(self) -> None:
        import asyncio

        await asyncio.sleep(self._grow())

    def sleep(self, deadline: Deadline) -> None:
        """The same for blocking code, no longer than the deadline."""
        remaining = deadline.remaining
        time.sleep(self._grow() if remaining is None else min(self._grow(), remaining))

    def _grow(self) -> float:
        pause, self._next = self._next, min(self._longest, self._next * 2)
        return pause
