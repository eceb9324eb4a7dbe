"""The structs of include/backhaul.h, one to one, with the header's names. No logic, and no library is loaded."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char, c_char_p, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p

from ._ctypes_conditions import bh_activity as bh_activity
from ._ctypes_conditions import bh_condition as bh_condition
from ._ctypes_conditions import bh_hold as bh_hold
from ._ctypes_conditions import bh_network as bh_network
from ._ctypes_conditions import bh_wait as bh_wait
from ._ctypes_tasks import bh_progress as bh_progress
from ._ctypes_tasks import bh_task as bh_task
from ._ctypes_tasks import bh_task_selection as bh_task_selection
from ._ctypes_transfers import bh_attempt as bh_attempt
from ._ctypes_transfers import bh_header as bh_header
from ._ctypes_transfers import bh_limits as bh_limits
from ._ctypes_transfers import bh_part as bh_part
from ._ctypes_transfers import bh_policy as bh_policy
from ._ctypes_transfers import bh_request as bh_request
from ._ctypes_transfers import bh_session_configuration as bh_session_configuration
from ._numbers import ERROR_MESSAGE_SIZE


class bh_application(c_void_p):
    """A ``bh_application *``; opaque."""


class bh_session(c_void_p):
    """A ``bh_session *``; opaque."""


class bh_ticket(c_void_p):
    """A ``bh_ticket *``; opaque."""


class bh_batch(c_void_p):
    """A ``bh_batch *``; opaque."""


class bh_error(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("status", c_int32),
        ("domain", c_int32),
        ("detail", c_int64),
        ("index", c_uint64),
        ("ticket", bh_ticket),
        ("message", c_char * ERROR_MESSAGE_SIZE),
    ]


class bh_launch_command(Structure):
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


class bh_launch_info(Structure):
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
    _fields_ = [
        ("struct_size", c_size_t),
        ("id", c_uint64),
        ("launches", c_uint32),
        ("reasons", c_uint32),
        ("sessions", POINTER(bh_session_info)),
        ("session_count", c_size_t),
    ]


class bh_enqueued(Structure):
    _fields_ = [("task_id", c_uint64), ("disposition", c_int32), ("status", c_int32)]


class bh_existing_task(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("request", c_uint64),
        ("task_id", c_uint64),
        ("event_id", c_uint64),
        ("state", c_int32),
        ("reserved", c_int32),
    ]


class bh_challenge(Structure):
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


#: Structs that start with their size: a newer library may know more fields at their end.
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
    bh_existing_task,
)

#: Structs without a size of their own, whose layout never changes.
FIXED: tuple[type[Structure], ...] = (bh_header, bh_part, bh_enqueued)
