"""Converts Python objects to structs of the library. This module refuses only values that C cannot represent. The
library checks all other rules."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Sequence
from ctypes import POINTER, Array, c_char, c_char_p, c_uint64, c_void_p, cast, create_string_buffer, pointer, sizeof
from datetime import datetime, timedelta
from enum import Enum, IntEnum, IntFlag
from typing import Any, TypeVar

from ._constants import (
    ApplicationFlags,
    ChallengeResponseFlags,
    ChallengeResponseKind,
    Choice,
    Hosting,
    IfExists,
    TaskState,
)
from ._ctypes import (
    bh_application_options,
    bh_challenge_response,
    bh_header,
    bh_launch_command,
    bh_task_selection,
)
from ._errors import invalid
from ._identity import Identity
from ._launch import LaunchCommand
from ._numbers import ENQUEUE_COUNT_MAXIMUM, TIME_UNCHANGED
from ._types import Headers, Moment, StrPath
from ._values import Challenge
from ._waiting import seconds

Value = TypeVar("Value")


def _terminated(what: str, encoded: bytes, index: int | None) -> bytes:
    if b"\0" in encoded:
        raise invalid(f"the {what} contains a NUL character; remove it", index)
    return encoded


def text(what: str, value: str | None, index: int | None = None) -> bytes | None:
    """Converts a text to a C string in UTF-8."""
    if value is None:
        return None
    if not isinstance(value, str):
        raise invalid(f"the {what} is a {type(value).__name__} instead of a str", index)
    try:
        return _terminated(what, value.encode("utf-8"), index)
    except UnicodeEncodeError:
        raise invalid(f"the {what} is not valid Unicode", index) from None


def path(what: str, value: StrPath | None, index: int | None = None) -> bytes | None:
    """Converts a path to a C string in the encoding of the file system."""
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise invalid(f"the {what} is a {type(value).__name__} instead of a path", index)
    try:
        return _terminated(what, os.fsencode(value), index)
    except UnicodeEncodeError:
        raise invalid(f"the {what} has a character that the encoding of the file system lacks", index) from None


def copied(what: str, value: Any, index: int | None = None) -> tuple[c_void_p, int]:
    """Copies the bytes. Returns a pointer to the copy, and the number of bytes. The caller assigns the pointer to a
    field of a struct. The copy exists as long as this struct exists."""
    if not isinstance(value, (bytes, bytearray, memoryview)):
        raise invalid(f"the {what} is a {type(value).__name__} instead of bytes", index)
    data = bytes(value)
    buffer: Array[c_char] = create_string_buffer(data, max(1, len(data)))
    return cast(buffer, c_void_p), len(data)


INT32 = range(-(2**31), 2**31)
UINT32 = range(2**32)
UINT64 = range(2**64)
#: The valid times in Unix milliseconds, up to the year 9999. If a caller passes milliseconds instead of seconds, the
#: time is outside this range.
_MOMENTS = range(1, 253_402_300_800_000)


def number(what: str, value: int, kind: range, index: int | None = None) -> int:
    """Checks that an integer fits its C type. Without this check, ctypes would truncate an integer that does not fit,
    and raise no error. The range of the C type is no part of the message, because the library permits fewer values."""
    if isinstance(value, timedelta):
        given = round(value.total_seconds() * 1000)
        raise invalid(f"the {what} is a timedelta; give milliseconds, such as {given}", index)
    if not isinstance(value, int) or isinstance(value, (bool, Enum)):
        raise invalid(f"the {what} is {value!r}; give an integer", index)
    if value not in kind:
        bound = "too large" if value > kind[-1] else "negative" if value < 0 <= kind[0] else "too small"
        raise invalid(f"the {what} is {value}, which is {bound}", index)
    return value


def cursor(after: int) -> int:
    return number("cursor", after, UINT64)


def maximum(count: int) -> int:
    return number("maximum", count, UINT64)


def chunk(count: int) -> int:
    return number("chunk", count, range(1, ENQUEUE_COUNT_MAXIMUM + 1))


def member(what: str, value: Any, kind: type[Enum], index: int | None = None) -> int:
    """Returns the number of a constant. The caller gives a member of ``kind``, or the number of a constant that this
    package does not know."""
    if not isinstance(value, int) or isinstance(value, bool) or isinstance(value, Enum) and not isinstance(value, kind):
        example = next(one for one in kind.__members__.values() if one.name not in ("DEFAULT", "NONE"))
        raise invalid(f"the {what} is {value!r}; give a member of {kind.__name__}, such as {_name(example)}", index)
    return number(what, int(value), UINT32 if issubclass(kind, IntFlag) else INT32, index)


def _name(constant: Enum) -> str:
    return f"{type(constant).__name__}.{constant.name}"


def bits(what: str, value: Any, kind: type[IntFlag], index: int | None = None) -> int:
    """Returns the number of a combination of flags. In C, 0 means the default. So an empty combination is NONE, if the
    enumeration has this member."""
    given = member(what, value, kind, index)
    if given == 0 and "NONE" in kind.__members__:
        return int(kind["NONE"])
    if given == 0:
        raise invalid(f"the {what} is empty; give at least one member of {kind.__name__}, or None", index)
    return given


def word(what: str, value: str | int, kind: type[IntEnum], index: int | None = None) -> int:
    """Returns the number of a constant. The caller gives the constant, or its name in upper or lower case."""
    if not isinstance(value, str):
        return member(what, value, kind, index)
    try:
        return kind[value.upper()].value
    except KeyError:
        names = " or ".join(repr(one.name.lower()) for one in kind if one.name != "DEFAULT")
        raise invalid(f"the {what} is {value!r}; say {names}", index) from None


def flag(what: str, value: Any, index: int | None = None) -> bool:
    if not isinstance(value, bool):
        raise invalid(f"{what} is {value!r}; give True or False", index)
    return value


def if_exists(value: str | int, index: int | None = None) -> int:
    return word("policy for existing files", value, IfExists, index)


def moment_ms(what: str, value: Moment | None, index: int | None = None) -> int:
    """Converts a time to Unix milliseconds. Returns 0 for None."""
    if value is None:
        return 0
    if isinstance(value, datetime):
        if value.tzinfo is None:
            raise invalid(f"the {what} is {value} without a time zone; give one, such as timezone.utc", index)
        value = value.timestamp()
    try:
        milliseconds = -1 if isinstance(value, bool) else round(value * 1000)
    except (TypeError, ValueError, OverflowError):
        raise invalid(f"the {what} is {value!r}; give a datetime or Unix seconds", index) from None
    if milliseconds not in _MOMENTS:
        raise invalid(f"the {what} is {value!r}, no Unix seconds from 1970 to the year 9999", index)
    return milliseconds


def start_ms(what: str, value: Moment | None) -> int:
    """Converts a time to Unix milliseconds. Returns 0 for None, and TIME_UNCHANGED for TIME_UNCHANGED."""
    return TIME_UNCHANGED if value == TIME_UNCHANGED else moment_ms(what, value)


def several(what: str, values: Iterable[Value], index: int | None = None) -> Iterable[Value]:
    """Checks that a caller gives several values. A single value is a frequent mistake."""
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise invalid(f"the {what} are one {type(values).__name__}; give a list", index)
    return values


def identity(value: Identity) -> int:
    """Returns the id of a task or an event. The caller gives the id, or an object with the id."""
    if not isinstance(value, int) and not hasattr(value, "id"):
        raise invalid(f"{value!r} is no id, and has no id; give a task, an event, or an id")
    return number("id", value if isinstance(value, int) else value.id, UINT64)


def identities(what: str, values: Iterable[Identity]) -> Array[c_uint64]:
    numbers = [identity(value) for value in several(what, values)]
    return (c_uint64 * len(numbers))(*numbers)


def header_array(fields: Headers, index: int | None = None) -> Array[bh_header]:
    if isinstance(fields, str):
        raise invalid('the headers are one str; give a dict, such as {"Accept": "image/png"}', index)
    pairs = list(fields.items()) if hasattr(fields, "items") else list(several("headers", fields, index))
    if not all(isinstance(pair, Sequence) and len(pair) == 2 and not isinstance(pair, str) for pair in pairs):
        raise invalid("the headers are not pairs of a name and a value; give a dict, or a list of pairs", index)
    array = (bh_header * len(pairs))()
    for slot, (name, value) in zip(array, pairs):
        slot.name = text("header name", name, index)
        slot.value = text(f"value of the header {name}", value, index)
    return array


def choice(what: str, value: bool | None, index: int | None = None) -> int:
    if value is not None and not isinstance(value, bool):
        raise invalid(f"{what} is {value!r}; give True, False, or None for the default", index)
    return {None: Choice.DEFAULT, True: Choice.YES, False: Choice.NO}[value]


def launch(command: LaunchCommand | None) -> Any:
    """Returns a pointer to a bh_launch_command, or None."""
    if command is None:
        return None
    if not isinstance(command, LaunchCommand):
        raise invalid(f"the launch command is a {type(command).__name__}; give a LaunchCommand, or None")
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
    # In C, the name and the value are one text such as NAME=value. So a name with '=' in it would set a variable with a
    # different name.
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
    store: StrPath | None,
    hosting: Hosting,
    daemon: StrPath | None,
    observes: bool,
) -> bh_application_options:
    return bh_application_options(
        sizeof(bh_application_options),
        text("application's identifier", identifier),
        path("store", store),
        member("hosting", hosting, Hosting),
        ApplicationFlags.OBSERVES if observes else 0,
        path("daemon", daemon),
    )


def challenge(value: Challenge | int) -> int:
    """Returns the id of a challenge. The caller gives the challenge or its id. An event is refused, because an event
    and its challenge have different ids."""
    if not isinstance(value, (int, Challenge)):
        raise invalid(f"the challenge is a {type(value).__name__}; give the Challenge, such as event.challenge")
    return number("challenge", value if isinstance(value, int) else value.id, UINT64)


def response(
    *,
    user: str | None = None,
    password: str | None = None,
    headers: Headers | None = None,
    url: str | None = None,
    refuse: bool = False,
    default: bool = False,
    keep: bool = False,
    expires: Moment | None = None,
) -> bh_challenge_response:
    """Makes the response to a challenge. The caller gives exactly one of these: a user with a password, headers, a URL,
    a refusal, or the default handling."""
    has_credential = user is not None or password is not None
    if has_credential + (headers is not None) + (url is not None) + bool(refuse) + bool(default) != 1:
        raise invalid(
            "respond with user and password, headers, url, refuse=True or default=True; give exactly one of them"
        )
    challenge_response = bh_challenge_response(sizeof(bh_challenge_response))
    if refuse:
        challenge_response.kind = ChallengeResponseKind.REFUSE
    elif default:
        challenge_response.kind = ChallengeResponseKind.DEFAULT
    elif url is not None:
        challenge_response.kind = ChallengeResponseKind.URL
        challenge_response.url = text("URL", url)
    elif headers is not None:
        challenge_response.kind = ChallengeResponseKind.HEADERS
        fields = header_array(headers)
        challenge_response.headers = cast(fields, POINTER(bh_header))
        challenge_response.header_count = len(fields)
    else:
        challenge_response.kind = ChallengeResponseKind.CREDENTIAL
        challenge_response.user = text("user", user)
        challenge_response.password = text("password", "" if password is None else password)
    challenge_response.expires_ms = moment_ms("expiry of the credential", expires)
    challenge_response.flags = ChallengeResponseFlags.KEEP if keep else 0
    return challenge_response


def interval_ms(interval: float) -> int:
    """Converts the interval of progress readings to milliseconds. The library checks its range."""
    if interval is None or seconds(interval, "interval") == math.inf:
        raise invalid(f"the interval is {interval!r}; give seconds, such as 0.5")
    # A very short interval becomes one millisecond, because 0 milliseconds would stop the readings.
    milliseconds = max(1, round(interval * 1000)) if interval else 0
    return number("interval in milliseconds", milliseconds, UINT32)


def selection(
    tasks: Iterable[Identity] | None, states: Iterable[TaskState] = (), group: str | None = None
) -> Any:
    """Returns a pointer to a bh_task_selection. If ``tasks`` is None, the struct does not restrict the ids. ``tasks``
    must not be an empty list, because an empty list means all tasks in C."""
    mask = 0
    for state in several("states", states):
        mask |= 1 << number("state", member("state", state, TaskState), range(32))
    chosen = bh_task_selection(sizeof(bh_task_selection), group=text("group", group), states=mask)
    if tasks is not None:
        ids = identities("tasks", tasks)
        chosen.ids = cast(ids, POINTER(c_uint64))
        chosen.id_count = len(ids)
    return pointer(chosen)
