"""From networks and activities to the library's structs."""

from __future__ import annotations

from ctypes import POINTER, cast, sizeof

from . import _writing_transfers
from ._activity import Activity
from ._conditions import Network
from ._constants import QualityOfService
from ._ctypes import bh_activity, bh_network, bh_request
from ._writing import UINT32, UINT64, choice, moment_ms, number, text, word


def network(value: Network) -> bh_network:
    """Of what is said; what is only read is left out."""
    slot = bh_network(sizeof(bh_network), text("network's name", value.name))
    slot.metered = choice("metered", value.metered)
    slot.month_starts_on = number("month_starts_on", value.month_starts_on, UINT32)
    slot.daily_budget = number("daily_budget", value.daily_budget, UINT64)
    slot.monthly_budget = number("monthly_budget", value.monthly_budget, UINT64)
    return slot


def activity(value: Activity) -> bh_activity:
    slot = bh_activity(sizeof(bh_activity), text("activity's identifier", value.identifier))
    slot.interval_ms = number("interval_ms", value.interval_ms, UINT64)
    slot.tolerance_ms = number("tolerance_ms", value.tolerance_ms, UINT64)
    slot.repeats = choice("repeats", value.repeats)
    slot.quality_of_service = word("quality of service", value.quality_of_service or 0, QualityOfService)
    if value.request is not None:
        slot.request = cast(_writing_transfers.requests([value.request]), POINTER(bh_request))
    slot.first_ms = moment_ms("first window", value.first)
    return slot
