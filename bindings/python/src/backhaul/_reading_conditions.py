"""From the library's structs to conditions, waits, networks and activities."""

from __future__ import annotations

from ._activity import ActivityInfo
from ._conditions import Condition, Hold, Network, Wait
from ._constants import ConditionKind, NetworkKind, QualityOfService, Reason
from ._copying import chosen, items, text, words
from ._ctypes import bh_activity, bh_condition, bh_hold, bh_network, bh_wait
from ._handles import BatchHandle
from ._library import library


def _wait(raw: bh_wait) -> Wait:
    return Wait(
        reason=Reason(raw.reason), reason_text=words(raw.reason_text), began_ms=raw.began_ms, ended_ms=raw.ended_ms
    )


def _condition(raw: bh_condition) -> Condition:
    return Condition(
        kind=ConditionKind(raw.kind),
        value=raw.value if raw.is_known else None,
        name=text(raw.name),
        text=words(raw.text),
        source=words(raw.source),
        since_ms=raw.since_ms,
    )


def _hold(raw: bh_hold) -> Hold:
    return Hold(
        application=words(raw.application),
        session=words(raw.session),
        origin=text(raw.origin),
        reason=Reason(raw.reason),
        reason_text=words(raw.reason_text),
        began_ms=raw.began_ms,
        next_look_ms=raw.next_look_ms,
        tasks=raw.tasks,
    )


def _network(raw: bh_network) -> Network:
    return Network(
        name=words(raw.name),
        metered=chosen(raw.metered),
        month_starts_on=raw.month_starts_on,
        daily_budget=raw.daily_budget,
        monthly_budget=raw.monthly_budget,
        kind=NetworkKind(raw.kind) if raw.kind else None,
        is_current=bool(raw.is_current),
        used_today=raw.used_today,
        used_this_month=raw.used_this_month,
        day_ends_ms=raw.day_ends_ms,
        month_ends_ms=raw.month_ends_ms,
    )


def _activity(raw: bh_activity) -> ActivityInfo:
    return ActivityInfo(
        identifier=words(raw.identifier),
        interval_ms=raw.interval_ms,
        tolerance_ms=raw.tolerance_ms,
        repeats=chosen(raw.repeats) is not False,
        quality_of_service=QualityOfService(raw.quality_of_service),
        next_ms=raw.next_ms,
        next_ends_ms=raw.next_ends_ms,
        last_started_ms=raw.last_started_ms,
        last_task=raw.last_task or None,
        url=text(raw.url),
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
