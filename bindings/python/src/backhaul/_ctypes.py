"""The declarations of include/backhaul.h, one to one, with the header's names. No logic, and no library is loaded."""

from __future__ import annotations

from ctypes import POINTER, Structure, c_char, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from ._constants import ERROR_MESSAGE_SIZE


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


class bh_application_options(Structure):
    _fields_ = [("struct_size", c_size_t), ("identifier", c_char_p), ("store", c_char_p)]


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
    ]


class bh_header(Structure):
    _fields_ = [("name", c_char_p), ("value", c_char_p)]


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
    ]


class bh_enqueued(Structure):
    _fields_ = [("task_id", c_uint64), ("disposition", c_int32), ("status", c_int32)]


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
    ]


class bh_task_selection(Structure):
    _fields_ = [
        ("struct_size", c_size_t),
        ("ids", POINTER(c_uint64)),
        ("id_count", c_size_t),
        ("states", c_uint32),
    ]


#: Structs that start with their size: a newer library may know more fields at their end.
GROWING: tuple[type[Structure], ...] = (
    bh_error,
    bh_application_options,
    bh_session_configuration,
    bh_session_info,
    bh_request,
    bh_event,
    bh_task,
    bh_task_selection,
)

#: Structs without a size of their own, whose layout never changes.
FIXED: tuple[type[Structure], ...] = (bh_header, bh_enqueued)

_error = POINTER(bh_error)
_ticket = POINTER(bh_ticket)
_batch = POINTER(bh_batch)
_session = POINTER(bh_session)
_count = POINTER(c_uint64)
_selection = POINTER(bh_task_selection)
_configuration = POINTER(bh_session_configuration)
_milliseconds = c_int32

#: Name, result, parameters; a result of None is C's void.
_Signature = tuple[Any, list[Any]]


def _verb(parameters: list[Any], outputs: list[Any]) -> tuple[_Signature, _Signature]:
    """The blocking form of a verb and its started form."""
    return (
        (c_int32, [*parameters, _milliseconds, *outputs, _error]),
        (c_int32, [*parameters, _ticket, _error]),
    )


def _functions() -> dict[str, _Signature]:
    functions: dict[str, _Signature] = {
        "bh_version": (c_uint32, []),
        "bh_version_string": (c_char_p, []),
        "bh_abi_json": (c_char_p, []),
        "bh_status_name": (c_char_p, [c_int32]),
        "bh_status_text": (c_char_p, [c_int32]),
        "bh_application_open": (
            c_int32,
            [POINTER(bh_application_options), _milliseconds, POINTER(bh_application), _error],
        ),
        "bh_application_close": (None, [bh_application]),
        "bh_application_event_fd": (c_int32, [bh_application, POINTER(c_int), _error]),
        "bh_application_poll": (c_int32, [bh_application, _milliseconds, _batch, _error]),
        "bh_application_next_ticket": (c_int32, [bh_application, _ticket, _error]),
        "bh_session_close": (None, [bh_session]),
        "bh_session_event_fd": (c_int32, [bh_session, POINTER(c_int), _error]),
        "bh_batch_count": (c_size_t, [bh_batch]),
        "bh_batch_more": (c_int32, [bh_batch]),
        "bh_batch_event_at": (POINTER(bh_event), [bh_batch, c_size_t]),
        "bh_batch_task_at": (POINTER(bh_task), [bh_batch, c_size_t]),
        "bh_batch_session_at": (POINTER(bh_session_info), [bh_batch, c_size_t]),
        "bh_batch_configuration_at": (POINTER(bh_session_configuration), [bh_batch, c_size_t]),
        "bh_batch_release": (None, [bh_batch]),
        "bh_ticket_wait": (c_int32, [bh_ticket, _milliseconds, _error]),
        "bh_ticket_session": (c_int32, [bh_ticket, _session, POINTER(c_int32), _error]),
        "bh_ticket_batch": (c_int32, [bh_ticket, _batch, _error]),
        "bh_ticket_count": (c_int32, [bh_ticket, _count, _error]),
        "bh_ticket_enqueued": (c_int32, [bh_ticket, POINTER(bh_enqueued), c_size_t, POINTER(c_size_t), _error]),
        "bh_ticket_release": (None, [bh_ticket]),
    }
    verbs: dict[str, tuple[list[Any], list[Any]]] = {
        "bh_application_sessions": ([bh_application], [_batch]),
        "bh_session_create": ([bh_application, _configuration, c_int32], [_session, POINTER(c_int32)]),
        "bh_session_attach": ([bh_application, c_char_p, c_int32], [_session]),
        "bh_session_get_configuration": ([bh_session], [_batch]),
        "bh_session_update": ([bh_session, _configuration], []),
        "bh_session_complete": ([bh_session], []),
        "bh_session_invalidate": ([bh_session, c_int32], []),
        "bh_session_enqueue": (
            [bh_session, POINTER(bh_request), c_size_t, c_size_t],
            [POINTER(bh_enqueued), POINTER(c_size_t)],
        ),
        "bh_session_poll": ([bh_session, c_uint64, c_size_t], [_batch]),
        "bh_session_acknowledge": ([bh_session, POINTER(c_uint64), c_size_t], [_count]),
        "bh_session_acknowledge_through": ([bh_session, c_uint64], [_count]),
        "bh_session_tasks": ([bh_session, _selection, c_uint64, c_size_t], [_batch]),
        "bh_task_info": ([bh_session, c_uint64], [_batch]),
        "bh_tasks_cancel": ([bh_session, _selection], [_count]),
        "bh_tasks_suspend": ([bh_session, _selection], [_count]),
        "bh_tasks_resume": ([bh_session, _selection], [_count]),
        "bh_tasks_set_priority": ([bh_session, _selection, c_int32], [_count]),
        "bh_task_claim": ([bh_session, c_uint64, c_char_p, c_int32], []),
    }
    for name, (parameters, outputs) in verbs.items():
        functions[name], functions[name + "_start"] = _verb(parameters, outputs)
    return functions


FUNCTIONS = _functions()
