"""From values to the library's structs. Checks only what C could not be told; the library judges the rest."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from ctypes import POINTER, Array, c_char, c_char_p, c_uint64, c_void_p, cast, create_string_buffer, pointer, sizeof
from typing import Any

from ._constants import (
    APPLICATION_OBSERVES,
    REQUEST_STARTS_SUSPENDED,
    Choice,
    Hosting,
    IfExists,
    ResponseKind,
    TaskState,
)
from ._ctypes import (
    bh_application_options,
    bh_header,
    bh_launch_command,
    bh_request,
    bh_response,
    bh_session_configuration,
    bh_task_selection,
)
from ._errors import invalid
from ._identity import Identity
from ._launch import LaunchCommand
from ._values import Challenge, Headers, Path, Request, SessionConfiguration


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


def _headers(headers: Headers, index: int | None = None) -> Array[bh_header]:
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
        choice("sends_launch_events", value.sends_launch_events),
        choice("asks_for_credentials", value.asks_for_credentials),
        positive("launch_if_stopped_ms"),
    )


def choice(what: str, value: bool | None) -> int:
    if value is not None and not isinstance(value, bool):
        raise invalid(f"{what} is {value!r}; give True, False, or None for the default")
    return {None: Choice.DEFAULT, True: Choice.YES, False: Choice.NO}[value]


def launch(command: LaunchCommand | None) -> Any:
    """A pointer to a bh_launch_command, or None."""
    if command is None:
        return None
    if isinstance(command.arguments, (str, bytes)):
        raise invalid("the launch command's arguments are one text; give a list of them")
    arguments = _texts(path("launch command's argument", value) for value in command.arguments)
    additions = _texts(_addition(name, value) for name, value in command.environment.items())

    def positive(name: str) -> int:
        return number(name, getattr(command, name), UINT32)

    return pointer(
        bh_launch_command(
            sizeof(bh_launch_command),
            path("launch command's program", command.program),
            arguments,
            len(arguments),
            additions,
            len(additions),
            path("launch command's working directory", command.working_directory),
            positive("attach_timeout_ms"),
            positive("first_delay_ms"),
            positive("longest_delay_ms"),
            positive("maximum_launches"),
        )
    )


def _addition(name: str, value: str) -> bytes:
    # What is said as one text in C could smuggle another name in.
    if not name or "=" in name:
        raise invalid(f"{name!r} is no name of an environment variable; give one without '='")
    encoded = text(f"environment variable {name}", f"{name}={value}")
    assert encoded is not None
    return encoded


def _texts(values: Iterable[bytes | None]) -> Array[c_char_p]:
    texts = list(values)
    return (c_char_p * len(texts))(*texts)


def application_options(
    identifier: str,
    store: Path | None,
    hosting: Hosting,
    daemon: Path | None,
    launch_command: LaunchCommand | None,
    observes: bool,
) -> bh_application_options:
    return bh_application_options(
        sizeof(bh_application_options),
        text("application's identifier", identifier),
        path("store", store),
        number("hosting", hosting, INT32),
        APPLICATION_OBSERVES if observes else 0,
        path("daemon", daemon),
        launch(launch_command),
    )


def challenge(value: Challenge | int) -> int:
    """The id of a challenge. An event has an id, too, which is another."""
    if not isinstance(value, (int, Challenge)):
        raise invalid(f"the challenge is a {type(value).__name__}; give the Challenge, such as event.challenge")
    return number("challenge", value if isinstance(value, int) else value.id, UINT64)


def response(user: str | None, password: str | None, headers: Headers | None, refuse: bool) -> bh_response:
    """Exactly one answer: a user with a password, headers, or a refusal."""
    if (user is not None or password is not None) + (headers is not None) + bool(refuse) != 1:
        raise invalid("answer with user and password, with headers, or with refuse=True; give one of them")
    answer = bh_response(sizeof(bh_response))
    if refuse:
        answer.kind = ResponseKind.REFUSE
    elif headers is not None:
        answer.kind = ResponseKind.HEADERS
        fields = _headers(headers)
        answer.headers = cast(fields, POINTER(bh_header))
        answer.header_count = len(fields)
    else:
        answer.kind = ResponseKind.CREDENTIAL
        answer.user = text("user", user)
        answer.password = text("password", "" if password is None else password)
    return answer


def interval_ms(seconds: float) -> int:
    """Milliseconds of a progress interval; the library judges whether it is a good one."""
    try:
        # Anything but 0 is at least a millisecond: 0 would end the stream.
        milliseconds = max(1, round(seconds * 1000)) if seconds else 0
    except (TypeError, ValueError, OverflowError):
        raise invalid(f"the interval is {seconds!r}; give seconds, such as 0.5") from None
    return number("interval in milliseconds", milliseconds, UINT32)


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
