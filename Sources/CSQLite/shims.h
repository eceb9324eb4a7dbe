// Typed forms of SQLite's variadic functions, because Swift cannot call variadic functions. Also functions that use
// SQLITE_TRANSIENT, because Swift cannot import this macro: it is a cast to a function pointer.
#pragma once
#include <sqlite3.h>

static inline int bhs_configure(sqlite3 *database, int option, int on) {
    return sqlite3_db_config(database, option, on, (int *)0);
}

static inline void bhs_disable_memory_statistics(void) { (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0); }

// In the next two functions, SQLite copies the bytes. So the bytes need to stay valid only until the call returns.
static inline int bhs_bind_text(sqlite3_stmt *statement, int index, const char *text, int size) {
    return sqlite3_bind_text64(statement, index, text, (sqlite3_uint64)size, SQLITE_TRANSIENT, SQLITE_UTF8);
}
static inline int bhs_bind_blob(sqlite3_stmt *statement, int index, const void *bytes, int size) {
    // With a null pointer, SQLite would bind NULL instead of an empty blob.
    return size == 0 ? sqlite3_bind_zeroblob(statement, index, 0)
                     : sqlite3_bind_blob64(statement, index, bytes, (sqlite3_uint64)size, SQLITE_TRANSIENT);
}
