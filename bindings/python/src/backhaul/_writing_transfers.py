"""From requests and configurations to the library's structs."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Array, c_char, c_void_p, cast, create_string_buffer, pointer, sizeof
from typing import Any

from ._configuration import Limits, SessionConfiguration
from ._constants import BodySource, Cookies, HTTPVersion, Preset, Redirects, Refresh, ThermalState, TLSVersion
from ._ctypes import bh_header, bh_limits, bh_part, bh_policy, bh_request, bh_session_configuration
from ._errors import invalid
from ._numbers import (
    REQUEST_IF_CHANGED,
    REQUEST_IGNORES_DIGESTS,
    REQUEST_NAMED_BY_SERVER,
    REQUEST_STARTS_SUSPENDED,
)
from ._requests import Part, Policy, Request
from ._writing import (
    INT32,
    UINT32,
    UINT64,
    choice,
    header_array,
    if_exists,
    moment_ms,
    number,
    path,
    text,
    word,
)

#: Fields of bh_policy that a session's configuration has, too.
_POLICY_NUMBERS = (
    ("maximum_attempts", UINT32),
    ("first_retry_delay_ms", UINT32),
    ("longest_retry_delay_ms", UINT32),
    ("retry_jitter_percent", UINT32),
    ("request_timeout_ms", UINT32),
    ("resource_timeout_ms", UINT64),
    ("maximum_redirects", UINT32),
    ("maximum_size", UINT64),
    ("bytes_per_second", UINT64),
    ("minimum_battery_percent", UINT32),
    ("maximum_cpu_pressure_percent", UINT32),
    ("maximum_io_pressure_percent", UINT32),
    ("maximum_memory_pressure_percent", UINT32),
    ("minimum_bytes_per_second", UINT64),
)

_SESSION_NUMBERS = (
    ("connections_per_origin", UINT32),
    ("maximum_running_tasks", UINT32),
    ("launch_if_stopped_ms", UINT32),
    ("history_limit", UINT32),
    ("slow_after_ms", UINT32),
    ("slow_pause_ms", UINT32),
    ("daily_budget", UINT64),
    ("monthly_budget", UINT64),
)


def _bytes(what: str, value: Any, index: int | None) -> tuple[c_void_p | None, int]:
    """A copy that lives as long as what it is assigned to."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise invalid(f"the {what} is a {type(value).__name__} instead of bytes", index)
    data = bytes(value)
    buffer: Array[c_char] = create_string_buffer(data, max(1, len(data)))
    return cast(buffer, c_void_p), len(data)


def _fill_policy(
    slot: bh_policy | bh_session_configuration, given: Policy | SessionConfiguration, index: int | None
) -> None:
    for name, kind in _POLICY_NUMBERS:
        setattr(slot, name, number(name, getattr(given, name), kind, index))
    slot.retry_errors = number("retry_errors", given.retry_errors or 0, UINT32, index)
    slot.retries_unsafe_methods = choice("retries_unsafe_methods", given.retries_unsafe_methods, index)
    slot.retry_statuses = text("retry_statuses", given.retry_statuses, index)
    slot.accepted_statuses = text("accepted_statuses", given.accepted_statuses, index)
    slot.http_version = word("HTTP version", given.http_version, HTTPVersion, index)
    slot.redirects = word("policy for redirects", given.redirects or 0, Redirects, index)
    slot.preset = word("preset", given.preset or 0, Preset, index)
    slot.requires_external_power = choice("requires_external_power", given.requires_external_power, index)
    slot.requires_unmetered = choice("requires_unmetered", given.requires_unmetered, index)
    slot.networks = number("networks", given.networks or 0, UINT32, index)
    slot.maximum_thermal_state = word("maximum_thermal_state", given.maximum_thermal_state or 0, ThermalState, index)
    slot.quiet_hours = text("quiet_hours", given.quiet_hours, index)


def policy(value: Policy, index: int | None = None) -> bh_policy:
    slot = bh_policy(sizeof(bh_policy))
    _fill_policy(slot, value, index)
    return slot


def _parts(values: Sequence[Part], index: int) -> Array[bh_part]:
    array = (bh_part * len(values))()
    for slot, part in zip(array, values):
        slot.name = text("name of a part", part.name, index)
        slot.file = path("file of a part", part.file, index)
        if part.value is not None:
            value = text("value of a part", part.value, index) if isinstance(part.value, str) else part.value
            slot.value, slot.value_size = _bytes(f"value of the part {part.name}", value, index)
        slot.file_name = text("file name of a part", part.file_name, index)
        slot.media_type = text("media type of a part", part.media_type, index)
    return array


def _flags(request: Request) -> int:
    return (
        (REQUEST_STARTS_SUSPENDED if request.suspended else 0)
        | (REQUEST_IF_CHANGED if request.if_changed else 0)
        | (REQUEST_NAMED_BY_SERVER if request.named_by_server else 0)
        | (REQUEST_IGNORES_DIGESTS if request.ignores_digests else 0)
    )


def _fill_body(slot: bh_request, request: Request, index: int) -> None:
    slot.body_file = path("body file", request.body_file, index)
    if request.body is not None:
        slot.body, slot.body_size = _bytes("body", request.body, index)
    if request.parts:
        parts = _parts(request.parts, index)
        slot.parts = cast(parts, POINTER(bh_part))
        slot.part_count = len(parts)
    slot.body_source = word("source of the body", request.body_source, BodySource, index)


def _fill(slot: bh_request, request: Request, index: int, policies: dict[int, Any]) -> None:
    slot.struct_size = sizeof(bh_request)
    slot.url = text("URL", request.url, index)
    slot.destination = path("destination", request.destination, index)
    slot.idempotency_key = text("idempotency key", request.key, index)
    if request.headers:
        headers = header_array(request.headers, index)
        slot.headers = cast(headers, POINTER(bh_header))
        slot.header_count = len(headers)
    if request.user_data:
        slot.user_data, slot.user_data_size = _bytes("user_data", request.user_data, index)
    slot.if_exists = if_exists(request.if_exists, index)
    slot.priority = number("priority", request.priority, INT32, index)
    slot.flags = _flags(request)
    if request.mode is not None:
        slot.mode = number("mode", request.mode, UINT32, index)
    slot.method = text("method", request.method, index)
    slot.group = text("group", request.group, index)
    slot.checksum = text("checksum", request.checksum, index)
    slot.expected_size = number("expected size", request.expected_size or 0, UINT64, index)
    _fill_body(slot, request, index)
    slot.refresh = word("refresh", request.refresh, Refresh, index)
    slot.expires_ms = moment_ms("expiry", request.expires, index)
    slot.earliest_start_ms = moment_ms("earliest start", request.earliest_start, index)
    slot.latest_start_ms = moment_ms("latest start", request.latest_start, index)
    slot.expected_bytes_received = number(
        "expected_bytes_received", request.expected_bytes_received or 0, UINT64, index
    )
    slot.expected_bytes_sent = number("expected_bytes_sent", request.expected_bytes_sent or 0, UINT64, index)
    if request.policy is not None:
        # A list of thousands has mostly one policy.
        if id(request.policy) not in policies:
            policies[id(request.policy)] = pointer(policy(request.policy, index))
        slot.policy = policies[id(request.policy)]


def requests(values: Sequence[Request], first: int = 0) -> Array[bh_request]:
    """An array of bh_request that keeps alive what it points to. ``first``: the number of the first one, for errors."""
    array = (bh_request * len(values))()
    policies: dict[int, Any] = {}
    for position, request in enumerate(values):
        _fill(array[position], request, first + position, policies)
    return array


def configuration(value: SessionConfiguration) -> bh_session_configuration:
    slot = bh_session_configuration(sizeof(bh_session_configuration), text("identifier", value.identifier))
    for name, kind in _SESSION_NUMBERS:
        setattr(slot, name, number(name, getattr(value, name), kind))
    _fill_policy(slot, value, None)
    slot.ca_file = path("CA file", value.ca_file)
    slot.sends_launch_events = choice("sends_launch_events", value.sends_launch_events)
    slot.asks_for_credentials = choice("asks_for_credentials", value.asks_for_credentials)
    headers = header_array(value.headers)
    slot.headers = cast(headers, POINTER(bh_header))
    slot.header_count = len(headers)
    for name in ("proxy", "proxy_user", "proxy_password", "no_proxy", "pinned_public_keys"):
        setattr(slot, name, text(name, getattr(value, name)))
    slot.cookies = word("policy for cookies", value.cookies or 0, Cookies)
    slot.minimum_tls = word("lowest version of TLS", value.minimum_tls or 0, TLSVersion)
    slot.client_certificate = path("client certificate", value.client_certificate)
    slot.client_key = path("client key", value.client_key)
    slot.discretionary_if_launched = choice("discretionary_if_launched", value.discretionary_if_launched)
    slot.tolerances = number("tolerances", value.tolerances or 0, UINT32)
    return slot


def limits(value: Limits) -> bh_limits:
    slot = bh_limits(sizeof(bh_limits), number("bytes_per_second", value.bytes_per_second, UINT64))
    for name in ("maximum_running_tasks", "maximum_connections", "connections_per_origin"):
        setattr(slot, name, number(name, getattr(value, name), UINT32))
    return slot
