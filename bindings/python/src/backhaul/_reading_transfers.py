"""Converts the library's structs to configurations, limits, attempts and the results of an enqueue."""

from __future__ import annotations

from dataclasses import fields
from typing import NamedTuple

from ._attempt import Attempt
from ._configuration import Limits, SessionConfiguration
from ._constants import ItemKind
from ._ctypes import bh_attempt, bh_enqueued, bh_limits, bh_metrics, bh_session_configuration
from ._handles import BatchHandle
from ._readers import Reader
from ._requests import Enqueued


def _reached(microseconds: int) -> int | None:
    return None if microseconds < 0 else microseconds


_configuration = Reader(bh_session_configuration, SessionConfiguration, ItemKind.CONFIGURATION)
_limits = Reader(bh_limits, Limits, ItemKind.LIMITS)
_attempt = Reader(
    bh_attempt,
    Attempt,
    ItemKind.ATTEMPT,
    converted={field.name: _reached for field in fields(Attempt) if field.name.endswith("_us")},
)
_enqueued = Reader(bh_enqueued, Enqueued, ItemKind.ENQUEUED, renamed={"state": "task_state"})


class _Metrics(NamedTuple):
    text: str


_metrics = Reader(bh_metrics, _Metrics, ItemKind.METRICS)


def metrics(batch: BatchHandle) -> str:
    return _metrics.first(batch).text


configuration = _configuration.first
limits = _limits.first
attempts = _attempt.items
enqueued = _enqueued.items
