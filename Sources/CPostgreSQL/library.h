// The functions of libpq that Backhaul uses. They are loaded when a store in PostgreSQL is first opened, so that
// Backhaul can be linked and used without libpq. The header of libpq is needed at build time, but only for the types of
// these functions.
#pragma once
#include <dlfcn.h>
#if __has_include(<libpq-fe.h>)
#include <libpq-fe.h>
#else
#include <postgresql/libpq-fe.h>
#endif

// clang-format off
#define BHL_POSTGRESQL_FUNCTIONS(X)                                                                                    \
    X(connectdbParams) X(pingParams) X(status) X(errorMessage) X(finish) X(setNoticeProcessor) X(conninfoParse)        \
    X(conninfoFree) X(socket) X(setnonblocking) X(sendQueryParams) X(sendQuery) X(flush) X(consumeInput) X(isBusy)     \
    X(getResult) X(resultStatus) X(resultErrorField) X(clear) X(ntuples) X(nfields) X(getvalue) X(getlength)           \
    X(getisnull) X(cmdTuples)
// clang-format on

struct bhl_postgresql {
#define BHL_MEMBER(name) __typeof__(&PQ##name) name;
    BHL_POSTGRESQL_FUNCTIONS(BHL_MEMBER)
#undef BHL_MEMBER
};

// Sets all members and returns 1. Returns 0 if the library or a function is missing. The library stays loaded.
static inline int bhl_postgresql_load(struct bhl_postgresql *functions) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define BHL_LOOK_UP(name)                                                                                              \
    functions->name = (__typeof__(&PQ##name))dlsym(library, "PQ" #name);                                               \
    if (!functions->name) return 0;
    BHL_POSTGRESQL_FUNCTIONS(BHL_LOOK_UP)
#undef BHL_LOOK_UP
    return 1;
}

// Drops a notice of the server. Without a processor, libpq would print the notice.
static inline void bhl_postgresql_drop_notice(void *argument, const char *message) {
    (void)argument;
    (void)message;
}

// Codes of libpq's fields of an error. They are macros with character constants, which Swift does not import.
static const int bhl_postgresql_sqlstate = PG_DIAG_SQLSTATE;
static const int bhl_postgresql_message = PG_DIAG_MESSAGE_PRIMARY;
static const int bhl_postgresql_constraint = PG_DIAG_CONSTRAINT_NAME;
