"""Converts the library's structs to conditions, wait records, networks and activities."""

from __future__ import annotations

from ._activity import ActivityInfo
from ._conditions import Condition, Hold, Network, Wait
from ._constants import ItemKind
from ._copying import choice_value
from ._ctypes import bh_activity, bh_condition, bh_hold, bh_network, bh_wait_record
from ._readers import Reader

_wait = Reader(bh_wait_record, Wait, ItemKind.WAIT)
_condition = Reader(
    bh_condition,
    Condition,
    ItemKind.CONDITION,
    computed={"value": lambda raw: raw.value if raw.is_known else None},
)
_hold = Reader(bh_hold, Hold, ItemKind.HOLD)
_network = Reader(bh_network, Network, ItemKind.NETWORK)
_activity = Reader(
    bh_activity,
    ActivityInfo,
    ItemKind.ACTIVITY,
    converted={"repeats": lambda raw: choice_value(raw) is not False},
)

waits = _wait.items
conditions = _condition.items
holds = _hold.items
networks = _network.items
activities = _activity.items
