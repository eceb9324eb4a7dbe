"""From the library's structs to configurations, limits and attempts."""

from __future__ import annotations

from typing import Any

from ._attempt import Attempt
from ._configuration import Limits, SessionConfiguration
from ._constants import (
    Cookies,
    Domain,
    HTTPVersion,
    NetworkKind,
    Next,
    Preset,
    Redirects,
    RetryErrors,
    Status,
    ThermalState,
    TLSVersion,
    Tolerances,
)
from ._copying import chosen, header_pairs, items, text, words
from ._ctypes import bh_attempt, bh_limits, bh_policy, bh_session_configuration
from ._handles import BatchHandle
from ._library import library
from ._requests import Policy


def _constraints(raw: bh_policy | bh_session_configuration) -> dict[str, Any]:
    """The fields of Policy and SessionConfiguration from ``preset`` on."""
    return {
        "preset": Preset(raw.preset) if raw.preset else None,
        "requires_external_power": chosen(raw.requires_external_power),
        "requires_unmetered": chosen(raw.requires_unmetered),
        "networks": NetworkKind(raw.networks) if raw.networks else None,
        "minimum_battery_percent": raw.minimum_battery_percent,
        "maximum_thermal_state": ThermalState(raw.maximum_thermal_state) if raw.maximum_thermal_state else None,
        "maximum_cpu_pressure_percent": raw.maximum_cpu_pressure_percent,
        "maximum_io_pressure_percent": raw.maximum_io_pressure_percent,
        "maximum_memory_pressure_percent": raw.maximum_memory_pressure_percent,
        "minimum_bytes_per_second": raw.minimum_bytes_per_second,
        "quiet_hours": text(raw.quiet_hours),
    }


def _stated(raw: bh_policy) -> Policy:
    return Policy(**_constraints(raw))


def _configuration(raw: bh_session_configuration) -> SessionConfiguration:
    return SessionConfiguration(
        identifier=words(raw.identifier),
        connections_per_origin=raw.connections_per_origin,
        maximum_running_tasks=raw.maximum_running_tasks,
        maximum_attempts=raw.maximum_attempts,
        first_retry_delay_ms=raw.first_retry_delay_ms,
        longest_retry_delay_ms=raw.longest_retry_delay_ms,
        request_timeout_ms=raw.request_timeout_ms,
        resource_timeout_ms=raw.resource_timeout_ms,
        ca_file=text(raw.ca_file),
        sends_launch_events=chosen(raw.sends_launch_events),
        asks_for_credentials=chosen(raw.asks_for_credentials),
        launch_if_stopped_ms=raw.launch_if_stopped_ms,
        retry_jitter_percent=raw.retry_jitter_percent,
        retry_errors=RetryErrors(raw.retry_errors) if raw.retry_errors else None,
        retries_unsafe_methods=chosen(raw.retries_unsafe_methods),
        retry_statuses=text(raw.retry_statuses),
        accepted_statuses=text(raw.accepted_statuses),
        http_version=HTTPVersion(raw.http_version),
        redirects=Redirects(raw.redirects) if raw.redirects else None,
        maximum_redirects=raw.maximum_redirects,
        maximum_size=raw.maximum_size,
        headers=header_pairs(raw.headers, raw.header_count),
        bytes_per_second=raw.bytes_per_second,
        proxy=text(raw.proxy),
        proxy_user=text(raw.proxy_user),
        proxy_password=text(raw.proxy_password),
        no_proxy=text(raw.no_proxy),
        cookies=Cookies(raw.cookies) if raw.cookies else None,
        minimum_tls=TLSVersion(raw.minimum_tls) if raw.minimum_tls else None,
        client_certificate=text(raw.client_certificate),
        client_key=text(raw.client_key),
        pinned_public_keys=text(raw.pinned_public_keys),
        history_limit=raw.history_limit,
        **_constraints(raw),
        slow_after_ms=raw.slow_after_ms,
        slow_pause_ms=raw.slow_pause_ms,
        discretionary_if_launched=chosen(raw.discretionary_if_launched),
        daily_budget=raw.daily_budget,
        monthly_budget=raw.monthly_budget,
        tolerances=Tolerances(raw.tolerances),
    )


def _limits(raw: bh_limits) -> Limits:
    return Limits(
        bytes_per_second=raw.bytes_per_second,
        maximum_running_tasks=raw.maximum_running_tasks,
        maximum_connections=raw.maximum_connections,
        connections_per_origin=raw.connections_per_origin,
    )


def _reached(microseconds: int) -> int | None:
    return None if microseconds < 0 else microseconds


def _attempt(raw: bh_attempt) -> Attempt:
    return Attempt(
        task_id=raw.task_id,
        number=raw.number,
        next=Next(raw.next),
        started_ms=raw.started_ms,
        next_attempt_ms=raw.next_attempt_ms,
        status=Status(raw.status),
        error_domain=Domain(raw.error_domain),
        error_detail=raw.error_detail,
        error_message=text(raw.error_message),
        url=words(raw.url),
        http_status=raw.http_status,
        redirects=raw.redirects,
        offset=raw.offset,
        end_offset=raw.end_offset,
        domain_lookup_us=_reached(raw.domain_lookup_us),
        connect_us=_reached(raw.connect_us),
        secure_connection_us=_reached(raw.secure_connection_us),
        request_start_us=_reached(raw.request_start_us),
        request_end_us=_reached(raw.request_end_us),
        response_start_us=_reached(raw.response_start_us),
        response_end_us=_reached(raw.response_end_us),
        protocol=text(raw.protocol),
        reused_connection=bool(raw.reused_connection),
        proxy_connection=bool(raw.proxy_connection),
        local_address=text(raw.local_address),
        remote_address=text(raw.remote_address),
        local_port=raw.local_port,
        remote_port=raw.remote_port,
        tls_version=text(raw.tls_version),
        tls_cipher=text(raw.tls_cipher),
        request_header_bytes=raw.request_header_bytes,
        request_body_bytes=raw.request_body_bytes,
        response_header_bytes=raw.response_header_bytes,
        response_body_bytes=raw.response_body_bytes,
    )


def configuration(batch: BatchHandle) -> SessionConfiguration:
    return [_configuration(raw) for raw in items(batch, library.bh_batch_configuration_at)][0]


def limits(batch: BatchHandle) -> Limits:
    return [_limits(raw) for raw in items(batch, library.bh_batch_limits_at)][0]


def attempts(batch: BatchHandle) -> list[Attempt]:
    return [_attempt(raw) for raw in items(batch, library.bh_batch_attempt_at)]
