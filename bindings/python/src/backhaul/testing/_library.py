"""Loads libbackhaul_testing.so, and declares its functions."""

from __future__ import annotations

import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int32, c_int64, c_size_t, c_uint8, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Any

from .._ctypes import bh_error
from .._errors import error_from

_NAME = "libbackhaul_testing.so.1"


class Options(ctypes.Structure):
    """bht_options."""

    _fields_ = [("struct_size", c_size_t), ("daemon", c_char_p), ("directory", c_char_p)]


class RawRequest(ctypes.Structure):
    """bht_request."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("method", c_char_p),
        ("head", c_char_p),
        ("offset", c_uint64),
        ("status", c_int32),
        ("body", c_void_p),
        ("body_size", c_size_t),
    ]


class LaunchRequest(ctypes.Structure):
    """bht_launch_request."""

    _fields_ = [
        ("struct_size", c_size_t),
        ("words", POINTER(c_char_p)),
        ("environment", POINTER(c_char_p)),
        ("directory", c_char_p),
        ("connection", c_int),
    ]


_FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "bht_open": (c_int32, [POINTER(Options), POINTER(c_void_p), POINTER(bh_error)]),
    "bht_close": (None, [c_void_p]),
    "bht_directory": (c_char_p, [c_void_p]),
    "bht_store": (c_char_p, [c_void_p]),
    "bht_environment": (POINTER(c_char_p), [c_void_p]),
    "bht_origin_url": (c_char_p, [c_void_p]),
    "bht_serve": (c_int32, [c_void_p, c_char_p, c_char_p, c_size_t, POINTER(c_void_p), POINTER(bh_error)]),
    "bht_url": (c_char_p, [c_void_p]),
    "bht_replace": (None, [c_void_p, c_char_p, c_size_t]),
    "bht_require": (None, [c_void_p, c_char_p, c_char_p]),
    "bht_drop": (None, [c_void_p, c_uint64]),
    "bht_stall": (None, [c_void_p, c_uint64]),
    "bht_release": (None, [c_void_p]),
    "bht_corrupt": (None, [c_void_p, c_uint64]),
    "bht_refuse": (None, [c_void_p, c_int, c_char_p]),
    "bht_redirect": (None, [c_void_p, c_char_p]),
    "bht_wait_for_requests": (c_int32, [c_void_p, c_size_t, c_int32, POINTER(bh_error)]),
    "bht_wait_for_bytes": (c_int32, [c_void_p, c_uint64, c_int32, POINTER(bh_error)]),
    "bht_request_count": (c_size_t, [c_void_p]),
    "bht_request_at": (c_bool, [c_void_p, c_size_t, POINTER(RawRequest)]),
    "bht_start": (c_int32, [c_void_p, POINTER(c_char_p), c_size_t, POINTER(c_void_p), POINTER(bh_error)]),
    "bht_take_launch": (c_int32, [c_void_p, c_int32, POINTER(LaunchRequest), POINTER(bh_error)]),
    "bht_start_daemon": (c_int32, [c_void_p, POINTER(bh_error)]),
    "bht_kill_daemon": (c_bool, [c_void_p]),
    "bht_kill_daemon_at": (None, [c_void_p, c_int32, c_uint32]),
    "bht_daemon_died": (c_bool, [c_void_p]),
    "bht_wait_for_death": (c_int32, [c_void_p, c_int32, POINTER(bh_error)]),
    "bht_fail_power": (c_int32, [c_void_p, POINTER(bh_error)]),
    "bht_set_power": (None, [c_void_p, c_bool, c_uint8]),
    "bht_set_heat": (None, [c_void_p, c_int32]),
    "bht_set_network": (None, [c_void_p, c_uint32]),
    "bht_pass": (None, [c_void_p, c_uint64]),
    "bht_now": (c_int64, [c_void_p]),
}


def _candidates() -> list[str]:
    """Returns the paths of the library, in the order in which they are tried: where the package's own library is."""
    beside = Path(__file__).parent.with_name(_NAME)
    chosen = os.environ.get("BACKHAUL_LIBRARY")
    paths = [Path(chosen).with_name(_NAME)] if chosen else []
    return [*(str(path) for path in (*paths, beside) if path.exists()), _NAME]


def _load() -> ctypes.CDLL:
    errors: list[str] = []
    for candidate in _candidates():
        try:
            loaded = ctypes.CDLL(candidate)
        except OSError as error:
            errors.append(str(error))
            continue
        for name, (result, parameters) in _FUNCTIONS.items():
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, parameters
        return loaded
    raise ImportError(f"Backhaul's test kit cannot be loaded ({'; '.join(errors)}): install libbackhaul-dev.")


kit = _load()


def status_of(function: Any, *arguments: Any) -> tuple[int, bh_error]:
    """Calls a function of the kit. Returns its status, with the details of the error."""
    error = bh_error(ctypes.sizeof(bh_error))
    return function(*arguments, ctypes.byref(error)), error


def call(function: Any, *arguments: Any) -> None:
    """Calls a function of the kit. Raises the error that it returns."""
    status, error = status_of(function, *arguments)
    if status:
        raise error_from(status, error)


def milliseconds(seconds: float) -> int:
    """A time-out for the kit."""
    return max(0, min(round(seconds * 1_000), 2**31 - 1))


def count(number: int) -> int:
    """A number of bytes or of requests for the kit."""
    if not 0 <= number < 2**64:
        raise ValueError(f"{number} is no number of bytes or requests; give 0 or more")
    return number


def content_of(content: bytes) -> bytes:
    """The bytes of a content."""
    if not isinstance(content, (bytes, bytearray, memoryview)):
        raise TypeError(f"the content is of type {type(content).__name__}; give bytes")
    return bytes(content)


def text_of(name: str, text: str, forbidden: str = "") -> str:
    """A text for the kit, without NUL, which ends a text of C, and without the forbidden characters."""
    for character in ("\0", *forbidden):
        if character in text:
            raise ValueError(f"{name} {text!r} has the character {character!r}; remove it")
    return text


def texts(pointer: Any) -> list[str]:
    """The texts of an array that ends with NULL."""
    found: list[str] = []
    while (text := pointer[len(found)]) is not None:
        found.append(os.fsdecode(text))
    return found
