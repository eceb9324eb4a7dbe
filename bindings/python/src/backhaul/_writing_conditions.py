"""Converts networks and activities to the library's structs."""

from __future__ import annotations

from ctypes import POINTER, cast
from typing import Any

from . import _writing_transfers
from ._activity import Activity
from ._conditions import Network
from ._ctypes import bh_activity, bh_network, bh_request
from ._writers import Writer


def _fill_request(slot: bh_activity, value: Any, index: int | None) -> None:
    if value is not None:
        slot.request = cast(_writing_transfers.requests([value]), POINTER(bh_request))


network = Writer(
    bh_network,
    Network,
    words={"name": "network's name"},
    omitted={"kind", "is_current", "used_today", "used_this_month", "day_ends_ms", "month_ends_ms"},
)
activity = Writer(
    bh_activity,
    Activity,
    words={
        "identifier": "activity's identifier",
        "quality_of_service": "quality of service",
        "first": "first window",
    },
    special={"request": _fill_request},
)
