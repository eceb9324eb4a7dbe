"""Converts the library's structs to conditions, wait records, networks and activities."""

from __future__ import annotations

from ._activity import ActivityInfo
from ._conditions import Condition, Hold, Network, Wait
from ._constants import ItemKind
from ._copying import choice_value
from ._ctypes import bh_activity, bh_condition, bh_hold, bh_network, bh_wait_record
from ._handles import BatchHandle
from ._readers import Reader, items

_wait = Reader(bh_wait_record, Wait)
_condition = Reader(bh_condition, Condition, computed={"value": lambda raw: raw.value if raw.is_known else None})
_hold = Reader(bh_hold, Hold)
_network = Reader(bh_network, Network)
_activity = Reader(bh_activity, ActivityInfo, converted={"repeats": lambda raw: choice_value(raw) is not False})


def waits(batch: BatchHandle) -> list[Wait]:
    return items(batch, ItemKind.WAIT, _wait)


def conditions(batch: BatchHandle) -> list[Condition]:
    return items(batch, ItemKind.CONDITION, _condition)


def holds(batch: BatchHandle) -> list[Hold]:
    return items(batch, ItemKind.HOLD, _hold)


def networks(batch: BatchHandle) -> list[Network]:
    return items(batch, ItemKind.NETWORK, _network)


def activities(batch: BatchHandle) -> list[ActivityInfo]:
    return items(batch, ItemKind.ACTIVITY, _activity)
