"""Every field of the library's structs is read into a Python object, and every option is written into a struct."""

from __future__ import annotations

from ctypes import (
    POINTER,
    Structure,
    c_char_p,
    c_void_p,
    cast,
    create_string_buffer,
    pointer,
    sizeof,
)
from functools import reduce

import pytest

from backhaul import (
    Activity,
    Dependency,
    Part,
    Policy,
    Request,
    _reading,
    _reading_conditions,
    _reading_transfers,
    _writing_conditions,
    _writing_transfers,
)
from backhaul._ctypes import bh_header
from backhaul._readers import Reader, field_types

READERS = {
    reader.struct.__name__: reader
    for module in (_reading, _reading_conditions, _reading_transfers)
    for reader in vars(module).values()
    if isinstance(reader, Reader)
}
WRITERS = {
    "bh_constraints": _writing_transfers.constraints,
    "bh_limits": _writing_transfers.limits,
    "bh_network": _writing_conditions.network,
    "bh_session_configuration": _writing_transfers.configuration,
}
#: Names of struct fields for which Python has no field.
NOTHING = {"struct_size", "reserved", "reserved_number"}
#: Fields of an activity that Python writes but does not read, because a listing does not have these fields.
NOT_READ = {("bh_activity", "request"), ("bh_activity", "first_ms")}
#: Fields of a network that Python reads but does not write.
ONLY_READ = {"kind", "is_current", "used_today", "used_this_month", "day_ends_ms", "month_ends_ms"}


def leaf_fields(struct, path=""):
    """Yields each field of the struct and of its embedded structs, with its path, such as ``constraints.preset``."""
    for name, kind in field_types(struct).items():
        if isinstance(kind, type) and issubclass(kind, Structure):
            yield from leaf_fields(kind, f"{path}{name}.")
        else:
            yield path + name, kind


def raw_of(struct):
    return struct(sizeof(struct)) if "struct_size" in field_types(struct) else struct()


def with_field_set(struct, path, kind):
    """Returns a struct in which one field is set. If the field is a pointer, it points to a valid object."""
    raw = raw_of(struct)
    *inner, name = path.split(".")
    owner = reduce(getattr, inner, raw)
    counts = {f"{name}_size", f"{name}_count", f"{name[:-1]}_count"}
    for count in counts & {field for field, *_ in owner._fields_}:
        setattr(owner, count, 1)
    if kind is c_char_p:
        setattr(owner, name, b"x")
    elif kind is c_void_p:
        setattr(owner, name, cast(create_string_buffer(b"x", 1), c_void_p))
    elif kind is POINTER(c_char_p):
        setattr(owner, name, (c_char_p * 1)(b"A=b"))
    elif kind is POINTER(bh_header):
        setattr(owner, name, (bh_header * 1)(bh_header(b"A", b"b")))
    elif hasattr(kind, "contents"):
        setattr(owner, name, pointer_to(kind._type_))
    else:
        # The value 2 differs from the default of every field. For a choice, 2 means BH_NO.
        setattr(owner, name, 2)
    return raw


def pointer_to(kind):
    return pointer(pointer_to(kind._type_) if hasattr(kind, "contents") else raw_of(kind))


def fields():
    for struct, reader in READERS.items():
        for path, kind in leaf_fields(reader.struct):
            name = path.rpartition(".")[2]
            if name not in NOTHING and not name.endswith(("_count", "_size")) and (struct, name) not in NOT_READ:
                yield pytest.param(reader, path, kind, id=f"{struct}.{path}")


def read(reader, raw):
    # If `is_known` is false, the value of a condition is read as None, even if the struct has a value. In the structs
    # of these tests, `is_known` is true only if it is the tested field. This function inverts the flag, so that the
    # values of all other fields are read.
    if reader.struct.__name__ == "bh_condition":
        raw.is_known = not raw.is_known
    return reader(raw)


@pytest.mark.parametrize(("reader", "field", "kind"), list(fields()))
def test_a_field_of_a_struct_is_read_into_a_python_object(reader, field, kind):
    assert read(reader, with_field_set(reader.struct, field, kind)) != read(reader, raw_of(reader.struct))


@pytest.mark.parametrize(("reader", "field", "kind"), [
    given for given in fields() if given.values[0].struct.__name__ in WRITERS
])
def test_a_field_of_a_python_object_is_written_to_a_struct(reader, field, kind):
    if field in ONLY_READ:
        return
    value = reader(with_field_set(reader.struct, field, kind))
    assert reader(WRITERS[reader.struct.__name__](value)) == value


def test_every_field_of_a_request_is_written_to_a_struct():
    # The test only converts this request. The library would refuse it, because some of the options exclude each other.
    request = Request(
        "http://a/", "/d", "k", {"A": "b"}, b"u", "replace", 1, suspended=True, mode=0o600, method="PUT", group="g",
        checksum="c", expected_size=1, body_file="/b", body=b"b", parts=[Part("p", "v")], body_source="snapshot",
        refresh="url", expires=1.0, policy=Policy(bytes_per_second=1), earliest_start=1.0, latest_start=2.0,
        expected_bytes_received=1, expected_bytes_sent=1, range_start=1, range_size=1, after=[Dependency(key="k")],
    )
    raw = _writing_transfers.requests([request])[0]
    assert [name for name, *_ in raw._fields_ if not getattr(raw, name)] == []


def test_every_field_that_a_program_sets_in_an_activity_is_written_to_a_struct():
    activity = Activity("a", 1, 1, False, "utility", Request("http://a/"), 1.0)
    raw = _writing_conditions.activity(activity)
    unset = [name for name, *_ in raw._fields_ if not getattr(raw, name)]
    assert unset == ["next_ms", "next_ends_ms", "last_started_ms", "last_task", "url"]
