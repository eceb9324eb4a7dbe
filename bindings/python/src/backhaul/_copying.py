"""Functions that copy data from the library's memory into Python objects."""

from __future__ import annotations

from ctypes import string_at
from typing import Any, Callable, TypeVar

from ._constants import Choice
from ._handles import BatchHandle
from ._library import library
from ._numbers import SIZE_UNKNOWN

Result = TypeVar("Result")


def text(value: bytes | None) -> str | None:
    return None if value is None else value.decode("utf-8", "replace")


def words(value: bytes | None) -> str:
    return text(value) or ""


def data(address: int | None, size: int) -> bytes:
    return string_at(address, size) if address and size else b""


def header_pairs(pointer: Any, count: int) -> tuple[tuple[str, str], ...]:
    return tuple((words(item.name), words(item.value)) for item in (pointer[index] for index in range(count)))


def texts(pointer: Any, count: int) -> tuple[str, ...]:
    return tuple(words(pointer[index]) for index in range(count))


def known_size(raw: int) -> int | None:
    return None if raw == SIZE_UNKNOWN else raw


def nonzero(raw: int) -> int | None:
    """Returns the number, or None if it is 0."""
    return raw or None


def choice_value(raw: int) -> bool | None:
    return {Choice.YES: True, Choice.NO: False}.get(Choice(raw))


def has_more(batch: BatchHandle) -> bool:
    """Whether more items exist than the caller has requested."""
    more: bool = library.bh_batch_more(batch.pointer)
    return more


def released(batch: BatchHandle, read: Callable[[BatchHandle], Result]) -> Result:
    """Reads the batch, which is a list of the library, and releases it."""
    try:
        return read(batch)
    finally:
        batch.close()
