"""From the library's structs to configurations, limits and attempts."""

from __future__ import annotations

from dataclasses import fields

from ._attempt import Attempt
from ._configuration import Limits, SessionConfiguration
from ._copying import items
from ._ctypes import bh_attempt, bh_limits, bh_policy, bh_session_configuration
from ._handles import BatchHandle
from ._library import library
from ._readers import Reader
from ._requests import Policy


def _reached(microseconds: int) -> int | None:
    return None if microseconds < 0 else microseconds


_policy = Reader(bh_policy, Policy)
_configuration = Reader(bh_session_configuration, SessionConfiguration)
_limits = Reader(bh_limits, Limits)
_attempt = Reader(
    bh_attempt,
    Attempt,
    converted={field.name: _reached for field in fields(Attempt) if field.name.endswith("_us")},
)


def configuration(batch: BatchHandle) -> SessionConfiguration:
    return [_configuration(raw) for raw in items(batch, library.bh_batch_configuration_at)][0]


def limits(batch: BatchHandle) -> Limits:
    return [_limits(raw) for raw in items(batch, library.bh_batch_limits_at)][0]


def attempts(batch: BatchHandle) -> list[Attempt]:
    return [_attempt(raw) for raw in items(batch, library.bh_batch_attempt_at)]
