"""Generates the tables for bh_abi_json: the layouts of the structs, and the constants."""

from __future__ import annotations

from .model import Header, Struct
from .swift_source import NOTE

_TABLE = """#pragma once
#include "../../include/backhaul.h"

/// The size of a struct of include/backhaul.h, or the offset of a field in its struct, as compiled in this library.
typedef struct bht_layout {
    const char *name;
    size_t bytes;
    bool is_struct;
} bht_layout;

#define BHT_STRUCT(type) {#type, sizeof(type), true},
#define BHT_FIELD(type, field) {#field, offsetof(type, field), false},

/// All structs of include/backhaul.h. The fields of a struct follow it.
static inline const bht_layout *bht_layouts(size_t *count) {
    static const bht_layout layouts[] = {
%s    };
    *count = sizeof(layouts) / sizeof(*layouts);
    return layouts;
}

#undef BHT_FIELD
#undef BHT_STRUCT
"""


def layouts(header: Header) -> str:
    return NOTE + _TABLE % "".join(map(_layout, header.structs))


def _layout(struct: Struct) -> str:
    fields = (f"        BHT_FIELD({struct.name}, {field.name})\n" for field in struct.fields)
    return f"        BHT_STRUCT({struct.name})\n" + "".join(fields)


def constants(header: Header) -> str:
    groups = [*(enumeration.constants for enumeration in header.enumerations), header.numbers]
    return (
        NOTE
        + """
/// The constants of include/backhaul.h with their values as decimal digits.
enum HeaderConstants {
    static let all: [(name: String, value: String)] = [
"""
        + "\n".join(
            "".join(f'        ("{constant.name}", "{constant.value}"),\n' for constant in group) for group in groups
        )
        + "    ]\n}\n"
    )
