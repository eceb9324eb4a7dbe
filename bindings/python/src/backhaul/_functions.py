# Generated from include/backhaul.h by scripts/generate-bindings. Edit the header, not this file.
"""The functions of include/backhaul.h with their results and parameters. This module loads no library."""

from __future__ import annotations

from ctypes import POINTER, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64, c_void_p
from typing import Any

from ._ctypes import (
    bh_activity,
    bh_application,
    bh_application_options,
    bh_batch,
    bh_challenge_response,
    bh_constraints,
    bh_error,
    bh_launch_command,
    bh_limits,
    bh_network,
    bh_request,
    bh_session,
    bh_session_configuration,
    bh_task_selection,
    bh_ticket,
)


#: Name -> result and parameters; a result of None is C's void.
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "bh_init": (None, [c_void_p, c_size_t]),
    "bh_version": (c_uint32, []),
    "bh_version_string": (c_char_p, []),
    "bh_abi_json": (c_char_p, []),
    "bh_status_name": (c_char_p, [c_int32]),
    "bh_status_text": (c_char_p, [c_int32]),
    "bh_name": (c_char_p, [c_char_p, c_int64]),
    "bh_application_open": (c_int32, [
        POINTER(bh_application_options), c_int32, POINTER(bh_application), POINTER(bh_error),
    ]),
    "bh_application_close": (None, [bh_application]),
    "bh_application_event_fd": (c_int32, [bh_application, POINTER(c_int), POINTER(bh_error)]),
    "bh_application_poll": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_application_sessions": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_application_set_launch": (c_int32, [bh_application, POINTER(bh_launch_command), c_int32, POINTER(bh_error)]),
    "bh_application_current_launch": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_engine": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_applications": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_metrics": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_set_limits": (c_int32, [bh_application, POINTER(bh_limits), c_int32, POINTER(bh_error)]),
    "bh_store_limits": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_launches": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_create": (c_int32, [
        bh_application, POINTER(bh_session_configuration), c_int32, c_int32, POINTER(bh_session), POINTER(c_int32),
        POINTER(bh_error),
    ]),
    "bh_session_attach": (c_int32, [
        bh_application, c_char_p, c_int32, c_int32, POINTER(bh_session), POINTER(bh_error),
    ]),
    "bh_session_close": (None, [bh_session]),
    "bh_session_event_fd": (c_int32, [bh_session, POINTER(c_int), POINTER(bh_error)]),
    "bh_session_get_configuration": (c_int32, [bh_session, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_set_configuration": (c_int32, [
        bh_session, POINTER(bh_session_configuration), c_int32, POINTER(bh_error),
    ]),
    "bh_session_complete": (c_int32, [bh_session, c_int32, POINTER(bh_error)]),
    "bh_session_invalidate": (c_int32, [bh_session, c_int32, c_int32, POINTER(bh_error)]),
    "bh_session_enqueue": (c_int32, [
        bh_session, POINTER(bh_request), c_size_t, c_int32, POINTER(bh_batch), POINTER(bh_error),
    ]),
    "bh_session_poll": (c_int32, [bh_session, c_uint64, c_size_t, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_acknowledge": (c_int32, [
        bh_session, POINTER(c_uint64), c_size_t, c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_session_acknowledge_through": (c_int32, [bh_session, c_uint64, c_int32, POINTER(c_uint64), POINTER(bh_error)]),
    "bh_session_challenges": (c_int32, [bh_session, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_respond": (c_int32, [bh_session, c_uint64, POINTER(bh_challenge_response), c_int32, POINTER(bh_error)]),
    "bh_session_tasks": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_uint64, c_size_t, c_int32, POINTER(bh_batch), POINTER(bh_error),
    ]),
    "bh_session_task": (c_int32, [bh_session, c_uint64, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_history": (c_int32, [bh_session, c_uint64, c_size_t, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_tasks_cancel": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_suspend": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_set_aside": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_resume": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_set_priority": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_int32, c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_set_rate": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_uint64, c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_set_constraints": (c_int32, [
        bh_session, POINTER(bh_task_selection), POINTER(bh_constraints), c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_tasks_reschedule": (c_int32, [
        bh_session, POINTER(bh_task_selection), c_int64, c_int64, c_int32, POINTER(c_uint64), POINTER(bh_error),
    ]),
    "bh_task_claim": (c_int32, [bh_session, c_uint64, c_char_p, c_int32, c_int32, POINTER(bh_error)]),
    "bh_task_attempts": (c_int32, [bh_session, c_uint64, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_tasks_attempts": (c_int32, [
        bh_session, POINTER(c_uint64), c_size_t, c_int32, POINTER(bh_batch), POINTER(bh_error),
    ]),
    "bh_task_waits": (c_int32, [bh_session, c_uint64, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_tasks_waits": (c_int32, [
        bh_session, POINTER(c_uint64), c_size_t, c_int32, POINTER(bh_batch), POINTER(bh_error),
    ]),
    "bh_session_watch_progress": (c_int32, [bh_session, c_uint32, c_int32, POINTER(bh_error)]),
    "bh_session_poll_progress": (c_int32, [bh_session, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_progress_fd": (c_int32, [bh_session, POINTER(c_int), POINTER(bh_error)]),
    "bh_store_conditions": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_holds": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_store_set_network": (c_int32, [bh_application, POINTER(bh_network), c_int32, POINTER(bh_error)]),
    "bh_store_networks": (c_int32, [bh_application, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_session_set_activity": (c_int32, [bh_session, POINTER(bh_activity), c_int32, POINTER(bh_error)]),
    "bh_session_remove_activity": (c_int32, [bh_session, c_char_p, c_int32, POINTER(bh_error)]),
    "bh_session_activities": (c_int32, [bh_session, c_int32, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_batch_count": (c_size_t, [bh_batch]),
    "bh_batch_more": (c_bool, [bh_batch]),
    "bh_batch_item": (c_void_p, [bh_batch, c_size_t, c_int32, c_size_t]),
    "bh_batch_release": (None, [bh_batch]),
    "bh_application_next_ticket": (c_int32, [bh_application, POINTER(bh_ticket), POINTER(bh_error)]),
    "bh_ticket_wait": (c_int32, [bh_ticket, c_int32, POINTER(bh_error)]),
    "bh_ticket_session": (c_int32, [bh_ticket, POINTER(bh_session), POINTER(c_int32), POINTER(bh_error)]),
    "bh_ticket_batch": (c_int32, [bh_ticket, POINTER(bh_batch), POINTER(bh_error)]),
    "bh_ticket_count": (c_int32, [bh_ticket, POINTER(c_uint64), POINTER(bh_error)]),
    "bh_ticket_set_data": (None, [bh_ticket, c_void_p]),
    "bh_ticket_data": (c_void_p, [bh_ticket]),
    "bh_ticket_release": (None, [bh_ticket]),
}
