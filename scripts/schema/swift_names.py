"""Generates the table by which the Swift package replaces names of the C header in messages of the library."""

from __future__ import annotations

from . import names
from .model import Enumeration, Field, Header
from .swift_source import NOTE

#: The structs that a program fills. Messages name their fields.
_STRUCTS = [
    "bh_activity", "bh_challenge_response", "bh_constraints", "bh_dependency", "bh_launch_command", "bh_limits",
    "bh_network", "bh_part", "bh_policy", "bh_request", "bh_retry_policy", "bh_session_configuration",
    "bh_tls_settings", "bh_transfer_rules",
]

#: The enumerations from which a program chooses.
_ENUMERATIONS = [
    "bh_body_source", "bh_cookies", "bh_dependency_failure", "bh_hosting", "bh_http_version", "bh_if_exists",
    "bh_network_kinds", "bh_preset",
    "bh_quality_of_service", "bh_redirects", "bh_refresh", "bh_resumable_uploads", "bh_retry_errors", "bh_role",
    "bh_thermal_state",
    "bh_tls_version", "bh_tolerances",
]

#: Names whose translation does not follow from a rule.
_OWN = {
    "BH_BUDGET_NOTHING": "0",
    "BH_HISTORY_NONE": "HistoryLimit.noTasks",
    "BH_NO": "false",
    "BH_PRIORITY_NOW": "Request.priorityNow",
    "BH_REFRESH_NONE": "nil",
    "BH_REQUEST_IF_CHANGED": "isOnlyIfChanged",
    "BH_REQUEST_IGNORES_DIGESTS": "ignoresDigests",
    "BH_REQUEST_NAMED_BY_SERVER": "isNamedByServer",
    "BH_REQUEST_STARTS_SUSPENDED": "startsSuspended",
    "BH_RETRY_NONE": "[]",
    "BH_TIME_UNCHANGED": "StartChange.unchanged",
    "BH_YES": "true",
    "NULL": "nil",
    "after_count": "after.count",
    "argument_count": "arguments.count",
    "body_file": "body",
    "body_size": "the number of bytes in body",
    "body_source": "body",
    "environment_count": "environment.count",
    "header_count": "headers.count",
    "part_count": "parts.count",
    "task_id": "task",
    "timeout_ms": "timeout",
    "user_data_size": "userData.count",
    "value_size": "value.count",
}


def table(header: Header) -> str:
    enumerations = [one for one in header.enumerations if one.name in _ENUMERATIONS]
    found = {field.name: _property(field) for name in _STRUCTS for field in names.options(header.struct(name))
             if "_" in field.name}
    found |= {constant.name: _case(enumeration, constant.name) for enumeration in enumerations
              for constant in enumeration.constants if not constant.name.endswith("_DEFAULT")}
    rows = "".join(f'    "{name}": "{swift}",\n' for name, swift in sorted({**found, **_OWN}.items()))
    return (
        f"{NOTE}\n/// The names of the header that messages of the library contain, and the names of this package.\n"
        f"let headerNames: [String: String] = [\n{rows}]\n"
    )


def _property(field: Field) -> str:
    """Returns the name of a property. A time has its unit in its name, because it is an integer, and no Duration."""
    name = names.swift_property(field.name)
    return f"{name}Milliseconds" if field.type == "int64_t" and field.name.endswith("_ms") else name


def _case(enumeration: Enumeration, name: str) -> str:
    constant = next(constant for constant in enumeration.constants if constant.name == name)
    return f"{names.swift_type(enumeration.key)}.{names.swift_member(enumeration, constant)}"
