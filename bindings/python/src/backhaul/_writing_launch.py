"""From launch commands, and what an application is opened with, to the library's structs."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import Array, c_char_p, pointer, sizeof
from typing import Any

from ._constants import Hosting
from ._ctypes import bh_application_options, bh_launch_command
from ._errors import invalid
from ._launch import LaunchCommand
from ._numbers import APPLICATION_OBSERVES
from ._types import Path
from ._writers import Writer
from ._writing import INT32, number, path, text


def _texts(values: Iterable[bytes | None]) -> Array[c_char_p]:
    texts = list(values)
    return (c_char_p * len(texts))(*texts)


def _fill_arguments(slot: bh_launch_command, values: Any, _index: int | None) -> None:
    if isinstance(values, (str, bytes)):
        raise invalid("the launch command's arguments are one text; give a list of them")
    arguments = _texts(path("launch command's argument", value) for value in values)
    slot.arguments, slot.argument_count = arguments, len(arguments)


def _fill_environment(slot: bh_launch_command, values: Any, _index: int | None) -> None:
    additions = _texts(_addition(name, value) for name, value in values.items())
    slot.environment, slot.environment_count = additions, len(additions)


def _addition(name: str, value: str) -> bytes:
    # What is said as one text in C could smuggle another name in.
    if not name or "=" in name:
        raise invalid(f"{name!r} is no name of an environment variable; give one without '='")
    encoded = text(f"environment variable {name}", f"{name}={value}")
    assert encoded is not None
    return encoded


_command = Writer(
    bh_launch_command,
    LaunchCommand,
    words={"program": "launch command's program", "working_directory": "launch command's working directory"},
    special={"arguments": _fill_arguments, "environment": _fill_environment},
)


def launch(command: LaunchCommand | None) -> Any:
    """A pointer to a bh_launch_command, or None."""
    return None if command is None else pointer(_command(command))


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
