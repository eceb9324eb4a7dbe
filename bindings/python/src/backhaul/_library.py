"""Finds and loads libbackhaul.so, and checks that it has the structs and constants that this package declares."""

from __future__ import annotations

import ctypes
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _ctypes, _functions, _header_names

_NAME = "libbackhaul.so.1"


def _candidates() -> list[str]:
    """Returns the paths of the library, in the order in which they are tried. If BACKHAUL_LIBRARY is set, returns only
    the path in this variable."""
    chosen = os.environ.get("BACKHAUL_LIBRARY")
    if chosen:
        return [chosen]
    beside = Path(__file__).with_name(_NAME)
    return [str(beside), _NAME] if beside.exists() else [_NAME]


def _open() -> ctypes.CDLL:
    errors: list[str] = []
    for candidate in _candidates():
        try:
            return ctypes.CDLL(candidate)
        except OSError as error:
            errors.append(str(error))
    raise ImportError(
        f"Backhaul's library cannot be loaded ({'; '.join(errors)}): install it, "
        f"or set BACKHAUL_LIBRARY to the path of {_NAME}."
    )


def _declare(loaded: ctypes.CDLL) -> None:
    for name, (result, parameters) in _functions.FUNCTIONS.items():
        try:
            function = getattr(loaded, name)
        except AttributeError:
            raise ImportError(
                f"{loaded._name} has no function {name}: it is older than this package; install both from one release."
            ) from None
        function.restype = result
        function.argtypes = parameters


def differences(manifest: Mapping[str, Any]) -> list[str]:
    """Returns the differences between the declarations of this package and a manifest (``bh_abi_json``), which
    describes the structs and constants of a loaded library."""
    found: list[str] = []
    structs: dict[str, Any] = manifest.get("structs", {})
    for declared in (*_ctypes.GROWING, *_ctypes.FIXED):
        name = declared.__name__
        built = structs.get(name)
        if built is None:
            found.append(f"{name} is missing")
            continue
        size = ctypes.sizeof(declared)
        grown = declared in _ctypes.GROWING and built["size"] > size
        if built["size"] != size and not grown:
            found.append(f"{name} has {built['size']} bytes instead of {size}")
        # A newer library may use a field that is reserved in this package, so reserved fields are not compared.
        for field in (entry[0] for entry in declared._fields_ if not entry[0].startswith("reserved")):
            offset = getattr(declared, field).offset
            if built["fields"].get(field) != offset:
                found.append(f"{name}.{field} is at {built['fields'].get(field)} instead of {offset}")
    constants: dict[str, int] = manifest.get("constants", {})
    for name, value in _header_names.by_header_name().items():
        if constants.get(name) != value:
            found.append(f"{name} is {constants.get(name)} instead of {value}")
    return found


def _check(loaded: ctypes.CDLL) -> None:
    manifest = json.loads(loaded.bh_abi_json())
    found = differences(manifest)
    if found:
        more = f" and {len(found) - 3} more differences" if len(found) > 3 else ""
        raise ImportError(
            f"{loaded._name} (version {manifest.get('version')}) does not fit this package: "
            f"{', '.join(found[:3])}{more}; install both from one release."
        )


def load() -> ctypes.CDLL:
    """Returns the loaded library after the checks. On failure, raises an ImportError that says what to do."""
    loaded = _open()
    _declare(loaded)
    _check(loaded)
    return loaded


library = load()


def version() -> str:
    """Returns the version of the loaded library, such as ``1.0.0``."""
    text: bytes = library.bh_version_string()
    return text.decode()
