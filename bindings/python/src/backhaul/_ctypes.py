# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""The structs of include/backhaul.h, with the same names and fields. This module loads no library."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint16,
    c_uint32,
    c_uint64,
    c_uint8,
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
    """The error of a call; the caller owns the struct. A call that returns Status.OK sets ``status`` to Status.OK and
    ``ticket`` to None, and does not change the other fields. Any other call sets all fields. Before the struct is used
    again, release its ticket or copy the ticket's pointer. If ``struct_size`` is not set, the call treats the pointer
    as None."""

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
    """A program that the engine runs when sessions need their host. No shell is involved."""

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
    """How a host opens its application."""

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
    """The engine of a store, and the process in which it runs."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("process_id", c_int64),
        ("version", c_uint32),
        ("hosting", c_int32),
        ("started_ms", c_int64),
        ("store", c_char_p),
        ("connections", c_uint32),
        ("shares_control_group", c_bool),
        ("reserved", c_uint8 * 3),
    ]


class bh_application_info(Structure):
    """An application of a store, with counts of all its sessions together."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("sessions", c_uint64),
        ("live_tasks", c_uint64),
        ("running_tasks", c_uint64),
        ("events", c_uint64),
        ("hosts", c_uint32),
        ("has_launch_command", c_bool),
        ("reserved", c_uint8 * 3),
    ]


class bh_metrics(Structure):
    """Measurements of the store's engine for a monitoring system. docs/metrics.md lists all of them."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("text", c_char_p),
    ]


class bh_limits(Structure):
    """Limits for all sessions of the store together. 0 is the default."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("bytes_per_second", c_uint64),
        ("maximum_running_tasks", c_uint32),
        ("maximum_connections", c_uint32),
        ("connections_per_origin", c_uint32),
        ("reserved", c_uint32),
    ]


class bh_launch_info(Structure):
    """A registered launch command and its state."""

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


class bh_retry_policy(Structure):
    """When a failed attempt is repeated."""

    _fields_ = [
        ("maximum_attempts", c_uint32),
        ("first_delay_ms", c_uint32),
        ("longest_delay_ms", c_uint32),
        ("jitter_percent", c_uint32),
        ("errors", c_uint32),
        ("unsafe_methods", c_int32),
        ("statuses", c_char_p),
        ("reserved", c_uint64 * 2),
    ]


class bh_transfer_rules(Structure):
    """Which responses are accepted, and how long a task waits for them."""

    _fields_ = [
        ("request_timeout_ms", c_uint32),
        ("http_version", c_int32),
        ("resource_timeout_ms", c_uint64),
        ("redirects", c_int32),
        ("maximum_redirects", c_uint32),
        ("accepted_statuses", c_char_p),
        ("maximum_size", c_uint64),
        ("accepted_types", c_char_p),
        ("refuses_private_addresses", c_int32),
        ("resumable_uploads", c_int32),
        ("s3_endpoint", c_char_p),
        ("s3_region", c_char_p),
        ("s3_profile", c_char_p),
        ("s3_credential_command", c_char_p),
        ("s3_path_style", c_int32),
        ("reserved_number", c_uint32),
    ]


class bh_constraints(Structure):
    """What a task demands of the system. While the system does not meet a constraint, the task is *held*: it does not
    run. In structs that the library returns, the constraints have the values that the host has set; their defaults are
    not filled in. If the session and the request have different values for a constraint, the stricter value applies."""

    _fields_ = [
        ("preset", c_int32),
        ("requires_external_power", c_int32),
        ("requires_unmetered", c_int32),
        ("networks", c_uint32),
        ("minimum_battery_percent", c_uint32),
        ("maximum_thermal_state", c_int32),
        ("maximum_cpu_pressure_percent", c_uint32),
        ("maximum_io_pressure_percent", c_uint32),
        ("maximum_memory_pressure_percent", c_uint32),
        ("reserved_number", c_uint32),
        ("minimum_bytes_per_second", c_uint64),
        ("quiet_hours", c_char_p),
        ("reserved", c_uint64 * 2),
    ]


class bh_tls_settings(Structure):
    """The certificates that a session trusts, and the session's own certificate."""

    _fields_ = [
        ("ca_file", c_char_p),
        ("client_certificate", c_char_p),
        ("client_key", c_char_p),
        ("pinned_public_keys", c_char_p),
        ("minimum_version", c_int32),
        ("reserved_number", c_uint32),
        ("reserved", c_uint64 * 2),
    ]


class bh_proxy_settings(Structure):
    """The proxy through which servers are reached."""

    _fields_ = [
        ("url", c_char_p),
        ("user", c_char_p),
        ("password", c_char_p),
        ("bypass", c_char_p),
        ("reserved", c_uint64 * 2),
    ]


class bh_budget(Structure):
    """Bytes that may move on one network, in both directions together. The struct never grows."""

    _fields_ = [
        ("daily", c_uint64),
        ("monthly", c_uint64),
    ]


class bh_header(Structure):
    """A header field (RFC 9110, section 5). The struct never grows."""

    _fields_ = [
        ("name", c_char_p),
        ("value", c_char_p),
    ]


class bh_policy(Structure):
    """Settings of one task. Fields of ``retry`` and ``rules`` replace the fields of the session; if a field is 0 or
    None, the session's field applies. Constraints and the rate limit of the session always apply as well (see
    ``Constraints``)."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("retry", bh_retry_policy),
        ("rules", bh_transfer_rules),
        ("constraints", bh_constraints),
        ("bytes_per_second", c_uint64),
    ]


class bh_session_configuration(Structure):
    """Settings of a session, stored with it. 0 and None are the defaults."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("retry", bh_retry_policy),
        ("rules", bh_transfer_rules),
        ("constraints", bh_constraints),
        ("tls", bh_tls_settings),
        ("proxy", bh_proxy_settings),
        ("budget", bh_budget),
        ("bytes_per_second", c_uint64),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("connections_per_origin", c_uint32),
        ("maximum_running_tasks", c_uint32),
        ("history_limit", c_uint32),
        ("cookies", c_int32),
        ("tolerances", c_uint32),
        ("sends_launch_events", c_int32),
        ("asks_for_credentials", c_int32),
        ("discretionary_if_launched", c_int32),
        ("launch_if_stopped_ms", c_uint32),
        ("slow_after_ms", c_uint32),
        ("slow_pause_ms", c_uint32),
        ("reserved", c_uint32),
    ]


class bh_session_info(Structure):
    """A session with its counts and its consumer."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("identifier", c_char_p),
        ("round", c_uint64),
        ("live_tasks", c_uint64),
        ("events", c_uint64),
        ("open_challenges", c_uint64),
        ("created_ms", c_int64),
        ("consumer", c_int64),
        ("consumer_stopped_ms", c_int64),
        ("next_launch_ms", c_int64),
        ("attention", c_uint32),
        ("launch_state", c_int32),
        ("waiting_consumers", c_uint32),
        ("is_invalidated", c_bool),
        ("reserved", c_uint8 * 3),
    ]


class bh_launch(Structure):
    """A launch, as the launched host reads it."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("launches", c_uint32),
        ("attention", c_uint32),
        ("sessions", POINTER(POINTER(bh_session_info))),
        ("session_count", c_size_t),
    ]


class bh_part(Structure):
    """One part of a multipart/form-data body (RFC 7578): a file or a value."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("file", c_char_p),
        ("value", c_void_p),
        ("value_size", c_size_t),
        ("file_name", c_char_p),
        ("media_type", c_char_p),
    ]


class bh_dependency(Structure):
    """A task that a request waits for, and what the request takes from the response to that task. The places in a
    response are texts: "url" is the URL that sent it, "body" is its body, "header:Location" is a header field, and
    "json:/a/b" is a text or number in its body, which is a JSON document (RFC 6901). Bodies and their members can be
    taken only from responses to uploads, up to 65,536 bytes. docs/chains.md."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("task_id", c_uint64),
        ("idempotency_key", c_char_p),
        ("url", c_char_p),
        ("body", c_char_p),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("if_fails", c_int32),
        ("reserved", c_uint32),
    ]


class bh_request(Structure):
    """A download or an upload. A request with a body and without a destination is an upload, and the event of its task
    has the response's body. A request with a body and a destination is a download that sends the body. A download with
    a body starts again from the first byte after each broken connection. If two fields contradict each other, the
    request is refused, and the message names both fields."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("url", c_char_p),
        ("destination", c_char_p),
        ("idempotency_key", c_char_p),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("method", c_char_p),
        ("group", c_char_p),
        ("checksum", c_char_p),
        ("expected_size", c_uint64),
        ("body_file", c_char_p),
        ("body", c_void_p),
        ("body_size", c_size_t),
        ("parts", POINTER(bh_part)),
        ("part_count", c_size_t),
        ("policy", POINTER(bh_policy)),
        ("expires_ms", c_int64),
        ("earliest_start_ms", c_int64),
        ("latest_start_ms", c_int64),
        ("expected_bytes_received", c_uint64),
        ("expected_bytes_sent", c_uint64),
        ("flags", c_uint32),
        ("if_exists", c_int32),
        ("body_source", c_int32),
        ("refresh", c_int32),
        ("priority", c_int32),
        ("mode", c_uint32),
        ("range_start", c_uint64),
        ("range_size", c_uint64),
        ("after", POINTER(bh_dependency)),
        ("after_count", c_size_t),
    ]


class bh_enqueued(Structure):
    """The task of one request."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("request", c_uint64),
        ("task_id", c_uint64),
        ("event_id", c_uint64),
        ("disposition", c_int32),
        ("task_state", c_int32),
    ]


class bh_challenge(Structure):
    """A demand for a credential, new headers or a new URL. A challenge is for one protection space: an origin and a
    realm (RFC 9110, section 11.5). Each protection space has at most one open challenge. The challenge is open until
    the host calls ``respond``, or until no task waits for the challenge. The challenge stays open when the host
    acknowledges the challenge's event. If the server refuses the credential, a new challenge with a new id opens, and
    ``failures`` of the new challenge is one higher. docs/credentials.md."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("kind", c_int32),
        ("schemes", c_uint32),
        ("origin", c_char_p),
        ("realm", c_char_p),
        ("url", c_char_p),
        ("task_id", c_uint64),
        ("waiting_tasks", c_uint64),
        ("time_ms", c_int64),
        ("failures", c_uint32),
        ("reserved", c_uint32),
    ]


class bh_event(Structure):
    """A stored message for the host. All kinds have id, ``time_ms``, kind and round. Fields that a kind does not set
    are 0 or None."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("time_ms", c_int64),
        ("round", c_uint64),
        ("task_id", c_uint64),
        ("kind", c_int32),
        ("task_kind", c_int32),
        ("task_state", c_int32),
        ("status", c_int32),
        ("error_domain", c_int32),
        ("http_status", c_int32),
        ("error_detail", c_int64),
        ("error_message", c_char_p),
        ("url", c_char_p),
        ("final_url", c_char_p),
        ("path", c_char_p),
        ("media_type", c_char_p),
        ("checksum", c_char_p),
        ("idempotency_key", c_char_p),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("size", c_uint64),
        ("bytes_received", c_uint64),
        ("bytes_sent", c_uint64),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("error_body", c_void_p),
        ("error_body_size", c_size_t),
        ("response_body", c_void_p),
        ("response_body_size", c_size_t),
        ("attempts", c_uint32),
        ("reserved", c_uint32),
        ("challenge", POINTER(bh_challenge)),
        ("group", c_char_p),
        ("group_succeeded", c_uint64),
        ("group_failed", c_uint64),
        ("group_cancelled", c_uint64),
        ("activity", c_char_p),
    ]


class bh_challenge_response(Structure):
    """The response to a challenge. The engine keeps the response in memory. It uses the response only for this session,
    and only for the challenge's origin or proxy. Without ChallengeResponseFlags.KEEP, a later engine opens a new
    challenge."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("flags", c_uint32),
        ("user", c_char_p),
        ("password", c_char_p),
        ("headers", POINTER(bh_header)),
        ("header_count", c_size_t),
        ("url", c_char_p),
        ("expires_ms", c_int64),
    ]


class bh_task_info(Structure):
    """A task: its request, its state and its progress."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("round", c_uint64),
        ("kind", c_int32),
        ("state", c_int32),
        ("reason", c_int32),
        ("status", c_int32),
        ("reason_text", c_char_p),
        ("error_message", c_char_p),
        ("next_attempt_ms", c_int64),
        ("url", c_char_p),
        ("destination", c_char_p),
        ("path", c_char_p),
        ("idempotency_key", c_char_p),
        ("group", c_char_p),
        ("user_data", c_void_p),
        ("user_data_size", c_size_t),
        ("priority", c_int32),
        ("http_status", c_int32),
        ("attempts", c_uint32),
        ("reserved", c_uint32),
        ("offset", c_uint64),
        ("size", c_uint64),
        ("body_sent", c_uint64),
        ("body_size", c_uint64),
        ("bytes_per_second", c_uint64),
        ("enqueued_ms", c_int64),
        ("ended_ms", c_int64),
        ("earliest_start_ms", c_int64),
        ("latest_start_ms", c_int64),
        ("expected_bytes_received", c_uint64),
        ("expected_bytes_sent", c_uint64),
        ("constraints", POINTER(bh_constraints)),
        ("rate_limit", c_uint64),
    ]


class bh_task_selection(Structure):
    """Selects tasks. A task is selected if its id is in ``ids`` (``id_count`` 0: any id), its state is in ``states``
    (0: any state), and its group is ``group`` (None: any group or none). A None selection selects all tasks."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("ids", POINTER(c_uint64)),
        ("id_count", c_size_t),
        ("group", c_char_p),
        ("states", c_uint32),
        ("reserved", c_uint32),
    ]


class bh_attempt(Structure):
    """One attempt of a task, including its redirects (Apple: URLSessionTaskTransactionMetrics). After a redirect, all
    times are those of the last request. Each field whose name ends in _us is the time of a step, in microseconds after
    ``started_ms``. The time is -1 if the attempt did not reach the step, or if the connection was open already and the
    step was not needed."""

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
        ("local_address", c_char_p),
        ("remote_address", c_char_p),
        ("tls_version", c_char_p),
        ("tls_cipher", c_char_p),
        ("request_header_bytes", c_uint64),
        ("request_body_bytes", c_uint64),
        ("response_header_bytes", c_uint64),
        ("response_body_bytes", c_uint64),
        ("local_port", c_uint16),
        ("remote_port", c_uint16),
        ("reused_connection", c_bool),
        ("proxy_connection", c_bool),
        ("reserved", c_uint8 * 2),
    ]


class bh_wait_record(Structure):
    """A period in which a task did not run, and why."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("task_id", c_uint64),
        ("reason", c_int32),
        ("reserved", c_uint32),
        ("reason_text", c_char_p),
        ("began_ms", c_int64),
        ("ended_ms", c_int64),
    ]


class bh_progress(Structure):
    """A reading of a running task."""

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


class bh_condition(Structure):
    """A condition: one fact about the present state of the system."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("kind", c_int32),
        ("is_known", c_bool),
        ("reserved", c_uint8 * 3),
        ("value", c_int64),
        ("name", c_char_p),
        ("text", c_char_p),
        ("source", c_char_p),
        ("since_ms", c_int64),
    ]


class bh_hold(Structure):
    """Tasks of a session that are held for one reason."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("application", c_char_p),
        ("session", c_char_p),
        ("origin", c_char_p),
        ("reason_text", c_char_p),
        ("reason", c_int32),
        ("reserved", c_uint32),
        ("began_ms", c_int64),
        ("next_check_ms", c_int64),
        ("tasks", c_uint64),
    ]


class bh_network(Structure):
    """A network, and the administrator's settings for it. With NetworkManager, a network is a connection of
    NetworkManager. Without NetworkManager, a network is the interface of the default route. ``bh_store_set_network``
    ignores read-only fields."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("name", c_char_p),
        ("metered", c_int32),
        ("month_starts_on", c_uint32),
        ("budget", bh_budget),
        ("kind", c_uint32),
        ("is_current", c_bool),
        ("reserved", c_uint8 * 3),
        ("used_today", c_uint64),
        ("used_this_month", c_uint64),
        ("day_ends_ms", c_int64),
        ("month_ends_ms", c_int64),
    ]


class bh_activity(Structure):
    """An activity, as the host sets it, and its next window."""

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
    bh_application_info,
    bh_metrics,
    bh_limits,
    bh_launch_info,
    bh_policy,
    bh_session_configuration,
    bh_session_info,
    bh_launch,
    bh_part,
    bh_dependency,
    bh_request,
    bh_enqueued,
    bh_challenge,
    bh_event,
    bh_challenge_response,
    bh_task_info,
    bh_task_selection,
    bh_attempt,
    bh_wait_record,
    bh_progress,
    bh_condition,
    bh_hold,
    bh_network,
    bh_activity,
)


#: Structs without a size of their own, whose layout never changes.
FIXED: tuple[type[Structure], ...] = (
    bh_retry_policy,
    bh_transfer_rules,
    bh_constraints,
    bh_tls_settings,
    bh_proxy_settings,
    bh_budget,
    bh_header,
)
