/*
 * The format of a recording: the calls with which Backhaul uses its database. bench/recorder.c writes a recording, and
 * bench/replay.c replays it.
 *
 * A recording is a sequence of operations. Each operation is a `struct operation`, and some kinds have a text or a blob
 * behind it. Zeros follow the text or blob, so that the size of the operation is a multiple of OPERATION_ALIGNMENT.
 * Numbers have the byte order of the machine, because a recording is replayed where it was made.
 */
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { OPERATION_ALIGNMENT = 8, STATEMENTS = 1024 /* the most prepared statements at the same time */ };

/* The kinds from BIND_NULL to FINALIZE use a prepared statement. No kind is 0, so a hole in the file is not valid. */
enum operation_kind {
    RESERVE_BYTES = 1, /* the header of a new database reserves `argument` bytes in each page */
    EXECUTE,           /* sqlite3_exec of a text; `argument` is the result */
    PREPARE,           /* a text becomes a prepared statement; `argument` has the flags of sqlite3_prepare_v3 */
    BIND_NULL,         /* in this and the next kinds of bind, `argument` is the index of the parameter */
    BIND_INTEGER,      /* `number` is the value */
    BIND_TEXT,         /* the value is a text */
    BIND_BLOB,         /* the value is a blob */
    BIND_ZEROBLOB,     /* the value is a blob of `number` zeros */
    STEP,              /* `argument` is the result, `number` the rows that the connection has changed so far */
    RESET,
    CLEAR_BINDINGS,
    FINALIZE,
    CHECKPOINT, /* `argument` is the mode, `number` the result */
};

struct operation {
    uint16_t kind;
    uint16_t statement; /* the prepared statement, below STATEMENTS; after FINALIZE, PREPARE may use the number again */
    int32_t argument;
    int64_t number; /* if a text or a blob follows, its size; includes the zero at the end of an SQL text */
};

static inline int has_bytes(const struct operation *operation) {
    return operation->kind == EXECUTE || operation->kind == PREPARE || operation->kind == BIND_TEXT ||
           operation->kind == BIND_BLOB;
}

/* Returns the size of a text or blob together with the zeros that follow it. */
static inline size_t padded(size_t size) {
    return (size + OPERATION_ALIGNMENT - 1) / OPERATION_ALIGNMENT * OPERATION_ALIGNMENT;
}
