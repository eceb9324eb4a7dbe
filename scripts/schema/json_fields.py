"""The JSON of the command line has the structure and the names of the header. This module returns the keys that the
JSON object of a struct must have."""

import functools

from . import header

#: Fields that are not printed, with the reason.
NOT_PRINTED = {
    "bh_session_configuration.headers": "the values may be secrets: `header_names`",
    "bh_proxy_settings.password": "a secret",
    "bh_enqueued.request": "the line has `url` and `destination` of the request",
    "bh_activity.request": "a listing has none: `url`",
    "bh_activity.first_ms": "a listing has `next_ms`",
    "bh_error.ticket": "a command leaves no operation behind",
}

#: Keys that are not fields, with the reason.
ADDED = {
    "bh_session_configuration.header_names": "instead of `headers`",
    "bh_session_info.application": "`sessions` lists the sessions of all applications",
    "bh_enqueued.url": "instead of `request`",
    "bh_enqueued.destination": "instead of `request`",
}

#: Keys that are not fields, with the reason. These keys are in lines that have only some of a struct's fields.
ADDED_TO_EXCERPTS = {
    "bh_event.error_body_encoding": "`get`, `put` and `wait` print `error_body` as text where it is one",
    "bh_event.response_body_encoding": "the same for `response_body`",
    "bh_hold.first_tasks": "`why` knows the tasks of its session",
    "bh_hold.advice": "what `why` is asked for",
}


@functools.cache
def structs():
    return {struct.name: struct for struct in header.read().structs}


def _counts(names):
    """Yields the fields that contain only the number of items of another field. A JSON array needs no such number."""
    for name in names:
        stem, _, unit = name.rpartition("_")
        if unit == "size" and stem in names or unit == "count" and {stem, f"{stem}s"} & names:
            yield name


def fields(struct):
    """Returns a dictionary whose keys are the names of the struct's printed fields. If a field is another struct or a
    pointer to another struct, its value is the name of this other struct. Otherwise the value is None."""
    names = {field.name for field in structs()[struct].fields}
    hidden = {"struct_size", *_counts(names), *_of(NOT_PRINTED, struct)}
    return {field.name: kind if (kind := field.type.removeprefix("const ").rstrip(" *")) in structs() else None
            for field in structs()[struct].fields
            if field.name not in hidden and not field.name.startswith("reserved")}


def keys(struct):
    """Returns the keys of an object that has all fields of the struct."""
    return set(fields(struct)) | _of(ADDED, struct)


def excerpt_keys(struct):
    """Returns the keys of an object that has some fields of the struct."""
    return set(fields(struct)) | _of(ADDED_TO_EXCERPTS, struct)


def added(struct):
    """Maps each key that is not a field to the reason. The last reasons are those of objects with only some fields."""
    return {name.partition(".")[2]: reason for table in (ADDED, ADDED_TO_EXCERPTS) for name, reason in table.items()
            if name.partition(".")[0] == struct}


def _of(table, struct):
    return {name.partition(".")[2] for name in table if name.partition(".")[0] == struct}


def differences(value, struct, path=""):
    """Returns the missing keys and the wrong keys of a printed struct, and of the structs inside it."""
    path = path or struct
    if isinstance(value, list):
        return [found for item in value for found in differences(item, struct, path)]
    if value is None:
        return []
    found = [f"{path}.{key}" for key in sorted(set(value) ^ keys(struct))]
    for field, inner in fields(struct).items():
        if inner and field in value:
            found += differences(value[field], inner, f"{path}.{field}")
    return found
