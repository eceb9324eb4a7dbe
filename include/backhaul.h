/*
 * Backhaul: background transfer sessions for Linux. This header is the C API and its reference manual.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A complete host
 *   A *host* is a program that uses this library. The host below downloads one file. The *engine*, which is usually a
 *   separate process, performs the transfer. The end of the transfer is an *event*: the engine delivers it repeatedly,
 *   until the host acknowledges it. If the host crashes, run it again with the same arguments: the transfer continues,
 *   and each event is handled at least once. If you run the host again after it has acknowledged the last event, the
 *   new run fails with BH_DESTINATION_EXISTS, because the file exists. If the request has BH_IF_EXISTS_SKIP or
 *   BH_REQUEST_IF_CHANGED, the new run succeeds.
 *
 *       #include <backhaul.h>
 *       #include <stdio.h>
 *
 *       static int fail(const bh_error *error)
 *       {
 *           fprintf(stderr, "%s: %s\n", bh_status_name(error->status), error->message);
 *           return 1;
 *       }
 *
 *       int main(int count, char **words)
 *       {
 *           if (count != 3) return 2;
 *           bh_error error = BH_INIT(bh_error);
 *
 *           bh_application *application;
 *           bh_application_options options = BH_INIT(bh_application_options);
 *           options.identifier = "org.example.photos";
 *           if (bh_application_open(&options, BH_WAIT_DEFAULT, &application, &error)) return fail(&error);
 *
 *           bh_session *session;
 *           bh_session_configuration configuration = BH_INIT(bh_session_configuration);
 *           configuration.identifier = "gallery";
 *           if (bh_session_create(application, &configuration, BH_ROLE_CONSUME, BH_WAIT_DEFAULT, &session, NULL,
 *                                 &error))
 *               return fail(&error);
 *
 *           bh_request request = BH_INIT(bh_request);
 *           request.url = words[1];
 *           request.destination = words[2];
 *           // Until all events are acknowledged, a later run with this key gets the task of an earlier run.
 *           request.idempotency_key = words[2];
 *           bh_batch *results;
 *           if (bh_session_enqueue(session, &request, 1, BH_WAIT_DEFAULT, &results, &error)) return fail(&error);
 *           const bh_enqueued *result = bh_batch_enqueued_at(results, 0);
 *           uint64_t task = result->task_id;
 *           // True if an earlier run acknowledged the task's event: then the event is not delivered again.
 *           bool is_done = result->task_state == BH_TASK_SUCCEEDED && result->event_id == 0;
 *           bool has_failed = false;
 *           bh_batch_release(results);
 *
 *           while (!is_done) {
 *               bh_batch *events;
 *               if (bh_session_poll(session, 0, 100, 60000, &events, &error)) return fail(&error);
 *               uint64_t last = 0;
 *               for (size_t i = 0; i < bh_batch_count(events); i++) {
 *                   const bh_event *event = bh_batch_event_at(events, i);
 *                   if (event->kind == BH_EVENT_TASK_ENDED)
 *                       printf("%s: %s\n", event->url, event->status == BH_OK ? event->path : event->error_message);
 *                   if (event->kind == BH_EVENT_TASK_ENDED && event->task_id == task) {
 *                       is_done = true;
 *                       has_failed = event->status != BH_OK;
 *                   }
 *                   last = event->id;
 *               }
 *               bh_batch_release(events);
 *               // The host acknowledges after its work. If it crashes before this call, it gets the events again.
 *               if (last && bh_session_acknowledge_through(session, last, BH_WAIT_DEFAULT, NULL, &error))
 *                   return fail(&error);
 *           }
 *           if (bh_session_complete(session, BH_WAIT_DEFAULT, &error)) return fail(&error);
 *           bh_session_close(session);
 *           bh_application_close(application);
 *           return has_failed;
 *       }
 *
 * How the processes communicate
 *
 *       host process                    engine                               elsewhere
 *       ------------------------        -------------------------------      ----------------
 *       bh_application                  one process for each store (a directory)
 *         bh_session  -- requests -->   queue, connections, part files  <-->  HTTP servers
 *                     <-- events ---    database in the store           --->  destination files
 *                                       starts the host's program when
 *                                       a session needs it and no host
 *                                       is connected
 *
 * Words
 *   An *application* is the identity of a host. A *store* is a directory with all durable data. A host opens its
 *   application on a store. A *session* is a named collection of tasks with stored settings. A *request* describes one
 *   download or upload. A host *enqueues* a request, and the request becomes a *task*. The task is durable when the
 *   call returns. An *event* is a stored message for the host, such as the end of a task. An event is delivered
 *   repeatedly until the host acknowledges it. After that, the event is never delivered again. The tasks of a session
 *   form *rounds*. The first task begins a round. When all tasks of the session have ended, the round ends. The next
 *   task then begins a new round. An *attempt* is one run of a task.
 *
 *   A *handle* is a pointer to an opened application, an attached session or a ticket. To *attach* a session is to get
 *   a handle of it. The *consumer* of a session is the one handle that may poll the session's events. To *complete* a
 *   session is to report that the host has processed all events that it has polled. A *batch* is a list that a call
 *   returns. A *ticket* stands for an operation whose outcome is read later. An *origin* is the scheme, host name and
 *   port of a URL. A *part file* is the file to which a download writes until all bytes have arrived. A *kept file* is
 *   the file of a finished download without a destination. It stays in the store until the host *claims* it, which
 *   moves the file out of the store. A *challenge* is a demand that the host must respond to, usually for a password.
 *   An *activity* is work that repeats.
 *
 * The engine
 *   The process that holds the store's lock is the engine. All other processes send commands to the engine over a
 *   socket in the store. The *hosting* is where the engine runs. With daemon hosting, the default, the engine is the
 *   program backhauld. The library starts backhauld when no process holds the lock. When no work is left, backhauld
 *   exits. With embedded hosting, the engine runs in a few threads of one process that has the store open. When that
 *   process ends, another process that has the store open becomes the engine. If there is no such process, transfers
 *   pause until a program opens the store again.
 *
 * Launches
 *   An application may register a launch command, which starts the host's program. If a session of the application
 *   needs a host, and no host of the application is connected, the engine runs the command (Apple:
 *   application(_:handleEventsForBackgroundURLSession:completionHandler:)). This is a *launch*, and the started program
 *   is a *launched host*. A session needs a host when a round has ended, when a challenge is open, or when there is a
 *   BH_EVENT_ACTIVITY (an activity is due). If a host is connected, bh_application_poll notifies this host instead.
 *   Progress of transfers never launches a host. A launched host opens the application and calls
 *   bh_application_current_launch. Then it attaches each session of the launch, polls, does its own work for the
 *   events, acknowledges the events, completes the session and closes the session. See docs/launch.md.
 *
 * Threads
 *   Any thread may call any function at any time. Calls on one handle from several threads take effect one after
 *   another, in no fixed order. If the application is closed while a call waits, the call returns BH_INVALID_HANDLE. A
 *   signal does not end a waiting call. The library makes no call-backs, installs no signal handler, and blocks all
 *   signals in its threads.
 *
 * Fork
 *   If a process has opened an application, its forked children must not use the library before exec: there, functions
 *   that return a status return BH_FORKED, the others return 0 or NULL, and close and release functions do nothing. A
 *   process that has only loaded the library may fork, and its children may use the library. (In Python, the start
 *   methods "spawn" and "forkserver" of multiprocessing have no forked children of the host.)
 *
 * Descriptors
 *   If a host closes a descriptor of the library, or of a library that it uses, the behaviour is undefined.
 *
 * Ownership
 *   Arguments are copied before a call returns. The caller owns error->ticket, and each object that a function returns
 *   through a `**` parameter. The caller passes each of these objects to the close or release function of its type.
 *   bh_application_next_ticket is the exception: it returns a pointer that the host already has. Handles may be closed
 *   in any order; close and release functions accept NULL. Closing an application also closes its sessions and tickets;
 *   batches stay valid. A call on a closed handle returns BH_INVALID_HANDLE; functions without a status return 0 or
 *   NULL. All memory that a batch points to is valid until the batch is released. Strings are UTF-8 and end with NUL.
 *   If a pointer is documented as optional, NULL stands for "none".
 *
 * Structs
 *   If a struct has a field struct_size, initialize the struct with BH_INIT. Initialize other structs with {0}. A field
 *   that is 0 or NULL has its default. From a language without C macros, call bh_init instead of BH_INIT. Reserved
 *   fields must be 0. Later versions append fields. The size of a struct inside another struct never changes; later
 *   versions use the reserved fields of the inner struct. The library accepts structs of every 1.x header. In a struct
 *   of a newer header, fields that the library does not know must be 0. Later versions also add values to enumerations
 *   and bits to sets of bits. A host must ignore unknown kinds, reasons and bits, and must treat an unknown status as a
 *   failure. In an array of structs that a host passes, the struct_size of the first element is the distance between
 *   the elements in bytes. Arrays in results contain pointers, or structs that never grow.
 *
 * Times
 *   Fields whose names end in _ms are in milliseconds. If the type of such a field is int64_t, the field is a Unix
 *   time. If its type is unsigned, the field is a duration. Times that a host passes must be in the years 1970 to 9999.
 *
 * Errors
 *   A call that can fail returns a bh_status. If the caller passes a bh_error, the call also fills this struct. The
 *   library keeps no error per thread or per handle. The bh_error is the last parameter, and the output parameters come
 *   directly before it. Output parameters are set only if the call returns BH_OK. The comment of a function states any
 *   exception. Output parameters that are documented as optional may be NULL. Each call can return BH_INVALID_ARGUMENT,
 *   BH_INVALID_HANDLE, BH_FORKED, BH_TOO_MANY, BH_OUT_OF_RESOURCES and BH_INTERNAL. Calls with timeout_ms can also
 *   return BH_TIMEOUT, BH_STORE_…, BH_ENGINE_… and BH_DAEMON_UNAVAILABLE. Calls on a session can also return
 *   BH_WRONG_ROLE, BH_INVALIDATED and BH_COMPLETED, and BH_NOT_FOUND after the invalidated session was removed. In
 *   the comment of a function, "Errors:" lists the statuses that have a particular meaning for this function.
 *
 * Waiting
 *   `timeout_ms` is how long the call may wait for the engine: 0 to BH_WAIT_MAXIMUM milliseconds, or BH_WAIT_DEFAULT
 *   for 30 seconds. An endless wait is not possible: -1 is refused. A call that times out returns BH_TIMEOUT. If the
 *   engine's process is stopped (SIGSTOP), the call returns BH_ENGINE_UNRESPONSIVE instead, and error->detail is the id
 *   of the engine's process. In both cases, check error->ticket. If there is a ticket, the operation continues: do not
 *   repeat the call, because the ticket returns the outcome later. If error->ticket is NULL, the call may be repeated.
 *   If the host passed no bh_error, the operation continues, but the host gets no ticket. If such an operation attaches
 *   a session, the library closes this session.
 *
 *   With BH_START in place of a time-out, a call starts the operation and does not wait for the engine. Such a call
 *   returns BH_STARTED with a ticket, or an error without a ticket; it never returns BH_OK. It sets no output
 *   parameters, so they may be NULL. It copies its arguments before it returns. An enqueue also checks directories and
 *   files before it returns. If the host passes no bh_error, a call with BH_START returns BH_INVALID_ARGUMENT. Hosts
 *   with an event loop use BH_START together with bh_application_event_fd and bh_application_next_ticket.
 */
#ifndef BACKHAUL_H
#define BACKHAUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---------------------------------------------------------------------------------------------------------------
 * Language: macros that declare the types of this header and initialize its structs.
 * ------------------------------------------------------------------------------------------------------------ */

/* Attributes of the declarations in this header: exported functions, functions whose result must be used, and
 * functions that have a replacement. */
#if defined(__GNUC__)
#define BH_API __attribute__((visibility("default")))
#define BH_CHECK_RESULT __attribute__((warn_unused_result))
#define BH_DEPRECATED(advice) __attribute__((deprecated(advice)))
#else
#define BH_API
#define BH_CHECK_RESULT
#define BH_DEPRECATED(advice)
#endif

/* A type with one of several values: an enumeration of 32 bits in C23 and C++, an int32_t in earlier versions of C. */
#if defined(__cplusplus)
#define BH_ENUM(name) enum name : int32_t
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L
#define BH_ENUM(name)                                                                                                  \
    enum name : int32_t;                                                                                               \
    typedef enum name name;                                                                                            \
    enum name : int32_t
#else
#define BH_ENUM(name)                                                                                                  \
    typedef int32_t name;                                                                                              \
    enum
#endif

/* A set of bits. */
#define BH_FLAGS(name)                                                                                                 \
    typedef uint32_t name;                                                                                             \
    enum

/* The initializer of a struct, in C99 or C++11 or later: `bh_request request = BH_INIT(bh_request);` */
#if defined(__cplusplus)
extern "C++" {
template <typename type> inline type bh_initialized() {
    type value{};
    value.struct_size = sizeof(type);
    return value;
}
}
#define BH_INIT(type) (bh_initialized<type>())
#else
#define BH_INIT(type) {.struct_size = sizeof(type)}
#endif

/* A conversion that this header needs in C and in C++. */
#if defined(__cplusplus)
#define BH_CAST(type, value) static_cast<type>(value)
#else
#define BH_CAST(type, value) (type)(value)
#endif

/* Whether a struct in a result has the field. A program that may run with an older library checks this before it reads
 * a field that was added after 1.0. */
#define BH_HAS(pointer, type, field)                                                                                   \
    ((pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

#if defined(__cplusplus)
extern "C" {
#endif

/* Clears `size` bytes and sets struct_size, as BH_INIT does. Use bh_init in languages without C macros, and for a
 * struct that is used again. A NULL `value` is accepted. */
BH_API void bh_init(void *value, size_t size);

/* ---------------------------------------------------------------------------------------------------------------
 * Version: the version of the header and of the loaded library, and the layout of its structs.
 * ------------------------------------------------------------------------------------------------------------ */

/* All 1.x libraries have the SONAME libbackhaul.so.1 and work with hosts that were compiled with an earlier 1.x
 * header. */
#define BH_VERSION_MAJOR 1
#define BH_VERSION_MINOR 0
#define BH_VERSION_PATCH 0
/* The version of the header as one number: 0x010203 stands for 1.2.3. */
#define BH_VERSION ((BH_VERSION_MAJOR << 16) | (BH_VERSION_MINOR << 8) | BH_VERSION_PATCH)

/* The version of the loaded library, in the form of BH_VERSION. */
BH_API uint32_t bh_version(void);

/* The version of the loaded library as text, such as "1.0.0". The string is static; do not free it. */
BH_API const char *bh_version_string(void);

/* A JSON document with the size and the field offsets of each struct, and the value of each constant. Bindings compare
 * the document with their own declarations. The string is static; do not free it.
 *
 *   {"version": "1.0.0", "structs": {"bh_event": {"size": …, "fields": {"id": 8, …}}},
 *    "constants": {"BH_OK": 0, …}}
 */
BH_API const char *bh_abi_json(void);

/* ---------------------------------------------------------------------------------------------------------------
 * Status and errors: what calls return, and the values that many calls have in common.
 * ------------------------------------------------------------------------------------------------------------ */

/* The only list of status codes: name, value, meaning. Values never change. Codes below 40 are mainly results of calls,
 * and codes from 40 on are mainly results of tasks. But a call or a task can have any code. BH_STARTED is no
 * failure. */
#define BH_STATUS_TABLE(X)                                                                                             \
    X(OK, 0, "success")                                                                                                \
    X(INVALID_ARGUMENT, 1, "an argument is missing, malformed or out of range")                                        \
    X(INVALID_HANDLE, 2, "the handle is closed or was never valid")                                                    \
    X(FORKED, 3, "the process was forked after its parent had opened an application")                                  \
    X(NOT_FOUND, 4, "there is no such session, task, challenge or activity")                                           \
    X(ALREADY_EXISTS, 5, "an object with this name exists already")                                                    \
    X(KEY_CONFLICT, 6, "the idempotency key was used for another request")                                             \
    X(DESTINATION_IN_USE, 7, "another task has the same destination")                                                  \
    X(IN_USE, 8, "another consumer has the session")                                                                   \
    X(TIMEOUT, 9, "the operation takes longer than the wait; the ticket returns the outcome later")                    \
    X(WRONG_STATE, 10, "the session or task is not in a state that allows this")                                       \
    X(WRONG_ROLE, 11, "the handle's role does not allow this")                                                         \
    X(INVALIDATED, 12, "the session was invalidated")                                                                  \
    X(EVENTS_OUTSTANDING, 13, "events were polled and not acknowledged")                                               \
    X(TOO_MANY, 14, "a limit of the library is reached")                                                               \
    X(COMPLETED, 15, "the session was completed, which ended this handle; attach again")                               \
    X(STARTED, 16, "the operation was started; the ticket returns its outcome")                                        \
    X(STORE_UNAVAILABLE, 20, "the store cannot be opened or made")                                                     \
    X(STORE_READ_ONLY, 21, "the store cannot be written")                                                              \
    X(STORE_FULL, 22, "the store's file system is full")                                                               \
    X(STORE_DAMAGED, 23, "the store's database is damaged")                                                            \
    X(STORE_NEWER, 24, "the store was written by a newer version of the library")                                      \
    X(STORE_ON_NETWORK_FILE_SYSTEM, 25, "the store is on a network file system, where locks are not reliable")         \
    X(ENGINE_UNRESPONSIVE, 30, "the engine has the lock of the store, but does not reply")                             \
    X(ENGINE_INCOMPATIBLE, 31, "the engine speaks another version of the protocol")                                    \
    X(ENGINE_FAILED, 32, "the engine stopped because of an error")                                                     \
    X(OUT_OF_RESOURCES, 33, "memory, threads or descriptors are exhausted")                                            \
    X(INTERNAL, 34, "a defect of the library; please report it")                                                       \
    X(DAEMON_UNAVAILABLE, 35, "the daemon is not found or cannot be started")                                          \
    X(CANCELLED, 40, "the task was cancelled")                                                                         \
    X(NAME_NOT_RESOLVED, 41, "the server's name cannot be resolved")                                                   \
    X(CONNECTION_FAILED, 42, "no connection to the server can be made")                                                \
    X(CONNECTION_LOST, 43, "the connection broke before the transfer was complete")                                    \
    X(REQUEST_TIMEOUT, 44, "the server sent no bytes within the request time-out")                                     \
    X(RESOURCE_TIMEOUT, 45, "the task did not end within its resource time-out")                                       \
    X(TLS_FAILED, 46, "the TLS connection cannot be made or the certificate does not verify")                          \
    X(HTTP_STATUS, 47, "the server responded with a status that is not accepted")                                      \
    X(REDIRECT_REFUSED, 48, "a redirect has no valid target, leads in a circle, or to a scheme that is not allowed")   \
    X(BAD_RESPONSE, 49, "the server's response breaks the rules of HTTP")                                              \
    X(DESTINATION_EXISTS, 50, "a file with the destination's name is already there")                                   \
    X(DESTINATION_UNAVAILABLE, 51, "the destination cannot be written")                                                \
    X(DISK_FULL, 52, "the destination's file system is full")                                                          \
    X(DISK_FAILED, 53, "the disk reported an error")                                                                   \
    X(TOO_LARGE, 54, "the server's response is larger than a limit allows")                                            \
    X(AUTHENTICATION_REQUIRED, 55, "the server or proxy demands a credential, and has accepted none")                  \
    X(CHECKSUM_MISMATCH, 56, "the digest of the bytes is not the expected one")                                        \
    X(SIZE_MISMATCH, 57, "the size of the file is not the expected one")                                               \
    X(BODY_UNAVAILABLE, 58, "a file of the request's body cannot be read")                                             \
    X(BODY_CHANGED, 59, "a file of the request's body was changed after the enqueue")                                  \
    X(TLS_TRUNCATED, 60, "the TLS connection ended without close_notify, so the body may be truncated")                \
    X(STORAGE_AWAY, 61, "the directory or the file system of the task's file is away")\
    X(UNEXPECTED_TYPE, 62, "the response has a media type that is not accepted, or is a page in place of the file")    \
    X(ADDRESS_REFUSED, 63, "the server's address is private, and the request refuses private addresses")               \
    X(DEPENDENCY_FAILED, 64, "a task that this task waited for did not succeed")

/* The result of a call, or the reason why a task failed. */
BH_ENUM(bh_status) {
#define BH_STATUS_ENUMERATOR(name, value, text) BH_##name = value,
    BH_STATUS_TABLE(BH_STATUS_ENUMERATOR)
#undef BH_STATUS_ENUMERATOR
};

/* The name of a status, such as "BH_IN_USE"; "BH_UNKNOWN" for a value that this version does not have. The string is
 * static. */
BH_API const char *bh_status_name(bh_status status);

/* The meaning of a status, from BH_STATUS_TABLE. The string is static. */
BH_API const char *bh_status_text(bh_status status);

/* The name of an enumeration's value as text: `bh_name("bh_task_state", 2)` is "running". `type` is the name of a type
 * that this header declares with BH_ENUM or BH_FLAGS. The text is the constant's name in small letters without the
 * prefix that all constants of the type have. The command line and the Python package have the same names. There are
 * two exceptions. The name of a bh_status is its bh_status_name. Versions have the names of curl's options: "http1.1",
 * "http2", "http2-prior-knowledge", "tlsv1.2", "tlsv1.3". The name of a set of bits is the name of its lowest bit, or
 * "none" for 0. If this version does not have the type or the value, the text is "unknown". The string is static. */
BH_API const char *bh_name(const char *type, int64_t value);

/* bh_name, but the compiler checks that the type exists: `BH_NAME(bh_task_state, info->state)`. A loop over all bits of
 * a set:
 *
 *   for (bh_schemes left = challenge->schemes; left; left &= left - 1) puts(BH_NAME(bh_schemes, left));
 */
#define BH_NAME(type, value) bh_name(#type, BH_CAST(type, value))

/* What the number in a field `detail` or `error_detail` is. */
BH_ENUM(bh_domain) {
    BH_DOMAIN_NONE = 0,   /* no number of another system: 0, or a number that the status explains, such as the number of
                             events for BH_EVENTS_OUTSTANDING */
    BH_DOMAIN_SYSTEM = 1, /* errno */
    BH_DOMAIN_CURL = 2,   /* CURLcode */
    BH_DOMAIN_SQLITE = 3, /* extended SQLite result code */
    BH_DOMAIN_HTTP = 4,   /* HTTP status code */
    BH_DOMAIN_PROCESS = 5 /* id of a process: of the session's consumer for BH_IN_USE; otherwise of the engine, or of
                             the daemon that was started. 0 if the process is not known */
};

typedef struct bh_application bh_application; /* an application on a store */
typedef struct bh_session bh_session;         /* an attached session */
typedef struct bh_ticket bh_ticket;           /* an operation whose outcome is read later */
typedef struct bh_batch bh_batch;             /* an immutable list that a call returns */

/* The size of bh_error.message in bytes, including the NUL. */
#define BH_ERROR_MESSAGE_SIZE 512
/* The value of bh_error.index when no item of an array was wrong. */
#define BH_NO_INDEX 18446744073709551615u

/* The error of a call; the caller owns the struct. A call that returns BH_OK sets `status` to BH_OK and `ticket` to
 * NULL, and does not change the other fields. Any other call sets all fields. Before the struct is used again, release
 * its ticket or copy the ticket's pointer. If struct_size is not set, the call treats the pointer as NULL. */
typedef struct bh_error {
    size_t struct_size;
    bh_status status;                    /* the status that the call returned */
    bh_domain domain;                    /* the kind of number in `detail` */
    int64_t detail;                      /* a number that describes the error more precisely, or 0 */
    uint64_t index;                      /* number of the first wrong item of an array, from 0; or BH_NO_INDEX */
    bh_ticket *ticket;                   /* if the operation continues: its ticket, which the caller owns; else NULL */
    char message[BH_ERROR_MESSAGE_SIZE]; /* one sentence: what was wrong, and what to do */
} bh_error;

/* Special values of timeout_ms. All other values below 0 are refused. In POSIX, -1 means "for ever"; here each wait has
 * a limit. */
#define BH_WAIT_DEFAULT (-2147483647) /* 30 seconds */
#define BH_START (-2147483646)        /* start the operation, do not wait, return BH_STARTED */
#define BH_WAIT_MAXIMUM 86400000      /* the longest wait of one call: a day */

/* Yes, no, or the default, which the comment of each field states. */
BH_ENUM(bh_choice) { BH_DEFAULT = 0, BH_YES = 1, BH_NO = 2 };

/* ---------------------------------------------------------------------------------------------------------------
 * Application: the identity of a host, opened on a store. A host opens it first, and closes it last.
 * ------------------------------------------------------------------------------------------------------------ */

/* Where a new engine runs, if no process holds the store's lock. If an engine runs already, the library uses this
 * engine, wherever it runs. */
BH_ENUM(bh_hosting) {
    BH_HOSTING_DEFAULT = 0, /* BH_HOSTING_DAEMON */
    BH_HOSTING_DAEMON = 1,  /* in backhauld, which the library starts */
    BH_HOSTING_EMBEDDED = 2 /* in threads of this process: for tests, containers, hosts that must not start processes */
};

/* A program that the engine runs when sessions need their host. No shell is involved. */
typedef struct bh_launch_command {
    size_t struct_size;
    const char *program;            /* required: absolute path of an executable file */
    const char *const *arguments;   /* optional: the arguments after the program's name */
    size_t argument_count;          /* at most 1,000. All arguments and variables together have at most 65,536 bytes */
    const char *const *environment; /* optional: variables to add, "NAME=value"; docs/launch.md lists the other
                                       variables */
    size_t environment_count;       /* at most 1,000 */
    const char *working_directory;  /* absolute path; NULL: the user's home directory */
    uint32_t attach_timeout_ms;     /* default 60,000: how long a launched host may take to attach a session. If the
                                       host takes longer, the engine sends it SIGTERM, and ten seconds later SIGKILL.
                                       Then the launch has failed, and the engine launches the host again after a
                                       delay. This time and the two delays are at most 86,400,000 (a day) */
    uint32_t first_delay_ms;        /* default 60,000: delay after a failed launch. A launch has failed if its host
                                       ended and had completed no session of the launch, or if its host attached no
                                       session in time. The delay doubles with each failed launch */
    uint32_t longest_delay_ms;      /* default 3,600,000: the longest delay after a failed launch; not less than
                                       first_delay_ms */
    uint32_t maximum_launches;      /* default 8: after this many failed launches in a row, the engine stops launching
                                       the host. If a host then connects without a launch (for example, the user starts
                                       it), launches are possible again. Until then, events are kept */
} bh_launch_command;

/* Flags of an application. */
BH_FLAGS(bh_application_flags) {
    BH_APPLICATION_OBSERVES = 1 /* this handle belongs to a tool, not to a host. Such a handle does not prevent
                                   launches */
};

/* How a host opens its application. */
typedef struct bh_application_options {
    size_t struct_size;
    const char *identifier;          /* required: the application's name, such as "org.example.photos": 1 to 255
                                        letters, digits, '.', '-' and '_'. The first character is a letter or a digit.
                                        Sessions of two applications may have the same identifier */
    const char *store;               /* absolute path of the store's directory. If the directory does not exist, but its
                                        parent exists, the library makes the directory with mode 0700. The directory
                                        must be on a local file system and belong to the user. NULL: the user's default
                                        store at $BACKHAUL_STORE (an absolute path), else $XDG_STATE_HOME/backhaul, else
                                        ~/.local/state/backhaul. The library makes the default store. It also makes its
                                        parents, unless $BACKHAUL_STORE is set. All programs of a user share the default
                                        store and its limits */
    bh_hosting hosting;
    bh_application_flags flags;
    const char *daemon;              /* absolute path of backhauld. NULL: the path in $BACKHAUL_DAEMON. If this variable
                                        is not set, the library searches in its own directory, then in
                                        ../libexec/backhaul, then below /usr/local and /usr */
    const bh_launch_command *launch; /* the launch command to register, as bh_application_set_launch does; NULL: no
                                        change */
} bh_application_options;

/* Opens the application on its store. If the store has no running engine, the call starts one in the daemon or in this
 * process (see bh_hosting). Then the call waits until the engine replies. With timeout_ms 0 the call does not wait, but
 * it may start the daemon. If this start fails, the first call that needs the engine reports the error. With timeout_ms
 * 0 no call reports that options.launch could not be registered; use bh_application_set_launch instead. A process may
 * open the same store several times. A call that times out returns no handle and no ticket. BH_START is refused.
 * Errors: BH_INVALID_ARGUMENT, BH_STORE_…, BH_ENGINE_…, BH_DAEMON_UNAVAILABLE (the message says where the library
 * searched for the daemon, or why the daemon did not start), BH_TIMEOUT, BH_OUT_OF_RESOURCES. */
BH_API BH_CHECK_RESULT bh_status bh_application_open(const bh_application_options *options, int32_t timeout_ms,
                                                     bh_application **application, bh_error *error);

/* Frees the handle. Its sessions and tickets become invalid; tasks continue. If the engine is embedded in this process,
 * and this is the process's last handle, the call ends the engine. If another process has the store open, that process
 * becomes the engine. The call waits at most about a second for the threads of the ended engine. */
BH_API void bh_application_close(bh_application *application);

/* A descriptor for poll(2), select(2), epoll(7) or an event loop. It is readable (level-triggered) while at least one
 * of these is true: bh_application_next_ticket has a ticket to return; bh_application_poll has a session to return, and
 * no poll of this session is under way; the library has lost its engine, can use no other one, and bh_application_poll
 * has not returned this error yet. From this error until the library has an engine again, sessions do not make the
 * descriptor readable. An event loop with BH_START also watches the descriptor of each of its sessions
 * (bh_session_event_fd). After each wake-up it does three things, in this order. First, for each session whose
 * descriptor is readable, it starts a poll of the session, unless such a poll is under way. Second, it calls
 * bh_application_next_ticket until the ticket is NULL. Third, if it has started no poll and got no ticket, it calls
 * bh_application_poll with a timeout_ms of 0: this call returns a session that is not attached, or the error. The
 * library owns the application's descriptor until the application is closed: do not read, write or close it. The number
 * of the descriptor never changes. */
BH_API BH_CHECK_RESULT bh_status bh_application_event_fd(bh_application *application, int *descriptor,
                                                         bh_error *error);

/* Returns the sessions of this application that need attention (see bh_attention): a batch of bh_session_info. The
 * batch can also contain sessions that are not attached. A later call returns a session again only if the session has a
 * new reason for attention. The call waits up to timeout_ms for the first session; if there is none by then, the batch
 * is empty. Even if timeout_ms is 0, the call waits up to a second for the engine's reply, unless the engine's process
 * is stopped (see bh_session_poll). BH_START is refused. */
BH_API BH_CHECK_RESULT bh_status bh_application_poll(bh_application *application, int32_t timeout_ms,
                                                     bh_batch **sessions, bh_error *error);

/* All sessions of this application: a batch of bh_session_info. */
BH_API BH_CHECK_RESULT bh_status bh_application_sessions(bh_application *application, int32_t timeout_ms,
                                                         bh_batch **sessions, bh_error *error);

/* Registers the application's launch command, durably, in place of an earlier command. NULL removes the earlier
 * command. The call does not check whether the program exists. */
BH_API BH_CHECK_RESULT bh_status bh_application_set_launch(bh_application *application,
                                                           const bh_launch_command *command, int32_t timeout_ms,
                                                           bh_error *error);

/* The launch that started this process or one of its ancestors: a batch with one bh_launch. If there is no such launch,
 * or if the launch is over, the batch is empty. The environment variable BACKHAUL_LAUNCH of a launched program
 * identifies the launch. */
BH_API BH_CHECK_RESULT bh_status bh_application_current_launch(bh_application *application, int32_t timeout_ms,
                                                               bh_batch **launch, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Store: functions for all applications of a store. Each takes any application handle that is open on the store.
 * ------------------------------------------------------------------------------------------------------------ */

/* The engine of a store, and the process in which it runs. */
typedef struct bh_engine_info {
    size_t struct_size;
    int64_t process_id;        /* process id of the engine */
    uint32_t version;          /* version of the engine's library, in the form of BH_VERSION */
    bh_hosting hosting;        /* BH_HOSTING_DAEMON or …_EMBEDDED */
    int64_t started_ms;        /* when the engine started */
    const char *store;         /* path of the store as this host opened it */
    uint32_t connections;      /* open application handles of the store, including this handle */
    bool shares_control_group; /* true: the daemon is in the control group of this process. So if a service manager
                                  stops this host's service, the service manager also ends the daemon.
                                  docs/services.md */
    uint8_t reserved[3];
} bh_engine_info;

/* The store's engine: a batch with one bh_engine_info. */
BH_API BH_CHECK_RESULT bh_status bh_store_engine(bh_application *application, int32_t timeout_ms, bh_batch **engine,
                                                 bh_error *error);

/* An application of a store, with counts of all its sessions together. */
typedef struct bh_application_info {
    size_t struct_size;
    const char *identifier;  /* identifier of the application */
    uint64_t sessions;       /* number of sessions */
    uint64_t live_tasks;     /* tasks that have not ended */
    uint64_t running_tasks;  /* tasks that run; they are a part of live_tasks */
    uint64_t events;         /* events that are not acknowledged */
    uint32_t hosts;          /* connected hosts: processes with an open handle of the application. Handles with
                                BH_APPLICATION_OBSERVES do not count */
    bool has_launch_command; /* whether a launch command is registered; bh_store_launches has its state */
    uint8_t reserved[3];
} bh_application_info;

/* All applications of the store, sorted by identifier: a batch of bh_application_info. The list has each application
 * with a session, a launch command or a connected host. To list the sessions of an application, open the application
 * with BH_APPLICATION_OBSERVES, and call bh_application_sessions. */
BH_API BH_CHECK_RESULT bh_status bh_store_applications(bh_application *application, int32_t timeout_ms,
                                                       bh_batch **applications, bh_error *error);

/* Measurements of the store's engine for a monitoring system. docs/metrics.md lists all of them. */
typedef struct bh_metrics {
    size_t struct_size;
    const char *text; /* OpenMetrics text, version 1.0.0, as Prometheus reads it. The text has no URLs, no names of
                         servers, no paths and no identifiers */
} bh_metrics;

/* The present metrics of the store's engine: a batch with one bh_metrics. The counters begin at 0 when the engine
 * starts. */
BH_API BH_CHECK_RESULT bh_status bh_store_metrics(bh_application *application, int32_t timeout_ms, bh_batch **metrics,
                                                  bh_error *error);

/* Limits for all sessions of the store together. 0 is the default. */
typedef struct bh_limits {
    size_t struct_size;
    uint64_t bytes_per_second;       /* limit of sent and received bytes together; default: no limit */
    uint32_t maximum_running_tasks;  /* default 256; at most 1,024 */
    uint32_t maximum_connections;    /* default 256; at most 1,024 */
    uint32_t connections_per_origin; /* limit of the connections of all sessions together to one origin; at most 256.
                                        Default: only each session's own limit */
    uint32_t reserved;
} bh_limits;

/* Sets the store's limits durably. They apply immediately. */
BH_API BH_CHECK_RESULT bh_status bh_store_set_limits(bh_application *application, const bh_limits *limits,
                                                     int32_t timeout_ms, bh_error *error);

/* The store's limits with their defaults filled in: a batch with one bh_limits. */
BH_API BH_CHECK_RESULT bh_status bh_store_limits(bh_application *application, int32_t timeout_ms, bh_batch **limits,
                                                 bh_error *error);

/* State of an application's launch. */
BH_ENUM(bh_launch_state) {
    BH_LAUNCH_NONE = 0,    /* no command is registered, or no session needs its host */
    BH_LAUNCH_DUE = 1,     /* if no host connects before next_launch_ms, the engine launches the host at this time */
    BH_LAUNCH_RUNNING = 2, /* a launched host runs, and has not completed its sessions */
    BH_LAUNCH_GAVE_UP = 3  /* too many launches have failed. The engine launches no host until a host has connected
                              without a launch (for example, because the user started it) */
};

/* A registered launch command and its state. */
typedef struct bh_launch_info {
    size_t struct_size;
    const char *application;       /* identifier of the application */
    const char *program;           /* absolute path of the program */
    const char *const *arguments;  /* the arguments after the program's name */
    size_t argument_count;
    const char *const *environment; /* variables that the command adds, "NAME=value" */
    size_t environment_count;
    const char *working_directory; /* NULL: the user's home directory */
    bh_launch_state state;
    uint32_t launches;             /* number of launches in a row in which no session was completed */
    int64_t next_launch_ms;        /* time of the next launch, or 0 */
    int64_t process_id;            /* of the launched host, or 0 */
    int64_t started_ms;            /* time of the launch, or 0 */
    const char *error_message;     /* why the last launch failed, or NULL */
} bh_launch_info;

/* The launch commands of all applications: a batch of bh_launch_info. */
BH_API BH_CHECK_RESULT bh_status bh_store_launches(bh_application *application, int32_t timeout_ms,
                                                   bh_batch **launches, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Rules: parts of a session's configuration and of a request's policy. docs/retries.md, docs/http.md,
 * docs/conditions.md
 * ------------------------------------------------------------------------------------------------------------ */

/* Which errors are retried. */
BH_FLAGS(bh_retry_errors) {
    BH_RETRY_NAME = 1,          /* BH_NAME_NOT_RESOLVED */
    BH_RETRY_CONNECTION = 2,    /* BH_CONNECTION_FAILED */
    BH_RETRY_LOST = 4,          /* BH_CONNECTION_LOST, BH_TLS_TRUNCATED */
    BH_RETRY_TIMEOUT = 8,       /* BH_REQUEST_TIMEOUT */
    BH_RETRY_TLS = 16,          /* BH_TLS_FAILED if the handshake broke. If a certificate does not verify, the attempt
                                   is never repeated */
    BH_RETRY_STATUS = 32,       /* a response whose status is in bh_retry_policy.statuses, or is 403, 413, 429 or 5xx
                                   except 511 and has Retry-After */
    BH_RETRY_BAD_RESPONSE = 64, /* BH_BAD_RESPONSE */
    BH_RETRY_NONE = 128         /* no error is retried; not to be combined with other bits */
};

/* When a failed attempt is repeated. */
typedef struct bh_retry_policy {
    uint32_t maximum_attempts;  /* after this many attempts in a row without a new stored byte, the task fails. Default:
                                   no limit; the attempts end with the resource time-out */
    uint32_t first_delay_ms;    /* default 1,000: delay after the first failed attempt. The delay doubles with each
                                   further failed attempt. At most 86,400,000 (a day) */
    uint32_t longest_delay_ms;  /* default 600,000: the longest delay after a failed attempt; at most 86,400,000, and
                                   not less than first_delay_ms */
    uint32_t jitter_percent;    /* default 50: the random part of each delay; 1 to 100 */
    bh_retry_errors errors;     /* default: all errors except BH_RETRY_BAD_RESPONSE */
    bh_choice unsafe_methods;   /* BH_YES: requests whose method is not idempotent (POST, PATCH; RFC 9110, section
                                   9.2.2) are repeated even if a server may have acted on them. BH_NO, the default: such
                                   requests are repeated only if no server can have acted on them */
    const char *statuses;       /* default "408,425,429,500,502-504,520-530": the HTTP statuses, and ranges of statuses,
                                   for BH_RETRY_STATUS. The statuses 403, 413, 429 and 5xx except 511 with
                                   Retry-After count as well */
    uint64_t reserved[2];
} bh_retry_policy;

/* Version of HTTP. */
BH_ENUM(bh_http_version) {
    BH_HTTP_DEFAULT = 0, /* HTTP/2 over TLS if the server supports it, else HTTP/1.1 */
    BH_HTTP_1_1 = 1,              /* HTTP/1.1 only */
    BH_HTTP_2 = 2,                /* over TLS: HTTP/2 if the server supports it, even after HTTP/2 has failed, and with
                                     a limit of bytes per second. Without TLS: HTTP/1.1 */
    BH_HTTP_2_PRIOR_KNOWLEDGE = 3 /* over TLS: as BH_HTTP_2. Without TLS: HTTP/2 from the first byte (RFC 9113, section
                                     3.3). With libcurl before 8.0, each request then has its own connection */
};

/* Which redirects are followed (RFC 9110, section 15.4). A redirect from https to http is never followed. If a redirect
 * leads to another origin, the engine sends none of the headers and credentials that the host gave for the first
 * origin. */
BH_ENUM(bh_redirects) {
    BH_REDIRECTS_DEFAULT = 0,     /* BH_REDIRECTS_FOLLOW */
    BH_REDIRECTS_FOLLOW = 1,      /* all redirects are followed, up to maximum_redirects */
    BH_REDIRECTS_SAME_ORIGIN = 2, /* redirects to another origin fail with BH_REDIRECT_REFUSED */
    BH_REDIRECTS_NONE = 3         /* a redirect is a response like any other: accepted_statuses decides whether it is
                                     accepted */
};

/* How an upload continues after an interruption. docs/uploads.md */
BH_ENUM(bh_resumable_uploads) {
    BH_RESUMABLE_UPLOADS_DEFAULT = 0,   /* BH_RESUMABLE_UPLOADS_AUTOMATIC */
    BH_RESUMABLE_UPLOADS_NEVER = 1,     /* each attempt sends the whole body */
    BH_RESUMABLE_UPLOADS_AUTOMATIC = 2, /* as BH_RESUMABLE_UPLOADS_IETF for bodies of at least 1 MiB, but not if the
                                           request has a header field Upload-… */
    BH_RESUMABLE_UPLOADS_IETF = 3,      /* by draft-ietf-httpbis-resumable-upload, if the server knows it. Other servers
                                           get an ordinary request */
    BH_RESUMABLE_UPLOADS_TUS = 4,       /* by tus 1.0, which the server must know. The URL is the one that makes
                                           uploads; the method of the request is not used */
    BH_RESUMABLE_UPLOADS_APPLE = 5      /* as BH_RESUMABLE_UPLOADS_IETF, by version 01 of the draft, which the
                                           URLSession of Apple's systems uses */
};

/* Which responses are accepted, and how long a task waits for them. */
typedef struct bh_transfer_rules {
    uint32_t request_timeout_ms;   /* default 60,000: the longest time without a byte in either direction (Apple:
                                      timeoutIntervalForRequest); at most 86,400,000 (a day) */
    bh_http_version http_version;
    uint64_t resource_timeout_ms;  /* default 604,800,000 (7 days): the longest time from the enqueue to the end of the
                                      task (Apple: timeoutIntervalForResource). Time in which the task is suspended does
                                      not count. At most 315,360,000,000 (ten years) */
    bh_redirects redirects;
    uint32_t maximum_redirects;    /* default 20; at most 100 */
    const char *accepted_statuses; /* default "200-299": the accepted statuses and ranges of statuses. Any other status
                                      is a failure. The body of an accepted response is the file. The file is empty for
                                      204, 205 and 304, and for a response to HEAD. 206 is accepted if 200 is
                                      accepted */
    uint64_t maximum_size;         /* limit of a file's size in bytes; a larger file fails with BH_TOO_LARGE. Default:
                                      no limit */
    const char *accepted_types;    /* the accepted media types of a file, such as "image/png, application/zip". As in
                                      the field Accept (RFC 9110, section 12.5.1), the subtype or both may be an
                                      asterisk; parameters are not allowed. The bytes of another type are not received,
                                      and the task fails with BH_UNEXPECTED_TYPE. A response without Content-Type has
                                      the type application/octet-stream. Default: all types, except for pages that come
                                      in place of the file (docs/http.md) or of the response to an upload
                                      (docs/uploads.md) */
    bh_choice refuses_private_addresses; /* BH_YES: no connection is made to a private address (this machine, its local
                                      networks, addresses of a cloud's metadata), also after a redirect. The task fails
                                      with BH_ADDRESS_REFUSED. The engine checks the address of each connection, so a
                                      name that later resolves to another address is no way around the check. A proxy
                                      makes its connections itself (docs/transport.md). Default: BH_NO */
    bh_resumable_uploads resumable_uploads;
    const char *s3_endpoint;       /* for s3://bucket/key: the URL of a server of S3, such as
                                      "https://minio.example:9000". Default: AWS, or the endpoint of the
                                      environment or of the profile (docs/s3.md) */
    const char *s3_region;         /* for s3://bucket/key, such as "eu-central-1". Default: the region of the
                                      environment or of the profile, or us-east-1 */
    const char *s3_profile;        /* for s3://bucket/key: the profile in the files of AWS. Default: AWS_PROFILE, or
                                      "default" */
    const char *s3_credential_command; /* for s3://bucket/key: a command for /bin/sh that prints credentials as JSON, as
                                      credential_process of AWS does. Default: the places in docs/s3.md */
    bh_choice s3_path_style;       /* for s3://bucket/key: BH_YES: the bucket is in the path of the URL, and not in the
                                      name of the server. Default: BH_YES with an endpoint and for names of buckets with
                                      a dot */
    uint32_t reserved_number;
} bh_transfer_rules;

/* A predefined set of constraints (see bh_constraints). If the host also sets the field of a constraint, the value of
 * the field replaces the preset's value. After bh_request.latest_start_ms, the preset's constraints do not apply any
 * more. Constraints that the host has set in their own fields still apply. docs/conditions.md */
BH_ENUM(bh_preset) {
    BH_PRESET_DEFAULT = 0,       /* no constraints */
    BH_PRESET_DISCRETIONARY = 1, /* requires_external_power, requires_unmetered, maximum_thermal_state
                                    BH_THERMAL_FAIR, minimum_bytes_per_second 10,000 (Apple: isDiscretionary) */
    BH_PRESET_OVERNIGHT = 2      /* BH_PRESET_DISCRETIONARY, and quiet_hours "07:00-23:00" */
};

/* Heat of the machine (Apple: ProcessInfo.ThermalState). The engine compares the machine's thermal zones with their
 * trip points, which are temperatures that the firmware sets. */
BH_ENUM(bh_thermal_state) {
    BH_THERMAL_DEFAULT = 0, /* no limit is set */
    BH_THERMAL_NOMINAL = 1, /* no zone is above a trip point */
    BH_THERMAL_FAIR = 2,    /* a zone is above a passive or active trip point, or a cooling device slows a processor
                               down. A running fan does not count as such a device */
    BH_THERMAL_SERIOUS = 3, /* a zone is above a hot trip point, or within 10 degrees of a critical trip point */
    BH_THERMAL_CRITICAL = 4 /* a zone is within 3 degrees of a critical trip point, or above it: no task runs */
};

/* Kinds of network. The kind of a machine's network is the kind of the network with the default route. */
BH_FLAGS(bh_network_kinds) {
    BH_NETWORK_ETHERNET = 1, /* a cable */
    BH_NETWORK_WIFI = 2,    /* a wireless local network */
    BH_NETWORK_CELLULAR = 4, /* a mobile network */
    BH_NETWORK_BLUETOOTH = 8, /* a device that shares its network */
    BH_NETWORK_TUNNEL = 16, /* a VPN over an unknown network */
    BH_NETWORK_OTHER = 32   /* any other kind */
};

/* What a task demands of the system. While the system does not meet a constraint, the task is *held*: it does not run.
 * In structs that the library returns, the constraints have the values that the host has set; their defaults are not
 * filled in. If the session and the request have different values for a constraint, the stricter value applies. */
typedef struct bh_constraints {
    bh_preset preset;
    bh_choice requires_external_power;        /* BH_YES: held while the machine runs on battery */
    bh_choice requires_unmetered;             /* BH_YES: held while the network is metered: data may cost money (Apple:
                                                 allowsExpensiveNetworkAccess and allowsConstrainedNetworkAccess) */
    bh_network_kinds networks;                /* the permitted kinds of network; default: all (Apple's
                                                 allowsCellularAccess = false: all but BH_NETWORK_CELLULAR) */
    uint32_t minimum_battery_percent;         /* 1 to 100: tasks are held while the machine runs on battery and the
                                                 battery's charge is below this value. A held task waits until the
                                                 charge is 5 percentage points above this value, or the machine has
                                                 external power */
    bh_thermal_state maximum_thermal_state;   /* tasks are held while the machine is hotter than this state; default
                                                 BH_THERMAL_SERIOUS */
    uint32_t maximum_cpu_pressure_percent;    /* 1 to 100: limit of the pressure, which is the percentage of the last
                                                 ten seconds in which a process waited for a processor (/proc/pressure);
                                                 default: no limit */
    uint32_t maximum_io_pressure_percent;     /* as maximum_cpu_pressure_percent, but for processes that waited for a
                                                 disk */
    uint32_t maximum_memory_pressure_percent; /* as maximum_cpu_pressure_percent, but for processes that waited for
                                                 memory */
    uint32_t reserved_number;
    uint64_t minimum_bytes_per_second;        /* if an origin or the network is slower than this value for
                                                 slow_after_ms, tasks are held. After slow_pause_ms, the engine starts
                                                 one task to measure the throughput again: a slow probe. Both times are
                                                 set in bh_session_configuration. Default: no minimum */
    const char *quiet_hours;                  /* hours of local time in which tasks are held: "22:00-06:30", or several
                                                 with days: "mon-fri 08:00-18:00, sat 10:00-14:00". Hours such as
                                                 22:00-06:30 end on the next day. Default: none */
    uint64_t reserved[2];
} bh_constraints;

/* The oldest version of TLS that is accepted. */
BH_ENUM(bh_tls_version) {
    BH_TLS_DEFAULT = 0, /* BH_TLS_1_2 */
    BH_TLS_1_2 = 12,    /* TLS 1.2 or later */
    BH_TLS_1_3 = 13     /* TLS 1.3 or later */
};

/* The certificates that a session trusts, and the session's own certificate. */
typedef struct bh_tls_settings {
    const char *ca_file;            /* absolute path of a PEM file with the trusted certificates, in place of the
                                       system's certificates */
    const char *client_certificate; /* absolute path of a PEM file with a certificate and its chain */
    const char *client_key;         /* absolute path of a PEM file; default: the key is in the file
                                       client_certificate */
    const char *pinned_public_keys; /* "sha256//BASE64;sha256//…": keys of the server (RFC 7469) */
    bh_tls_version minimum_version;
    uint32_t reserved_number;
    uint64_t reserved[2];
} bh_tls_settings;

/* The proxy through which servers are reached. */
typedef struct bh_proxy_settings {
    const char *url;      /* "http://…", "https://…", "socks5://…" or "socks5h://…" (the proxy resolves names), without
                             user and password; "none": no proxy; NULL: the variables http_proxy, https_proxy, all_proxy
                             and no_proxy of the engine's environment determine the proxy */
    const char *user;     /* user name for the proxy (Basic, Digest or SOCKS), together with `password` */
    const char *password; /* password for the proxy */
    const char *bypass;   /* names and addresses that are reached without the proxy, in the form of CURLOPT_NOPROXY */
    uint64_t reserved[2];
} bh_proxy_settings;

/* A budget that permits no bytes. */
#define BH_BUDGET_NOTHING 18446744073709551615u

/* Bytes that may move on one network, in both directions together. The struct never grows. */
typedef struct bh_budget {
    uint64_t daily;   /* bytes in a day of local time; 0: no limit; BH_BUDGET_NOTHING: no bytes */
    uint64_t monthly; /* bytes in a calendar month. For the budget of a network, bh_network.month_starts_on sets the day
                         on which the month begins. 0: no limit; BH_BUDGET_NOTHING: no bytes */
} bh_budget;

/* A header field (RFC 9110, section 5). The struct never grows. */
typedef struct bh_header {
    const char *name;  /* a token, such as "Accept" */
    const char *value; /* the value, without line breaks */
} bh_header;

/* Settings of one task. Fields of `retry` and `rules` replace the fields of the session; if a field is 0 or NULL, the
 * session's field applies. Constraints and the rate limit of the session always apply as well (see bh_constraints). */
typedef struct bh_policy {
    size_t struct_size;
    bh_retry_policy retry;     /* when a failed attempt is repeated */
    bh_transfer_rules rules;   /* which responses are accepted */
    bh_constraints constraints; /* what the task demands of the system */
    uint64_t bytes_per_second; /* limit of this task's rate; bh_tasks_set_rate changes the limit. The session's limit
                                  also applies */
} bh_policy;

/* ---------------------------------------------------------------------------------------------------------------
 * Session: a named collection of tasks with stored settings. A host creates it once, later attaches it by its
 * identifier, and completes it after the work.
 * ------------------------------------------------------------------------------------------------------------ */

/* What a handle of a session may do. A handle of any role may list tasks. */
BH_ENUM(bh_role) {
    BH_ROLE_CONSUME = 1,          /* polls, acknowledges and completes. Only one handle at a time, the consumer, has
                                     this role in a session. The consumer also has the rights of all other roles */
    BH_ROLE_PRODUCE = 2,          /* enqueues and controls tasks, claims kept files (moves them out of the store),
                                     responds to challenges, configures and invalidates the session, sets activities */
    BH_ROLE_OBSERVE = 3,          /* lists tasks and watches progress */
    BH_ROLE_CONSUME_WHEN_FREE = 4 /* as BH_ROLE_CONSUME, but the call waits until the session has no other consumer.
                                     Meanwhile, the present consumer gets BH_ATTENTION_YIELD. If the host releases the
                                     ticket of the call, the wait ends */
};

/* Faults of servers that a session tolerates. */
BH_FLAGS(bh_tolerances) {
    BH_TOLERATE_MISSING_CLOSE_NOTIFY = 1, /* some bodies end at the end of the TLS connection. With this flag, such a
                                             body counts as complete even if the server sent no close_notify (RFC 9112,
                                             section 9.8). Without this flag, the task fails with BH_TLS_TRUNCATED if
                                             close_notify is missing, because an attacker may have truncated the
                                             body */
    BH_TOLERATE_EARLY_RESPONSE = 2        /* a successful response makes an upload succeed, even if the upload's body
                                             was not sent completely. Without this flag the whole body must be sent */
};

/* Where a session's cookies are kept (RFC 6265). */
BH_ENUM(bh_cookies) {
    BH_COOKIES_DEFAULT = 0,   /* BH_COOKIES_NONE */
    BH_COOKIES_NONE = 1,      /* no cookies are kept or sent */
    BH_COOKIES_MEMORY = 2,    /* in the engine's memory, until the engine exits */
    BH_COOKIES_PERSISTENT = 3 /* as BH_COOKIES_MEMORY. Cookies with an expiry time are also kept in the store, for the
                                 next engine process */
};

/* For bh_session_configuration.history_limit: no ended task is kept. */
#define BH_HISTORY_NONE 4294967295u

/* Settings of a session, stored with it. 0 and NULL are the defaults. */
typedef struct bh_session_configuration {
    size_t struct_size;
    const char *identifier;              /* required: 1 to 255 bytes of UTF-8 without control characters */
    bh_retry_policy retry;               /* when failed attempts are repeated */
    bh_transfer_rules rules;             /* which responses are accepted */
    bh_constraints constraints;          /* what all tasks of the session demand of the system */
    bh_tls_settings tls;                 /* trusted certificates and own certificates */
    bh_proxy_settings proxy;             /* the proxy of the session */
    bh_budget budget;                    /* bytes that this session may move on each network */
    uint64_t bytes_per_second;           /* limit of the rate of all tasks of the session together, in both directions;
                                            default: no limit */
    const bh_header *headers;            /* headers that are sent with each request, but only to the origin of the
                                            request's URL. If the request has a header of the same name, the request's
                                            header is sent instead (Apple: httpAdditionalHeaders) */
    size_t header_count;
    uint32_t connections_per_origin;     /* default 6; at most 256. Tasks over HTTP/2 share one connection */
    uint32_t maximum_running_tasks;      /* default 64; at most 1,024 */
    uint32_t history_limit;              /* default 1,000: how many ended tasks bh_session_history can list; at most
                                            100,000. With BH_HISTORY_NONE, the history is empty, and the records of a
                                            task's attempts are kept only until the host acknowledges the task's
                                            event */
    bh_cookies cookies;
    bh_tolerances tolerances;
    bh_choice sends_launch_events;       /* BH_YES, the default: when this session needs a host, the engine launches the
                                            host (Apple: sessionSendsLaunchEvents) */
    bh_choice asks_for_credentials;      /* BH_YES: the statuses 401 and 407 open a challenge, even if they are
                                            accepted, and the tasks wait until the host responds to the challenge.
                                            BH_NO, the default: these statuses are failures, like all statuses that are
                                            not accepted */
    bh_choice discretionary_if_launched; /* BH_YES: tasks that a launched host enqueues get BH_PRESET_DISCRETIONARY.
                                            Apple does the same with tasks of an app in the background. Default BH_NO */
    uint32_t launch_if_stopped_ms;       /* if the consumer's process has been stopped for this long (by SIGSTOP, a
                                            debugger or the cgroup freezer), and the session needs its host, the engine
                                            launches another host. 0: never. The library does not make a stopped
                                            process run again. At most 86,400,000 (a day) */
    uint32_t slow_after_ms;              /* default 60,000: how long the throughput must be below
                                            constraints.minimum_bytes_per_second before tasks are held; 1,000 to
                                            86,400,000 (a day) */
    uint32_t slow_pause_ms;              /* default 300,000: pause before the first slow probe of an origin. The pause
                                            doubles after each failed slow probe, until it is twelve times this value.
                                            1,000 to 86,400,000 (a day) */
    uint32_t reserved;
} bh_session_configuration;

/* What bh_session_create did. */
BH_ENUM(bh_session_disposition) {
    BH_SESSION_CREATED = 1, /* the session is new */
    BH_SESSION_ATTACHED = 2 /* the session existed, and keeps its configuration: `configuration` has no effect. To
                               change the configuration, call bh_session_set_configuration */
};

/* Creates the session, or attaches it if it exists. `disposition` is optional.
 * Errors: those of bh_session_attach, BH_INVALIDATED, and BH_INVALID_ARGUMENT for the configuration. */
BH_API BH_CHECK_RESULT bh_status bh_session_create(bh_application *application,
                                                   const bh_session_configuration *configuration, bh_role role,
                                                   int32_t timeout_ms, bh_session **session,
                                                   bh_session_disposition *disposition, bh_error *error);

/* Attaches a session by its identifier. The session may be invalidated: its events can still be read. Errors:
 * BH_NOT_FOUND; BH_IN_USE when the session has another consumer (`detail` is the id of the consumer's process). */
BH_API BH_CHECK_RESULT bh_status bh_session_attach(bh_application *application, const char *identifier, bh_role role,
                                                   int32_t timeout_ms, bh_session **session, bh_error *error);

/* Frees the handle and releases its role. Transfers continue; events that are not acknowledged stay. */
BH_API void bh_session_close(bh_session *session);

/* A descriptor like the descriptor of bh_application_event_fd. It is readable while this session has events that no
 * poll of this handle has returned. While a poll of this handle waits for the engine's reply, the descriptor is not
 * readable. If the library has lost its engine and can use no other one, the descriptor is readable until a poll of
 * this handle begins. This poll fails with the error. The library owns the descriptor until the session is closed. */
BH_API BH_CHECK_RESULT bh_status bh_session_event_fd(bh_session *session, int *descriptor, bh_error *error);

/* The stored configuration with its defaults filled in: a batch with one bh_session_configuration. */
BH_API BH_CHECK_RESULT bh_status bh_session_get_configuration(bh_session *session, int32_t timeout_ms,
                                                              bh_batch **configuration, bh_error *error);

/* Replaces the stored configuration. The new identifier must be the session's identifier, or NULL. The new
 * configuration applies to attempts that start later. Some fields apply immediately: constraints, budget, cookies,
 * bytes_per_second, maximum_running_tasks, connections_per_origin, history_limit, shorter delays, and a shorter
 * resource_timeout_ms. */
BH_API BH_CHECK_RESULT bh_status bh_session_set_configuration(bh_session *session,
                                                              const bh_session_configuration *configuration,
                                                              int32_t timeout_ms, bh_error *error);

/* Reports that the host has processed all events that its polls have returned (Apple: the completion handler of
 * handleEventsForBackgroundURLSession). If the engine launched a host for this session, the call ends the launch for
 * this session. If this process is the launched host, the call also ends this handle: later calls with the handle
 * return BH_COMPLETED. A host can create or attach the session again immediately, in any process. Other handles stay
 * valid. After the call, a challenge that is still open, and whose event was acknowledged, does not launch a host
 * again. If there was no launch, the call has no effect. Errors: BH_EVENTS_OUTSTANDING when this handle has polled
 * events, and events up to the last of these are not acknowledged. `detail` is their number. It includes events that no
 * poll returned, because their ids are not greater than the poll's `after`. */
BH_API bh_status bh_session_complete(bh_session *session, int32_t timeout_ms, bh_error *error);

/* What happens to the tasks of a session that is invalidated. */
BH_ENUM(bh_invalidation) {
    BH_INVALIDATE_FINISH = 1, /* its tasks run to their end (Apple: finishTasksAndInvalidate) */
    BH_INVALIDATE_CANCEL = 2  /* its tasks are cancelled (Apple: invalidateAndCancel) */
};

/* Ends the session: no further task can be enqueued. When all its tasks have ended and all its events are acknowledged,
 * the session is removed and its identifier is free. Then all handles of the session have ended: their descriptors
 * become readable, and calls with these handles return BH_INVALIDATED. Only bh_session_complete still succeeds. */
BH_API BH_CHECK_RESULT bh_status bh_session_invalidate(bh_session *session, bh_invalidation mode, int32_t timeout_ms,
                                                       bh_error *error);

/* Why a session needs attention. */
BH_FLAGS(bh_attention) {
    BH_ATTENTION_EVENTS = 1,    /* the session has events that are not acknowledged */
    BH_ATTENTION_FINISHED = 2,  /* one of these events is BH_EVENT_SESSION_FINISHED */
    BH_ATTENTION_CHALLENGE = 4, /* a challenge is open */
    BH_ATTENTION_YIELD = 8,     /* another handle waits until it can be the consumer: finish the work, complete the
                                   session and close it */
    BH_ATTENTION_ACTIVITY = 16  /* one of the session's events is BH_EVENT_ACTIVITY */
};

/* A session with its counts and its consumer. */
typedef struct bh_session_info {
    size_t struct_size;
    const char *identifier;      /* identifier of the session */
    uint64_t round;              /* number of the current or last round; 0 before the first enqueue */
    uint64_t live_tasks;         /* tasks that have not ended */
    uint64_t events;             /* events that are not acknowledged */
    uint64_t open_challenges;    /* challenges that are open */
    int64_t created_ms;          /* when the session was created */
    int64_t consumer;            /* process id of the consumer, or 0 */
    int64_t consumer_stopped_ms; /* time at which the engine found that the consumer's process is stopped, or 0 */
    int64_t next_launch_ms;      /* time of the next launch for this session, or 0 */
    bh_attention attention;
    bh_launch_state launch_state; /* if this session needs its host: state of the application's launch; else
                                     BH_LAUNCH_NONE */
    uint32_t waiting_consumers;  /* handles that wait with BH_ROLE_CONSUME_WHEN_FREE */
    bool is_invalidated;         /* the session was invalidated */
    uint8_t reserved[3];
} bh_session_info;

/* A launch, as the launched host reads it. */
typedef struct bh_launch {
    size_t struct_size;
    uint64_t id;                     /* grows with each launch of the store */
    uint32_t launches;               /* 1 for this launch, plus the number of launches directly before it in which no
                                        session was completed */
    bh_attention attention;          /* why its sessions need a host: BH_ATTENTION_FINISHED, …_CHALLENGE and
                                        …_ACTIVITY */
    const bh_session_info *const *sessions; /* pointers to the sessions that need a host and are not completed */
    size_t session_count;
} bh_launch;

/* ---------------------------------------------------------------------------------------------------------------
 * Enqueue: requests for downloads and uploads, which become tasks.
 * ------------------------------------------------------------------------------------------------------------ */

/* What the engine does if a file with the destination's name exists. The engine checks this at the enqueue, and when
 * the download is finished. */
BH_ENUM(bh_if_exists) {
    BH_IF_EXISTS_FAIL = 0,    /* the request is refused, or the task fails, with BH_DESTINATION_EXISTS */
    BH_IF_EXISTS_REPLACE = 1, /* the file is replaced atomically by rename(2); a directory is never replaced */
    BH_IF_EXISTS_SKIP = 2     /* requires checksum or expected_size. If the file has the given checksum and size, the
                                 task succeeds without an HTTP request (attempts and http_status are 0). Otherwise the
                                 engine downloads the file and replaces the old one */
};

/* Flags of a request. */
BH_FLAGS(bh_request_flags) {
    BH_REQUEST_STARTS_SUSPENDED = 1, /* the task is suspended until the host resumes it */
    BH_REQUEST_IF_CHANGED = 2,      /* if an earlier task with this flag downloaded the file from this URL, the request
                                       is conditional (RFC 9110, section 13.1). If the content on the server has not
                                       changed, the task succeeds with http_status 304 and the file stays. If the file
                                       at `destination` was changed or removed since the earlier task, the file is
                                       downloaded again. The same is true if the request has a checksum, or an
                                       expected_size that the file does not have: after a 304, nothing would verify
                                       them. Requires BH_IF_EXISTS_REPLACE */
    BH_REQUEST_NAMED_BY_SERVER = 4, /* `destination` is an existing directory. The engine takes the file's name from
                                       Content-Disposition (RFC 6266), else from the last segment of the URL's path. If
                                       a redirect leads to another URL, and only that URL's segment has an extension, it
                                       is the name. The name is never a path, never hidden, and has at most 255 bytes.
                                       If another task has this name in the directory, or if a file has it and
                                       if_exists is BH_IF_EXISTS_FAIL, the name gets a number: "a (1).zip". The name is
                                       reserved before the body is fetched. bh_event.path ends with the name */
    BH_REQUEST_IGNORES_DIGESTS = 8  /* the engine does not verify the response's fields Repr-Digest and Content-Digest
                                       (RFC 9530) */
};

/* What the engine does with the files of a request's body. docs/uploads.md */
BH_ENUM(bh_body_source) {
    BH_BODY_REFERENCE = 0, /* reads the files in place; if a file changes after the enqueue, the task fails with
                              BH_BODY_CHANGED */
    BH_BODY_SNAPSHOT = 1,  /* copies the files into the store at the enqueue, by reflink if the file system supports
                              reflinks */
    BH_BODY_CONSUME = 2    /* moves the files into the store at the enqueue and removes them after success. If the task
                              fails or is cancelled, the host gets the files back. Then bh_event.path of the task's
                              BH_EVENT_TASK_ENDED is the file's path in the store. For a form, bh_event.path is the path
                              of the first file, and ends in ".0". The paths of the other files end in ".1" and so on.
                              When the host acknowledges the event, the engine moves each file back to its old path. If
                              another file has that path, the moved file gets the name "NAME.~TASK" in the same
                              directory. The call that acknowledges the event returns after the files are moved. If a
                              file cannot be moved, it stays in the store, and the engine tries again later. Before the
                              acknowledgement, the host can move a file to another path with bh_task_claim. Symbolic
                              links are refused */
};

/* Which part of the request can expire: the headers or the URL. When this part has expired, the engine opens a
 * challenge of the kind BH_CHALLENGE_REFRESH, and the host gives new headers or a new URL. */
BH_ENUM(bh_refresh) {
    BH_REFRESH_NONE = 0,    /* neither can expire */
    BH_REFRESH_HEADERS = 1, /* the headers: one challenge for all tasks of the session that have the same origin. A
                               response BH_RESPOND_HEADERS applies to all tasks that were enqueued before the
                               response */
    BH_REFRESH_URL = 2      /* the URL: one challenge for each task. The host responds with BH_RESPOND_URL or
                               BH_RESPOND_HEADERS. A partial download continues only if the strong entity tag (ETag)
                               and the size are the same as before */
};

/* One part of a multipart/form-data body (RFC 7578): a file or a value. */
typedef struct bh_part {
    size_t struct_size;
    const char *name;       /* required: name of the part */
    const char *file;       /* absolute path, or NULL */
    const void *value;      /* bytes of a part without a file */
    size_t value_size;
    const char *file_name;  /* the file name that the server gets; NULL: the last segment of `file`, or no file name for
                               a value */
    const char *media_type; /* NULL: application/octet-stream for a file, no media type for a value */
} bh_part;

/* What a task does if a task that it waits for fails or is cancelled. */
BH_ENUM(bh_dependency_failure) {
    BH_DEPENDENCY_FAILURE_DEFAULT = 0, /* BH_DEPENDENCY_FAILURE_FAIL */
    BH_DEPENDENCY_FAILURE_FAIL = 1,    /* it fails with BH_DEPENDENCY_FAILED */
    BH_DEPENDENCY_FAILURE_CANCEL = 2,  /* it is cancelled */
    BH_DEPENDENCY_FAILURE_IGNORE = 3   /* it runs. The request takes nothing from the response */
};

/* A task that a request waits for, and what the request takes from the response to that task. The places in a response
 * are texts: "url" is the URL that sent it, "body" is its body, "header:Location" is a header field, and "json:/a/b" is
 * a text or number in its body, which is a JSON document (RFC 6901). Bodies and their members can be taken only from
 * responses to uploads, up to 65,536 bytes. docs/chains.md */
typedef struct bh_dependency {
    size_t struct_size;
    uint64_t task_id;            /* id of the task; 0: idempotency_key names it */
    const char *idempotency_key; /* key of the task. It may be a request before this one in the same call. NULL: task_id
                                    names the task */
    const char *url;             /* the place of the request's URL, which may be relative to the URL of the response. It
                                    must be http or https, and https if the URL of the response or bh_request.url is
                                    https. If its origin is not that of bh_request.url, the headers of the request and
                                    of the session are not sent. NULL: the URL is bh_request.url */
    const char *body;            /* the place of the request's body; NULL: none */
    const bh_header *headers;    /* header fields whose values are places. They replace headers of the same name */
    size_t header_count;
    bh_dependency_failure if_fails;
    uint32_t reserved;
} bh_dependency;

/* Priority of a task that starts immediately, even if its session's limits are reached. If the engine's limits are
 * reached, the engine stops the running task with the lowest priority in favour of this task. It does not stop a task
 * that has sent a request that must not be repeated. */
#define BH_PRIORITY_NOW 101

/* Limits of a request. A larger request is refused with BH_INVALID_ARGUMENT. */
#define BH_URL_SIZE_MAXIMUM 16384         /* bytes of a URL */
#define BH_USER_DATA_SIZE_MAXIMUM 65536   /* bytes of bh_request.user_data */
#define BH_HEADER_COUNT_MAXIMUM 100       /* headers of a request or a session */
#define BH_HEADERS_SIZE_MAXIMUM 65536     /* bytes of the names and values of all headers together */
#define BH_BODY_SIZE_MAXIMUM 1048576      /* bytes of bh_request.body */
#define BH_PART_COUNT_MAXIMUM 1000        /* parts of a form */
#define BH_GROUP_SIZE_MAXIMUM 255         /* bytes of bh_request.group */
#define BH_AFTER_COUNT_MAXIMUM 16         /* tasks in bh_request.after */
#define BH_ENQUEUE_COUNT_MAXIMUM 10000000 /* requests in one call */
#define BH_ID_COUNT_MAXIMUM 100000        /* event ids or task ids in one call */

/* A download or an upload. A request with a body and without a destination is an upload, and the event of its task has
 * the response's body. A request with a body and a destination is a download that sends the body. A download with a
 * body starts again from the first byte after each broken connection. If two fields contradict each other, the request
 * is refused, and the message names both fields. */
typedef struct bh_request {
    size_t struct_size;
    const char *url;             /* required: http or https, without user and password. Listings have the ASCII form of
                                    an international host name, which is converted with libidn2 */
    const char *destination;     /* absolute path of the file to make; NULL: the request is an upload, or the downloaded
                                    file is kept in the store until the host claims it */
    const char *idempotency_key; /* 1 to 255 bytes. If an earlier request of the session has the same key, the new
                                    request makes no task: the call returns the earlier task, and does not check files.
                                    The two requests may differ only in rate, constraints, priority, start times,
                                    expiry and BH_REQUEST_STARTS_SUSPENDED, and the earlier task keeps its values of
                                    these fields. If other fields
                                    differ, the call fails with BH_KEY_CONFLICT. If the earlier task has succeeded and
                                    its event is acknowledged, the other fields are not compared. If the task has failed
                                    or was cancelled, the key is free for another request after the task's event is
                                    acknowledged. If the task has succeeded, the key is free after the round's
                                    BH_EVENT_SESSION_FINISHED, or an event of a later round, is acknowledged */
    const bh_header *headers;    /* sent only to the URL's origin; stored with mode 0600. At most
                                    BH_HEADER_COUNT_MAXIMUM headers. All names and values together have at most
                                    BH_HEADERS_SIZE_MAXIMUM bytes */
    size_t header_count;
    const void *user_data;       /* any bytes, which are returned with events and lists */
    size_t user_data_size;
    const char *method;          /* a token (RFC 9110, section 9.1) except CONNECT and TRACE. NULL: PUT with body_file
                                    or body, POST with parts, otherwise GET */
    const char *group;           /* 1 to 255 bytes: the name of a group. When the last task of the group has ended, the
                                    session gets one BH_EVENT_GROUP_FINISHED */
    const char *checksum;        /* expected digest of a download: "sha-256:" with 64 hexadecimal digits, or "sha-512:"
                                    with 128. A file with another digest is downloaded a second time. If the second file
                                    also has another digest, the task fails with BH_CHECKSUM_MISMATCH. A file with
                                    another digest never gets its final name. With a checksum, the engine does not
                                    verify digests that the server sends */
    uint64_t expected_size;      /* size of the file in bytes. A file of another size is downloaded a second time. If
                                    the second file also has another size, the task fails with BH_SIZE_MISMATCH. 0: any
                                    size */
    const char *body_file;       /* the body: absolute path of a regular file */
    const void *body;            /* or the body as bytes, which are kept in the store */
    size_t body_size;            /* at most BH_BODY_SIZE_MAXIMUM */
    const bh_part *parts;        /* or the body as a form */
    size_t part_count;
    const bh_policy *policy;     /* NULL: the session's settings. Several requests may point to one policy */
    int64_t expires_ms;          /* the time at which the headers or the URL (see `refresh`) expire. An attempt after
                                    that time first opens a challenge. 0: not known; only a response opens a challenge:
                                    one with 401 or 403, or for a URL also another one (docs/credentials.md) */
    int64_t earliest_start_ms;   /* the task does not start before this time (Apple: earliestBeginDate); 0: no limit */
    int64_t latest_start_ms;     /* after this time, the constraints of the task's own preset and of its session's
                                    preset do not apply to the task any more. latest_start_ms must not be before
                                    earliest_start_ms. 0: no such time */
    uint64_t expected_bytes_received; /* upper bound of the received bytes (Apple: countOfBytesClientExpectsToReceive).
                                         0: expected_size, or not known. While a budget has fewer bytes left than this
                                         bound and expected_bytes_sent together, the task is held. When a part of the
                                         file is stored, the bounds do not matter any more */
    uint64_t expected_bytes_sent; /* upper bound of the sent bytes, which is added to expected_bytes_received (Apple:
                                     countOfBytesClientExpectsToSend). 0: the size of the body */
    bh_request_flags flags;
    bh_if_exists if_exists;
    bh_body_source body_source;  /* for body_file and the files of parts */
    bh_refresh refresh;
    int32_t priority;            /* tasks of higher priority start first within the session; -100 to 100, or
                                    BH_PRIORITY_NOW */
    uint32_t mode;               /* permission bits of the file; 0: the mode of the replaced file, or the default ACL of
                                    the directory, or 0666 without the bits of the host's umask (docs/storage.md) */
    uint64_t range_start;        /* the first byte to transfer. In a download without a body: of the resource. The file
                                    then has only the bytes of the range, and checksum, expected_size and maximum_size
                                    apply to this file. In an upload of body_file: of this file, without
                                    BH_BODY_CONSUME. If the resource is shorter than the range, the task fails with
                                    BH_SIZE_MISMATCH. docs/uploads.md */
    uint64_t range_size;         /* the number of bytes to transfer from range_start on; 0: all bytes up to the end */
    const bh_dependency *after;  /* tasks of the session that must have ended before this task starts. Until then, it
                                    waits with BH_REASON_DEPENDENCY, also without a host. resource_timeout_ms includes
                                    this wait. A task that was acknowledged and removed is an error, BH_NOT_FOUND */
    size_t after_count;
} bh_request;

/* State of a task. The last three states are final. */
BH_ENUM(bh_task_state) {
    BH_TASK_NONE = 0,      /* no state: an event that is not about a task, or a field that is not set */
    BH_TASK_WAITING = 1,   /* the state of a new task. bh_task_info.reason is why the task does not run */
    BH_TASK_RUNNING = 2,   /* an attempt is under way */
    BH_TASK_SUSPENDED = 3, /* the host has suspended the task, or enqueued it with BH_REQUEST_STARTS_SUSPENDED */
    BH_TASK_SUCCEEDED = 4, /* the transfer is complete, and a download's file is in place */
    BH_TASK_FAILED = 5,    /* the status of the task's event is the reason */
    BH_TASK_CANCELLED = 6  /* the host has cancelled the task */
};

/* What bh_session_enqueue did with one request. */
BH_ENUM(bh_enqueue_disposition) {
    BH_ENQUEUE_NEW = 1,     /* it made a task */
    BH_ENQUEUE_EXISTING = 2 /* the idempotency key found an earlier task */
};

/* The task of one request. */
typedef struct bh_enqueued {
    size_t struct_size;
    uint64_t request;         /* number of the request in the array, from 0 */
    uint64_t task_id;         /* id of the new or the earlier task */
    uint64_t event_id;        /* if the idempotency key found a task that has ended, and the task's event is not
                                 acknowledged: id of this event; else 0 */
    bh_enqueue_disposition disposition;
    bh_task_state task_state; /* state of the earlier task that the key found. With BH_ENQUEUE_NEW the field is not set
                                 (BH_TASK_NONE): the new task waits, or is suspended if its request says so. If the
                                 state is BH_TASK_SUCCEEDED and event_id is 0, the task's event was acknowledged and is
                                 not delivered again. To transfer the file again, use another key */
} bh_enqueued;

/* Makes `count` tasks, durably: after BH_OK they survive kill -9 and power loss. First, all requests are checked. If a
 * request is invalid, the call is refused, and error->index is the number of this request. Then the requests are
 * applied in chunks, each chunk atomically. If the engine refuses a request, error->index is the number of this
 * request, and no request of the same chunk is applied. Later chunks may still be applied. `results` (optional) is a
 * batch of bh_enqueued, one for each applied request. If the engine refuses a request, the call fails, but also sets
 * `results`: to this batch, or to NULL if no request was applied. With BH_START, the call copies all requests at once;
 * otherwise it copies a few thousand requests at a time.
 * Errors: BH_INVALID_ARGUMENT, BH_DESTINATION_EXISTS, BH_DESTINATION_UNAVAILABLE, BH_DESTINATION_IN_USE,
 * BH_BODY_UNAVAILABLE, BH_DISK_FAILED, BH_STORAGE_AWAY, BH_KEY_CONFLICT, BH_STORE_FULL, BH_STORE_UNAVAILABLE. */
BH_API BH_CHECK_RESULT bh_status bh_session_enqueue(bh_session *session, const bh_request *requests, size_t count,
                                                    int32_t timeout_ms, bh_batch **results, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Events: stored messages for the host. A host polls, works, and acknowledges, in this order.
 * ------------------------------------------------------------------------------------------------------------ */

/* What an event reports. */
BH_ENUM(bh_event_kind) {
    BH_EVENT_TASK_ENDED = 1,       /* a task has ended; one event for each task, in the order of commit */
    BH_EVENT_SESSION_FINISHED = 2, /* the round's last task has ended (Apple: urlSessionDidFinishEvents). If a task is
                                      added before the host acknowledges this event, the event is withdrawn; another
                                      one follows when that task has ended */
    BH_EVENT_CHALLENGE = 3,        /* a challenge (see bh_challenge) was opened. If the host acknowledges this event,
                                      the challenge stays open */
    BH_EVENT_GROUP_FINISHED = 4,   /* the last task of a group has ended */
    BH_EVENT_ACTIVITY = 5          /* an activity (see bh_activity) without a request is due. The engine launches a host
                                      for this event. Until the host acknowledges the event, the activity makes no
                                      further event */
};

/* What demands a credential, new headers or a new URL. */
BH_ENUM(bh_challenge_kind) {
    BH_CHALLENGE_SERVER = 1, /* a server, with 401 */
    BH_CHALLENGE_PROXY = 2,  /* a proxy, with 407 */
    BH_CHALLENGE_REFRESH = 3 /* the engine: the headers or the URL of a request (see bh_request.refresh) have expired,
                                or the server's response means that they have expired, such as 401 or 403 */
};

/* Authentication schemes that were offered (RFC 9110, section 11). */
BH_FLAGS(bh_schemes) {
    BH_SCHEME_BASIC = 1,     /* RFC 7617 */
    BH_SCHEME_BEARER = 2,    /* RFC 6750 */
    BH_SCHEME_DIGEST = 4,    /* RFC 7616 */
    BH_SCHEME_NEGOTIATE = 8, /* RFC 4559 */
    BH_SCHEME_OTHER = 16     /* a scheme that this version does not know */
};

/* A demand for a credential, new headers or a new URL. A challenge is for one protection space: an origin and a realm
 * (RFC 9110, section 11.5). Each protection space has at most one open challenge. The challenge is open until the host
 * calls bh_session_respond, or until no task waits for the challenge. The challenge stays open when the host
 * acknowledges the challenge's event. If the server refuses the credential, a new challenge with a new id opens, and
 * `failures` of the new challenge is one higher. docs/credentials.md */
typedef struct bh_challenge {
    size_t struct_size;
    uint64_t id;            /* grows; never used twice in a store */
    bh_challenge_kind kind;
    bh_schemes schemes;
    const char *origin;     /* "https://example.org:443", of the server or the proxy */
    const char *realm;      /* NULL if the server named none */
    const char *url;        /* for BH_CHALLENGE_REFRESH of a URL: the present URL; else NULL */
    uint64_t task_id;       /* for BH_CHALLENGE_REFRESH of a URL: its task; else 0 */
    uint64_t waiting_tasks; /* tasks that waited for the challenge when the host read it */
    int64_t time_ms;        /* when the challenge was opened */
    uint32_t failures;      /* number of refused credentials in a row. After a few refusals, a host should give up */
    uint32_t reserved;
} bh_challenge;

/* Whether a task downloads or uploads. */
BH_ENUM(bh_task_kind) {
    BH_TASK_KIND_NONE = 0,     /* an event that is not about a task */
    BH_TASK_KIND_DOWNLOAD = 1, /* the task makes a file */
    BH_TASK_KIND_UPLOAD = 2    /* the task sends a body, and makes no file */
};

/* A stored message for the host. All kinds have id, time_ms, kind and round. Fields that a kind does not set are 0 or
 * NULL:
 *
 *   field                                  TASK_ENDED  SESSION_FINISHED  CHALLENGE  GROUP_FINISHED  ACTIVITY
 *   task_id … attempts                         x               -             -              -           -
 *   challenge                                  -               -             x              -           -
 *   group                                    if any            -             -              x           -
 *   group_succeeded … group_cancelled          -               -             -              x           -
 *   activity                                   -               -             -              -           x
 */
typedef struct bh_event {
    size_t struct_size;
    uint64_t id;             /* grows; never used twice in a store */
    int64_t time_ms;         /* when the event was committed */
    uint64_t round;          /* number of the round that has ended, or of the task's round */
    uint64_t task_id;        /* the task that has ended */
    bh_event_kind kind;
    bh_task_kind task_kind;
    bh_task_state task_state; /* BH_TASK_SUCCEEDED, …_FAILED or …_CANCELLED */
    bh_status status;        /* BH_OK, or why the task did not succeed */
    bh_domain error_domain;
    int32_t http_status;     /* of the last response, or 0 */
    int64_t error_detail;    /* a number that describes the error more precisely, or 0 */
    const char *error_message; /* one sentence; NULL if and only if status is BH_OK */
    const char *url;         /* as enqueued */
    const char *final_url;   /* the URL after redirects; NULL without a response */
    const char *path;        /* path of the complete, synced file. If the task did not succeed and had a body with
                                BH_BODY_CONSUME: path of the body, until the event is acknowledged. Else NULL */
    const char *media_type;  /* of the last response, or NULL */
    const char *checksum;    /* digest of the file, in the form of bh_request.checksum; NULL if the engine computed no
                                digest */
    const char *idempotency_key; /* as enqueued, or NULL */
    const void *user_data;   /* as enqueued, or NULL */
    size_t user_data_size;
    uint64_t size;           /* bytes of the file */
    uint64_t bytes_received; /* body bytes over all attempts */
    uint64_t bytes_sent;     /* body bytes over all attempts */
    const bh_header *headers; /* of the last response, at most 16 KiB: the important ones first, such as ETag,
                                 Last-Modified and Content-Type */
    size_t header_count;
    const void *error_body;  /* first 4,096 bytes of the body of a response that was not accepted, or NULL */
    size_t error_body_size;
    const void *response_body; /* first 65,536 bytes of the response's body of a successful upload, or what
                                  arrived of them within 30 seconds, or NULL */
    size_t response_body_size;
    uint32_t attempts;       /* number of attempts */
    uint32_t reserved;
    const bh_challenge *challenge; /* of BH_EVENT_CHALLENGE; else NULL. When a challenge is closed, its event is
                                      removed */
    const char *group;       /* the group of the task, or the group that has finished */
    uint64_t group_succeeded; /* tasks of the group that succeeded since the group last finished */
    uint64_t group_failed;   /* tasks of the group that failed since then */
    uint64_t group_cancelled; /* tasks of the group that were cancelled since then */
    const char *activity;    /* identifier of the activity */
} bh_event;

/* Returns events with ids greater than `after`: a batch of bh_event. The batch has at most `maximum` events (1 to
 * 10,000), and fewer if the events are large. With `after` 0 the batch starts at the first event that is not
 * acknowledged. The call waits up to timeout_ms for the first event. An empty batch is not an error: there is no event
 * with a greater id yet. Even if timeout_ms is 0, the call waits up to five seconds for the engine's reply. If the
 * engine's process is stopped, the call ends at its time-out, but not before a tenth of a second. In an event loop, use
 * BH_START: then the poll does not wait for events. Until events are acknowledged, a poll with the same `after` returns
 * them again. bh_batch_more returns whether more events follow the batch. Only consumers may poll. */
BH_API BH_CHECK_RESULT bh_status bh_session_poll(bh_session *session, uint64_t after, size_t maximum,
                                                 int32_t timeout_ms, bh_batch **events, bh_error *error);

/* Acknowledges events: they are not delivered again. If the file of a task is kept in the store, and the host has not
 * claimed the file, the file is removed. Events that no longer exist are skipped, so the call may be repeated. The call
 * needs no earlier poll: a host may store ids and use them after a restart. `acknowledged` (optional) is the number of
 * events removed. If an id is greater than the id of the session's newest event, the call returns
 * BH_INVALID_ARGUMENT. */
BH_API bh_status bh_session_acknowledge(bh_session *session, const uint64_t *ids, size_t count,
                                        int32_t timeout_ms, uint64_t *acknowledged, bh_error *error);

/* Acknowledges all events of the session up to and including `id`. */
BH_API bh_status bh_session_acknowledge_through(bh_session *session, uint64_t id, int32_t timeout_ms,
                                                uint64_t *acknowledged, bh_error *error);

/* The session's open challenges: a batch of bh_challenge. The batch has at most 1,000 challenges. If
 * bh_session_info.open_challenges is greater, call again after the responses. */
BH_API BH_CHECK_RESULT bh_status bh_session_challenges(bh_session *session, int32_t timeout_ms, bh_batch **challenges,
                                                       bh_error *error);

/* How a host responds to a challenge. */
BH_ENUM(bh_challenge_response_kind) {
    BH_RESPOND_REFUSE = 1,     /* the waiting tasks fail with BH_AUTHENTICATION_REQUIRED */
    BH_RESPOND_CREDENTIAL = 2, /* user and password, for Basic and Digest. If both are empty, the engine uses the user's
                                  Kerberos credentials, for Negotiate */
    BH_RESPOND_HEADERS = 3,    /* header fields such as "Authorization: Bearer …". For BH_CHALLENGE_REFRESH, they
                                  replace the tasks' headers of the same name, durably */
    BH_RESPOND_DEFAULT = 4,    /* no credential: for the waiting tasks, the status 401 or 407 is treated like any other
                                  status (Apple: performDefaultHandling). For BH_CHALLENGE_REFRESH: requests are sent
                                  unchanged */
    BH_RESPOND_URL = 5         /* for BH_CHALLENGE_REFRESH of a URL: the new URL, which must be https if the old URL was
                                  https. If the new URL has another origin, the headers of the request and of the
                                  session are not sent to the new URL */
};

/* Flags of a response to a challenge. */
BH_FLAGS(bh_challenge_response_flags) {
    BH_RESPOND_AND_KEEP = 1 /* the credential is stored with mode 0600, so later engine processes can also use it */
};

/* The response to a challenge. The engine keeps the response in memory. It uses the response only for this session, and
 * only for the challenge's origin or proxy. Without BH_RESPOND_AND_KEEP, a later engine opens a new challenge. */
typedef struct bh_challenge_response {
    size_t struct_size;
    bh_challenge_response_kind kind;
    bh_challenge_response_flags flags;
    const char *user;         /* required for BH_RESPOND_CREDENTIAL; at most 4,096 bytes, without ':' (RFC 7617) */
    const char *password;     /* required for BH_RESPOND_CREDENTIAL; at most 4,096 bytes */
    const bh_header *headers; /* for BH_RESPOND_HEADERS; for a proxy: Proxy-Authorization */
    size_t header_count;
    const char *url;          /* for BH_RESPOND_URL */
    int64_t expires_ms;       /* the time at which the credential expires. A request after that time first opens a new
                                 challenge. 0: the credential is valid until the server refuses it */
} bh_challenge_response;

/* Responds to an open challenge, and acknowledges its event. One of the waiting tasks uses the response first. If the
 * server accepts the response, the other waiting tasks follow. Consumers and producers may call this function. Errors:
 * BH_NOT_FOUND when the challenge is not open; BH_INVALID_ARGUMENT when expires_ms is in the past, or when the response
 * does not fit the challenge. A user and password fit if the challenge offers BH_SCHEME_BASIC or BH_SCHEME_DIGEST. An
 * empty user and an empty password fit if the challenge offers BH_SCHEME_NEGOTIATE. A URL fits if the challenge is for
 * a URL. The header Authorization does not fit a challenge of a proxy. */
BH_API BH_CHECK_RESULT bh_status bh_session_respond(bh_session *session, uint64_t challenge_id,
                                                    const bh_challenge_response *response, int32_t timeout_ms,
                                                    bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Tasks: functions that list, stop, resume and change tasks, and read their attempts and waits.
 * ------------------------------------------------------------------------------------------------------------ */

/* Why a task does not progress. */
BH_ENUM(bh_reason) {
    BH_REASON_NONE = 0,      /* nothing holds the task back, or it has ended */
    BH_REASON_SLOT = 1,      /* the limits of connections or running tasks are reached, and other tasks run first */
    BH_REASON_SUSPENDED = 2, /* the task is suspended until the host resumes it */
    BH_REASON_RETRY = 3,     /* an error occurred, and the next attempt is at next_attempt_ms */
    BH_REASON_CONNECTING = 4, /* the task has not received a response yet */
    BH_REASON_STALLED = 5,   /* the server sends nothing */
    BH_REASON_DISK = 6,      /* the task waits for the disk, which writes, reads or syncs its bytes */
    BH_REASON_DISK_FULL = 7, /* the disk has too little space for the rest of the file and a reserve. The reserve is 32
                                MiB or 1 % of the file system, whichever is smaller. The engine checks again at
                                next_attempt_ms. If a file is larger than the file system, the task fails immediately
                                with BH_TOO_LARGE */
    BH_REASON_CREDENTIAL = 8, /* the task waits until the host responds to the task's challenge; bh_session_challenges
                                 lists the challenge */
    BH_REASON_CONNECTIVITY = 9, /* the task waits until there is a route to the server */
    BH_REASON_RATE = 10,     /* the task has used up its share of a rate limit */
    BH_REASON_POWER = 11,    /* requires_external_power is set, and the machine runs on battery */
    BH_REASON_BATTERY = 12,  /* the task waits until the battery has 5 percentage points more than
                                minimum_battery_percent, or until there is external power */
    BH_REASON_HEAT = 13,     /* the machine is hotter than maximum_thermal_state */
    BH_REASON_PRESSURE = 14, /* processors, disks or memory are under more pressure than the limits allow */
    BH_REASON_METERED = 15,  /* requires_unmetered is set, and the network is metered (data may cost money) */
    BH_REASON_NETWORK = 16,  /* the network's kind is not in `networks` */
    BH_REASON_THROUGHPUT = 17, /* the throughput is below minimum_bytes_per_second; the next slow probe is at
                                  next_attempt_ms */
    BH_REASON_EARLIEST_START = 18, /* the task waits until earliest_start_ms */
    BH_REASON_QUIET_HOURS = 19, /* the local time is within the quiet hours, which end at next_attempt_ms */
    BH_REASON_BUDGET = 20,   /* the budget for this network is used up for the day or month, which ends at
                                next_attempt_ms */
    BH_REASON_SLEEP = 21,    /* the machine is about to sleep, or sleeps */
    BH_REASON_PORTAL = 22,   /* the network demands a login on a web page (a *portal*), or its route to other networks
                                (the *uplink*) does not work */
    BH_REASON_STORAGE = 23,  /* the directory or file system of the task's file is away, or the finished file cannot get
                                its name now. The engine checks again when a file system is mounted, when the directory
                                is made, and at next_attempt_ms */
    BH_REASON_CLOCK = 24,    /* the certificate of the server is not valid yet, and the clock of the machine is not
                                synchronised, or is before the date of this version. The task is tried again every 10
                                seconds, until the clock is set or an hour is over */
    BH_REASON_ORIGIN = 25,   /* the server has asked for a pause with Retry-After, which ends at next_attempt_ms. All
                                tasks for the same scheme, host and port wait */
    BH_REASON_DEPENDENCY = 26 /* the task waits for the end of a task in bh_request.after, which reason_text names */
};

/* The value of `size` while no response has stated the file's size. */
#define BH_SIZE_UNKNOWN 18446744073709551615u

/* A task: its request, its state and its progress. */
typedef struct bh_task_info {
    size_t struct_size;
    uint64_t id;              /* grows; never used twice in a store */
    uint64_t round;           /* number of the round to which the task belongs */
    bh_task_kind kind;
    bh_task_state state;
    bh_reason reason;
    bh_status status;         /* status of the ended task, or of the last failed attempt; else BH_OK */
    const char *reason_text;  /* one sentence; NULL with BH_REASON_NONE */
    const char *error_message; /* message about `status`, or NULL */
    int64_t next_attempt_ms;  /* when the engine starts the next attempt, or checks again whether the task must wait; or
                                 0 */
    const char *url;          /* as enqueued, or the new URL of a refreshed request */
    const char *destination;  /* NULL: no destination */
    const char *path;         /* path of a successful download's file, or NULL */
    const char *idempotency_key; /* as enqueued, or NULL */
    const char *group;        /* or NULL */
    const void *user_data;    /* as enqueued, or NULL */
    size_t user_data_size;
    int32_t priority;         /* as enqueued, or as bh_tasks_set_priority has set it */
    int32_t http_status;      /* of the last response, or 0 */
    uint32_t attempts;        /* number of attempts */
    uint32_t reserved;
    uint64_t offset;          /* bytes of the file that were received and kept */
    uint64_t size;            /* bytes of the whole file, or BH_SIZE_UNKNOWN */
    uint64_t body_sent;       /* bytes of the request's body that were sent in this attempt */
    uint64_t body_size;       /* bytes of the request's body; 0 without a body */
    uint64_t bytes_per_second; /* over the last seconds; 0 when the task does not run */
    int64_t enqueued_ms;      /* when the task was enqueued */
    int64_t ended_ms;         /* 0 while the task has not ended */
    int64_t earliest_start_ms; /* as enqueued or rescheduled */
    int64_t latest_start_ms;  /* as enqueued or rescheduled */
    uint64_t expected_bytes_received; /* as enqueued */
    uint64_t expected_bytes_sent; /* as enqueued */
    const bh_constraints *constraints; /* the task's own constraints, as enqueued or as set later; NULL if the task has
                                          none or is in the history */
    uint64_t rate_limit;      /* the task's own limit in bytes per second, as enqueued or as bh_tasks_set_rate has set
                                 it; 0: none, or the task is in the history */
} bh_task_info;

/* The bit of a state, for bh_task_selection.states. */
#define BH_STATE(state) (1u << (state))

/* Selects tasks. A task is selected if its id is in `ids` (id_count 0: any id), its state is in `states` (0: any
 * state), and its group is `group` (NULL: any group or none). A NULL selection selects all tasks. */
typedef struct bh_task_selection {
    size_t struct_size;
    const uint64_t *ids;
    size_t id_count;
    const char *group;
    uint32_t states;
    uint32_t reserved;
} bh_task_selection;

/* Lists at most `maximum` tasks (1 to 10,000) with ids greater than `after`, in the order of their ids: a batch of
 * bh_task_info. An ended task is listed until its event is acknowledged. */
BH_API BH_CHECK_RESULT bh_status bh_session_tasks(bh_session *session, const bh_task_selection *selection,
                                                  uint64_t after, size_t maximum, int32_t timeout_ms,
                                                  bh_batch **tasks, bh_error *error);

/* One task: a batch with one bh_task_info. Errors: BH_NOT_FOUND if the session has no such task, or if the task's event
 * was acknowledged. */
BH_API BH_CHECK_RESULT bh_status bh_session_task(bh_session *session, uint64_t task_id, int32_t timeout_ms,
                                                 bh_batch **task, bh_error *error);

/* Lists at most `maximum` tasks (1 to 10,000) of the history with ids greater than `after`, in the order of their ids:
 * a batch of bh_task_info. The history has ended tasks whose event was acknowledged. It keeps the tasks that ended
 * last, as many as history_limit permits. */
BH_API BH_CHECK_RESULT bh_status bh_session_history(bh_session *session, uint64_t after, size_t maximum,
                                                    int32_t timeout_ms, bh_batch **tasks, bh_error *error);

/* Cancels the tasks: they end with BH_TASK_CANCELLED, and their part files are removed. In this and the next functions,
 * `affected` is optional: the call sets it to the number of changed tasks. The call skips ids without a task, tasks
 * that have ended, and tasks that are already in the requested state. */
BH_API bh_status bh_tasks_cancel(bh_session *session, const bh_task_selection *selection,
                                 int32_t timeout_ms, uint64_t *affected, bh_error *error);

/* Stops the tasks, and keeps what they have received. */
BH_API bh_status bh_tasks_suspend(bh_session *session, const bh_task_selection *selection,
                                  int32_t timeout_ms, uint64_t *affected, bh_error *error);

/* Sets the tasks aside: stops them, and keeps what they have received, although they may never be needed again. A task
 * that was set aside waits with BH_REASON_SUSPENDED until bh_tasks_resume. It differs from a suspended task: it counts
 * neither for the session's round nor for its group, so both end without it. Its time-out (resource_timeout_ms)
 * continues. If it ends before it is resumed, its end causes an event, but no BH_EVENT_SESSION_FINISHED. If it is
 * resumed while no round is open, a round begins. */
BH_API bh_status bh_tasks_set_aside(bh_session *session, const bh_task_selection *selection,
                                    int32_t timeout_ms, uint64_t *affected, bh_error *error);

/* Resumes suspended tasks. The call also starts the next attempt of waiting tasks immediately, if the conditions of the
 * system permit this. Tasks with BH_REASON_CREDENTIAL, …_EARLIEST_START, …_DEPENDENCY or …_ORIGIN keep waiting. If
 * several tasks have BH_REASON_PORTAL, only one of them is started, but `affected` counts all of them. */
BH_API bh_status bh_tasks_resume(bh_session *session, const bh_task_selection *selection,
                                 int32_t timeout_ms, uint64_t *affected, bh_error *error);

/* Sets the tasks' priority, with the values of bh_request.priority. */
BH_API bh_status bh_tasks_set_priority(bh_session *session, const bh_task_selection *selection,
                                       int32_t priority, int32_t timeout_ms, uint64_t *affected,
                                       bh_error *error);

/* Limits the rate of each task, for sent and received bytes together. 0: only the limits of the session and the store
 * apply. `affected` also counts tasks that have this limit already. */
BH_API bh_status bh_tasks_set_rate(bh_session *session, const bh_task_selection *selection,
                                   uint64_t bytes_per_second, int32_t timeout_ms, uint64_t *affected,
                                   bh_error *error);

/* Replaces the tasks' own constraints; NULL removes them. The session's constraints stay (see
 * bh_session_set_configuration). `affected` also counts tasks that have these constraints already. */
BH_API bh_status bh_tasks_set_constraints(bh_session *session, const bh_task_selection *selection,
                                          const bh_constraints *constraints, int32_t timeout_ms,
                                          uint64_t *affected, bh_error *error);

/* For bh_tasks_reschedule: the time stays as it is. */
#define BH_TIME_UNCHANGED (-1)

/* Sets when the tasks may start. Each of the two times is a time as in bh_request, 0 for no time, or BH_TIME_UNCHANGED.
 * A running task continues; the times apply to its next attempt. If the latest start of a task would be before its
 * earliest start, the call returns BH_INVALID_ARGUMENT: the message names the task, and no task is changed. */
BH_API bh_status bh_tasks_reschedule(bh_session *session, const bh_task_selection *selection,
                                     int64_t earliest_start_ms, int64_t latest_start_ms,
                                     int32_t timeout_ms, uint64_t *affected, bh_error *error);

/* Moves a file of a task from the store to `destination` (absolute path). The file is the kept file of a successful
 * task, or a body file (BH_BODY_CONSUME) of a failed or cancelled task. The moved file is synced. If `destination` is
 * on another file system, the file is copied. The task's event then has the new path. A repeated call with the same
 * destination has no effect.
 * Errors: BH_NOT_FOUND (the session has no such task, or the task's event was acknowledged), BH_WRONG_STATE (the task
 * has no such file, or the file was claimed with another destination), BH_DESTINATION_EXISTS,
 * BH_DESTINATION_UNAVAILABLE, BH_DISK_…. */
BH_API BH_CHECK_RESULT bh_status bh_task_claim(bh_session *session, uint64_t task_id, const char *destination,
                                               bh_if_exists if_exists, int32_t timeout_ms, bh_error *error);

/* What followed an attempt. */
BH_ENUM(bh_next_step) {
    BH_NEXT_END = 1,       /* the end of the task */
    BH_NEXT_RETRY = 2,     /* another attempt, at next_attempt_ms */
    BH_NEXT_CHALLENGE = 3, /* a challenge */
    BH_NEXT_STOPPED = 4,   /* nothing: the task was suspended, or its engine ended */
    BH_NEXT_RUNNING = 5    /* nothing yet: the attempt is running */
};

/* One attempt of a task, including its redirects (Apple: URLSessionTaskTransactionMetrics). After a redirect, all times
 * are those of the last request. Each field whose name ends in _us is the time of a step, in microseconds after
 * started_ms. The time is -1 if the attempt did not reach the step, or if the connection was open already and the step
 * was not needed. */
typedef struct bh_attempt {
    size_t struct_size;
    uint64_t task_id;             /* id of the task */
    uint32_t number;              /* from 1 */
    bh_next_step next;
    int64_t started_ms;           /* start of the last request, in Unix milliseconds */
    int64_t next_attempt_ms;      /* time of the next attempt, or 0 */
    bh_status status;             /* BH_OK, or what went wrong */
    bh_domain error_domain;
    int64_t error_detail;         /* a number that describes the error more precisely, or 0 */
    const char *error_message;    /* or NULL */
    const char *url;              /* of the last request; after redirects, without its query */
    int32_t http_status;          /* 0 when no response came */
    uint32_t redirects;           /* number of redirects that were followed */
    uint64_t offset;              /* offset in the file at which the attempt started */
    uint64_t end_offset;          /* bytes of the file that had been received when the attempt ended */
    int64_t domain_lookup_us;     /* the name was resolved (Apple: domainLookupEndDate) */
    int64_t connect_us;           /* TCP, or the proxy's tunnel, was connected (connectEndDate) */
    int64_t secure_connection_us; /* TLS was negotiated (secureConnectionEndDate) */
    int64_t request_start_us;     /* the request was about to be sent (requestStartDate) */
    int64_t request_end_us;       /* the last byte of the request's body was sent (requestEndDate) */
    int64_t response_start_us;    /* the first byte of the response was received (responseStartDate) */
    int64_t response_end_us;      /* the last byte of the response was received (responseEndDate) */
    const char *protocol;         /* "h2", "http/1.1" (names of RFC 7301), or NULL (networkProtocolName) */
    const char *local_address;    /* or NULL */
    const char *remote_address;   /* of the server or proxy, or NULL */
    const char *tls_version;      /* "TLSv1.3", or NULL */
    const char *tls_cipher;       /* "TLS_AES_256_GCM_SHA384", or NULL */
    uint64_t request_header_bytes; /* sent bytes of headers */
    uint64_t request_body_bytes;  /* sent bytes of the body */
    uint64_t response_header_bytes; /* received bytes of headers */
    uint64_t response_body_bytes; /* received bytes of the body */
    uint16_t local_port;          /* or 0 */
    uint16_t remote_port;         /* or 0 */
    bool reused_connection;       /* the connection was open before (isReusedConnection) */
    bool proxy_connection;        /* through a proxy (isProxyConnection) */
    uint8_t reserved[2];
} bh_attempt;

/* The attempts of a task, oldest first: a batch of at most 100 bh_attempt. If the task had more attempts, the batch has
 * the first attempt and the 99 newest ones. Errors: BH_NOT_FOUND if the task is not listed and not in the session's
 * history. */
BH_API BH_CHECK_RESULT bh_status bh_task_attempts(bh_session *session, uint64_t task_id, int32_t timeout_ms,
                                                  bh_batch **attempts, bh_error *error);

/* The attempts of several tasks (at most 1,000 ids), listed as bh_task_attempts lists those of one task: a batch of
 * bh_attempt, sorted by task. Tasks that are not listed and not in the history are left out. A batch has about 1 MB,
 * and all attempts of each of its tasks. If bh_batch_more is true, call the function again with those of the ids that
 * are greater than the task_id of the last attempt. */
BH_API BH_CHECK_RESULT bh_status bh_tasks_attempts(bh_session *session, const uint64_t *task_ids, size_t count,
                                                   int32_t timeout_ms, bh_batch **attempts, bh_error *error);

/* A period in which a task did not run, and why. */
typedef struct bh_wait_record {
    size_t struct_size;
    uint64_t task_id;        /* id of the task */
    bh_reason reason;
    uint32_t reserved;
    const char *reason_text; /* one sentence */
    int64_t began_ms;        /* when the wait began */
    int64_t ended_ms;        /* or 0 while the wait lasts */
} bh_wait_record;

/* When and why a task waited: a batch of bh_wait_record, oldest first. The batch has at most 1,000 records, the newest
 * ones. The task may be in the history. Some waits are short and frequent, and are not recorded: waits with
 * BH_REASON_SLOT, waits for a rate limit, and waits for a response. Errors: BH_NOT_FOUND if the task is not listed and
 * not in the history. */
BH_API BH_CHECK_RESULT bh_status bh_task_waits(bh_session *session, uint64_t task_id, int32_t timeout_ms,
                                               bh_batch **waits, bh_error *error);

/* When and why several tasks waited (at most 1,000 ids), listed as bh_task_waits lists the waits of one task: a batch
 * of bh_wait_record, sorted by task. Missing tasks and further calls: see bh_tasks_attempts. */
BH_API BH_CHECK_RESULT bh_status bh_tasks_waits(bh_session *session, const uint64_t *task_ids, size_t count,
                                                int32_t timeout_ms, bh_batch **waits, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Progress: live readings of running tasks. Readings are not events: a new reading replaces an older unread reading.
 * ------------------------------------------------------------------------------------------------------------ */

/* A reading of a running task. */
typedef struct bh_progress {
    size_t struct_size;
    uint64_t task_id;          /* id of the task */
    bh_task_state state;
    bh_reason reason;
    uint64_t offset;           /* bytes of the file that were received and kept */
    uint64_t size;             /* bytes of the whole file, or BH_SIZE_UNKNOWN */
    uint64_t bytes_per_second; /* over the last seconds, both directions */
    uint64_t body_sent;        /* bytes of the request's body that were sent in this attempt */
    uint64_t body_size;        /* bytes of the request's body; 0 without a body */
} bh_progress;

/* Makes the engine send readings of the session's running tasks to this handle. For each task, the engine sends at most
 * one reading in interval_ms (100 to 60,000; 0: no more readings). `session` may have any role. */
BH_API bh_status bh_session_watch_progress(bh_session *session, uint32_t interval_ms,
                                           int32_t timeout_ms, bh_error *error);

/* For each task whose reading has changed since the last call: the newest reading. The result is a batch of
 * bh_progress. The batch has the readings of at most 1,024 tasks, and may be empty. The call waits up to timeout_ms for
 * the first reading. BH_START is refused. */
BH_API BH_CHECK_RESULT bh_status bh_session_poll_progress(bh_session *session, int32_t timeout_ms,
                                                          bh_batch **progress, bh_error *error);

/* A descriptor like the descriptor of bh_session_event_fd. It is readable while bh_session_poll_progress has
 * readings. */
BH_API BH_CHECK_RESULT bh_status bh_session_progress_fd(bh_session *session, int *descriptor, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Conditions: the state of the system, and the tasks that wait for it. docs/conditions.md
 * ------------------------------------------------------------------------------------------------------------ */

/* What a condition is about, and what its value means. */
BH_ENUM(bh_condition_kind) {
    BH_CONDITION_EXTERNAL_POWER = 1,  /* 1: the machine has external power; 0: it runs on battery */
    BH_CONDITION_BATTERY = 2,         /* percentage of the charge of all batteries together */
    BH_CONDITION_THERMAL_STATE = 3,   /* BH_THERMAL_… */
    BH_CONDITION_CPU_PRESSURE = 4,    /* percentage, as maximum_cpu_pressure_percent */
    BH_CONDITION_IO_PRESSURE = 5,     /* percentage, as maximum_io_pressure_percent */
    BH_CONDITION_MEMORY_PRESSURE = 6, /* percentage, as maximum_memory_pressure_percent */
    BH_CONDITION_NETWORK = 7,         /* one of BH_NETWORK_…, or 0 without a default route. `name` is the name of the
                                         network */
    BH_CONDITION_METERED = 8,         /* 1: the network is metered (data may cost money); 0: it is not */
    BH_CONDITION_CONNECTIVITY = 9,    /* BH_CONNECTIVITY_… */
    BH_CONDITION_SLEEP = 10,          /* 1: the machine is about to sleep */
    BH_CONDITION_THROUGHPUT = 11      /* bytes per second of all transfers together, over the last seconds */
};

/* Whether other networks, such as the internet, can be reached. */
BH_ENUM(bh_connectivity) {
    BH_CONNECTIVITY_NONE = 1,    /* no default route */
    BH_CONNECTIVITY_PORTAL = 2,  /* the network demands a login on a web page (a *portal*) */
    BH_CONNECTIVITY_LIMITED = 3, /* the route from the local network to other networks (the *uplink*) does not work */
    BH_CONNECTIVITY_FULL = 4     /* other networks can be reached */
};

/* A condition: one fact about the present state of the system. */
typedef struct bh_condition {
    size_t struct_size;
    bh_condition_kind kind;
    bool is_known;      /* false: the condition cannot be read, so it holds no task */
    uint8_t reserved[3];
    int64_t value;      /* its meaning depends on `kind` */
    const char *name;   /* name of the network, for BH_CONDITION_NETWORK; else NULL */
    const char *text;   /* the value in words: "on battery" */
    const char *source; /* where the engine read the value: a path, "NetworkManager" or "configured"; or why the value
                           cannot be read */
    int64_t since_ms;   /* when the engine first read the present value */
} bh_condition;

/* The present conditions: a batch of bh_condition, one of each kind. If no task depends on a condition, the engine
 * reads the condition only for this call. */
BH_API BH_CHECK_RESULT bh_status bh_store_conditions(bh_application *application, int32_t timeout_ms,
                                                     bh_batch **conditions, bh_error *error);

/* Tasks of a session that are held for one reason. */
typedef struct bh_hold {
    size_t struct_size;
    const char *application; /* identifier of the application */
    const char *session;     /* identifier of the session */
    const char *origin;      /* if only the tasks for one origin are held: this origin; else NULL */
    const char *reason_text; /* one sentence */
    bh_reason reason;
    uint32_t reserved;
    int64_t began_ms;        /* when the engine began to hold the tasks */
    int64_t next_check_ms;   /* when the engine checks again; 0: it checks only when the condition changes */
    uint64_t tasks;          /* number of tasks held */
} bh_hold;

/* The holds of all sessions of the store: a batch of bh_hold. */
BH_API BH_CHECK_RESULT bh_status bh_store_holds(bh_application *application, int32_t timeout_ms, bh_batch **holds,
                                                bh_error *error);

/* A network, and the administrator's settings for it. With NetworkManager, a network is a connection of NetworkManager.
 * Without NetworkManager, a network is the interface of the default route. bh_store_set_network ignores read-only
 * fields. */
typedef struct bh_network {
    size_t struct_size;
    const char *name;          /* required: 1 to 255 bytes, as conditions and lists show it */
    bh_choice metered;         /* BH_YES or BH_NO in place of the system's value; BH_DEFAULT: the system's value */
    uint32_t month_starts_on;  /* day on which the budget's month begins: 1 to 28; 0 means 1 */
    bh_budget budget;          /* of all sessions together */
    bh_network_kinds kind;     /* read only: one kind, or 0 when this engine has not seen the network */
    bool is_current;           /* read only: the default route uses the network */
    uint8_t reserved[3];
    uint64_t used_today;       /* read only: bytes. If an engine is killed, the bytes of its last seconds are not
                                  counted */
    uint64_t used_this_month;  /* read only */
    int64_t day_ends_ms;       /* read only */
    int64_t month_ends_ms;     /* read only */
} bh_network;

/* Stores the settings of a network; they apply immediately. If all settings are defaults, the stored settings are
 * removed. */
BH_API BH_CHECK_RESULT bh_status bh_store_set_network(bh_application *application, const bh_network *network,
                                                      int32_t timeout_ms, bh_error *error);

/* All networks that have settings or were used this month, and the current network: a batch of bh_network. */
BH_API BH_CHECK_RESULT bh_status bh_store_networks(bh_application *application, int32_t timeout_ms,
                                                   bh_batch **networks, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Activities: work that repeats (Apple: NSBackgroundActivityScheduler). Each activity has windows of time. In each
 * window it starts once: when the conditions of its quality of service are met, or at the end of the window. If windows
 * passed while no engine ran, the activity starts once for all of them.
 * ------------------------------------------------------------------------------------------------------------ */

/* What an activity waits for in its window. */
BH_ENUM(bh_quality_of_service) {
    BH_QUALITY_DEFAULT = 0,       /* BH_QUALITY_BACKGROUND */
    BH_QUALITY_BACKGROUND = 1,    /* BH_PRESET_DISCRETIONARY */
    BH_QUALITY_UTILITY = 2,       /* an unmetered network */
    BH_QUALITY_USER_INITIATED = 3 /* nothing: the activity starts when its window opens */
};

/* An activity, as the host sets it, and its next window. */
typedef struct bh_activity {
    size_t struct_size;
    const char *identifier;    /* required: 1 to 255 bytes, the activity's name within the session */
    uint64_t interval_ms;      /* required: time from the opening of one window to the opening of the next; 1,000 ms to
                                  ten years */
    uint64_t tolerance_ms;     /* how long a window is open; less than interval_ms; 0: half of interval_ms */
    bh_choice repeats;         /* BH_NO: the activity starts one time, and is then removed. Default BH_YES */
    bh_quality_of_service quality_of_service;
    const bh_request *request; /* the request that the engine enqueues. The request must have no idempotency_key, no
                                  body files, no earliest start and no latest start. If it has a destination, it also
                                  needs BH_IF_EXISTS_REPLACE or BH_REQUEST_NAMED_BY_SERVER. While a task of the activity
                                  has not ended, no second task is made. NULL: the engine makes a BH_EVENT_ACTIVITY
                                  instead */
    int64_t first_ms;          /* for a new activity: when its first window opens. For an existing activity: when its
                                  next window opens. 0: interval_ms after this call. But if an existing activity keeps
                                  its interval_ms, 0 does not change its next window */
    int64_t next_ms;           /* read only: when the open window opened. If no window is open: when the next window
                                  opens */
    int64_t next_ends_ms;      /* read only: when the window that begins at next_ms ends */
    int64_t last_started_ms;   /* read only: time of the last start, or 0 */
    uint64_t last_task;        /* read only: id of the last task, or 0 */
    const char *url;           /* read only: URL of the request, or NULL */
} bh_activity;

/* Makes the activity, durably, or replaces the activity with the same identifier. The next window of a replaced
 * activity changes only if first_ms or interval_ms changes. A session has at most 1,000 activities. Consumers and
 * producers may call this function. */
BH_API BH_CHECK_RESULT bh_status bh_session_set_activity(bh_session *session, const bh_activity *activity,
                                                         int32_t timeout_ms, bh_error *error);

/* Removes an activity; its tasks continue. Errors: BH_NOT_FOUND. */
BH_API BH_CHECK_RESULT bh_status bh_session_remove_activity(bh_session *session, const char *identifier,
                                                            int32_t timeout_ms, bh_error *error);

/* The session's activities, sorted by identifier: a batch of bh_activity, whose `request` is NULL. */
BH_API BH_CHECK_RESULT bh_status bh_session_activities(bh_session *session, int32_t timeout_ms, bh_batch **activities,
                                                       bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Batches: what lists and polls return. Immutable; any thread may read them.
 * ------------------------------------------------------------------------------------------------------------ */

/* Kinds of items: name in capitals, name, struct, value. */
#define BH_ITEM_TABLE(X)                                                                                               \
    X(EVENT, event, bh_event, 1)                                                                                       \
    X(TASK, task, bh_task_info, 2)                                                                                     \
    X(SESSION, session, bh_session_info, 3)                                                                            \
    X(CONFIGURATION, configuration, bh_session_configuration, 4)                                                       \
    X(CHALLENGE, challenge, bh_challenge, 5)                                                                           \
    X(PROGRESS, progress, bh_progress, 6)                                                                              \
    X(LAUNCH, launch, bh_launch, 7)                                                                                    \
    X(LAUNCH_INFO, launch_info, bh_launch_info, 8)                                                                     \
    X(ENGINE, engine, bh_engine_info, 9)                                                                               \
    X(ATTEMPT, attempt, bh_attempt, 10)                                                                                \
    X(LIMITS, limits, bh_limits, 11)                                                                                   \
    X(WAIT, wait, bh_wait_record, 12)                                                                                  \
    X(CONDITION, condition, bh_condition, 13)                                                                          \
    X(HOLD, hold, bh_hold, 14)                                                                                         \
    X(NETWORK, network, bh_network, 15)                                                                                \
    X(ACTIVITY, activity, bh_activity, 16)                                                                             \
    X(ENQUEUED, enqueued, bh_enqueued, 17)                                                                             \
    X(METRICS, metrics, bh_metrics, 18)                                                                                \
    X(APPLICATION, application, bh_application_info, 19)

/* Kind of the items of a batch. */
BH_ENUM(bh_item_kind) {
#define BH_ITEM_ENUMERATOR(constant, name, type, value) BH_ITEM_##constant = value,
    BH_ITEM_TABLE(BH_ITEM_ENUMERATOR)
#undef BH_ITEM_ENUMERATOR
};

/* Number of items; 0 for NULL. */
BH_API size_t bh_batch_count(const bh_batch *batch);

/* Whether more items exist. To get them, call the function that returned the batch again, with `after` set to the last
 * id. */
BH_API bool bh_batch_more(const bh_batch *batch);

/* The item at `index`, or NULL when the items are of another kind or the index is too large. `size` is sizeof the
 * struct in the caller's header. The item's struct_size is the smaller of `size` and the library's size, so a copy of
 * the item can be passed back to the library. Fields that the library does not know have the value 0. If an item points
 * to another struct, that struct has the library's struct_size: check its fields with BH_HAS. */
BH_API const void *bh_batch_item(const bh_batch *batch, size_t index, bh_item_kind kind, size_t size);

#define BH_ITEM_FUNCTION(constant, name, type, value)                                                                  \
    static inline const type *bh_batch_##name##_at(const bh_batch *batch, size_t index) {                              \
        return BH_CAST(const type *, bh_batch_item(batch, index, BH_ITEM_##constant, sizeof(type)));                   \
    }
/* A typed form of bh_batch_item for each kind of item, such as bh_batch_event_at. The item at `index`, or NULL when the
 * items are of another kind or the index is too large. */
BH_ITEM_TABLE(BH_ITEM_FUNCTION)
#undef BH_ITEM_FUNCTION

/* Frees the batch. */
BH_API void bh_batch_release(bh_batch *batch);

/* ---------------------------------------------------------------------------------------------------------------
 * Tickets: outcomes of operations that were started or timed out.
 * ------------------------------------------------------------------------------------------------------------ */

/* Returns the ticket of an operation of this application that has ended. The function returns each ticket one time, in
 * the order in which the operations end. `ticket` is NULL if there is no further ticket. Otherwise `ticket` is the
 * pointer that the host got from the call that started the operation. The host still has to release the ticket. */
BH_API BH_CHECK_RESULT bh_status bh_application_next_ticket(bh_application *application, bh_ticket **ticket,
                                                            bh_error *error);

/* Waits for the end of the operation and returns the operation's status. If the operation does not end in time, the
 * call returns BH_TIMEOUT, or BH_ENGINE_UNRESPONSIVE if the engine's process is stopped. The call may be repeated.
 * BH_START is refused. */
BH_API bh_status bh_ticket_wait(bh_ticket *ticket, int32_t timeout_ms, bh_error *error);

/* These functions return the result of an ended operation, one function for each type of result. They are not needed if
 * the call that started the operation returned BH_OK: that call set the result in its own output parameter. The result
 * of create and attach is a session. The result of acknowledge and of the functions that change tasks is a count. The
 * result of functions with a bh_batch ** parameter is a batch. For operations without a result, call bh_ticket_wait
 * with timeout_ms 0. Errors: the operation's own status when the operation failed; BH_TIMEOUT or BH_ENGINE_UNRESPONSIVE
 * while the operation has not ended; BH_WRONG_STATE when the operation has no such result, or when the host has already
 * taken the session or batch. If an enqueue was refused, bh_ticket_batch still returns the results of the applied
 * requests. */
BH_API BH_CHECK_RESULT bh_status bh_ticket_session(bh_ticket *ticket, bh_session **session,
                                                   bh_session_disposition *disposition, bh_error *error);
BH_API BH_CHECK_RESULT bh_status bh_ticket_batch(bh_ticket *ticket, bh_batch **batch, bh_error *error);
BH_API BH_CHECK_RESULT bh_status bh_ticket_count(bh_ticket *ticket, uint64_t *count, bh_error *error);

/* A pointer that the host stores with the ticket; NULL until the host has stored one. The operation may end before the
 * host stores a pointer. */
BH_API void bh_ticket_set_data(bh_ticket *ticket, void *data);
BH_API void *bh_ticket_data(const bh_ticket *ticket);

/* Frees the ticket. The ticket's operation continues, except that a wait of BH_ROLE_CONSUME_WHEN_FREE ends. Afterwards,
 * bh_application_next_ticket does not return the ticket. A session that bh_ticket_session has not returned is closed.
 * Events that bh_ticket_batch has not returned count as not polled. */
BH_API void bh_ticket_release(bh_ticket *ticket);

#if defined(__cplusplus)
}
#endif

#endif
