# Generated from include/backhaul.h by scripts/generate-bindings; change the header, then run it.
"""The structs of include/backhaul.h, one to one, with its names. No logic, and no library is loaded."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_char,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
)


class bh_application(c_void_p):
    """A ``bh_application *``; opaque."""


class bh_session(c_void_p):
    """A ``bh_session *``; opaque."""


class bh_ticket(c_void_p):
    """A ``bh_ticket *``; opaque."""


class bh_batch(c_void_p):
    """A ``bh_batch *``; opaque."""


class bh_error(Structure):
    """Caller-owned; filled by a call that fails, untouched by one that succeeds."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("domain", c_int32),
        ("detail", c_int64),
        ("index", c_uint64),
        ("ticket", bh_ticket),
        ("message", c_char * 512),
    ]


class bh_launch_command(Structure):
    """A program to run when sessions need their host. No shell is involved."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("program", c_char_p),
        ("arguments", POINTER(c_char_p)),
        ("argument_count", c_size_t),
        ("environment", POINTER(c_char_p)),
        ("environment_count", c_size_t),
        ("working_directory", c_char_p),
        ("attach_timeout_ms", c_uint32),
        ("first_delay_ms", c_uint32),
        ("longest_delay_ms", c_uint32),
        ("maximum_launches", c_uint32),
    ]


class bh_application_options(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("store", c_char_p),
        ("hosting", c_int32),
        ("flags", c_uint32),
        ("daemon", c_char_p),
        ("launch", POINTER(bh_launch_command)),
    ]


class bh_engine_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("process_id", c_int64),
        ("version", c_uint32),
        ("hosting", c_int32),
        ("started_ms", c_int64),
        ("store", c_char_p),
        ("shares_control_group", c_int32),
        ("connections", c_uint32),
    ]


class bh_limits(Structure):
    """What all sessions of the store may use together. A field that is 0 stands for the default given here."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("bytes_per_second", c_uint64),
        ("maximum_running_tasks", c_uint32),
        ("maximum_connections", c_uint32),
        ("connections_per_origin", c_uint32),
    ]


class bh_launch_info(Structure):
    """What is registered and how it fares, for listings."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("application", c_char_p),
        ("program", c_char_p),
        ("arguments", POINTER(c_char_p)),
        ("argument_count", c_size_t),
        ("environment", POINTER(c_char_p)),
        ("environment_count", c_size_t),
        ("working_directory", c_char_p),
        ("state", c_int32),
        ("launches", c_uint32),
        ("next_launch_ms", c_int64),
        ("process_id", c_int64),
        ("started_ms", c_int64),
        ("error_message", c_char_p),
    ]


class bh_header(Structure):
    _fields_ = [
        ("name", c_char_p),
        ("value", c_char_p),
    ]


class bh_session_configuration(Structure):
    """Remembered with the session from its creation; attach needs the identifier alone. A field that is 0 or None
    stands for the default given here."""

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


class bh_session_info(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("round", c_uint64),
        ("live_tasks", c_uint64),
        ("events", c_uint64),
        ("attention", c_uint32),
        ("invalidating", c_int32),
        ("consumer", c_int64),
        ("created_ms", c_int64),
        ("open_challenges", c_uint64),
        ("consumer_stopped_ms", c_int64),
        ("waiting_consumers", c_uint32),
        ("launch_state", c_int32),
        ("next_launch_ms", c_int64),
    ]


class bh_launch(Structure):
    """The launch that a host was started by."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("launches", c_uint32),
        ("reasons", c_uint32),
        ("sessions", POINTER(bh_session_info)),
        ("session_count", c_size_t),
    ]


class bh_part(Structure):
    """One part of a multipart/form-data body (RFC 7578): a file or a value."""

    _fields_ = [
        ("name", c_char_p),
        ("file", c_char_p),
        ("value", c_void_p),
        ("value_size", c_size_t),
        ("file_name", c_char_p),
        ("media_type", c_char_p),
    ]


class bh_policy(Structure):
    """How a task differs from its session. A field that is 0 or None: as the session's configuration says. Of the
    fields from ``preset`` on the stricter of session and task holds: a task cannot loosen what its session asks for."""

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
    """A download, or an upload: a request with a body (``body_file``, body or parts) and without a destination is an
    upload, and its event carries the answer's body. With both it is a download by that method, which begins anew after
    each break: ranges are for GET (RFC 9110, section 14.2). Fields that contradict each other are refused, both named.
    """

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


class bh_enqueued(Structure):
    _fields_ = [
        ("task_id", c_uint64),
        ("disposition", c_int32),
        ("status", c_int32),
    ]


class bh_existing_task(Structure):
    """A task that the idempotency key of a request found, as it was when the request was applied. The key of a success
    still finds its task after the event was acknowledged, until the end of the round is, too: then no event of the task
    comes again, and a transfer that is wanted once more needs another key."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("request", c_uint64),
        ("task_id", c_uint64),
        ("event_id", c_uint64),
        ("state", c_int32),
        ("reserved", c_int32),
    ]


class bh_challenge(Structure):
    """A question for a credential, for one protection space: the origin and the realm (RFC 9110, section 11.5). It
    stays open until it is answered with ``bh_session_respond``, whatever happens to its event, and its tasks wait with
    Reason.CREDENTIAL."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("kind", c_int32),
        ("schemes", c_uint32),
        ("origin", c_char_p),
        ("realm", c_char_p),
        ("failures", c_uint32),
        ("time_ms", c_int64),
        ("waiting_tasks", c_uint64),
        ("task_id", c_uint64),
        ("url", c_char_p),
    ]


class bh_event(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("task_id", c_uint64),
        ("round", c_uint64),
        ("time_ms", c_int64),
        ("kind", c_int32),
        ("task_state", c_int32),
        ("status", c_int32),
        ("error_domain", c_int32),
        ("error_detail", c_int64),
        ("error_message", c_char_p),
        ("url", c_char_p),
        ("final_url", c_char_p),
        ("path", c_char_p),
        ("media_type", c_char_p),
        ("idempotency_key", c_char_p),
        ("http_status", c_int32),
        ("attempts", c_uint32),
        ("size", c_uint64),
        ("bytes_received", c_uint64),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("error_body", c_void_p),
        ("error_body_size", c_size_t),
        ("challenge", POINTER(bh_challenge)),
        ("group", c_char_p),
        ("group_succeeded", c_uint64),
        ("group_failed", c_uint64),
        ("group_cancelled", c_uint64),
        ("checksum", c_char_p),
        ("bytes_sent", c_uint64),
        ("response_body", c_void_p),
        ("response_body_size", c_size_t),
        ("task_kind", c_int32),
        ("reserved", c_int32),
        ("activity", c_char_p),
    ]


class bh_response(Structure):
    """An answer to a challenge. It is used for the challenge's origin (or proxy) and this session only, is kept in the
    engine's memory and nowhere else unless asked to, and is asked for again when an engine that had it is gone."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("user", c_char_p),
        ("password", c_char_p),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("url", c_char_p),
        ("expires_ms", c_int64),
        ("flags", c_uint32),
    ]


class bh_progress(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("task_id", c_uint64),
        ("state", c_int32),
        ("reason", c_int32),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("bytes_per_second", c_uint64),
        ("body_sent", c_uint64),
        ("body_size", c_uint64),
    ]


class bh_task(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("round", c_uint64),
        ("state", c_int32),
        ("reason", c_int32),
        ("reason_text", c_char_p),
        ("next_attempt_ms", c_int64),
        ("url", c_char_p),
        ("destination", c_char_p),
        ("idempotency_key", c_char_p),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("priority", c_int32),
        ("status", c_int32),
        ("error_message", c_char_p),
        ("http_status", c_int32),
        ("attempts", c_uint32),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("bytes_per_second", c_uint64),
        ("enqueued_ms", c_int64),
        ("kind", c_int32),
        ("reserved", c_int32),
        ("group", c_char_p),
        ("body_sent", c_uint64),
        ("body_size", c_uint64),
        ("ended_ms", c_int64),
        ("path", c_char_p),
        ("earliest_start_ms", c_int64),
        ("latest_start_ms", c_int64),
        ("expected_bytes_received", c_uint64),
        ("expected_bytes_sent", c_uint64),
        ("constraints", POINTER(bh_policy)),
    ]


class bh_task_selection(Structure):
    """Which tasks: those with one of ``ids``, or all when ``id_count`` is 0, that are in one of ``states`` (bits 1 <<
    TaskState; 0: any) and in ``group`` (None: any). A None selection means all."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("ids", POINTER(c_uint64)),
        ("id_count", c_size_t),
        ("states", c_uint32),
        ("group", c_char_p),
    ]


class bh_attempt(Structure):
    """One request of a task, redirects included (Apple: URLSessionTaskTransactionMetrics). Times that end in _us are
    microseconds after the start, or -1 when that was not reached, or not needed because a connection was used again."""

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


class bh_wait(Structure):
    """A time in which a task did not move, and why."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("reason", c_int32),
        ("reserved", c_int32),
        ("reason_text", c_char_p),
        ("began_ms", c_int64),
        ("ended_ms", c_int64),
    ]


class bh_condition(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("is_known", c_int32),
        ("value", c_int64),
        ("name", c_char_p),
        ("text", c_char_p),
        ("source", c_char_p),
        ("since_ms", c_int64),
    ]


class bh_hold(Structure):
    """Tasks of a session that are held back for one reason; each task is in one of these, by the reason of its
    ``Task``."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("application", c_char_p),
        ("session", c_char_p),
        ("origin", c_char_p),
        ("reason", c_int32),
        ("reserved", c_int32),
        ("reason_text", c_char_p),
        ("began_ms", c_int64),
        ("next_look_ms", c_int64),
        ("tasks", c_uint64),
    ]


class bh_network(Structure):
    """A network, and what its administrator says of it: NetworkManager's connection, else the interface of the default
    route. Fields from ``kind`` on are only read."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("metered", c_int32),
        ("month_starts_on", c_uint32),
        ("daily_budget", c_uint64),
        ("monthly_budget", c_uint64),
        ("kind", c_int32),
        ("is_current", c_int32),
        ("used_today", c_uint64),
        ("used_this_month", c_uint64),
        ("day_ends_ms", c_int64),
        ("month_ends_ms", c_int64),
    ]


class bh_activity(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("interval_ms", c_uint64),
        ("tolerance_ms", c_uint64),
        ("repeats", c_int32),
        ("quality_of_service", c_int32),
        ("request", POINTER(bh_request)),
        ("first_ms", c_int64),
        ("next_ms", c_int64),
        ("next_ends_ms", c_int64),
        ("last_started_ms", c_int64),
        ("last_task", c_uint64),
        ("url", c_char_p),
    ]


#: Structs that begin with their size: a newer library may have more fields at their end.
GROWING: tuple[type[Structure], ...] = (
    bh_error,
    bh_launch_command,
    bh_application_options,
    bh_engine_info,
    bh_limits,
    bh_launch_info,
    bh_session_configuration,
    bh_session_info,
    bh_launch,
    bh_policy,
    bh_request,
    bh_existing_task,
    bh_challenge,
    bh_event,
    bh_response,
    bh_progress,
    bh_task,
    bh_task_selection,
    bh_attempt,
    bh_wait,
    bh_condition,
    bh_hold,
    bh_network,
    bh_activity,
)


#: Structs without a size of their own, whose layout never changes.
FIXED: tuple[type[Structure], ...] = (
    bh_header,
    bh_part,
    bh_enqueued,
)
