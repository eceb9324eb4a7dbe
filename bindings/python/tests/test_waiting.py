"""Coroutines that wait in asyncio can share a descriptor. When no coroutine waits for the descriptor any more, the
event loop no longer watches it."""

import asyncio
import os

import pytest

from backhaul import _waiting
from backhaul._waiting import Deadline, readable


@pytest.fixture
def pipe():
    ends = os.pipe()
    yield ends
    for end in ends:
        os.close(end)


def test_a_readable_descriptor_wakes_all_its_waiters(pipe):
    async def scenario():
        waiting = [asyncio.ensure_future(readable(pipe[0], 10)) for _ in range(3)]
        await asyncio.sleep(0)
        os.write(pipe[1], b"x")
        return await asyncio.gather(*waiting)

    assert asyncio.run(scenario()) == [True, True, True]


def test_an_ended_wait_leaves_no_reader_in_the_event_loop(pipe):
    async def scenario():
        assert not await readable(pipe[0], 0.01)
        return asyncio.get_running_loop().remove_reader(pipe[0])

    assert asyncio.run(scenario()) is False


def test_a_cancelled_waiter_does_not_affect_the_other_waiters(pipe):
    async def scenario():
        impatient = asyncio.ensure_future(readable(pipe[0], 10))
        patient = asyncio.ensure_future(readable(pipe[0], 10))
        await asyncio.sleep(0)
        impatient.cancel()
        await asyncio.sleep(0)
        os.write(pipe[1], b"x")
        return await patient

    assert asyncio.run(scenario()) is True


@pytest.mark.parametrize("seconds", [10, None])
def test_a_waiter_is_cancelled_even_if_its_descriptor_becomes_readable(pipe, seconds):
    async def scenario():
        waiting = asyncio.ensure_future(readable(pipe[0], seconds))
        await asyncio.sleep(0)
        os.write(pipe[1], b"x")
        # In its next iteration, the event loop finds that the descriptor is readable. One iteration later, the test
        # cancels the waiter before the waiter runs.
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, waiting.cancel)
        with pytest.raises(asyncio.CancelledError):
            await waiting
        return loop.remove_reader(pipe[0])

    assert asyncio.run(scenario()) is False


def test_each_part_of_a_long_wait_is_short_and_ends_at_the_deadline_at_the_latest():
    assert Deadline(None).slice_ms() == _waiting.SLICE_SECONDS * 1000
    assert Deadline(1e9).slice_ms() == _waiting.SLICE_SECONDS * 1000
    assert 1 <= Deadline(0.05).slice_ms() <= 50
    assert Deadline(0).slice_ms() == 0
    assert Deadline(-1).is_over
