"""From the library's structs to values. Everything is copied, so that a batch can be released at once."""

from __future__ import annotations

from ctypes import Array, addressof
from typing import NamedTuple

from ._constants import Attention, Disposition, Status, TaskState
from ._copying import has_more, items, known_size, something, texts
from ._ctypes import (
    bh_challenge,
    bh_engine_info,
    bh_enqueued,
    bh_event,
    bh_launch,
    bh_launch_info,
    bh_progress,
    bh_session_info,
    bh_task,
)
from ._event import Acknowledging, Event
from ._handles import BatchHandle
from ._launch import EngineInfo, Launch, LaunchInfo
from ._library import library
from ._readers import Reader
from ._reading_transfers import _policy
from ._requests import Enqueued
from ._values import Challenge, Progress, SessionInfo, TaskInfo


class Events(NamedTuple):
    """What one poll handed out."""

    items: list[Event]
    #: Whether there was more than the poll allowed.
    more: bool


def _additions(raw: bh_launch_info) -> dict[str, str]:
    """Of the environment."""
    additions = texts(raw.environment, raw.environment_count)
    return {name: value for name, _, value in (addition.partition("=") for addition in additions)}


def _version(raw: int) -> str:
    return f"{raw >> 16}.{raw >> 8 & 0xFF}.{raw & 0xFF}"


_challenge = Reader(bh_challenge, Challenge)
_event = Reader(
    bh_event,
    Event,
    renamed={"key": "idempotency_key", "state": "task_state"},
    converted={"challenge": lambda raw: _challenge(raw.contents) if raw else None},
)
_task = Reader(
    bh_task,
    TaskInfo,
    renamed={"key": "idempotency_key"},
    converted={
        "size": known_size,
        "expected_bytes_received": something,
        "expected_bytes_sent": something,
        "constraints": lambda raw: _policy(raw.contents) if raw else None,
    },
)
_session_info = Reader(bh_session_info, SessionInfo, converted={"consumer": something})
_progress = Reader(bh_progress, Progress, converted={"size": known_size})
_launch_info = Reader(
    bh_launch_info, LaunchInfo, converted={"process_id": something}, computed={"environment": _additions}
)
_engine = Reader(bh_engine_info, EngineInfo, converted={"version": _version})


def _launch(raw: bh_launch) -> Launch:
    # The array has no stride of its own: a newer library's items are as large as they say.
    sessions, first = [], addressof(raw.sessions.contents) if raw.session_count else 0
    for index in range(raw.session_count):
        sessions.append(_session_info(bh_session_info.from_address(first + index * raw.sessions[0].struct_size)))
    return Launch(raw.id, raw.launches, Attention(raw.reasons), tuple(sessions))


def events(batch: BatchHandle, session: Acknowledging) -> Events:
    return Events([_event(raw, session) for raw in items(batch, library.bh_batch_event_at)], has_more(batch))


def tasks(batch: BatchHandle) -> list[TaskInfo]:
    return [_task(raw) for raw in items(batch, library.bh_batch_task_at)]


def sessions(batch: BatchHandle) -> list[SessionInfo]:
    return [_session_info(raw) for raw in items(batch, library.bh_batch_session_at)]


def challenges(batch: BatchHandle) -> list[Challenge]:
    return [_challenge(raw) for raw in items(batch, library.bh_batch_challenge_at)]


def progress(batch: BatchHandle) -> list[Progress]:
    return [_progress(raw) for raw in items(batch, library.bh_batch_progress_at)]


def launches(batch: BatchHandle) -> list[LaunchInfo]:
    return [_launch_info(raw) for raw in items(batch, library.bh_batch_launch_info_at)]


def launch(batch: BatchHandle) -> Launch | None:
    return next((_launch(raw) for raw in items(batch, library.bh_batch_launch_at)), None)


def engine(batch: BatchHandle) -> EngineInfo:
    return [_engine(raw) for raw in items(batch, library.bh_batch_engine_at)][0]


def enqueued(raw: Array[bh_enqueued], count: int) -> list[Enqueued]:
    return [
        Enqueued(item.task_id, Disposition(item.disposition), Status(item.status))
        for item in (raw[index] for index in range(count))
    ]


def found(batch: BatchHandle, results: list[Enqueued]) -> None:
    """Adds how the tasks stand that were there."""
    for raw in items(batch, library.bh_batch_existing_task_at):
        results[raw.request] = results[raw.request]._replace(
            state=TaskState(raw.state), event_id=raw.event_id or None
        )
