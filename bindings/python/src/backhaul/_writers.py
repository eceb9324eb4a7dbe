"""Converts Python objects to structs of the library, field by field. If a field has the same name in Python and in C,
the conversion finds it by that name."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from ctypes import POINTER, Structure, c_int32, c_uint32, c_uint64, cast, sizeof
from enum import IntFlag
from operator import attrgetter
from typing import Any, Callable, Generic, TypeVar

from ._ctypes import bh_header
from ._errors import invalid
from ._readers import enumeration, field_types, part
from ._writing import (
    INT32,
    UINT32,
    UINT64,
    bits,
    choice,
    copied,
    header_array,
    member,
    moment_ms,
    number,
    path,
    text,
    word,
)
from ._writing import flag as checked_flag

Struct = TypeVar("Struct", bound=Structure)
#: A function that writes a value into a struct. Its arguments are the struct, the value, and the index of the request.
#: If the value is invalid, the exception has this index.
Writing = Callable[[Any, Any, "int | None"], None]

_RANGES: Mapping[Any, range] = {c_int32: INT32, c_uint32: UINT32, c_uint64: UINT64}

#: Maps the annotation of a field to a function. The function checks the value of the field and converts it to C.
_CONVERSIONS: Mapping[str, Callable[[str, Any, int | None], Any]] = {
    "str": text,
    "str | None": text,
    "StrPath | None": path,
    "bool | None": choice,
    "Moment | None": moment_ms,
}


def _converted(name: str, what: str, convert: Callable[[str, Any, int | None], Any]) -> Writing:
    def write(slot: Any, value: Any, index: int | None) -> None:
        setattr(slot, name, convert(what, value, index))

    return write


def numeric(name: str, what: str, kind: range) -> Writing:
    """Returns the conversion of a number in the range ``kind``. None becomes 0."""

    def write(slot: Any, value: Any, index: int | None) -> None:
        setattr(slot, name, number(what, 0 if value is None else value, kind, index))

    return write


def _chosen(name: str, annotation: str, what: str, kind: Any) -> Writing:
    alternatives = annotation.split(" | ")
    is_optional = "None" in alternatives
    is_spoken = f"{kind.__name__}Word" in alternatives
    convert: Any = word if is_spoken else bits if is_optional and issubclass(kind, IntFlag) else member

    def write(slot: Any, value: Any, index: int | None) -> None:
        setattr(slot, name, 0 if value is None and is_optional else convert(what, value, kind, index))

    return write


def _sized(name: str, what: str) -> Writing:
    def write(slot: Any, value: Any, index: int | None) -> None:
        pointer, size = copied(what, value, index)
        setattr(slot, name, pointer)
        setattr(slot, f"{name}_size", size)

    return write


def _headers(slot: Any, value: Any, index: int | None) -> None:
    fields = header_array(value, index)
    slot.headers = cast(fields, POINTER(bh_header))
    slot.header_count = len(fields)


def flag(what: str, bit: int) -> Writing:
    """Returns the conversion of a bool to a bit in the field ``flags`` of the struct."""

    def write(slot: Any, value: Any, index: int | None) -> None:
        if checked_flag(what, value, index):
            slot.flags |= bit

    return write


class Writer(Generic[Struct]):
    """Fills structs from values of a dataclass. The annotation of each field determines its conversion.

    A field that has its default value is not written, so it stays 0 or NULL in C. ``renamed`` maps names of fields in
    Python to different names in C. ``words`` maps names of fields in Python to different names in messages. If the
    annotation of a field does not determine its conversion, ``special`` has the conversion. Fields in ``omitted`` are
    not written.
    """

    def __init__(
        self,
        struct: type[Struct],
        value: type[Any],
        *,
        renamed: Mapping[str, str] | None = None,
        words: Mapping[str, str] | None = None,
        special: Mapping[str, Writing] | None = None,
        omitted: Collection[str] = (),
    ) -> None:
        self._struct = struct
        self._value = value
        self._is_growing = "struct_size" in field_types(struct)
        fields = [field for field in dataclasses.fields(value) if field.name not in omitted]
        self._get = attrgetter(*(field.name for field in fields))
        self._writings: list[tuple[Any, Writing]] = []
        for field in fields:
            writing = (special or {}).get(field.name)
            if writing is None:
                name = (renamed or {}).get(field.name, field.name)
                writing = _writing(name, str(field.type), field_types(struct), words or {}, field.name)
            self._writings.append((field.default, writing))

    def __call__(self, value: Any, index: int | None = None, what: str = "argument") -> Struct:
        if not isinstance(value, self._value):
            raise invalid(f"the {what} is a {type(value).__name__} instead of a {self._value.__name__}", index)
        slot = self._struct()
        self.fill(slot, value, index)
        return slot

    def fill(self, slot: Struct, value: Any, index: int | None = None) -> None:
        if self._is_growing:
            slot.struct_size = sizeof(self._struct)
        for given, (default, write) in zip(self._get(value), self._writings):
            if given is not default:
                write(slot, given, index)


def _writing(name: str, annotation: str, types: Mapping[str, Any], words: Mapping[str, str], field: str) -> Writing:
    what = words.get(field, field)
    name = f"{name}_ms" if annotation == "Moment | None" else name
    if part(annotation):
        return _whole(name, what, Writer(types[name], part(annotation), words=words))
    choices = enumeration(annotation)
    if annotation in _CONVERSIONS:
        return _converted(name, what, _CONVERSIONS[annotation])
    if annotation == "Headers":
        return _headers
    if annotation in ("bytes", "bytes | None"):
        return _sized(name, what)
    if choices is None:
        return numeric(name, what, _RANGES[types[name]])
    return _chosen(name, annotation, what, choices)


def _whole(name: str, what: str, writer: Writer[Any]) -> Writing:
    """Returns the conversion of an embedded struct."""
    return lambda slot, value, index: setattr(slot, name, writer(value, index, what))
