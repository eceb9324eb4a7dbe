/*
 * Replays the operations of a recording with SQLite alone.
 *
 * The database has the same pages as Backhaul's database, because the recording has the pragmas and the number of
 * reserved bytes. As in Backhaul (Sources/BackhaulStore/SQLite), SQLite takes no locks, keeps no statistics of its
 * memory, runs a checkpoint only where the recording has one, and the writes to the write-ahead log (the *log*) are
 * joined. Unlike Backhaul, the replay computes no checksums, reads no columns of the results, frees no cached pages,
 * and does not check before a commit that its files are still in place.
 */
#define _GNU_SOURCE
#include "replay.h"
#include "recording.h"
#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static sqlite3 *database;
static sqlite3_stmt *statements[STATEMENTS];

static _Noreturn void fail(const char *what, const char *why) {
    fprintf(stderr, "replay: %s: %s\n", what, why);
    exit(1);
}

/* The log. For each page of a commit, SQLite makes two writes. The next functions replace the methods of SQLite's file.
 * They join the writes, and pass them to the file before the next sync (LogFile.swift). */

enum { LOG_BUFFER = 64 << 10 };

static struct {
    const sqlite3_io_methods *original;
    sqlite3_io_methods methods;
    char bytes[LOG_BUFFER]; /* the bytes that are not in the file yet */
    int size;
    sqlite3_int64 start; /* the place of the first of these bytes in the file */
} log_file;

static int flush_log(sqlite3_file *file) {
    int size = log_file.size;
    log_file.size = 0;
    return size ? log_file.original->xWrite(file, log_file.bytes, size, log_file.start) : SQLITE_OK;
}

static int write_log(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 offset) {
    if (offset != log_file.start + log_file.size || log_file.size + size > LOG_BUFFER) {
        int code = flush_log(file);
        if (code != SQLITE_OK) return code;
    }
    if (size > LOG_BUFFER) return log_file.original->xWrite(file, bytes, size, offset);
    if (log_file.size == 0) log_file.start = offset;
    memcpy(log_file.bytes + log_file.size, bytes, (size_t)size);
    log_file.size += size;
    return SQLITE_OK;
}

static int read_log(sqlite3_file *file, void *room, int size, sqlite3_int64 offset) {
    sqlite3_int64 end = log_file.start + log_file.size;
    if (log_file.size && offset >= log_file.start && offset + size <= end) {
        memcpy(room, log_file.bytes + (offset - log_file.start), (size_t)size);
        return SQLITE_OK;
    }
    if (offset < end && offset + size > log_file.start && flush_log(file) != SQLITE_OK) return SQLITE_IOERR_WRITE;
    return log_file.original->xRead(file, room, size, offset);
}

static int sync_log(sqlite3_file *file, int flags) {
    int code = flush_log(file);
    return code == SQLITE_OK ? log_file.original->xSync(file, flags) : code;
}

static int truncate_log(sqlite3_file *file, sqlite3_int64 size) {
    int code = flush_log(file);
    return code == SQLITE_OK ? log_file.original->xTruncate(file, size) : code;
}

static int size_of_log(sqlite3_file *file, sqlite3_int64 *size) {
    int code = flush_log(file);
    return code == SQLITE_OK ? log_file.original->xFileSize(file, size) : code;
}

static int close_log(sqlite3_file *file) {
    int code = flush_log(file), closed = log_file.original->xClose(file);
    return closed == SQLITE_OK ? code : closed;
}

static sqlite3_vfs file_system; /* SQLite's own file system without locks, with another xOpen */
static int (*open_original)(sqlite3_vfs *, const char *, sqlite3_file *, int, int *);

static int open_file(sqlite3_vfs *system, const char *path, sqlite3_file *file, int flags, int *opened_flags) {
    int code = open_original(system, path, file, flags, opened_flags);
    if (code != SQLITE_OK || !(flags & SQLITE_OPEN_WAL)) return code;
    log_file.original = file->pMethods;
    log_file.methods = *file->pMethods;
    log_file.methods.xWrite = write_log;
    log_file.methods.xRead = read_log;
    log_file.methods.xSync = sync_log;
    log_file.methods.xTruncate = truncate_log;
    log_file.methods.xFileSize = size_of_log;
    log_file.methods.xClose = close_log;
    file->pMethods = &log_file.methods;
    return SQLITE_OK;
}

static void open_database(const char *path) {
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    if (sqlite3_initialize() != SQLITE_OK) fail(path, "SQLite cannot be initialized");
    file_system = *sqlite3_vfs_find("unix-none");
    open_original = file_system.xOpen;
    file_system.zName = "joined-log";
    file_system.xOpen = open_file;
    sqlite3_vfs_register(&file_system, 0);
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
    if (sqlite3_open_v2(path, &database, flags, file_system.zName) != SQLITE_OK) fail(path, sqlite3_errmsg(database));
    sqlite3_wal_autocheckpoint(database, 0);
}

static void require(int result, int expected, const char *what) {
    char why[512];
    if (result == expected) return;
    snprintf(why, sizeof why, "the result is %d instead of %d; %s", result, expected, sqlite3_errmsg(database));
    fail(what, why);
}

static void require_changes(sqlite3_int64 expected, const char *what) {
    char why[128];
    sqlite3_int64 changes = sqlite3_total_changes64(database);
    if (changes == expected) return;
    snprintf(why, sizeof why, "%lld rows were changed until then instead of %lld", changes, expected);
    fail(what, why);
}

static void reserve(int count) {
    require(sqlite3_file_control(database, "main", SQLITE_FCNTL_RESERVE_BYTES, &count), SQLITE_OK, "reserved bytes");
}

static void step(sqlite3_stmt *statement, const struct operation *operation) {
    require(sqlite3_step(statement), operation->argument, sqlite3_sql(statement));
    require_changes(operation->number, sqlite3_sql(statement));
}

static int bind(sqlite3_stmt *statement, const struct operation *operation, const char *bytes) {
    int index = operation->argument;
    sqlite3_uint64 size = (sqlite3_uint64)operation->number;
    switch (operation->kind) {
    case BIND_INTEGER:
        return sqlite3_bind_int64(statement, index, operation->number);
    case BIND_TEXT:
        return sqlite3_bind_text64(statement, index, bytes, size, SQLITE_TRANSIENT, SQLITE_UTF8);
    case BIND_BLOB:
        return sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_TRANSIENT);
    case BIND_ZEROBLOB:
        return sqlite3_bind_zeroblob(statement, index, (int)operation->number);
    default:
        return sqlite3_bind_null(statement, index);
    }
}

/* Performs an operation of the database, or the preparation of a statement. */
static void perform(const struct operation *operation, const char *bytes) {
    int argument = operation->argument;
    sqlite3_stmt **statement = &statements[operation->statement];
    switch (operation->kind) {
    case RESERVE_BYTES:
        reserve(argument);
        return;
    case EXECUTE:
        require(sqlite3_exec(database, bytes, NULL, NULL, NULL), argument, bytes);
        return;
    case PREPARE:
        require(sqlite3_prepare_v3(database, bytes, -1, (unsigned)argument, statement, NULL), SQLITE_OK, bytes);
        return;
    case CHECKPOINT:
        require(sqlite3_wal_checkpoint_v2(database, "main", argument, NULL, NULL), (int)operation->number,
                "checkpoint");
        return;
    default:
        fail("operation", "its kind is unknown");
    }
}

/* Performs an operation of a prepared statement. */
static void perform_prepared(const struct operation *operation, const char *bytes) {
    sqlite3_stmt *statement = statements[operation->statement];
    if (!statement) fail("operation", "its statement is not prepared");
    switch (operation->kind) {
    case STEP:
        step(statement, operation);
        return;
    /* After a failed step, which is in the recording, these two return the failure again. */
    case RESET:
        sqlite3_reset(statement);
        return;
    case FINALIZE:
        sqlite3_finalize(statement);
        statements[operation->statement] = NULL;
        return;
    case CLEAR_BINDINGS:
        sqlite3_clear_bindings(statement);
        return;
    default:
        require(bind(statement, operation, bytes), SQLITE_OK, sqlite3_sql(statement));
    }
}

static int uses_prepared(const struct operation *operation) {
    return operation->kind >= BIND_NULL && operation->kind <= FINALIZE;
}

static const char *map(const char *path, size_t *size) {
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &status)) fail(path, "it cannot be opened");
    if (status.st_size == 0) fail(path, "it is empty, because the recorder has failed");
    *size = (size_t)status.st_size;
    void *mapped = mmap(NULL, *size, PROT_READ, MAP_PRIVATE, file, 0);
    if (mapped == MAP_FAILED) fail(path, "it cannot be mapped");
    close(file);
    return mapped;
}

static void perform_all(const char *recording) {
    size_t rest;
    const char *next = map(recording, &rest);
    while (rest) {
        const struct operation *operation = (const void *)next;
        if (rest < sizeof *operation || operation->statement >= STATEMENTS) fail(recording, "it is damaged");
        const char *bytes = next + sizeof *operation;
        size_t size = sizeof *operation + (has_bytes(operation) ? padded((size_t)operation->number) : 0);
        if (size > rest) fail(recording, "it is damaged");
        if (uses_prepared(operation))
            perform_prepared(operation, bytes);
        else
            perform(operation, bytes);
        next += size;
        rest -= size;
    }
}

static void require_log(const char *path) {
    sqlite3_stmt *statement;
    require(sqlite3_prepare_v2(database, "PRAGMA journal_mode", -1, &statement, NULL), SQLITE_OK, path);
    require(sqlite3_step(statement), SQLITE_ROW, path);
    if (strcmp((const char *)sqlite3_column_text(statement, 0), "wal") != 0) fail(path, "it has no write-ahead log");
    sqlite3_finalize(statement);
}

/* Closes the database without a checkpoint. The bench stops Backhaul's clock before the daemon closes its database. */
static void close_database(void) {
    sqlite3_stmt *statement;
    while ((statement = sqlite3_next_stmt(database, NULL))) sqlite3_finalize(statement);
    sqlite3_db_config(database, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    require(sqlite3_close(database), SQLITE_OK, "close");
}

void replay(const char *recording, const char *path) {
    open_database(path);
    perform_all(recording);
    require_log(path);
    close_database();
}
