/*
 * Records the calls with which a program uses its SQLite database (bench/recording.h has the format).
 *
 *   LD_PRELOAD=recorder.so BENCH_RECORDING=FILE program …
 *
 * FILE must not exist. The program must open only one database, and must use the database in one thread at a time.
 * Without BENCH_RECORDING, nothing is recorded.
 *
 * The operations of a transaction are written to FILE when the transaction ends. So FILE has only whole transactions,
 * even if the program is killed. If the recording fails, FILE is empty, and the program continues.
 */
#define _GNU_SOURCE
#include "recording.h"
#include "replacing.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static sqlite3 *database;
static int file = -1;
static sqlite3_stmt *statements[STATEMENTS];

/* The operations that are not in the file yet. */
static char *bytes;
static size_t used, room;

/* How many replaced functions the thread is in. SQLite calls some of its own functions through this file. Only the
 * calls of the program are recorded. */
static _Thread_local int depth;

static void stop_recording(const char *reason) {
    fprintf(stderr, "recorder: %s\n", reason);
    database = NULL;
    if (truncate(getenv("BENCH_RECORDING"), 0)) perror("recorder: truncate");
}

static void start_recording(sqlite3 *opened) {
    const char *path = getenv("BENCH_RECORDING");
    if (!path) return;
    if (file >= 0) {
        stop_recording("the program has opened a second database");
        return;
    }
    file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0)
        stop_recording("the file exists already, or cannot be made");
    else
        database = opened;
}

static void flush(void) {
    size_t written = 0;
    while (written < used) {
        ssize_t size = write(file, bytes + written, used - written);
        if (size < 0) {
            stop_recording("the file cannot be written");
            return;
        }
        written += (size_t)size;
    }
    used = 0;
}

static void flush_after_transaction(void) {
    if (database && sqlite3_get_autocommit(database)) flush();
}

static void append(const void *added, size_t size) {
    size_t whole = padded(size);
    if (used + whole > room) {
        room = (used + whole) * 2;
        bytes = realloc(bytes, room);
        if (!bytes) abort();
    }
    memcpy(bytes + used, added, size);
    memset(bytes + used + size, 0, whole - size);
    used += whole;
}

static void add(enum operation_kind kind, int statement, int argument, int64_t number, const void *content) {
    struct operation operation = {(uint16_t)kind, (uint16_t)statement, argument, number};
    append(&operation, sizeof operation);
    if (has_bytes(&operation)) append(content, (size_t)number);
}

static void add_text(enum operation_kind kind, int statement, int argument, const char *text) {
    add(kind, statement, argument, (int64_t)strlen(text) + 1, text);
}

/* Returns the number of a prepared statement, or -1. For NULL, returns a free number. Most calls are for the same
 * statement as the last call, so the search starts there. */
static int number_of(const sqlite3_stmt *statement) {
    static int last;
    for (int i = 0; i < STATEMENTS; i++) {
        int number = (last + i) % STATEMENTS;
        if (statements[number] == statement) return last = number;
    }
    return -1;
}

static void add_prepared(sqlite3_stmt *statement, unsigned flags, const char *text) {
    int number = number_of(NULL);
    if (number < 0) {
        stop_recording("there are too many prepared statements");
        return;
    }
    statements[number] = statement;
    add_text(PREPARE, number, (int)flags, text);
}

/* Adds an operation of a prepared statement. Ignores the statements of other databases. */
static void add_call(enum operation_kind kind, const sqlite3_stmt *statement, int argument, int64_t number,
                     const void *content) {
    int found = database && statement ? number_of(statement) : -1;
    if (found < 0) return;
    add(kind, found, argument, number, content);
    if (kind == FINALIZE) statements[found] = NULL;
}

/* Records the number of reserved bytes before the call, because SQLite then stores the earlier number there. */
static void *record_reserve(const sqlite3 *owner, int operation, void *value) {
    if (database && owner == database && operation == SQLITE_FCNTL_RESERVE_BYTES)
        add(RESERVE_BYTES, 0, *(int *)value, 0, NULL);
    return value;
}

static int64_t changes(void) { return database ? sqlite3_total_changes64(database) : 0; }

/* Defines a function that replaces a function of SQLite. The new function calls SQLite's function, and then records the
 * call with the given statement. */
#define REPLACE(name, parameters, arguments, recorded)                                                                 \
    int name parameters {                                                                                              \
        FIND_REPLACED(int, name, parameters)                                                                           \
        depth++;                                                                                                       \
        int result = function arguments;                                                                               \
        depth--;                                                                                                       \
        if (depth == 0) recorded;                                                                                      \
        return result;                                                                                                 \
    }

REPLACE(sqlite3_open_v2, (const char *path, sqlite3 **opened, int flags, const char *system),
        (path, opened, flags, system), if (result == SQLITE_OK) start_recording(*opened))
REPLACE(sqlite3_close, (sqlite3 * closed), (closed), if (database && closed == database) flush())
REPLACE(sqlite3_file_control, (sqlite3 * owner, const char *name, int operation, void *value),
        (owner, name, operation, record_reserve(owner, operation, value)), (void)0)
REPLACE(sqlite3_exec,
        (sqlite3 * owner, const char *text, int (*row)(void *, int, char **, char **), void *context, char **error),
        (owner, text, row, context, error), {
            if (database && owner == database) add_text(EXECUTE, 0, result, text);
            flush_after_transaction();
        })
REPLACE(sqlite3_prepare_v2, (sqlite3 * owner, const char *text, int size, sqlite3_stmt **statement, const char **rest),
        (owner, text, size, statement, rest), {
            if (database && owner == database && result == SQLITE_OK) add_prepared(*statement, 0, text);
        })
REPLACE(sqlite3_prepare_v3,
        (sqlite3 * owner, const char *text, int size, unsigned flags, sqlite3_stmt **statement, const char **rest),
        (owner, text, size, flags, statement, rest), {
            if (database && owner == database && result == SQLITE_OK) add_prepared(*statement, flags, text);
        })
REPLACE(sqlite3_bind_null, (sqlite3_stmt * statement, int index), (statement, index),
        add_call(BIND_NULL, statement, index, 0, NULL))
REPLACE(sqlite3_bind_int64, (sqlite3_stmt * statement, int index, sqlite3_int64 value), (statement, index, value),
        add_call(BIND_INTEGER, statement, index, value, NULL))
REPLACE(sqlite3_bind_text64,
        (sqlite3_stmt * statement, int index, const char *text, sqlite3_uint64 size, void (*release)(void *),
         unsigned char encoding),
        (statement, index, text, size, release, encoding), add_call(BIND_TEXT, statement, index, (int64_t)size, text))
REPLACE(sqlite3_bind_blob64,
        (sqlite3_stmt * statement, int index, const void *blob, sqlite3_uint64 size, void (*release)(void *)),
        (statement, index, blob, size, release), add_call(BIND_BLOB, statement, index, (int64_t)size, blob))
REPLACE(sqlite3_bind_zeroblob, (sqlite3_stmt * statement, int index, int size), (statement, index, size),
        add_call(BIND_ZEROBLOB, statement, index, size, NULL))
REPLACE(sqlite3_step, (sqlite3_stmt * statement), (statement), {
    add_call(STEP, statement, result, changes(), NULL);
    flush_after_transaction();
})
REPLACE(sqlite3_reset, (sqlite3_stmt * statement), (statement), add_call(RESET, statement, 0, 0, NULL))
REPLACE(sqlite3_clear_bindings, (sqlite3_stmt * statement), (statement),
        add_call(CLEAR_BINDINGS, statement, 0, 0, NULL))
REPLACE(sqlite3_finalize, (sqlite3_stmt * statement), (statement), add_call(FINALIZE, statement, 0, 0, NULL))
REPLACE(sqlite3_wal_checkpoint_v2, (sqlite3 * owner, const char *name, int mode, int *size, int *copied),
        (owner, name, mode, size, copied), {
            if (database && owner == database) add(CHECKPOINT, 0, mode, result, NULL);
        })
