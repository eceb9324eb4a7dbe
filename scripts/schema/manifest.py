"""Generates the tables for bh_abi_json, which are the layouts of the structs and the constants, and the table for
bh_name."""

from __future__ import annotations

from . import names
from .model import Enumeration, Header, Struct
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

_WORDS = """#pragma once
#include "../../include/backhaul.h"

/// A constant of an enumeration, or a bit of a set of bits, with its word.
typedef struct bht_word {
    const char *type;
    bool is_bit;
    int64_t value;
    const char *word;
} bht_word;

#define BHT_VALUE(type, constant, word) {#type, false, constant, word},
#define BHT_BIT(type, constant, word) {#type, true, constant, word},

/// The words of all constants of include/backhaul.h. BH_STATUS_TABLE has the names of the statuses.
static inline const bht_word *bht_words(size_t *count) {
    static const bht_word words[] = {
%s    };
    *count = sizeof(words) / sizeof(*words);
    return words;
}

#undef BHT_BIT
#undef BHT_VALUE
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


def words(header: Header) -> str:
    others = (enumeration for enumeration in header.enumerations if enumeration.name != "bh_status")
    return NOTE + _WORDS % "".join(map(_words, others))


def _words(enumeration: Enumeration) -> str:
    form = "BHT_BIT" if enumeration.is_bits else "BHT_VALUE"
    return "".join(
        f'        {form}({enumeration.name}, {constant.name}, "{names.word(enumeration, constant)}")\n'
        for constant in enumeration.constants
    )
