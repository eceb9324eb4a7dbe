// Functions for the tables and macros of include/backhaul.h that Swift cannot import. The header stays the only source
// of these tables and macros.
#pragma once
#include "../../include/backhaul.h"

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

#define BHT_TEXT_OF(number) #number
#define BHT_TEXT(macro) BHT_TEXT_OF(macro)
static inline const char *bht_version_string(void) {
    return BHT_TEXT(BH_VERSION_MAJOR) "." BHT_TEXT(BH_VERSION_MINOR) "." BHT_TEXT(BH_VERSION_PATCH);
}

static inline uint32_t bht_version(void) { return BH_VERSION; }
static inline uint64_t bht_no_index(void) { return BH_NO_INDEX; }
static inline uint64_t bht_size_unknown(void) { return BH_SIZE_UNKNOWN; }
