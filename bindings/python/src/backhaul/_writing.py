"""From values to the library's structs. Checks only what C could not be told; the library judges the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from ctypes import POINTER, Array, c_char, c_uint64, c_void_p, cast, create_string_buffer, pointer, sizeof
from typing import Any, Protocol, Union

from ._constants import REQUEST_STARTS_SUSPENDED, IfExists, TaskState
from ._ctypes import (
    bh_application_options,
    bh_header,
    bh_request,
    bh_session_configuration,
    bh_task_selection,
)
from ._errors import invalid
from ._values import Headers, Path, Request, SessionConfiguration


class Identified(Protocol):
    """A task, a listed task or an event: anything with the id that is meant."""

    @property
    def id(self) -> int: ...


Identity = Union[int, Identified]


def _terminated(what: str, encoded: bytes, index: int | None) -> bytes:
    if b"\0" in encoded:
        raise invalid(f"the {what} contains a NUL character; remove it", index)
    return encoded


def text(what: str, value: str | None, index: int | None = None) -> bytes | None:
    """A string for C."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise invalid(f"the {what} is a {type(value).__name__} instead of a str", index)
    try:
        return _terminated(what, value.encode("utf-8"), index)
    except UnicodeEncodeError:
        raise invalid(f"the {what} is not valid Unicode", index) from None


def path(what: str, value: Path | None, index: int | None = None) -> bytes | None:
    """A path for C, as the file system knows it."""
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise invalid(f"the {what} is a {type(value).__name__} instead of a path", index)
    return _terminated(what, os.fsencode(value), index)


INT32 = range(-(2**31), 2**31)
UINT32 = range(2**32)
UINT64 = range(2**64)


def number(what: str, value: int, kind: range, index: int | None = None) -> int:
    """An integer that fits its C type; ctypes would cut it silently."""
    # A range looks at each of its numbers for anything but a plain int, such as an enumeration's member.
    if not isinstance(value, int) or int(value) not in kind:
        raise invalid(f"the {what} is {value!r}, which is no integer from {kind[0]} to {kind[-1]}", index)
    return int(value)


def cursor(after: int) -> int:
    return number("cursor", after, UINT64)


def maximum(count: int) -> int:
    return number("maximum", count, UINT64)


def role(value: int) -> int:
    return number("role", value, INT32)


def if_exists(value: str | int, index: int | None = None) -> int:
    """The policy's number for "fail", "replace" or a number."""
    if isinstance(value, int):  # an IfExists is one
        return number("policy for existing files", value, INT32, index)
    try:
        return IfExists[value.upper()].value
    except (KeyError, AttributeError):
        raise invalid(f"the policy for existing files is {value!r}; say 'fail' or 'replace'", index) from None


def identity(value: Identity) -> int:
    """The id of a task or an event, given itself or what has it."""
    return number("id", value if isinstance(value, int) else value.id, UINT64)


def identities(values: Iterable[Identity]) -> Array[c_uint64]:
    numbers = [identity(value) for value in values]
    return (c_uint64 * len(numbers))(*numbers)


def _headers(headers: Headers, index: int) -> Array[bh_header]:
    pairs = list(headers.items()) if hasattr(headers, "items") else list(headers)
    array = (bh_header * len(pairs))()
    for slot, (name, value) in zip(array, pairs):
        slot.name = text("header name", name, index)
        slot.value = text(f"value of the header {name}", value, index)
    return array


def _fill(slot: bh_request, request: Request, index: int) -> None:
    slot.struct_size = sizeof(bh_request)
    slot.url = text("URL", request.url, index)
    slot.destination = path("destination", request.destination, index)
    slot.idempotency_key = text("idempotency key", request.key, index)
    if request.headers:
        headers = _headers(request.headers, index)
        slot.headers = cast(headers, POINTER(bh_header))
        slot.header_count = len(headers)
    if request.user_data:
        buffer: Array[c_char] = create_string_buffer(bytes(request.user_data), len(request.user_data))
        slot.user_data = cast(buffer, c_void_p)
        slot.user_data_size = len(request.user_data)
    slot.if_exists = if_exists(request.if_exists, index)
    slot.priority = number("priority", request.priority, INT32, index)
    slot.flags = REQUEST_STARTS_SUSPENDED if request.suspended else 0
    if request.mode is not None:
        slot.mode = number("mode", request.mode, UINT32, index)


def requests(values: Sequence[Request], first: int = 0) -> Array[bh_request]:
    """An array of bh_request that keeps alive what it points to. ``first``: the number of the first one, for errors."""
    array = (bh_request * len(values))()
    for position, request in enumerate(values):
        _fill(array[position], request, first + position)
    return array


def configuration(value: SessionConfiguration) -> bh_session_configuration:
    def positive(name: str, kind: range = UINT32) -> int:
        return number(name, getattr(value, name), kind)

    return bh_session_configuration(
        sizeof(bh_session_configuration),
        text("identifier", value.identifier),
        positive("connections_per_origin"),
        positive("maximum_running_tasks"),
        positive("maximum_attempts"),
        positive("first_retry_delay_ms"),
        positive("longest_retry_delay_ms"),
        positive("request_timeout_ms"),
        positive("resource_timeout_ms", UINT64),
        path("CA file", value.ca_file),
    )


def application_options(identifier: str, store: Path) -> bh_application_options:
    return bh_application_options(
        sizeof(bh_application_options), text("application's identifier", identifier), path("store", store)
    )


def selection(tasks: Iterable[Identity] | None, states: Iterable[TaskState]) -> Any:
    """A pointer to a bh_task_selection; None for all tasks. Not for an empty list: in C that means all."""
    bits = 0
    for state in states:
        bits |= 1 << TaskState(state)
    ids = None if tasks is None else identities(tasks)
    chosen = bh_task_selection(sizeof(bh_task_selection), None, 0, bits)
    if ids is not None:
        chosen.ids = cast(ids, POINTER(c_uint64))
        chosen.id_count = len(ids)
    return pointer(chosen)
