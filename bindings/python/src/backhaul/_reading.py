"""Converts structs of the library to Python objects. All data is copied, so the memory of the library can be released
afterwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable, Generic, NamedTuple, TypeVar

from ._constants import ItemKind
from ._copying import has_more, known_size, texts
from ._ctypes import (
    bh_application_info,
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
from ._launch import ApplicationInfo, EngineInfo, Launch, LaunchInfo
from ._readers import Reader
from ._rules import Constraints
from ._values import Challenge, Progress, SessionInfo, TaskInfo


class Events(NamedTuple):
    """The result of one poll."""

    #: The events, in the order in which they were stored.
    items: list[Event]
    #: Whether there were more events than the poll requested.
    more: bool


Record = TypeVar("Record")


@dataclass(frozen=True)
class Records(Generic[Record]):
    """The records of several tasks."""

    #: The records, sorted by task.
    items: list[Record]
    #: Whether a task was left out, because the result is large.
    more: bool


def records(read: Callable[[BatchHandle], list[Record]]) -> Callable[[BatchHandle], Records[Record]]:
    return lambda batch: Records(read(batch), has_more(batch))


def _additions(raw: bh_launch_info) -> dict[str, str]:
    """Returns the variables that a launch command adds to the environment."""
    additions = texts(raw.environment, raw.environment_count)
    return {name: value for name, _, value in (addition.partition("=") for addition in additions)}


def _concerned(raw: bh_launch) -> tuple[SessionInfo, ...]:
    """Returns the sessions of a launch."""
    return tuple(_session_info(raw.sessions[index].contents) for index in range(raw.session_count))


def _version(raw: int) -> str:
    return f"{raw >> 16}.{raw >> 8 & 0xFF}.{raw & 0xFF}"


_challenge = Reader(bh_challenge, Challenge, ItemKind.CHALLENGE)
_event = Reader(
    bh_event,
    Event,
    ItemKind.EVENT,
    renamed={"key": "idempotency_key", "state": "task_state"},
    converted={"challenge": lambda raw: _challenge(raw.contents) if raw else None},
)
_constraints = Reader(bh_constraints, Constraints)
_task = Reader(
    bh_task_info,
    TaskInfo,
    ItemKind.TASK,
    renamed={"key": "idempotency_key"},
    converted={"size": known_size, "constraints": lambda raw: _constraints(raw.contents) if raw else None},
)
_session_info = Reader(bh_session_info, SessionInfo, ItemKind.SESSION)
_progress = Reader(bh_progress, Progress, ItemKind.PROGRESS, converted={"size": known_size})
_launch_info = Reader(bh_launch_info, LaunchInfo, ItemKind.LAUNCH_INFO, computed={"environment": _additions})
_launch = Reader(bh_launch, Launch, ItemKind.LAUNCH, computed={"sessions": _concerned})
_application_info = Reader(bh_application_info, ApplicationInfo, ItemKind.APPLICATION)
_engine = Reader(bh_engine_info, EngineInfo, ItemKind.ENGINE, converted={"version": _version})


def events(batch: BatchHandle, session: Acknowledging) -> Events:
    return Events([event._with(session) for event in _event.items(batch)], has_more(batch))


def launch(batch: BatchHandle) -> Launch | None:
    return next(iter(_launch.items(batch)), None)


tasks = _task.items
sessions = _session_info.items
challenges = _challenge.items
progress = _progress.items
launches = _launch_info.items
applications = _application_info.items
engine = _engine.first
