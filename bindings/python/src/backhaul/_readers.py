"""From a struct of the library to a value, field by field: a field that is called the same in both needs no line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from ctypes import Structure, sizeof
from operator import attrgetter
from typing import Any, Callable, Generic, TypeVar

from . import _constants, _rules
from ._constants import ItemKind
from ._copying import chosen, data, header_pairs, something, text, texts, words
from ._handles import BatchHandle
from ._library import library

Value = TypeVar("Value")
Conversion = Callable[[Any], Any]

#: Annotation -> how such a field is made of what C has; None: it is that itself.
_CONVERSIONS: Mapping[str, Conversion | None] = {
    "int": None,
    "int | None": something,
    "str": words,
    "str | None": text,
    "Path | None": text,
    "bool": bool,
    "bool | None": chosen,
}


def _sized(name: str) -> Conversion:
    """Bytes: a pointer, and a size beside it."""
    both = attrgetter(name, f"{name}_size")
    return lambda raw: data(*both(raw))


def _counted(convert: Callable[[Any, int], Any]) -> Callable[[str], Conversion]:
    """Several items: a pointer, and a count beside it, as ``headers`` and ``header_count``."""

    def of(name: str) -> Conversion:
        both = attrgetter(name, f"{name[:-1]}_count")
        return lambda raw: convert(*both(raw))

    return of


#: Annotation -> the conversion of a struct, for a field that is made of two.
_PAIRS: Mapping[str, Callable[[str], Conversion]] = {
    "bytes": _sized,
    "Headers": _counted(header_pairs),
    "tuple[tuple[str, str], ...]": _counted(header_pairs),
    "tuple[str, ...]": _counted(texts),
}


def enumeration(annotation: str) -> Any:
    """The enumeration that an annotation names, such as ``str | Preset | None``; None: it names none."""
    return next((vars(_constants)[word] for word in annotation.split(" | ") if word in vars(_constants)), None)


def part(annotation: str) -> Any:
    """The part of a configuration that an annotation names, such as ``RetryPolicy``; None: it names none."""
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
    """As ``kind``, which is four times slower; it makes what only a newer library knows."""
    known = {int(member): member for member in kind}
    return lambda raw: known.get(raw) or kind(raw)


def _optional(convert: Conversion) -> Conversion:
    """0 stands for nothing."""
    return lambda raw: convert(raw) if raw else None


class Reader(Generic[Value]):
    """Makes values of a dataclass or named tuple of structs. The annotation of each field says how.

    ``renamed``: Python's name -> C's. ``converted``: how a field is made of C's, where the annotation does not say it.
    ``computed``: how one is made of the struct. Fields whose name begins with ``_`` are given by the caller.
    """

    def __init__(
        self,
        struct: type[Structure],
        value: Callable[..., Value],
        *,
        renamed: Mapping[str, str] | None = None,
        converted: Mapping[str, Conversion] | None = None,
        computed: Mapping[str, Conversion] | None = None,
    ) -> None:
        self.struct = struct
        self._value = _by_position(value)
        names: list[str] = []
        self._conversions: list[tuple[int, Conversion]] = []
        self._computations: list[tuple[int, Conversion]] = []
        of_struct, of_field, types = computed or {}, converted or {}, field_types(struct)
        for position, (field, annotation) in enumerate(_fields(value)):
            name = (renamed or {}).get(field, field)
            computation = of_struct.get(field) or (_PAIRS[annotation](name) if annotation in _PAIRS else None)
            if computation:
                # Any field does in its place.
                name = next(iter(types))
                self._computations.append((position, computation))
            elif conversion := of_field.get(field) or _conversion(annotation, types[name]):
                self._conversions.append((position, conversion))
            names.append(name)
        # One call for all fields: half the time of a listing is spent on them.
        self._get = attrgetter(*names)

    def __call__(self, raw: Structure, *more: Any) -> Value:
        values = list(self._get(raw))
        for position, convert in self._conversions:
            values[position] = convert(values[position])
        for position, compute in self._computations:
            values[position] = compute(raw)
        made: Value = self._value(*values, *more)
        return made


def _fields(value: Any) -> list[tuple[str, str]]:
    """Name and annotation of each field that is not given by the caller."""
    if not dataclasses.is_dataclass(value):
        return [(name, kind.__forward_arg__) for name, kind in value.__annotations__.items()]
    return [(field.name, str(field.type)) for field in dataclasses.fields(value) if not field.name.startswith("_")]


def _by_position(value: Any) -> Any:
    """The initializer for fields in their order: that of a part takes keywords only."""
    if part(value.__name__) is not value:
        return value
    names = [field.name for field in dataclasses.fields(value)]
    return lambda *values: value(**dict(zip(names, values)))


def items(batch: BatchHandle, kind: ItemKind, read: Reader[Value], *more: Any) -> list[Value]:
    """The items of a batch. ``more`` are the fields that the caller gives."""
    pointer, struct, size = batch.pointer, read.struct, sizeof(read.struct)
    addresses = [library.bh_batch_item(pointer, index, kind, size) for index in range(library.bh_batch_count(pointer))]
    return [read(struct.from_address(address), *more) for address in addresses]
