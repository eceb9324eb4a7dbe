// What the generated calls use: the choices that the bytes of an input make, and the handles that calls have returned.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../../../include/backhaul.h"

enum kind { APPLICATION, SESSION, TICKET, BATCH, KINDS };

// The choices of one thread. `memory` has the structs to which the arguments of the present call point.
struct choices {
    const uint8_t *bytes;
    size_t size;
    size_t used;
    const char *store;
    // The folder of the paths.
    const char *files;
    _Alignas(16) char memory[16384];
};

// No call may return this handle.
#define UNTOUCHED ((void *)0x7f)

uint64_t choose(struct choices *choices, uint64_t count);
uint64_t choose_number(struct choices *choices);
int32_t choose_timeout(struct choices *choices);
const char *choose_text(struct choices *choices);
void *choose_handle(struct choices *choices, enum kind kind);
void *take_memory(struct choices *choices, size_t size);
// Keeps a handle, and frees the handle in whose place it is kept.
void keep_handle(struct choices *choices, enum kind kind, void *handle);
void begin_error(struct choices *choices, bh_error *error);
void check_status(struct choices *choices, const char *function, bh_status status, bh_error *error);
void count_enqueued(bh_status status, size_t count);
void check_untouched(const char *function, bh_status status, const void *output);

struct call {
    const char *name;
    // Makes the call, and returns its status; BH_FORKED if the function has none.
    bh_status (*make)(struct choices *choices);
};
