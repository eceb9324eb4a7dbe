"""From the library's structs to values. Everything is copied, so that a batch can be released at once."""

from __future__ import annotations

from ctypes import Array, addressof, string_at
from typing import Any, Callable, NamedTuple, TypeVar

from ._constants import (
    SIZE_UNKNOWN,
    Attention,
    ChallengeKind,
    Choice,
    Disposition,
    Domain,
    EventKind,
    Hosting,
    LaunchState,
    Reason,
    Scheme,
    Status,
    TaskState,
)
from ._ctypes import (
    bh_challenge,
    bh_engine_info,
    bh_enqueued,
    bh_event,
    bh_launch,
    bh_launch_info,
    bh_progress,
    bh_session_configuration,
    bh_session_info,
    bh_task,
)
from ._event import Acknowledging, Event
from ._handles import BatchHandle
from ._launch import EngineInfo, Launch, LaunchInfo
from ._library import library
from ._values import Challenge, Enqueued, Progress, SessionConfiguration, SessionInfo, TaskInfo

Result = TypeVar("Result")


class Events(NamedTuple):
    """What one poll handed out."""

    items: list[Event]
    #: Whether there was more than the poll allowed.
    more: bool


def _text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def _words(value: bytes | None) -> str:
    return _text(value) or ""


def _bytes(address: int | None, size: int) -> bytes:
    return string_at(address, size) if address and size else b""


def _headers(pointer: Any, count: int) -> tuple[tuple[str, str], ...]:
    return tuple((_words(item.name), _words(item.value)) for item in (pointer[index] for index in range(count)))


def _texts(pointer: Any, count: int) -> tuple[str, ...]:
    return tuple(_words(pointer[index]) for index in range(count))


def _size(raw: int) -> int | None:
    return None if raw == SIZE_UNKNOWN else raw


def _choice(raw: int) -> bool | None:
    return {Choice.YES: True, Choice.NO: False}.get(Choice(raw))


def _items(batch: BatchHandle, at: Callable[[Any, int], Any]) -> list[Any]:
    pointer = batch.pointer
    return [at(pointer, index).contents for index in range(library.bh_batch_count(pointer))]


def has_more(batch: BatchHandle) -> bool:
    """Whether there was more than the listing allowed."""
    return bool(library.bh_batch_more(batch.pointer))


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
        error_message=_text(raw.error_message),
        url=_text(raw.url),
        final_url=_text(raw.final_url),
        path=_text(raw.path),
        media_type=_text(raw.media_type),
        key=_text(raw.idempotency_key),
        http_status=raw.http_status,
        attempts=raw.attempts,
        size=raw.size,
        bytes_received=raw.bytes_received,
        user_data=_bytes(raw.user_data, raw.user_data_size),
        headers=_headers(raw.headers, raw.header_count),
        error_body=_bytes(raw.error_body, raw.error_body_size),
        challenge=_challenge(raw.challenge.contents) if raw.challenge else None,
        _session=session,
    )


def _task(raw: bh_task) -> TaskInfo:
    return TaskInfo(
        id=raw.id,
        round=raw.round,
        state=TaskState(raw.state),
        reason=Reason(raw.reason),
        reason_text=_text(raw.reason_text),
        next_attempt_ms=raw.next_attempt_ms,
        url=_words(raw.url),
        destination=_text(raw.destination),
        key=_text(raw.idempotency_key),
        user_data=_bytes(raw.user_data, raw.user_data_size),
        priority=raw.priority,
        status=Status(raw.status),
        error_message=_text(raw.error_message),
        http_status=raw.http_status,
        attempts=raw.attempts,
        offset=raw.offset,
        size=_size(raw.size),
        bytes_per_second=raw.bytes_per_second,
        enqueued_ms=raw.enqueued_ms,
    )


def _session_info(raw: bh_session_info) -> SessionInfo:
    return SessionInfo(
        identifier=_words(raw.identifier),
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
        origin=_words(raw.origin),
        realm=_text(raw.realm),
        failures=raw.failures,
        time_ms=raw.time_ms,
        waiting_tasks=raw.waiting_tasks,
    )


def _progress(raw: bh_progress) -> Progress:
    return Progress(
        task_id=raw.task_id,
        state=TaskState(raw.state),
        reason=Reason(raw.reason),
        offset=raw.offset,
        size=_size(raw.size),
        bytes_per_second=raw.bytes_per_second,
    )


def _launch_info(raw: bh_launch_info) -> LaunchInfo:
    additions = _texts(raw.environment, raw.environment_count)
    return LaunchInfo(
        application=_words(raw.application),
        program=_words(raw.program),
        arguments=_texts(raw.arguments, raw.argument_count),
        environment={name: value for name, _, value in (addition.partition("=") for addition in additions)},
        working_directory=_text(raw.working_directory),
        state=LaunchState(raw.state),
        launches=raw.launches,
        next_launch_ms=raw.next_launch_ms,
        process_id=raw.process_id or None,
        started_ms=raw.started_ms,
        error_message=_text(raw.error_message),
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
        store=_words(raw.store),
        shares_control_group=bool(raw.shares_control_group),
        connections=raw.connections,
    )


def _configuration(raw: bh_session_configuration) -> SessionConfiguration:
    return SessionConfiguration(
        identifier=_words(raw.identifier),
        connections_per_origin=raw.connections_per_origin,
        maximum_running_tasks=raw.maximum_running_tasks,
        maximum_attempts=raw.maximum_attempts,
        first_retry_delay_ms=raw.first_retry_delay_ms,
        longest_retry_delay_ms=raw.longest_retry_delay_ms,
        request_timeout_ms=raw.request_timeout_ms,
        resource_timeout_ms=raw.resource_timeout_ms,
        ca_file=_text(raw.ca_file),
        sends_launch_events=_choice(raw.sends_launch_events),
        asks_for_credentials=_choice(raw.asks_for_credentials),
        launch_if_stopped_ms=raw.launch_if_stopped_ms,
    )


def events(batch: BatchHandle, session: Acknowledging) -> Events:
    return Events([_event(raw, session) for raw in _items(batch, library.bh_batch_event_at)], has_more(batch))


def tasks(batch: BatchHandle) -> list[TaskInfo]:
    return [_task(raw) for raw in _items(batch, library.bh_batch_task_at)]


def sessions(batch: BatchHandle) -> list[SessionInfo]:
    return [_session_info(raw) for raw in _items(batch, library.bh_batch_session_at)]


def configuration(batch: BatchHandle) -> SessionConfiguration:
    return [_configuration(raw) for raw in _items(batch, library.bh_batch_configuration_at)][0]


def challenges(batch: BatchHandle) -> list[Challenge]:
    return [_challenge(raw) for raw in _items(batch, library.bh_batch_challenge_at)]


def progress(batch: BatchHandle) -> list[Progress]:
    return [_progress(raw) for raw in _items(batch, library.bh_batch_progress_at)]


def launches(batch: BatchHandle) -> list[LaunchInfo]:
    return [_launch_info(raw) for raw in _items(batch, library.bh_batch_launch_info_at)]


def launch(batch: BatchHandle) -> Launch | None:
    return next((_launch(raw) for raw in _items(batch, library.bh_batch_launch_at)), None)


def engine(batch: BatchHandle) -> EngineInfo:
    return [_engine(raw) for raw in _items(batch, library.bh_batch_engine_at)][0]


def released(batch: BatchHandle, read: Callable[[BatchHandle], Result]) -> Result:
    """Reads a batch and releases it."""
    try:
        return read(batch)
    finally:
        batch.close()


def enqueued(raw: Array[bh_enqueued], count: int) -> list[Enqueued]:
    return [
        Enqueued(item.task_id, Disposition(item.disposition), Status(item.status))
        for item in (raw[index] for index in range(count))
    ]
