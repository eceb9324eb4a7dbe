"""Converts the library's structs to configurations, limits, attempts and the results of an enqueue."""

from __future__ import annotations

from dataclasses import fields

from ._attempt import Attempt
from ._configuration import Limits, SessionConfiguration
from ._constants import ItemKind
from ._ctypes import bh_attempt, bh_enqueued, bh_limits, bh_session_configuration
from ._handles import BatchHandle
from ._readers import Reader, items
from ._requests import Enqueued


def _reached(microseconds: int) -> int | None:
    return None if microseconds < 0 else microseconds


_configuration = Reader(bh_session_configuration, SessionConfiguration)
_limits = Reader(bh_limits, Limits)
_attempt = Reader(
    bh_attempt,
    Attempt,
    converted={field.name: _reached for field in fields(Attempt) if field.name.endswith("_us")},
)
_enqueued = Reader(bh_enqueued, Enqueued, renamed={"state": "task_state"})


def configuration(batch: BatchHandle) -> SessionConfiguration:
    return items(batch, ItemKind.CONFIGURATION, _configuration)[0]


def limits(batch: BatchHandle) -> Limits:
    return items(batch, ItemKind.LIMITS, _limits)[0]


def attempts(batch: BatchHandle) -> list[Attempt]:
    return items(batch, ItemKind.ATTEMPT, _attempt)


def enqueued(batch: BatchHandle) -> list[Enqueued]:
    return items(batch, ItemKind.ENQUEUED, _enqueued)
