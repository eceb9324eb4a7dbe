"""The functions of include/backhaul.h with their results and parameters. No logic, and no library is loaded."""

from __future__ import annotations

from ctypes import POINTER, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint32, c_uint64
from typing import Any

from ._ctypes import (
    bh_activity,
    bh_application,
    bh_application_options,
    bh_attempt,
    bh_batch,
    bh_challenge,
    bh_condition,
    bh_engine_info,
    bh_enqueued,
    bh_existing_task,
    bh_error,
    bh_event,
    bh_hold,
    bh_launch,
    bh_launch_command,
    bh_launch_info,
    bh_limits,
    bh_network,
    bh_policy,
    bh_progress,
    bh_request,
    bh_response,
    bh_session,
    bh_session_configuration,
    bh_session_info,
    bh_task,
    bh_task_selection,
    bh_ticket,
    bh_wait,
)

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
        "bh_session_poll_progress": (c_int32, [bh_session, _milliseconds, _batch, _error]),
        "bh_session_progress_fd": (c_int32, [bh_session, POINTER(c_int), _error]),
        "bh_batch_count": (c_size_t, [bh_batch]),
        "bh_batch_more": (c_int32, [bh_batch]),
        "bh_batch_event_at": (POINTER(bh_event), [bh_batch, c_size_t]),
        "bh_batch_task_at": (POINTER(bh_task), [bh_batch, c_size_t]),
        "bh_batch_session_at": (POINTER(bh_session_info), [bh_batch, c_size_t]),
        "bh_batch_configuration_at": (POINTER(bh_session_configuration), [bh_batch, c_size_t]),
        "bh_batch_challenge_at": (POINTER(bh_challenge), [bh_batch, c_size_t]),
        "bh_batch_progress_at": (POINTER(bh_progress), [bh_batch, c_size_t]),
        "bh_batch_launch_at": (POINTER(bh_launch), [bh_batch, c_size_t]),
        "bh_batch_launch_info_at": (POINTER(bh_launch_info), [bh_batch, c_size_t]),
        "bh_batch_engine_at": (POINTER(bh_engine_info), [bh_batch, c_size_t]),
        "bh_batch_attempt_at": (POINTER(bh_attempt), [bh_batch, c_size_t]),
        "bh_batch_limits_at": (POINTER(bh_limits), [bh_batch, c_size_t]),
        "bh_batch_wait_at": (POINTER(bh_wait), [bh_batch, c_size_t]),
        "bh_batch_condition_at": (POINTER(bh_condition), [bh_batch, c_size_t]),
        "bh_batch_hold_at": (POINTER(bh_hold), [bh_batch, c_size_t]),
        "bh_batch_network_at": (POINTER(bh_network), [bh_batch, c_size_t]),
        "bh_batch_activity_at": (POINTER(bh_activity), [bh_batch, c_size_t]),
        "bh_batch_existing_task_at": (POINTER(bh_existing_task), [bh_batch, c_size_t]),
        "bh_batch_release": (None, [bh_batch]),
        "bh_ticket_wait": (c_int32, [bh_ticket, _milliseconds, _error]),
        "bh_ticket_session": (c_int32, [bh_ticket, _session, POINTER(c_int32), _error]),
        "bh_ticket_batch": (c_int32, [bh_ticket, _batch, _error]),
        "bh_ticket_count": (c_int32, [bh_ticket, _count, _error]),
        "bh_ticket_enqueued": (c_int32, [bh_ticket, POINTER(bh_enqueued), c_size_t, POINTER(c_size_t), _error]),
        "bh_ticket_release": (None, [bh_ticket]),
    }
    verbs: dict[str, tuple[list[Any], list[Any]]] = {
        "bh_application_engine": ([bh_application], [_batch]),
        "bh_application_sessions": ([bh_application], [_batch]),
        "bh_application_set_limits": ([bh_application, POINTER(bh_limits)], []),
        "bh_application_get_limits": ([bh_application], [_batch]),
        "bh_application_set_launch": ([bh_application, POINTER(bh_launch_command)], []),
        "bh_application_launches": ([bh_application], [_batch]),
        "bh_launch_current": ([bh_application], [_batch]),
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
        "bh_session_challenges": ([bh_session], [_batch]),
        "bh_session_respond": ([bh_session, c_uint64, POINTER(bh_response)], []),
        "bh_session_watch_progress": ([bh_session, c_uint32], []),
        "bh_session_tasks": ([bh_session, _selection, c_uint64, c_size_t], [_batch]),
        "bh_task_info": ([bh_session, c_uint64], [_batch]),
        "bh_tasks_cancel": ([bh_session, _selection], [_count]),
        "bh_tasks_suspend": ([bh_session, _selection], [_count]),
        "bh_tasks_resume": ([bh_session, _selection], [_count]),
        "bh_tasks_set_priority": ([bh_session, _selection, c_int32], [_count]),
        "bh_tasks_set_rate": ([bh_session, _selection, c_uint64], [_count]),
        "bh_tasks_set_constraints": ([bh_session, _selection, POINTER(bh_policy)], [_count]),
        "bh_tasks_reschedule": ([bh_session, _selection, c_int64, c_int64], [_count]),
        "bh_task_attempts": ([bh_session, c_uint64], [_batch]),
        "bh_task_waits": ([bh_session, c_uint64], [_batch]),
        "bh_session_history": ([bh_session, c_uint64, c_size_t], [_batch]),
        "bh_task_claim": ([bh_session, c_uint64, c_char_p, c_int32], []),
        "bh_application_conditions": ([bh_application], [_batch]),
        "bh_application_holds": ([bh_application], [_batch]),
        "bh_application_set_network": ([bh_application, POINTER(bh_network)], []),
        "bh_application_networks": ([bh_application], [_batch]),
        "bh_session_set_activity": ([bh_session, POINTER(bh_activity)], []),
        "bh_session_remove_activity": ([bh_session, c_char_p], []),
        "bh_session_activities": ([bh_session], [_batch]),
    }
    for name, (parameters, outputs) in verbs.items():
        functions[name], functions[name + "_start"] = _verb(parameters, outputs)
    return functions


FUNCTIONS = _functions()
