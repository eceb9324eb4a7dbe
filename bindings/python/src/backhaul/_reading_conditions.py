"""From the library's structs to conditions, waits, networks and activities."""

from __future__ import annotations

from ._activity import ActivityInfo
from ._conditions import Condition, Hold, Network, Wait
from ._copying import chosen, items, something
from ._ctypes import bh_activity, bh_condition, bh_hold, bh_network, bh_wait
from ._handles import BatchHandle
from ._library import library
from ._readers import Reader


_wait = Reader(bh_wait, Wait)
_condition = Reader(bh_condition, Condition, computed={"value": lambda raw: raw.value if raw.is_known else None})
_hold = Reader(bh_hold, Hold)
_network = Reader(bh_network, Network)
_activity = Reader(
    bh_activity,
    ActivityInfo,
    converted={"repeats": lambda raw: chosen(raw) is not False, "last_task": something},
)


def waits(batch: BatchHandle) -> list[Wait]:
    return [_wait(raw) for raw in items(batch, library.bh_batch_wait_at)]


def conditions(batch: BatchHandle) -> list[Condition]:
    return [_condition(raw) for raw in items(batch, library.bh_batch_condition_at)]


def holds(batch: BatchHandle) -> list[Hold]:
    return [_hold(raw) for raw in items(batch, library.bh_batch_hold_at)]


def networks(batch: BatchHandle) -> list[Network]:
    return [_network(raw) for raw in items(batch, library.bh_batch_network_at)]


def activities(batch: BatchHandle) -> list[ActivityInfo]:
    return [_activity(raw) for raw in items(batch, library.bh_batch_activity_at)]
