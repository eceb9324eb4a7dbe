"""From the library's structs to values. Everything is copied, so that a batch can be released at once."""

from __future__ import annotations

from ctypes import Array, addressof
from typing import Any, NamedTuple

from ._constants import (
    Attention,
    ChallengeKind,
    Disposition,
    Domain,
    EventKind,
    Hosting,
    LaunchState,
    Reason,
    Scheme,
    Status,
    TaskKind,
    TaskState,
)
from ._copying import data, has_more, header_pairs, items, known_size, text, texts, words
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
from ._reading_transfers import _stated
from ._requests import Enqueued
from ._values import Challenge, Progress, SessionInfo, TaskInfo


class Events(NamedTuple):
    """What one poll handed out."""

    items: list[Event]
    #: Whether there was more than the poll allowed.
    more: bool


def _event(raw: bh_event, session: Acknowledging) -> Event:
    return Event(
        id=raw.id,
        kind=EventKind(raw.kind),
        round=raw.round,
        time_ms=raw.time_ms,
        task_id=raw.task_id,
        state=TaskState(raw.task_state) if raw.task_state else None,
        status=Status(raw.status),
        error_domain=Domain(raw.error_domain),
        error_detail=raw.error_detail,
        error_message=text(raw.error_message),
        url=text(raw.url),
        final_url=text(raw.final_url),
        path=text(raw.path),
        media_type=text(raw.media_type),
        key=text(raw.idempotency_key),
        http_status=raw.http_status,
        attempts=raw.attempts,
        size=raw.size,
        bytes_received=raw.bytes_received,
        user_data=data(raw.user_data, raw.user_data_size),
        headers=header_pairs(raw.headers, raw.header_count),
        error_body=data(raw.error_body, raw.error_body_size),
        challenge=_challenge(raw.challenge.contents) if raw.challenge else None,
        group=text(raw.group),
        group_succeeded=raw.group_succeeded,
        group_failed=raw.group_failed,
        group_cancelled=raw.group_cancelled,
        checksum=text(raw.checksum),
        bytes_sent=raw.bytes_sent,
        response_body=data(raw.response_body, raw.response_body_size),
        task_kind=TaskKind(raw.task_kind) if raw.task_kind else None,
        activity=text(raw.activity),
        _session=session,
    )


def _task(raw: bh_task) -> TaskInfo:
    return TaskInfo(
        id=raw.id,
        round=raw.round,
        state=TaskState(raw.state),
        reason=Reason(raw.reason),
        reason_text=text(raw.reason_text),
        next_attempt_ms=raw.next_attempt_ms,
        url=words(raw.url),
        destination=text(raw.destination),
        key=text(raw.idempotency_key),
        user_data=data(raw.user_data, raw.user_data_size),
        priority=raw.priority,
        status=Status(raw.status),
        error_message=text(raw.error_message),
        http_status=raw.http_status,
        attempts=raw.attempts,
        offset=raw.offset,
        size=known_size(raw.size),
        bytes_per_second=raw.bytes_per_second,
        enqueued_ms=raw.enqueued_ms,
        kind=TaskKind(raw.kind),
        group=text(raw.group),
        body_sent=raw.body_sent,
        body_size=raw.body_size,
        ended_ms=raw.ended_ms,
        path=text(raw.path),
        earliest_start_ms=raw.earliest_start_ms,
        latest_start_ms=raw.latest_start_ms,
        expected_bytes_received=raw.expected_bytes_received or None,
        expected_bytes_sent=raw.expected_bytes_sent or None,
        constraints=_stated(raw.constraints.contents) if raw.constraints else None,
    )


def _session_info(raw: bh_session_info) -> SessionInfo:
    return SessionInfo(
        identifier=words(raw.identifier),
        round=raw.round,
        live_tasks=raw.live_tasks,
        events=raw.events,
        attention=Attention(raw.attention),
        invalidating=bool(raw.invalidating),
        consumer=raw.consumer or None,
        created_ms=raw.created_ms,
        open_challenges=raw.open_challenges,
        consumer_stopped_ms=raw.consumer_stopped_ms,
        waiting_consumers=raw.waiting_consumers,
        launch_state=LaunchState(raw.launch_state),
        next_launch_ms=raw.next_launch_ms,
    )


def _challenge(raw: bh_challenge) -> Challenge:
    return Challenge(
        id=raw.id,
        kind=ChallengeKind(raw.kind),
        schemes=Scheme(raw.schemes),
        origin=words(raw.origin),
        realm=text(raw.realm),
        failures=raw.failures,
        time_ms=raw.time_ms,
        waiting_tasks=raw.waiting_tasks,
        task_id=raw.task_id,
        url=text(raw.url),
    )


def _progress(raw: bh_progress) -> Progress:
    return Progress(
        task_id=raw.task_id,
        state=TaskState(raw.state),
        reason=Reason(raw.reason),
        offset=raw.offset,
        size=known_size(raw.size),
        bytes_per_second=raw.bytes_per_second,
        body_sent=raw.body_sent,
        body_size=raw.body_size,
    )


def _launch_info(raw: bh_launch_info) -> LaunchInfo:
    additions = texts(raw.environment, raw.environment_count)
    return LaunchInfo(
        application=words(raw.application),
        program=words(raw.program),
        arguments=texts(raw.arguments, raw.argument_count),
        environment={name: value for name, _, value in (addition.partition("=") for addition in additions)},
        working_directory=text(raw.working_directory),
        state=LaunchState(raw.state),
        launches=raw.launches,
        next_launch_ms=raw.next_launch_ms,
        process_id=raw.process_id or None,
        started_ms=raw.started_ms,
        error_message=text(raw.error_message),
    )


def _launch(raw: bh_launch) -> Launch:
    # The array has no stride of its own: a newer library's items are as large as they say.
    sessions, first = [], addressof(raw.sessions.contents) if raw.session_count else 0
    for index in range(raw.session_count):
        sessions.append(_session_info(bh_session_info.from_address(first + index * raw.sessions[0].struct_size)))
    return Launch(raw.id, raw.launches, Attention(raw.reasons), tuple(sessions))


def _engine(raw: bh_engine_info) -> EngineInfo:
    return EngineInfo(
        process_id=raw.process_id,
        version=f"{raw.version >> 16}.{raw.version >> 8 & 0xFF}.{raw.version & 0xFF}",
        hosting=Hosting(raw.hosting),
        started_ms=raw.started_ms,
        store=words(raw.store),
        shares_control_group=bool(raw.shares_control_group),
        connections=raw.connections,
    )


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
