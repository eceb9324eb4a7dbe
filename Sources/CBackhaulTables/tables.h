// Functions for the tables and macros of include/backhaul.h that Swift cannot import. The header stays the only source
// of these tables and macros.
#pragma once
#include "../../include/backhaul.h"
#include "words.h"
#include <string.h>

static inline const char *bht_status_name(bh_status status) {
    switch (status) {
#define BHT_CASE(name, value, text) case value: return "BH_" #name;
        BH_STATUS_TABLE(BHT_CASE)
#undef BHT_CASE
    default: return "BH_UNKNOWN";
    }
}

static inline const char *bht_status_text(bh_status status) {
    switch (status) {
#define BHT_CASE(name, value, text) case value: return text;
        BH_STATUS_TABLE(BHT_CASE)
#undef BHT_CASE
    default: return "a status that this version of the library does not know";
    }
}

static inline const char *bht_name(const char *type, int64_t value) {
    if (!type) return "unknown";
    if (!strcmp(type, "bh_status")) return bht_status_name(value == (bh_status)value ? (bh_status)value : -1);
    size_t count;
    const bht_word *words = bht_words(&count);
    for (const bht_word *row = words; row < words + count; row++) {
        if (strcmp(row->type, type)) continue;
        if (row->is_bit && value == 0) return "none";
        // A number and its negative have no bit in common except for the lowest bit.
        if (row->value == (row->is_bit ? (int64_t)((uint64_t)value & -(uint64_t)value) : value)) return row->word;
    }
    return "unknown";
}

// Returns BH_FORKED, and fills the host's error if its struct_size is valid. In a forked child, a thread of the parent
// may have locked the locks of malloc and of the Swift runtime for ever. So this function is in C: it takes no lock and
// allocates nothing.
static inline bh_status bht_report_forked(bh_error *error) {
    static const char text[] = "the process was forked after its parent had opened an application; "
                               "use the library in the parent, or in a program that this process executes";
    const size_t end = offsetof(bh_error, message) + sizeof(error->message);
    if (error && error->struct_size >= end && error->struct_size <= 65536) {
        error->status = BH_FORKED;
        error->domain = BH_DOMAIN_NONE;
        error->detail = 0;
        error->index = BH_NO_INDEX;
        error->ticket = NULL;
        memcpy(error->message, text, sizeof(text));
    }
    return BH_FORKED;
}

#define BHT_TEXT_OF(number) #number
#define BHT_TEXT(macro) BHT_TEXT_OF(macro)
static inline const char *bht_version_string(void) {
    return BHT_TEXT(BH_VERSION_MAJOR) "." BHT_TEXT(BH_VERSION_MINOR) "." BHT_TEXT(BH_VERSION_PATCH);
}

static inline uint32_t bht_version(void) { return BH_VERSION; }
static inline uint64_t bht_no_index(void) { return BH_NO_INDEX; }
static inline uint64_t bht_size_unknown(void) { return BH_SIZE_UNKNOWN; }
