"""The structs of include/backhaul.h that say how transfers are made and measured, one to one. No logic."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char_p, c_int32, c_int64, c_size_t, c_uint16, c_uint32, c_uint64, c_void_p


class bh_header(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


class bh_session_configuration(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("connections_per_origin", c_uint32),
        ("maximum_running_tasks", c_uint32),
        ("maximum_attempts", c_uint32),
        ("first_retry_delay_ms", c_uint32),
        ("longest_retry_delay_ms", c_uint32),
        ("request_timeout_ms", c_uint32),
        ("resource_timeout_ms", c_uint64),
        ("ca_file", c_char_p),
        ("sends_launch_events", c_int32),
        ("asks_for_credentials", c_int32),
        ("launch_if_stopped_ms", c_uint32),
        ("retry_jitter_percent", c_uint32),
        ("retry_errors", c_uint32),
        ("retries_unsafe_methods", c_int32),
        ("retry_statuses", c_char_p),
        ("accepted_statuses", c_char_p),
        ("http_version", c_int32),
        ("redirects", c_int32),
        ("maximum_redirects", c_uint32),
        ("maximum_size", c_uint64),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("bytes_per_second", c_uint64),
        ("proxy", c_char_p),
        ("proxy_user", c_char_p),
        ("proxy_password", c_char_p),
        ("no_proxy", c_char_p),
        ("cookies", c_int32),
        ("minimum_tls", c_int32),
        ("client_certificate", c_char_p),
        ("client_key", c_char_p),
        ("pinned_public_keys", c_char_p),
        ("history_limit", c_uint32),
        ("preset", c_int32),
        ("requires_external_power", c_int32),
        ("requires_unmetered", c_int32),
        ("networks", c_uint32),
        ("minimum_battery_percent", c_uint32),
        ("maximum_thermal_state", c_int32),
        ("maximum_cpu_pressure_percent", c_uint32),
        ("maximum_io_pressure_percent", c_uint32),
        ("maximum_memory_pressure_percent", c_uint32),
        ("minimum_bytes_per_second", c_uint64),
        ("quiet_hours", c_char_p),
        ("slow_after_ms", c_uint32),
        ("slow_pause_ms", c_uint32),
        ("discretionary_if_launched", c_int32),
        ("tolerances", c_uint32),
        ("daily_budget", c_uint64),
        ("monthly_budget", c_uint64),
    ]


class bh_part(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("file", c_char_p),
        ("value", c_void_p),
        ("value_size", c_size_t),
        ("file_name", c_char_p),
        ("media_type", c_char_p),
    ]


class bh_policy(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("maximum_attempts", c_uint32),
        ("first_retry_delay_ms", c_uint32),
        ("longest_retry_delay_ms", c_uint32),
        ("retry_jitter_percent", c_uint32),
        ("retry_errors", c_uint32),
        ("retries_unsafe_methods", c_int32),
        ("retry_statuses", c_char_p),
        ("accepted_statuses", c_char_p),
        ("request_timeout_ms", c_uint32),
        ("http_version", c_int32),
        ("resource_timeout_ms", c_uint64),
        ("redirects", c_int32),
        ("maximum_redirects", c_uint32),
        ("maximum_size", c_uint64),
        ("bytes_per_second", c_uint64),
        ("preset", c_int32),
        ("requires_external_power", c_int32),
        ("requires_unmetered", c_int32),
        ("networks", c_uint32),
        ("minimum_battery_percent", c_uint32),
        ("maximum_thermal_state", c_int32),
        ("maximum_cpu_pressure_percent", c_uint32),
        ("maximum_io_pressure_percent", c_uint32),
        ("maximum_memory_pressure_percent", c_uint32),
        ("minimum_bytes_per_second", c_uint64),
        ("quiet_hours", c_char_p),
    ]


class bh_request(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("url", c_char_p),
        ("destination", c_char_p),
        ("idempotency_key", c_char_p),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("if_exists", c_int32),
        ("priority", c_int32),
        ("flags", c_uint32),
        ("mode", c_uint32),
        ("method", c_char_p),
        ("group", c_char_p),
        ("checksum", c_char_p),
        ("expected_size", c_uint64),
        ("body_file", c_char_p),
        ("body", c_void_p),
        ("body_size", c_size_t),
        ("parts", POINTER(bh_part)),
        ("part_count", c_size_t),
        ("body_source", c_int32),
        ("refresh", c_int32),
        ("expires_ms", c_int64),
        ("policy", POINTER(bh_policy)),
        ("earliest_start_ms", c_int64),
        ("latest_start_ms", c_int64),
        ("expected_bytes_received", c_uint64),
        ("expected_bytes_sent", c_uint64),
    ]


class bh_limits(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("bytes_per_second", c_uint64),
        ("maximum_running_tasks", c_uint32),
        ("maximum_connections", c_uint32),
        ("connections_per_origin", c_uint32),
    ]


class bh_attempt(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("task_id", c_uint64),
        ("number", c_uint32),
        ("next", c_int32),
        ("started_ms", c_int64),
        ("next_attempt_ms", c_int64),
        ("status", c_int32),
        ("error_domain", c_int32),
        ("error_detail", c_int64),
        ("error_message", c_char_p),
        ("url", c_char_p),
        ("http_status", c_int32),
        ("redirects", c_uint32),
        ("offset", c_uint64),
        ("end_offset", c_uint64),
        ("domain_lookup_us", c_int64),
        ("connect_us", c_int64),
        ("secure_connection_us", c_int64),
        ("request_start_us", c_int64),
        ("request_end_us", c_int64),
        ("response_start_us", c_int64),
        ("response_end_us", c_int64),
        ("protocol", c_char_p),
        ("reused_connection", c_int32),
        ("proxy_connection", c_int32),
        ("local_address", c_char_p),
        ("remote_address", c_char_p),
        ("local_port", c_uint16),
        ("remote_port", c_uint16),
        ("reserved", c_uint32),
        ("tls_version", c_char_p),
        ("tls_cipher", c_char_p),
        ("request_header_bytes", c_uint64),
        ("request_body_bytes", c_uint64),
        ("response_header_bytes", c_uint64),
        ("response_body_bytes", c_uint64),
    ]
