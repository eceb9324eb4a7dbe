"""Converts structs of the library to Python objects. All data is copied, so the memory of the library can be released
afterwards."""

from __future__ import annotations

from typing import NamedTuple

from ._constants import ItemKind
from ._copying import has_more, known_size, texts
from ._ctypes import (
    bh_challenge,
    bh_constraints,
    bh_engine_info,
    bh_event,
    bh_launch,
    bh_launch_info,
    bh_progress,
    bh_session_info,
    bh_task_info,
)
from ._event import Acknowledging, Event
from ._handles import BatchHandle
from ._launch import EngineInfo, Launch, LaunchInfo
from ._readers import Reader, items
from ._rules import Constraints
from ._values import Challenge, Progress, SessionInfo, TaskInfo


class Events(NamedTuple):
    """The result of one poll."""

    items: list[Event]
    #: Whether there were more events than the poll requested.
    more: bool


def _additions(raw: bh_launch_info) -> dict[str, str]:
    """Returns the variables that a launch command adds to the environment."""
    additions = texts(raw.environment, raw.environment_count)
    return {name: value for name, _, value in (addition.partition("=") for addition in additions)}


def _concerned(raw: bh_launch) -> tuple[SessionInfo, ...]:
    """Returns the sessions of a launch."""
    return tuple(_session_info(raw.sessions[index].contents) for index in range(raw.session_count))


def _version(raw: int) -> str:
    return f"{raw >> 16}.{raw >> 8 & 0xFF}.{raw & 0xFF}"


_challenge = Reader(bh_challenge, Challenge)
_event = Reader(
    bh_event,
    Event,
    renamed={"key": "idempotency_key", "state": "task_state"},
    converted={"challenge": lambda raw: _challenge(raw.contents) if raw else None},
)
_constraints = Reader(bh_constraints, Constraints)
_task = Reader(
    bh_task_info,
    TaskInfo,
    renamed={"key": "idempotency_key"},
    converted={"size": known_size, "constraints": lambda raw: _constraints(raw.contents) if raw else None},
)
_session_info = Reader(bh_session_info, SessionInfo)
_progress = Reader(bh_progress, Progress, converted={"size": known_size})
_launch_info = Reader(bh_launch_info, LaunchInfo, computed={"environment": _additions})
_launch = Reader(bh_launch, Launch, computed={"sessions": _concerned})
_engine = Reader(bh_engine_info, EngineInfo, converted={"version": _version})


def events(batch: BatchHandle, session: Acknowledging) -> Events:
    return Events(items(batch, ItemKind.EVENT, _event, session), has_more(batch))


def tasks(batch: BatchHandle) -> list[TaskInfo]:
    return items(batch, ItemKind.TASK, _task)


def sessions(batch: BatchHandle) -> list[SessionInfo]:
    return items(batch, ItemKind.SESSION, _session_info)


def challenges(batch: BatchHandle) -> list[Challenge]:
    return items(batch, ItemKind.CHALLENGE, _challenge)


def progress(batch: BatchHandle) -> list[Progress]:
    return items(batch, ItemKind.PROGRESS, _progress)


def launches(batch: BatchHandle) -> list[LaunchInfo]:
    return items(batch, ItemKind.LAUNCH_INFO, _launch_info)


def launch(batch: BatchHandle) -> Launch | None:
    return next(iter(items(batch, ItemKind.LAUNCH, _launch)), None)


def engine(batch: BatchHandle) -> EngineInfo:
    return items(batch, ItemKind.ENGINE, _engine)[0]
