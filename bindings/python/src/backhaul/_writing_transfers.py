"""Converts requests and configurations to the library's structs."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import POINTER, Array, cast, pointer, sizeof
from typing import Any

from ._configuration import Limits, SessionConfiguration
from ._constants import RequestFlags
from ._ctypes import bh_constraints, bh_dependency, bh_limits, bh_part, bh_policy, bh_request, bh_session_configuration
from ._errors import invalid
from ._requests import Dependency, Part, Request
from ._rules import Constraints, Policy
from ._writers import Writer, flag, numeric
from ._writing import UINT32, UINT64, copied, path, several, text

#: For messages: maps the Python names of some fields of policies and sessions to the words for these fields.
_WORDS = {
    "http_version": "HTTP version",
    "redirects": "policy for redirects",
    "cookies": "policy for cookies",
    "minimum_version": "lowest version of TLS",
    "ca_file": "CA file",
}


def _parts(values: Sequence[Part], index: int | None) -> Array[bh_part]:
    array = (bh_part * len(values))()
    for place, (slot, part) in enumerate(zip(array, values)):
        if not isinstance(part, Part):
            raise invalid(f"item {place} of the parts is a {type(part).__name__} instead of a Part", index)
        slot.struct_size = sizeof(bh_part)
        slot.name = text("name of a part", part.name, index)
        slot.file = path("file of a part", part.file, index)
        if part.value is not None:
            value = text("value of a part", part.value, index) if isinstance(part.value, str) else part.value
            slot.value, slot.value_size = copied(f"value of the part {part.name}", value, index)
        slot.file_name = text("file name of a part", part.file_name, index)
        slot.media_type = text("media type of a part", part.media_type, index)
    return array


def _fill_parts(slot: bh_request, values: Sequence[Part], index: int | None) -> None:
    if values:
        parts = _parts(list(several("parts", values, index)), index)
        slot.parts = cast(parts, POINTER(bh_part))
        slot.part_count = len(parts)


_dependency = Writer(bh_dependency, Dependency, renamed={"key": "idempotency_key"}, words={
    "task_id": "id of the task", "key": "idempotency key of the task", "url": "place of the URL",
    "body": "place of the body", "if_fails": "policy for a failed task",
})


def _fill_after(slot: bh_request, values: Sequence[Dependency], index: int | None) -> None:
    if values:
        given = list(several("tasks to wait for", values, index))
        after = (bh_dependency * len(given))()
        for place, (dependency, value) in enumerate(zip(after, given)):
            if not isinstance(value, Dependency):
                raise invalid(f"item {place} of after is a {type(value).__name__} instead of a Dependency", index)
            _dependency.fill(dependency, value, index)
        slot.after = cast(after, POINTER(bh_dependency))
        slot.after_count = len(after)


constraints = Writer(bh_constraints, Constraints)
policy = Writer(bh_policy, Policy, words=_WORDS)
configuration = Writer(bh_session_configuration, SessionConfiguration, words=_WORDS)
limits = Writer(bh_limits, Limits)
_request = Writer(
    bh_request,
    Request,
    renamed={"key": "idempotency_key"},
    words={
        "url": "URL",
        "key": "idempotency key",
        "if_exists": "policy for existing files",
        "body_file": "body file",
        "body_source": "source of the body",
        "expires": "expiry",
        "earliest_start": "earliest start",
        "latest_start": "latest start",
        "range_start": "start of the range",
    },
    special={
        "suspended": flag("suspended", RequestFlags.STARTS_SUSPENDED),
        "if_changed": flag("if_changed", RequestFlags.IF_CHANGED),
        "named_by_server": flag("named_by_server", RequestFlags.NAMED_BY_SERVER),
        "ignores_digests": flag("ignores_digests", RequestFlags.IGNORES_DIGESTS),
        "parts": _fill_parts,
        "after": _fill_after,
        # In C, 0 means that no value is given.
        "mode": numeric("mode", "mode", UINT32[1:]),
        "expected_size": numeric("expected_size", "expected size", UINT64[1:]),
        "range_size": numeric("range_size", "size of the range", UINT64[1:]),
    },
    # Thousands of requests often share one policy, so the function `requests` writes each policy only one time.
    omitted={"policy"},
)


def requests(values: Sequence[Request], first: int = 0) -> Array[bh_request]:
    """Returns an array of bh_request. The array owns all data to which its structs point. If a request is invalid, the
    exception has the index of the request. ``first`` is the index of the first request."""
    array = (bh_request * len(values))()
    policies: dict[int, Any] = {}
    for index, (slot, request) in enumerate(zip(array, values), first):
        if not isinstance(request, Request):
            raise invalid(f"item {index} of the requests is a {type(request).__name__} instead of a Request", index)
        _request.fill(slot, request, index)
        if request.policy is not None:
            if id(request.policy) not in policies:
                policies[id(request.policy)] = pointer(policy(request.policy, index, "policy"))
            slot.policy = policies[id(request.policy)]
    return array
