"""Converts structs of the library to Python objects, field by field. ``Reader`` has an argument ``renamed``. This
argument lists only the fields whose names in the struct and in the object differ."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from ctypes import Structure, sizeof
from operator import attrgetter
from typing import Any, Callable, Generic, TypeVar

from . import _constants, _rules
from ._constants import ItemKind
from ._copying import choice_value, data, header_pairs, nonzero, text, texts, words
from ._handles import BatchHandle
from ._library import library
from ._messages import in_python

Value = TypeVar("Value")
Conversion = Callable[[Any], Any]

#: Maps the annotation of a field to the conversion of its C value. None: the value is used as it is.
_CONVERSIONS: Mapping[str, Conversion | None] = {
    "int": None,
    "int | None": nonzero,
    "str": words,
    "str | None": text,
    "StrPath | None": text,
    "bool": bool,
    "bool | None": choice_value,
}


#: Fields that are sentences of the library for users. They get the names of this package.
_SENTENCES = {"error_message", "reason_text"}


def _sentence(convert: Conversion) -> Conversion:
    """Returns a conversion to a sentence with the names of this package, or to None if ``convert`` returns None."""

    def of(raw: Any) -> Any:
        value = convert(raw)
        return value and in_python(value)

    return of


def _sized(name: str) -> Conversion:
    """Returns the conversion of bytes. In C, bytes are two fields: a pointer and a size."""
    both = attrgetter(name, f"{name}_size")
    return lambda raw: data(*both(raw))


def _counted(convert: Callable[[Any, int], Any]) -> Callable[[str], Conversion]:
    """Returns a function that makes the conversion of an array. In C, an array is two fields: a pointer, such as
    ``headers``, and a count, such as ``header_count``."""

    def of(name: str) -> Conversion:
        both = attrgetter(name, f"{name[:-1]}_count")
        return lambda raw: convert(*both(raw))

    return of


#: Values that are two fields in C. Maps the annotation of such a value to a function. The function takes the name of
#: the field, and returns the conversion. The conversion gets the whole struct.
_PAIRS: Mapping[str, Callable[[str], Conversion]] = {
    "bytes": _sized,
    "Headers": _counted(header_pairs),
    "tuple[tuple[str, str], ...]": _counted(header_pairs),
    "tuple[str, ...]": _counted(texts),
}


def enumeration(annotation: str) -> Any:
    """Returns the enumeration in an annotation such as ``Preset | PresetWord | None``. None if the annotation names no
    enumeration."""
    return next((vars(_constants)[word] for word in annotation.split(" | ") if word in vars(_constants)), None)


def part(annotation: str) -> Any:
    """Returns the class of a part of a configuration, such as ``RetryPolicy``. None if the annotation names no part."""
    kind = vars(_rules).get(annotation)
    return kind if dataclasses.is_dataclass(kind) else None


def field_types(struct: type[Structure]) -> dict[str, Any]:
    return {name: kind for name, kind, *_ in struct._fields_}


def _conversion(annotation: str, kind_of_c: Any) -> Conversion | None:
    if part(annotation):
        return Reader(kind_of_c, part(annotation))
    kind = enumeration(annotation)
    if kind is None:
        return _CONVERSIONS[annotation]
    return _optional(_member(kind)) if annotation.endswith(" | None") else _member(kind)


def _member(kind: Any) -> Conversion:
    """Returns a function that does the same as the enumeration ``kind``, four times as fast. It calls ``kind`` for
    unknown values."""
    known = {int(member): member for member in kind}
    return lambda raw: known.get(raw) or kind(raw)


def _optional(convert: Conversion) -> Conversion:
    """Returns a conversion whose result is None for 0, and the result of ``convert`` for other values."""
    return lambda raw: convert(raw) if raw else None


class Reader(Generic[Value]):
    """Makes objects of a dataclass or named tuple from structs. The annotation of each field determines its conversion.

    ``renamed`` maps the names of fields in Python to their names in C. ``converted`` has the conversions of fields
    whose annotations do not determine the conversion. ``computed`` has conversions that get the whole struct. ``kind``
    is the kind of the structs in a batch. None: no batch has such structs.
    """

    def __init__(
        self,
        struct: type[Structure],
        value: Callable[..., Value],
        kind: ItemKind | None = None,
        *,
        renamed: Mapping[str, str] | None = None,
        converted: Mapping[str, Conversion] | None = None,
        computed: Mapping[str, Conversion] | None = None,
    ) -> None:
        self.struct = struct
        self._kind = kind
        self._value = _by_position(value)
        names: list[str] = []
        self._conversions: list[tuple[int, Conversion]] = []
        self._computations: list[tuple[int, Conversion]] = []
        of_struct, of_field, types = computed or {}, converted or {}, field_types(struct)
        for position, (field, annotation) in enumerate(_fields(value)):
            name = (renamed or {}).get(field, field)
            computation = of_struct.get(field) or (_PAIRS[annotation](name) if annotation in _PAIRS else None)
            if computation:
                # The value that is read here is not used: the computation replaces it later. So the name can be the
                # name of any field.
                name = next(iter(types))
                self._computations.append((position, computation))
            elif conversion := of_field.get(field) or _conversion(annotation, types[name]):
                self._conversions.append((position, _sentence(conversion) if field in _SENTENCES else conversion))
            names.append(name)
        # One call reads all fields, because that is faster than one call for each field. The speed is important: the
        # reads take half the time of a listing.
        get = attrgetter(*names)
        self._get = get if len(names) > 1 else lambda raw: (get(raw),)

    def __call__(self, raw: Structure) -> Value:
        values = list(self._get(raw))
        for position, convert in self._conversions:
            values[position] = convert(values[position])
        for position, compute in self._computations:
            values[position] = compute(raw)
        made: Value = self._value(*values)
        return made

    def items(self, batch: BatchHandle) -> list[Value]:
        """Returns the items of a batch, which is a list of the library."""
        pointer, size = batch.pointer, sizeof(self.struct)
        addresses = (
            library.bh_batch_item(pointer, index, self._kind, size) for index in range(library.bh_batch_count(pointer))
        )
        return [self(self.struct.from_address(address)) for address in addresses]

    def first(self, batch: BatchHandle) -> Value:
        return self.items(batch)[0]


def _fields(value: Any) -> list[tuple[str, str]]:
    """Returns the name and the annotation of each field that is read from the struct."""
    if not dataclasses.is_dataclass(value):
        return [(name, kind.__forward_arg__) for name, kind in value.__annotations__.items()]
    return [(field.name, str(field.type)) for field in dataclasses.fields(value)]


def _by_position(value: Any) -> Any:
    """Returns a function that makes the object from the values of its fields, by position. The initializer of a part of
    a configuration accepts only keywords, so such a part needs a special function."""
    if part(value.__name__) is not value:
        return value
    names = [field.name for field in dataclasses.fields(value)]
    return lambda *values: value(**dict(zip(names, values)))
