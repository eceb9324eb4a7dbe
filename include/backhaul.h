/*
 * Backhaul: background transfer sessions for Linux. This header is the C API and its manual.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * What it does
 *   A host opens an *application* on a *store*, creates or attaches a *session* by its identifier and enqueues
 *   *requests*. Each becomes a *task*, durable when the enqueue returns. Tasks run in the store's *engine*. The host
 *   may exit, crash or reboot in the meantime; it attaches again by the identifier alone, polls the *events* that
 *   waited, and acknowledges them. What was acknowledged never comes back; what was not is never lost.
 *
 *       bh_application *app; bh_session *session; bh_batch *batch; bh_error error = BH_ERROR_INIT;
 *       bh_application_options options = BH_APPLICATION_OPTIONS_INIT;
 *       options.identifier = "org.example.photos";
 *       options.store = "/home/me/.local/state/photos";
 *       bh_application_open(&options, 5000, &app, &error);
 *       bh_session_attach(app, "gallery", BH_ROLE_CONSUME, 5000, &session, &error);
 *       bh_session_poll(session, 0, 100, 5000, &batch, &error);
 *       for (size_t i = 0; i < bh_batch_count(batch); i++) use(bh_batch_event_at(batch, i));
 *
 * Engines
 *   Whoever holds the store's lock is the engine; everyone else speaks to it over a socket in the store, without
 *   noticing. With daemon hosting, the default, the engine is the program backhauld: the library starts it when nobody
 *   holds the lock, transfers go on whatever happens to the host, and it leaves when nothing is left to do. With
 *   embedded hosting the engine is a few threads inside one of the processes that have the store open; when that one
 *   ends or closes its last handle, another that has the store open takes over, and when there is none, transfers pause
 *   until somebody opens the store again.
 *
 * Launches
 *   An application may register a *launch command*. When no host of it is connected and one of its sessions has
 *   finished a round, or has an open challenge, the engine starts that program (Apple:
 *   application(_:handleEventsForBackgroundURLSession:completionHandler:)). It opens the application, asks
 *   bh_launch_current which sessions wait and why, attaches them, polls and acknowledges their events, and says with
 *   bh_session_complete that nothing is outstanding. A host that is connected is told through bh_application_poll
 *   instead. It is never launched for mere progress.
 *
 * Threads
 *   Every function may be called from any thread at any time; calls on one handle from several threads are ordered by
 *   the engine. No function calls back. The library's own threads block all signals, and it installs no handler.
 *
 * Fork
 *   Handles belong to the process that made them. In a forked child every call on an inherited handle returns
 *   BH_FORKED, except the close and release functions, which free it; the child may open the application anew.
 *
 * Ownership
 *   Arguments are copied before a call returns. What a function hands out through a `**` parameter is the caller's, to
 *   be given to the close or release function of its type. Handles may be closed in any order, and NULL is accepted
 *   there. Strings inside batches live as long as the batch. All strings are UTF-8 and NUL-terminated; where a pointer
 *   is documented as optional, NULL stands for "none".
 *
 * Times
 *   Unix milliseconds. Those that a host gives lie between 1970 and the end of the year 9999.
 *
 * Errors
 *   Every call that can fail returns a bh_status and takes an optional, caller-owned bh_error for the details. Nothing
 *   is kept per thread or per handle. Out parameters come last, before the error, and are set only on BH_OK unless the
 *   function says otherwise.
 *
 * Waiting
 *   `timeout_ms`: milliseconds the call may wait for the engine; BH_WAIT_DEFAULT (-1) means 30,000, and there is no
 *   endless wait. On BH_TIMEOUT the operation goes on: `error->ticket` (when an error is passed) is a ticket with which
 *   its outcome is asked for; do not repeat the verb. While the engine's process is stopped the status of such a wait
 *   is BH_ENGINE_UNRESPONSIVE with its process id; all the rest is the same, so look whether there is a ticket. Each
 *   verb that waits has a `_start` form that returns a ticket at once, for hosts with an event loop of their own.
 */
#ifndef BACKHAUL_H
#define BACKHAUL_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------
 * Version
 * ------------------------------------------------------------------------------------------------------------ */

/* Libraries with the same SONAME (libbackhaul.so.0) are ABI compatible; new fields go to the end of structs. */
#define BH_VERSION_MAJOR 0
#define BH_VERSION_MINOR 4
#define BH_VERSION_PATCH 0
#define BH_VERSION ((BH_VERSION_MAJOR << 16) | (BH_VERSION_MINOR << 8) | BH_VERSION_PATCH)

/* The version of the library that is loaded, in the form of BH_VERSION. */
uint32_t bh_version(void);

/* The same as text, "0.1.0". Static; not to be freed. */
const char *bh_version_string(void);

/* A JSON document with the size and the field offsets of every struct and the value of every constant of this header,
 * as the library was built: {"version":"0.1.0","structs":{"bh_event":{"size":…,"fields":{"id":8,…}}},
 * "constants":{"BH_OK":0,…}}. Bindings compare it with their own declarations when they load. Static. */
const char *bh_abi_json(void);

/* ---------------------------------------------------------------------------------------------------------------
 * Status and errors
 * ------------------------------------------------------------------------------------------------------------ */

typedef int32_t bh_status;

/* The only list of status codes: name, value, meaning. Values never move. Codes below 40 answer calls; codes from 40
 * on are also why a task failed. */
#define BH_STATUS_TABLE(X)                                                                                             \
    X(OK, 0, "success")                                                                                                \
    X(INVALID_ARGUMENT, 1, "an argument is missing, malformed or out of range")                                       \
    X(INVALID_HANDLE, 2, "the handle is closed or was never one")                                                      \
    X(FORKED, 3, "the handle belongs to the parent process; open the application again in this one")                   \
    X(NOT_FOUND, 4, "there is no such session, task or event")                                                         \
    X(ALREADY_EXISTS, 5, "something else is already there")                                                            \
    X(KEY_CONFLICT, 6, "the idempotency key was used for another request")                                             \
    X(DESTINATION_IN_USE, 7, "another task has the same destination")                                                  \
    X(IN_USE, 8, "another consumer has the session")                                                                   \
    X(TIMEOUT, 9, "the wait ended before the operation did; ask for its outcome with the ticket")                      \
    X(WRONG_STATE, 10, "the session or task is not in a state that allows this")                                       \
    X(WRONG_ROLE, 11, "the handle's role does not allow this")                                                         \
    X(INVALIDATED, 12, "the session was invalidated")                                                                  \
    X(EVENTS_OUTSTANDING, 13, "events were handed out and not acknowledged")                                           \
    X(TOO_MANY, 14, "a limit of the library is reached")                                                               \
    X(COMPLETED, 15, "the session was completed, which ended this handle; attach again")                               \
    X(STORE_UNAVAILABLE, 20, "the store cannot be opened or made")                                                     \
    X(STORE_READ_ONLY, 21, "the store cannot be written")                                                              \
    X(STORE_FULL, 22, "the store's file system is full")                                                               \
    X(STORE_DAMAGED, 23, "the store's database is damaged")                                                            \
    X(STORE_NEWER, 24, "the store was written by a newer version of the library")                                      \
    X(STORE_ON_NETWORK_FILE_SYSTEM, 25, "the store is on a network file system, where locks do not hold")              \
    X(ENGINE_UNRESPONSIVE, 30, "the engine holds the store but does not answer")                                       \
    X(ENGINE_INCOMPATIBLE, 31, "the engine speaks another version of the protocol")                                    \
    X(ENGINE_FAILED, 32, "the engine stopped because of an error")                                                     \
    X(OUT_OF_RESOURCES, 33, "memory, threads or descriptors are exhausted")                                            \
    X(INTERNAL, 34, "a defect of the library; please report it")                                                       \
    X(DAEMON_UNAVAILABLE, 35, "the daemon is not found or cannot be started")                                          \
    X(CANCELLED, 40, "the task was cancelled")                                                                         \
    X(NAME_NOT_RESOLVED, 41, "the server's name cannot be resolved")                                                   \
    X(CONNECTION_FAILED, 42, "no connection to the server can be made")                                                \
    X(CONNECTION_LOST, 43, "the connection broke before the transfer was whole")                                       \
    X(REQUEST_TIMEOUT, 44, "the server sent nothing for as long as the request time-out")                              \
    X(RESOURCE_TIMEOUT, 45, "the task did not end within its resource time-out")                                       \
    X(TLS_FAILED, 46, "the TLS connection cannot be made or the certificate does not verify")                          \
    X(HTTP_STATUS, 47, "the server answered with a status that is not accepted")                                       \
    X(REDIRECT_REFUSED, 48, "a redirect leads nowhere, in circles or to a scheme that is not allowed")                 \
    X(BAD_RESPONSE, 49, "the server's answer breaks the rules of HTTP")                                                \
    X(DESTINATION_EXISTS, 50, "a file with the destination's name is already there")                                   \
    X(DESTINATION_UNAVAILABLE, 51, "the destination cannot be written")                                                \
    X(DISK_FULL, 52, "the destination's file system is full")                                                          \
    X(DISK_FAILED, 53, "the disk reported an error")                                                                   \
    X(TOO_LARGE, 54, "the server's answer is larger than a limit allows")                                              \
    X(AUTHENTICATION_REQUIRED, 55, "the server or proxy asks for a credential that was refused or does not serve")     \
    X(CHECKSUM_MISMATCH, 56, "the bytes have another digest than they should have")                                    \
    X(SIZE_MISMATCH, 57, "the file has another size than it should have")                                              \
    X(BODY_UNAVAILABLE, 58, "a file of the request's body cannot be read")                                             \
    X(BODY_CHANGED, 59, "a file of the request's body was changed after it was handed over")                           \
    X(TLS_TRUNCATED, 60, "the TLS connection ended without close_notify, so the body may have been cut")

/* What a call returns; from 40 on also why a task failed. */
enum {
#define BH_STATUS_ENUMERATOR(name, value, text) BH_##name = value,
    BH_STATUS_TABLE(BH_STATUS_ENUMERATOR)
#undef BH_STATUS_ENUMERATOR
};

/* "BH_IN_USE" for BH_IN_USE; "BH_UNKNOWN" for a value that this version does not know. Static. */
const char *bh_status_name(bh_status status);

/* The meaning from the table above. Static. */
const char *bh_status_text(bh_status status);

/* What `detail` of a bh_error or bh_event counts in. */
enum {
    BH_DOMAIN_NONE = 0,   /* detail is 0 */
    BH_DOMAIN_SYSTEM = 1, /* errno */
    BH_DOMAIN_CURL = 2,   /* CURLcode */
    BH_DOMAIN_SQLITE = 3, /* extended SQLite result code */
    BH_DOMAIN_HTTP = 4,   /* HTTP status code */
    BH_DOMAIN_PROCESS = 5 /* process id, for BH_IN_USE and BH_ENGINE_UNRESPONSIVE */
};

typedef struct bh_application bh_application;
typedef struct bh_session bh_session;
typedef struct bh_ticket bh_ticket;
typedef struct bh_batch bh_batch;

#define BH_ERROR_MESSAGE_SIZE 512
#define BH_NO_INDEX UINT64_MAX

/* Caller-owned; filled by a call that fails, untouched by one that succeeds. */
typedef struct bh_error {
    size_t struct_size;                  /* sizeof(bh_error), set by BH_ERROR_INIT */
    bh_status status;                    /* what the call returned */
    int32_t domain;                      /* BH_DOMAIN_… of `detail` */
    int64_t detail;                      /* the code below the status, or 0 */
    uint64_t index;                      /* the first item of an array argument that was wrong, or BH_NO_INDEX */
    bh_ticket *ticket;                   /* of a verb that was not answered in time, to be released; otherwise NULL */
    char message[BH_ERROR_MESSAGE_SIZE]; /* one sentence: what was wrong, and what to do */
} bh_error;

#define BH_ERROR_INIT {sizeof(bh_error), 0, 0, 0, BH_NO_INDEX, NULL, {0}}

#define BH_WAIT_DEFAULT (-1)
#define BH_WAIT_MAXIMUM 86400000 /* the longest wait of one call: a day */

/* ---------------------------------------------------------------------------------------------------------------
 * Application
 * ------------------------------------------------------------------------------------------------------------ */

/* A choice whose default is documented where it is made. */
enum { BH_DEFAULT = 0, BH_YES = 1, BH_NO = 2 };

/* Where the engine runs when nobody holds the store's lock yet. Whoever holds it is used, wherever he runs. */
enum {
    BH_HOSTING_DEFAULT = 0, /* BH_HOSTING_DAEMON */
    BH_HOSTING_DAEMON = 1,  /* in backhauld, which the library starts */
    BH_HOSTING_EMBEDDED = 2 /* in threads of this process: for tests, containers, hosts that must not start processes */
};

/* A program to run when sessions need their host. No shell is involved. */
typedef struct bh_launch_command {
    size_t struct_size;
    const char *program;            /* required: absolute path of an executable file */
    const char *const *arguments;   /* those after the program's name, optional */
    size_t argument_count;          /* at most 1,000; all texts together at most 65,536 bytes */
    const char *const *environment; /* additions, "NAME=value", optional; the rest is PATH, HOME, USER, LOGNAME, SHELL,
                                       LANG, LC_*, TZ, TMPDIR and XDG_* of the engine, and BACKHAUL_LAUNCH,
                                       …_APPLICATION, …_STORE and …_DAEMON; see docs/launch.md */
    size_t environment_count;       /* at most 1,000 */
    const char *working_directory;  /* absolute; NULL: the user's home directory */
    uint32_t attach_timeout_ms;     /* 60,000: a launched host that has attached no session by then is asked to end
                                       (SIGTERM, ten seconds later SIGKILL) and launched again */
    uint32_t first_delay_ms;        /* 60,000: before the next launch when one has ended without completing; doubles */
    uint32_t longest_delay_ms;      /* 3,600,000 */
    uint32_t maximum_launches;      /* 8 in a row without completing, then the application is left alone until a host of
                                       it connects of itself; its events stay */
} bh_launch_command;

#define BH_LAUNCH_COMMAND_INIT {sizeof(bh_launch_command), NULL, NULL, 0, NULL, 0, NULL, 0, 0, 0, 0}

/* This handle belongs to a tool that looks on and is no host: while only such handles are open, the application is
 * launched as if none were, and is not told instead. */
enum { BH_APPLICATION_OBSERVES = 1 };

typedef struct bh_application_options {
    size_t struct_size;
    /* Required: the name under which hosts act, such as "org.example.photos": 1 to 255 bytes of letters, digits, '.',
     * '-' and '_', starting with a letter or digit. Session identifiers belong to it. */
    const char *identifier;
    /* Absolute path of the store's directory; made with mode 0700 if its parent exists. Must be on a local file system
     * and belong to the user. NULL: the user's default store, which all programs of the user share, so that limits hold
     * across them: $BACKHAUL_STORE, else $XDG_STATE_HOME/backhaul, else ~/.local/state/backhaul; its parents are made,
     * too. */
    const char *store;
    int32_t hosting;                 /* BH_HOSTING_… */
    uint32_t flags;                  /* BH_APPLICATION_… bits */
    const char *daemon;              /* absolute path of backhauld; NULL: looked for at $BACKHAUL_DAEMON, beside the
                                        library, in libexec/backhaul beside the library's directory, then below
                                        /usr/local and /usr */
    const bh_launch_command *launch; /* registered as by bh_application_set_launch; NULL leaves what is registered */
} bh_application_options;

#define BH_APPLICATION_OPTIONS_INIT {sizeof(bh_application_options), NULL, NULL, 0, 0, NULL, NULL}

/* Opens the application on its store and waits until an engine answers: one that runs, the daemon, or one in this
 * process. With timeout_ms 0 it returns at once and the first verb reports what went wrong. Several handles may be open
 * on one store, in one process and in several. A timed-out open gives no handle and no ticket.
 * Errors: BH_INVALID_ARGUMENT, BH_STORE_…, BH_ENGINE_…, BH_DAEMON_UNAVAILABLE (the message names the places that were
 * searched, or why the program did not start), BH_TIMEOUT, BH_OUT_OF_RESOURCES. */
bh_status bh_application_open(const bh_application_options *options, int32_t timeout_ms, bh_application **application,
                              bh_error *error);

/* Frees the handle; its sessions' handles and tickets become invalid, their tasks go on. The last close of a process
 * hands the store's engine over, and returns when its threads have ended (bounded: about a second). NULL is accepted.
 */
void bh_application_close(bh_application *application);

typedef struct bh_engine_info {
    size_t struct_size;
    int64_t process_id;
    uint32_t version;             /* of its library, in the form of BH_VERSION */
    int32_t hosting;              /* BH_HOSTING_DAEMON or …_EMBEDDED */
    int64_t started_ms;           /* Unix time in milliseconds */
    const char *store;            /* the store's path, as this host opened it */
    int32_t shares_control_group; /* 1: a daemon in the control group of this process, so that a service manager that
                                     stops this host's service ends the daemon with it; see docs/services.md */
    uint32_t connections;         /* handles that are open on the store, this one included */
} bh_engine_info;

/* Who the store's engine is: a batch with one bh_engine_info. */
bh_status bh_application_engine(bh_application *application, int32_t timeout_ms, bh_batch **engine, bh_error *error);
bh_status bh_application_engine_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* What all sessions of the store may use together. A field that is 0 stands for the default given here. */
typedef struct bh_limits {
    size_t struct_size;
    uint64_t bytes_per_second;       /* both ways; default: no limit */
    uint32_t maximum_running_tasks;  /* 256; at most 1,024 */
    uint32_t maximum_connections;    /* 256; at most 1,024 */
    uint32_t connections_per_origin; /* of all sessions to one origin; default: each session's own */
} bh_limits;

#define BH_LIMITS_INIT {sizeof(bh_limits), 0, 0, 0, 0}

/* Sets the store's limits, durably and at once. */
bh_status bh_application_set_limits(bh_application *application, const bh_limits *limits, int32_t timeout_ms,
                                    bh_error *error);
bh_status bh_application_set_limits_start(bh_application *application, const bh_limits *limits, bh_ticket **ticket,
                                          bh_error *error);

/* The store's limits with their defaults filled in: a batch with one bh_limits. */
bh_status bh_application_get_limits(bh_application *application, int32_t timeout_ms, bh_batch **limits,
                                    bh_error *error);
bh_status bh_application_get_limits_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* A descriptor for poll(2), select(2), epoll(7) or an event loop. Level-triggered: readable while a session attached as
 * consumer by this handle has events that were not handed out, while bh_application_poll has something new to tell, or
 * while an answered ticket was not fetched with bh_application_next_ticket. Owned by the library until the application
 * is closed: do not read, write or close it. The same number for the handle's whole life. */
bh_status bh_application_event_fd(bh_application *application, int *descriptor, bh_error *error);

/* Waits up to timeout_ms for a session of this application, attached or not, that needs attention and was not
 * told by this handle since it began to need it. The batch holds bh_session_info items and may be empty. */
bh_status bh_application_poll(bh_application *application, int32_t timeout_ms, bh_batch **sessions, bh_error *error);

/* All sessions of this application: a batch of bh_session_info. */
bh_status bh_application_sessions(bh_application *application, int32_t timeout_ms, bh_batch **sessions,
                                  bh_error *error);
bh_status bh_application_sessions_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Launch
 * ------------------------------------------------------------------------------------------------------------ */

/* Registers the application's launch command, durably, in place of any other; NULL removes it.
 * Errors: BH_INVALID_ARGUMENT. That the program exists is found out at the launch. */
bh_status bh_application_set_launch(bh_application *application, const bh_launch_command *command, int32_t timeout_ms,
                                    bh_error *error);
bh_status bh_application_set_launch_start(bh_application *application, const bh_launch_command *command,
                                          bh_ticket **ticket, bh_error *error);

/* How the launch of an application stands. */
enum {
    BH_LAUNCH_NONE = 0,      /* no command is registered, or no session needs its host */
    BH_LAUNCH_DUE = 1,       /* at next_launch_ms, unless a host connects before */
    BH_LAUNCH_RUNNING = 2,   /* a launched host lives and has not completed yet */
    BH_LAUNCH_LEFT_ALONE = 3 /* launched too often without completing: until a host connects of itself */
};

/* What is registered and how it fares, for listings. */
typedef struct bh_launch_info {
    size_t struct_size;
    const char *application;
    const char *program;
    const char *const *arguments;
    size_t argument_count;
    const char *const *environment;
    size_t environment_count;
    const char *working_directory; /* or NULL */
    int32_t state;                 /* BH_LAUNCH_… */
    uint32_t launches;             /* in a row without completing */
    int64_t next_launch_ms;        /* Unix time in milliseconds, or 0 */
    int64_t process_id;            /* of the launched host, or 0 */
    int64_t started_ms;            /* when it was launched, or 0 */
    const char *error_message;     /* why the last launch failed, one sentence, or NULL */
} bh_launch_info;

/* The launch commands of all applications of the store: a batch of bh_launch_info. */
bh_status bh_application_launches(bh_application *application, int32_t timeout_ms, bh_batch **launches,
                                  bh_error *error);
bh_status bh_application_launches_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Session
 * ------------------------------------------------------------------------------------------------------------ */

/* What a handle may do. Reading tasks is open to all. */
enum {
    BH_ROLE_CONSUME = 1,          /* receives the events: one at a time; may also do all the others may */
    BH_ROLE_PRODUCE = 2,          /* enqueues, controls and cancels tasks, answers challenges */
    BH_ROLE_OBSERVE = 3,          /* lists and watches only */
    BH_ROLE_CONSUME_WHEN_FREE = 4 /* as BH_ROLE_CONSUME, and waits while another handle consumes: that one is asked to
                                     yield (BH_ATTENTION_YIELD). A ticket that is released waits no longer */
};

typedef struct bh_header {
    const char *name;
    const char *value;
} bh_header;

/* Which version of HTTP is spoken. */
enum {
    BH_HTTP_DEFAULT = 0, /* 2 over TLS where the server can, else 1.1 */
    BH_HTTP_1_1 = 1,
    BH_HTTP_2 = 2,                /* over TLS as the default; without TLS by an upgrade from 1.1 (RFC 7540, 3.2) */
    BH_HTTP_2_PRIOR_KNOWLEDGE = 3 /* also without TLS and without asking (RFC 9113, section 3.3) */
};

/* What becomes of a redirect (RFC 9110, section 15.4). None ever leads from https to http, and the host's own headers
 * and credentials never reach another origin. */
enum {
    BH_REDIRECTS_FOLLOW = 1,
    BH_REDIRECTS_SAME_ORIGIN = 2, /* others fail with BH_REDIRECT_REFUSED */
    BH_REDIRECTS_NONE = 3         /* each is an answer like any other, accepted or not by its status */
};

/* Which errors are tried again, as bits. */
enum {
    BH_RETRY_NAME = 1,          /* BH_NAME_NOT_RESOLVED */
    BH_RETRY_CONNECTION = 2,    /* BH_CONNECTION_FAILED */
    BH_RETRY_LOST = 4,          /* BH_CONNECTION_LOST, BH_TLS_TRUNCATED */
    BH_RETRY_TIMEOUT = 8,       /* BH_REQUEST_TIMEOUT */
    BH_RETRY_TLS = 16,          /* a handshake that broke off; a certificate that does not verify never is */
    BH_RETRY_STATUS = 32,       /* an answer whose status is one of retry_statuses */
    BH_RETRY_BAD_RESPONSE = 64, /* BH_BAD_RESPONSE */
    BH_RETRY_NOTHING = 128      /* none of them: alone */
};

/* Faults of servers that a session accepts, as bits. */
enum {
    BH_TOLERATE_MISSING_CLOSE_NOTIFY = 1, /* over TLS, a response body that ends with the connection is whole, although
                                             the server sent no close_notify (RFC 9112, section 9.8); without the bit
                                             the task fails with BH_TLS_TRUNCATED, because an attacker can cut such a
                                             body */
    BH_TOLERATE_EARLY_RESPONSE = 2        /* a response of success to an upload counts, although it came before the
                                             request's body was sent; without the bit the body must be sent whole */
};

/* Where a session's cookies live (RFC 6265). */
enum {
    BH_COOKIES_NONE = 1,
    BH_COOKIES_MEMORY = 2,    /* in the engine, until it leaves */
    BH_COOKIES_PERSISTENT = 3 /* in the store, but those without an expiry, which live in the engine */
};

/* The lowest version of TLS that a session speaks. */
enum {
    BH_TLS_1_2 = 12,
    BH_TLS_1_3 = 13
};

/* What a task waits for when it can, in the words that people have for it. A preset stands for the fields named here;
 * a field that is set beside it takes the place of the preset's. What a preset asks for are wishes: they are given up
 * at bh_request.latest_start_ms. What a field asks for holds always. See docs/conditions.md. */
enum {
    BH_PRESET_DEFAULT = 0,       /* nothing */
    BH_PRESET_DISCRETIONARY = 1, /* requires_external_power, requires_unmetered, maximum_thermal_state
                                    BH_THERMAL_FAIR, minimum_bytes_per_second 10,000 (Apple: isDiscretionary) */
    BH_PRESET_OVERNIGHT = 2      /* BH_PRESET_DISCRETIONARY, and quiet_hours "07:00-23:00" */
};

/* How hot the machine is, by the trip points of its thermal zones (Apple: ProcessInfo.ThermalState). */
enum {
    BH_THERMAL_NOMINAL = 1,
    BH_THERMAL_FAIR = 2,    /* above a passive or active trip point, or the processor is slowed down to cool it; a fan
                               at work alone is nothing */
    BH_THERMAL_SERIOUS = 3, /* above a hot trip point, or within 10 degrees of a critical one */
    BH_THERMAL_CRITICAL = 4 /* within 3 degrees of a critical trip point, or above it: nothing is transferred */
};

/* Kinds of network, as bits: that of the default route. */
enum {
    BH_NETWORK_ETHERNET = 1,
    BH_NETWORK_WIFI = 2,
    BH_NETWORK_CELLULAR = 4,
    BH_NETWORK_BLUETOOTH = 8,
    BH_NETWORK_TUNNEL = 16, /* a VPN whose own way is not known */
    BH_NETWORK_OTHER = 32
};

/* For bh_session_configuration.history_limit: no ended task is kept. */
#define BH_HISTORY_NONE UINT32_MAX

/* Remembered with the session from its creation; attach needs the identifier alone. A field that is 0 or NULL stands
 * for the default given here. */
typedef struct bh_session_configuration {
    size_t struct_size;
    const char *identifier;          /* required: 1 to 255 bytes of UTF-8 without control characters */
    uint32_t connections_per_origin; /* 6; at most 256. Over HTTP/2 tasks share one connection. */
    uint32_t maximum_running_tasks;  /* 64; at most 1024 */
    uint32_t maximum_attempts;       /* tries in a row without new durable bytes; default: no limit but the resource
                                        time-out */
    uint32_t first_retry_delay_ms;   /* 1,000; doubles with each try, with jitter */
    uint32_t longest_retry_delay_ms; /* 600,000 */
    uint32_t request_timeout_ms;     /* 60,000 without a byte from the server (Apple: timeoutIntervalForRequest) */
    uint64_t resource_timeout_ms;    /* 604,800,000 (7 days) from enqueue (Apple: timeoutIntervalForResource); stands
                                        still while the task is suspended */
    const char *ca_file;             /* absolute path of PEM certificates to trust instead of the system's, optional */
    int32_t sends_launch_events;     /* BH_YES (default): its rounds and challenges launch the application; BH_NO: they
                                        wait for a host (Apple: sessionSendsLaunchEvents) */
    int32_t asks_for_credentials;    /* BH_YES: a 401 or 407 becomes a challenge, for which its tasks wait; BH_NO
                                        (default): it is a failure of the task, as other statuses that are not
                                        accepted */
    uint32_t launch_if_stopped_ms;   /* when the consumer's process has been stopped (SIGSTOP, debugger, freezer) for so
                                        long while the session needs it, launch all the same; 0: never. We do not
                                        continue stopped processes */
    uint32_t retry_jitter_percent;   /* 50: how much of each delay is random; 1 to 100 */
    uint32_t retry_errors;           /* BH_RETRY_… bits; default: all but BH_RETRY_BAD_RESPONSE */
    int32_t retries_unsafe_methods;  /* BH_YES: requests whose method is not idempotent (RFC 9110, section 9.2.2: POST,
                                        PATCH) are repeated although the server may have done what they ask; BH_NO
                                        (default): only when surely no server has acted on them */
    const char *retry_statuses;      /* "408,425,429,500,502-504" */
    const char *accepted_statuses;   /* "200-299": others are failures. A list of statuses and ranges. The body of an
                                        accepted answer is the file, whatever its status; that of 204, 205, 304 and of
                                        answers to HEAD is empty. 206 goes with 200 */
    int32_t http_version;            /* BH_HTTP_… */
    int32_t redirects;               /* BH_REDIRECTS_…; default: BH_REDIRECTS_FOLLOW */
    uint32_t maximum_redirects;      /* 20; at most 100 */
    uint64_t maximum_size;           /* bytes that a file may have, else BH_TOO_LARGE; default: no limit */
    const bh_header *headers;        /* sent with each request to its URL's origin; one of the request's own with the
                                        same name takes its place (Apple: httpAdditionalHeaders) */
    size_t header_count;
    uint64_t bytes_per_second;       /* of all its tasks together, both ways; default: no limit. Holds at once */
    const char *proxy;               /* "http://…", "https://…", "socks5://…" or "socks5h://…" (which resolves names),
                                        without user and password; "none": no proxy; default: http_proxy, https_proxy,
                                        all_proxy and no_proxy of the engine's environment */
    const char *proxy_user;          /* optional, with proxy_password: Basic, Digest, or as SOCKS asks */
    const char *proxy_password;
    const char *no_proxy;            /* names and addresses that need no proxy, as curl's CURLOPT_NOPROXY; optional */
    int32_t cookies;                 /* BH_COOKIES_…; default: BH_COOKIES_NONE */
    int32_t minimum_tls;             /* BH_TLS_…; default: BH_TLS_1_2 */
    const char *client_certificate;  /* absolute path of PEM, optional: the certificate and those that vouch for it */
    const char *client_key;          /* absolute path of its key in PEM; default: in client_certificate */
    const char *pinned_public_keys;  /* "sha256//BASE64;sha256//…", of the server's key (RFC 7469); optional */
    uint32_t history_limit;          /* 1,000: how many ended tasks bh_session_history keeps; at most 100,000;
                                        BH_HISTORY_NONE: none, and no attempts beyond their task */
    int32_t preset;                  /* BH_PRESET_…; default: BH_PRESET_DEFAULT. From here to quiet_hours fields come
                                        back as they were given, 0 as 0: beside a preset that is another thing */
    int32_t requires_external_power; /* BH_YES: waits while the machine runs on battery */
    int32_t requires_unmetered;      /* BH_YES: waits while the network is metered (Apple: allowsExpensiveNetworkAccess
                                        or allowsConstrainedNetworkAccess, when false) */
    uint32_t networks;               /* BH_NETWORK_… bits on which it runs; default: all (Apple's allowsCellularAccess,
                                        when false: all but BH_NETWORK_CELLULAR) */
    uint32_t minimum_battery_percent; /* waits on battery with less, and then until it has 5 more; 1 to 100 */
    int32_t maximum_thermal_state;   /* BH_THERMAL_…; default: BH_THERMAL_SERIOUS */
    uint32_t maximum_cpu_pressure_percent; /* of the last ten seconds in which some process waited for a processor, by
                                        /proc/pressure; 1 to 100; default: no limit */
    uint32_t maximum_io_pressure_percent; /* the same, for a disk */
    uint32_t maximum_memory_pressure_percent; /* the same, for memory */
    uint64_t minimum_bytes_per_second; /* when less has come for slow_after_ms, from an origin or from all, it pauses
                                        and probes; default: no minimum */
    const char *quiet_hours;         /* hours of local time in which it waits: "22:00-06:30", or several with days,
                                        "mon-fri 08:00-18:00, sat 10:00-14:00"; an end before its begin is the next
                                        day's; default: none */
    uint32_t slow_after_ms;          /* 60,000: see minimum_bytes_per_second */
    uint32_t slow_pause_ms;          /* 300,000: before the first probe; doubles up to twelve times of it */
    int32_t discretionary_if_launched; /* BH_YES: tasks that a launched host enqueues have BH_PRESET_DISCRETIONARY, too
                                        (as Apple treats those that an app enqueues in the background); BH_NO (default)
                                      */
    uint32_t tolerances;             /* BH_TOLERATE_… bits; default: none */
    uint64_t daily_budget;           /* bytes that the session may move, both ways, on any one network in a day of local
                                        time; default: no limit; BH_BUDGET_NOTHING: none */
    uint64_t monthly_budget;         /* the same, in a calendar month */
} bh_session_configuration;

/* For the budgets of sessions and networks: no byte may be moved. */
#define BH_BUDGET_NOTHING UINT64_MAX

#define BH_SESSION_CONFIGURATION_INIT                                                                                  \
    {sizeof(bh_session_configuration), NULL, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0,      \
     NULL, 0, 0, NULL, NULL, NULL, NULL, 0, 0, NULL, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL, 0, 0, 0, 0,  \
     0, 0}

/* What bh_session_create did. */
enum {
    BH_SESSION_CREATED = 1,
    BH_SESSION_ATTACHED = 2 /* it was there: its remembered configuration stays; change it with bh_session_update */
};

/* Creates the session or attaches to it when it exists. `disposition` (BH_SESSION_CREATED or …_ATTACHED) is optional.
 * Errors: as bh_session_attach, and BH_INVALID_ARGUMENT for the configuration. */
bh_status bh_session_create(bh_application *application, const bh_session_configuration *configuration, int32_t role,
                            int32_t timeout_ms, bh_session **session, int32_t *disposition, bh_error *error);
bh_status bh_session_create_start(bh_application *application, const bh_session_configuration *configuration,
                                  int32_t role, bh_ticket **ticket, bh_error *error);

/* Attaches to a session by its identifier. Errors: BH_NOT_FOUND; BH_IN_USE when another living handle consumes it
 * (`detail` is its process id); BH_INVALIDATED. */
bh_status bh_session_attach(bh_application *application, const char *identifier, int32_t role, int32_t timeout_ms,
                            bh_session **session, bh_error *error);
bh_status bh_session_attach_start(bh_application *application, const char *identifier, int32_t role,
                                  bh_ticket **ticket, bh_error *error);

/* Frees the handle and gives up its role; transfers go on, unacknowledged events stay. NULL is accepted. */
void bh_session_close(bh_session *session);

/* A descriptor as bh_application_event_fd gives, readable while this session has events that were not handed out to
 * this handle. Owned by the library until the session is closed. */
bh_status bh_session_event_fd(bh_session *session, int *descriptor, bh_error *error);

/* The remembered configuration with its defaults filled in: a batch with one bh_session_configuration. */
bh_status bh_session_get_configuration(bh_session *session, int32_t timeout_ms, bh_batch **configuration,
                                       bh_error *error);
bh_status bh_session_get_configuration_start(bh_session *session, bh_ticket **ticket, bh_error *error);

/* Replaces the remembered configuration; the identifier must be the session's or NULL. Applies to attempts that start
 * from now on; bytes_per_second, maximum_running_tasks, connections_per_origin and history_limit hold at once, and no
 * task waits longer for its next attempt than the new retry delays and time-outs allow. */
bh_status bh_session_update(bh_session *session, const bh_session_configuration *configuration, int32_t timeout_ms,
                            bh_error *error);
bh_status bh_session_update_start(bh_session *session, const bh_session_configuration *configuration,
                                  bh_ticket **ticket, bh_error *error);

/* The host has processed what it was handed and has nothing outstanding (Apple: the completion handler of
 * handleEventsForBackgroundURLSession). It ends the launch for this session; a challenge that the host has seen and
 * left open launches it no more. A handle that was attached for the launch, by the launched host, ends at once: its
 * later calls return BH_COMPLETED, and create and attach work at once, in this process and in others. Other handles
 * stay as they are. Harmless without a launch, and when repeated. Errors: BH_EVENTS_OUTSTANDING with their number in
 * `detail` when events handed out to this handle are not acknowledged. */
bh_status bh_session_complete(bh_session *session, int32_t timeout_ms, bh_error *error);
bh_status bh_session_complete_start(bh_session *session, bh_ticket **ticket, bh_error *error);

/* What happens to the tasks of a session that is invalidated. */
enum {
    BH_INVALIDATE_FINISH = 1, /* let the tasks end (Apple: finishTasksAndInvalidate) */
    BH_INVALIDATE_CANCEL = 2  /* cancel them (Apple: invalidateAndCancel) */
};

/* No further task can be enqueued. When all tasks have ended and all events are acknowledged the session is removed and
 * its identifier is free again. */
bh_status bh_session_invalidate(bh_session *session, int32_t mode, int32_t timeout_ms, bh_error *error);
bh_status bh_session_invalidate_start(bh_session *session, int32_t mode, bh_ticket **ticket, bh_error *error);

/* Why a session needs attention: bits of bh_session_info.attention. */
enum {
    BH_ATTENTION_EVENTS = 1,    /* events wait to be acknowledged */
    BH_ATTENTION_FINISHED = 2,  /* among them a `session finished` */
    BH_ATTENTION_CHALLENGE = 4, /* a challenge is open */
    BH_ATTENTION_YIELD = 8,     /* another handle waits to consume the session: finish, complete and close */
    BH_ATTENTION_ACTIVITY = 16  /* among its events is a BH_EVENT_ACTIVITY */
};

typedef struct bh_session_info {
    size_t struct_size;
    const char *identifier;
    uint64_t round;        /* number of the current or last round; 0 before the first enqueue */
    uint64_t live_tasks;   /* tasks that have not ended */
    uint64_t events;       /* events not acknowledged */
    uint32_t attention;    /* BH_ATTENTION_… bits */
    int32_t invalidating;  /* 1 after bh_session_invalidate */
    int64_t consumer;      /* process id of the consumer, or 0 */
    int64_t created_ms;    /* Unix time in milliseconds */
    uint64_t open_challenges;
    int64_t consumer_stopped_ms; /* Unix time in milliseconds since when the consumer's process is seen to be stopped
                                    (SIGSTOP, debugger, freezer), or 0 */
    uint32_t waiting_consumers;  /* handles that wait with BH_ROLE_CONSUME_WHEN_FREE */
    int32_t launch_state;        /* BH_LAUNCH_… of the application, as far as it concerns this session */
    int64_t next_launch_ms;      /* Unix time in milliseconds, or 0 */
} bh_session_info;

/* The launch that a host was started by. */
typedef struct bh_launch {
    size_t struct_size;
    uint64_t id;                     /* grows with each launch of the store */
    uint32_t launches;               /* how many in a row, this one included: 1 unless earlier ones did not complete */
    uint32_t reasons;                /* BH_ATTENTION_FINISHED, …_CHALLENGE and …_ACTIVITY, as any of the sessions has */
    const bh_session_info *sessions; /* all that are concerned and not completed yet, as they are now */
    size_t session_count;
} bh_launch;

/* Whether this process, or one that started it, was started by a launch that is not over: a batch with one bh_launch,
 * or an empty one. The launched program finds the launch in its environment, as BACKHAUL_LAUNCH. */
bh_status bh_launch_current(bh_application *application, int32_t timeout_ms, bh_batch **launch, bh_error *error);
bh_status bh_launch_current_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Enqueue
 * ------------------------------------------------------------------------------------------------------------ */

/* What to do when a file with the destination's name exists, at enqueue and when the download finishes. */
enum {
    BH_IF_EXISTS_FAIL = 0,
    BH_IF_EXISTS_REPLACE = 1, /* replaced in one step by rename(2); a directory is never replaced */
    BH_IF_EXISTS_SKIP = 2     /* when the file there has the request's checksum and expected_size, of which at least one
                                 must be given, the task succeeds without a request (attempts and http_status are 0);
                                 else it is replaced */
};

/* Flags of a request, as bits. */
enum {
    BH_REQUEST_STARTS_SUSPENDED = 1,
    BH_REQUEST_IF_CHANGED = 2,      /* fetched only if the server has another version than the one that an earlier task
                                       of the session with this flag has put at the destination from this URL (RFC 9110,
                                       section 13.1): else the task succeeds with http_status 304, and the file stays. A
                                       file that was changed or removed since is fetched. Needs BH_IF_EXISTS_REPLACE */
    BH_REQUEST_NAMED_BY_SERVER = 4, /* destination is a directory, which exists: the file's name in it is that of
                                       Content-Disposition (RFC 6266), else the URL's last part, never with a path,
                                       never hidden, at most 255 bytes; the event has the path */
    BH_REQUEST_IGNORES_DIGESTS = 8  /* the server's Repr-Digest and Content-Digest (RFC 9530) are not verified */
};

/* What a request's body_file is to the engine. */
enum {
    BH_BODY_REFERENCE = 0, /* read where it is; a change after the enqueue is BH_BODY_CHANGED */
    BH_BODY_SNAPSHOT = 1,  /* copied into the store at the enqueue, by reflink where the file system can */
    BH_BODY_CONSUME = 2    /* moved into the store at the enqueue, removed after success. Of a task that ends otherwise
                              it lies at the path that its event tells until that is acknowledged; then it is given
                              back: to where it was, or beside what lies there by then, with ".~" and the task's id
                              behind its name. Where that cannot be it stays in the store, and is tried again. When
                              the acknowledgement returns it is done. bh_task_claim moves it elsewhere before. Of a
                              form the event has the path of its first file: "….0"; the others lie beside it, ending
                              in ".1" and so on, and each goes back to its own place. Symbolic links are not
                              consumed */
};

/* What expires, and what the host is asked for when it has: with BH_CHALLENGE_REFRESH. */
enum {
    BH_REFRESH_NONE = 0,
    BH_REFRESH_HEADERS = 1, /* headers: one challenge for all tasks of the session and origin, answered with
                               BH_RESPOND_HEADERS for all of them that were enqueued by then */
    BH_REFRESH_URL = 2      /* the URL: one challenge for each task, answered with BH_RESPOND_URL or …_HEADERS. What is
                               here is continued only from the same strong entity tag and size */
};

/* One part of a multipart/form-data body (RFC 7578): a file or a value. */
typedef struct bh_part {
    const char *name;       /* required */
    const char *file;       /* absolute path, or NULL; read as body_source says */
    const void *value;      /* any bytes, when file is NULL */
    size_t value_size;
    const char *file_name;  /* told to the server; NULL: the last part of `file`, none for a value */
    const char *media_type; /* NULL: application/octet-stream for a file, none for a value */
} bh_part;

/* How a task differs from its session. A field that is 0 or NULL: as the session's configuration says. Of the fields
 * from `preset` on the stricter of session and task holds: a task cannot loosen what its session asks for. */
typedef struct bh_policy {
    size_t struct_size;
    uint32_t maximum_attempts;
    uint32_t first_retry_delay_ms;
    uint32_t longest_retry_delay_ms;
    uint32_t retry_jitter_percent;
    uint32_t retry_errors;
    int32_t retries_unsafe_methods;
    const char *retry_statuses;
    const char *accepted_statuses;
    uint32_t request_timeout_ms;
    int32_t http_version;
    uint64_t resource_timeout_ms;
    int32_t redirects;
    uint32_t maximum_redirects;
    uint64_t maximum_size;
    uint64_t bytes_per_second; /* of this task, beside the session's limit; changed with bh_tasks_set_rate */
    int32_t preset;
    int32_t requires_external_power;
    int32_t requires_unmetered;
    uint32_t networks;
    uint32_t minimum_battery_percent;
    int32_t maximum_thermal_state;
    uint32_t maximum_cpu_pressure_percent;
    uint32_t maximum_io_pressure_percent;
    uint32_t maximum_memory_pressure_percent;
    uint64_t minimum_bytes_per_second;
    const char *quiet_hours;
} bh_policy;

#define BH_POLICY_INIT                                                                                                 \
    {sizeof(bh_policy), 0, 0, 0, 0, 0, 0, NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, NULL}

/* The priority of tasks that run at once, beyond the session's maximum_running_tasks and connections_per_origin: when
 * the engine has no room either, the one with the least priority makes room. */
#define BH_PRIORITY_NOW 101
#define BH_BODY_SIZE_MAXIMUM 1048576
#define BH_PART_COUNT_MAXIMUM 1000
#define BH_GROUP_SIZE_MAXIMUM 255

#define BH_URL_SIZE_MAXIMUM 16384
#define BH_USER_DATA_SIZE_MAXIMUM 65536
#define BH_HEADER_COUNT_MAXIMUM 100
#define BH_HEADERS_SIZE_MAXIMUM 65536
#define BH_ENQUEUE_COUNT_MAXIMUM 10000000

/* A download, or an upload: a request with a body (body_file, body or parts) and without a destination is an upload,
 * and its event carries the answer's body. With both it is a download by that method, which begins anew after each
 * break: ranges are for GET (RFC 9110, section 14.2). Fields that contradict each other are refused, both named. */
typedef struct bh_request {
    size_t struct_size;
    const char *url;             /* required: http or https, without user name or password */
    const char *destination;     /* absolute path of the file to make; NULL: kept in the store until claimed, or an
                                    upload */
    const char *idempotency_key; /* optional, 1 to 255 bytes: the same key again finds the same task; with another
                                    request it is BH_KEY_CONFLICT naming the field, but for what can be changed later:
                                    its rate, its constraints and its starts. A key is free again when its task's
                                    failure or cancellation is acknowledged, or, after a success, the round's
                                    `session finished`: a host killed in between hands its whole list over again */
    const bh_header *headers;    /* optional; stored (mode 0600), sent to the URL's origin only */
    size_t header_count;
    const void *user_data;       /* optional, any bytes: comes back with each event and listing */
    size_t user_data_size;
    int32_t if_exists;           /* BH_IF_EXISTS_… */
    int32_t priority;            /* higher runs first within the session; -100 to 100, or BH_PRIORITY_NOW */
    uint32_t flags;              /* BH_REQUEST_… bits */
    uint32_t mode;               /* permission bits of the file; 0: 0666 less the host's umask */
    const char *method;          /* a token (RFC 9110, section 9.1) other than CONNECT and TRACE; NULL: GET, with
                                    body_file or body PUT, with parts POST */
    const char *group;           /* optional, 1 to 255 bytes: when the last live task of the group has ended there is
                                    one BH_EVENT_GROUP_FINISHED */
    const char *checksum;        /* optional: "sha-256:" and 64, or "sha-512:" and 128 hexadecimal digits. A file with
                                    another is fetched from its first byte once more, then it is BH_CHECKSUM_MISMATCH,
                                    and never has the final name. Takes the place of the server's digests */
    uint64_t expected_size;      /* of the file in bytes, else BH_SIZE_MISMATCH after a second try; 0: any */
    const char *body_file;       /* absolute path of a regular file, optional */
    const void *body;            /* or bytes from memory, kept in the store; optional */
    size_t body_size;            /* at most BH_BODY_SIZE_MAXIMUM */
    const bh_part *parts;        /* or a form; optional */
    size_t part_count;
    int32_t body_source;         /* BH_BODY_…, for body_file and the files of parts */
    int32_t refresh;             /* BH_REFRESH_… */
    int64_t expires_ms;          /* Unix time in milliseconds until which what `refresh` names is good: the host is
                                    asked before an attempt starts later. 0: not known; it is asked at a 401 or 403 */
    const bh_policy *policy;     /* optional; requests may share one */
    int64_t earliest_start_ms;   /* Unix time in milliseconds before which it does not start (Apple:
                                    earliestBeginDate); 0: at once */
    int64_t latest_start_ms;     /* Unix time in milliseconds from which on it waits for no preset's wishes any more,
                                    its session's included; not before earliest_start_ms; 0: it waits */
    uint64_t expected_bytes_received; /* an upper bound, for budgets: it waits when less is left (Apple:
                                    countOfBytesClientExpectsToReceive); 0: expected_size, or not known */
    uint64_t expected_bytes_sent; /* the same (Apple: countOfBytesClientExpectsToSend); 0: the body's size */
} bh_request;

#define BH_REQUEST_INIT                                                                                                \
    {sizeof(bh_request), NULL, NULL, NULL, NULL, 0, NULL, 0, 0, 0, 0, 0, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL, 0,  \
     0, 0, 0, NULL, 0, 0, 0, 0}

/* What bh_session_enqueue did with one request. */
enum {
    BH_ENQUEUE_NOT_APPLIED = 0,
    BH_ENQUEUE_NEW = 1,
    BH_ENQUEUE_EXISTING = 2 /* the idempotency key found its task, which may have ended: see bh_existing_task */
};

typedef struct bh_enqueued {
    uint64_t task_id;    /* 0 when not applied */
    int32_t disposition; /* BH_ENQUEUE_… */
    bh_status status;    /* BH_OK, or why this item was refused */
} bh_enqueued;

/* A task that the idempotency key of a request found, as it was when the request was applied. The key of a success
 * still finds its task after the event was acknowledged, until the end of the round is, too: then no event of the task
 * comes again, and a transfer that is wanted once more needs another key. */
typedef struct bh_existing_task {
    size_t struct_size;
    uint64_t request;  /* number of the request in the array, from 0 */
    uint64_t task_id;
    uint64_t event_id; /* of its end while that is not acknowledged; otherwise 0 */
    int32_t state;     /* BH_TASK_…; BH_TASK_SUCCEEDED with an event_id of 0: its event was acknowledged */
    int32_t reserved;  /* 0 */
} bh_existing_task;

/* Makes `count` tasks, durably: when it returns BH_OK they survive kill -9 and power loss. `stride` is the distance of
 * two requests in bytes, sizeof(bh_request) as the host knows it. All requests are checked before anything is applied;
 * a bad one refuses the whole call, with its number in error->index. Then they are applied in chunks, each atomic; if a
 * chunk is refused, `*applied` is the length of the applied prefix and error->index the first refused request.
 * `results` (optional) has room for `count` items and is filled in both cases; so is `applied` (optional). However many
 * there are, only a few thousand requests are in the library's memory at a time; the _start form, and what is left when
 * timeout_ms is over, is copied: about 150 bytes each and its texts. How the tasks stand that were found by their keys
 * is told by bh_ticket_batch of the _start form: a batch of bh_existing_task; otherwise bh_session_tasks lists those
 * whose end was not acknowledged.
 * Errors: BH_INVALID_ARGUMENT, BH_DESTINATION_EXISTS, BH_DESTINATION_UNAVAILABLE, BH_DESTINATION_IN_USE,
 * BH_BODY_UNAVAILABLE, BH_KEY_CONFLICT, BH_WRONG_ROLE, BH_INVALIDATED, BH_STORE_FULL, BH_STORE_UNAVAILABLE (its files
 * were removed or replaced), BH_TIMEOUT. */
bh_status bh_session_enqueue(bh_session *session, const bh_request *requests, size_t count, size_t stride,
                             int32_t timeout_ms, bh_enqueued *results, size_t *applied, bh_error *error);
bh_status bh_session_enqueue_start(bh_session *session, const bh_request *requests, size_t count, size_t stride,
                                   bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Events
 * ------------------------------------------------------------------------------------------------------------ */

/* What an event reports. */
enum {
    BH_EVENT_TASK_ENDED = 1,       /* one for each task, in the order of commit */
    BH_EVENT_SESSION_FINISHED = 2, /* the round's last task has ended (Apple: urlSessionDidFinishEvents) */
    BH_EVENT_CHALLENGE = 3,        /* a server or proxy asks for a credential: one for each protection space, however
                                      many tasks wait. To acknowledge it is not to answer it */
    BH_EVENT_GROUP_FINISHED = 4,   /* the last live task of a group has ended */
    BH_EVENT_ACTIVITY = 5          /* an activity without a request is due: do its work. It launches. While it is not
                                      acknowledged, further windows of an activity that repeats make no other */
};

/* Who asks. */
enum {
    BH_CHALLENGE_SERVER = 1, /* the origin server: 401 */
    BH_CHALLENGE_PROXY = 2,  /* the proxy: 407 */
    BH_CHALLENGE_REFRESH = 3 /* ourselves: what bh_request.refresh names has expired, or got a 401 or 403 */
};

/* How the credential may be given, as bits: the schemes of WWW-Authenticate or Proxy-Authenticate (RFC 9110, section
 * 11). */
enum {
    BH_SCHEME_BASIC = 1,
    BH_SCHEME_BEARER = 2,
    BH_SCHEME_DIGEST = 4,
    BH_SCHEME_NEGOTIATE = 8,
    BH_SCHEME_OTHER = 16
};

/* A question for a credential, for one protection space: the origin and the realm (RFC 9110, section 11.5). It stays
 * open until it is answered with bh_session_respond, whatever happens to its event, and its tasks wait with
 * BH_REASON_CREDENTIAL. */
typedef struct bh_challenge {
    size_t struct_size;
    uint64_t id;            /* grows; never used twice in a store */
    int32_t kind;           /* BH_CHALLENGE_… */
    uint32_t schemes;       /* BH_SCHEME_… bits */
    const char *origin;     /* "https://example.org:443", of the server or of the proxy */
    const char *realm;      /* or NULL */
    uint32_t failures;      /* answers in a row that did not serve */
    int64_t time_ms;        /* Unix time of its opening in milliseconds */
    uint64_t waiting_tasks; /* when this was read */
    uint64_t task_id;       /* of BH_CHALLENGE_REFRESH for a URL, whose space is this task alone; otherwise 0 */
    const char *url;        /* of the same: as it is now; otherwise NULL */
} bh_challenge;

/* Whether a task downloads or uploads. */
enum {
    BH_TASK_KIND_DOWNLOAD = 1,
    BH_TASK_KIND_UPLOAD = 2
};

/* The states of a task; the last three are final. */
enum {
    BH_TASK_WAITING = 1,
    BH_TASK_RUNNING = 2,
    BH_TASK_SUSPENDED = 3,
    BH_TASK_SUCCEEDED = 4,
    BH_TASK_FAILED = 5,
    BH_TASK_CANCELLED = 6
};

typedef struct bh_event {
    size_t struct_size;
    uint64_t id;           /* grows; never used twice in a store */
    uint64_t task_id;      /* 0 for BH_EVENT_SESSION_FINISHED, and so are the fields of a task */
    uint64_t round;        /* which round ended, or to which the task belonged */
    int64_t time_ms;       /* Unix time of the commit in milliseconds */
    int32_t kind;          /* BH_EVENT_… */
    int32_t task_state;    /* BH_TASK_SUCCEEDED, …_FAILED or …_CANCELLED */
    bh_status status;      /* BH_OK, or why the task did not succeed */
    int32_t error_domain;  /* BH_DOMAIN_… of error_detail */
    int64_t error_detail;
    const char *error_message; /* one sentence, or NULL */
    const char *url;       /* as enqueued */
    const char *final_url; /* after redirects; NULL when no answer came */
    const char *path;      /* where the whole, synced file lies; of a task that has not succeeded where its consumed
                              body lies until the event is acknowledged; otherwise NULL */
    const char *media_type;
    const char *idempotency_key;
    int32_t http_status;   /* of the last answer, or 0 */
    uint32_t attempts;     /* how many requests were sent */
    uint64_t size;         /* bytes of the file */
    uint64_t bytes_received; /* body bytes received over all attempts */
    const void *user_data;
    size_t user_data_size;
    const bh_header *headers; /* of the last answer, 16 KiB at most: ETag, Content-Type and the like, then others */
    size_t header_count;
    const void *error_body; /* the first bytes of the body of an answer that was not accepted, or NULL */
    size_t error_body_size;
    const bh_challenge *challenge; /* of BH_EVENT_CHALLENGE, NULL when it was answered meanwhile; otherwise NULL */
    const char *group;           /* of the task, or that has finished; or NULL */
    uint64_t group_succeeded;    /* of BH_EVENT_GROUP_FINISHED: how its tasks ended since it last finished */
    uint64_t group_failed;
    uint64_t group_cancelled;
    const char *checksum;        /* of a file whose digest was computed: as bh_request.checksum; or NULL */
    uint64_t bytes_sent;         /* body bytes sent over all attempts */
    const void *response_body;   /* of an upload that succeeded: the answer's body, its first 65,536 bytes; or NULL */
    size_t response_body_size;
    int32_t task_kind;           /* BH_TASK_KIND_…, or 0 */
    int32_t reserved;            /* 0 */
    const char *activity;        /* of BH_EVENT_ACTIVITY: its identifier; or NULL */
} bh_event;

/* Hands out up to `maximum` (1 to 10,000; fewer when they are large) events with ids greater than `after` (0: from
 * the first unacknowledged one), waiting up to timeout_ms for the first; an empty batch is no error. The engine has
 * five seconds to answer in any case, so that a timeout_ms of 0 gives what is there. The caller holds the cursor:
 * polling again after the same id gives the same events until they are acknowledged. Consumers only. An empty
 * batch says that everything committed so far has been handed out; bh_batch_more says whether more is known of by
 * then. The _start form does not wait for events. */
bh_status bh_session_poll(bh_session *session, uint64_t after, size_t maximum, int32_t timeout_ms, bh_batch **events,
                          bh_error *error);
bh_status bh_session_poll_start(bh_session *session, uint64_t after, size_t maximum, bh_ticket **ticket,
                                bh_error *error);

/* Acknowledges events by id: they never come again, and an unclaimed kept file of theirs is removed. Ids of events that
 * are gone are passed over, so repeating is harmless; an id that no event of the session has had yet is
 * BH_INVALID_ARGUMENT. A host may acknowledge without polling first, from a cursor that it kept across a restart.
 * `*acknowledged` (optional) is how many were removed. */
bh_status bh_session_acknowledge(bh_session *session, const uint64_t *ids, size_t count, int32_t timeout_ms,
                                 uint64_t *acknowledged, bh_error *error);
bh_status bh_session_acknowledge_start(bh_session *session, const uint64_t *ids, size_t count, bh_ticket **ticket,
                                       bh_error *error);

/* Acknowledges all events of the session up to and including `id`; otherwise as above. */
bh_status bh_session_acknowledge_through(bh_session *session, uint64_t id, int32_t timeout_ms, uint64_t *acknowledged,
                                         bh_error *error);
bh_status bh_session_acknowledge_through_start(bh_session *session, uint64_t id, bh_ticket **ticket, bh_error *error);

/* The session's open challenges: a batch of bh_challenge. */
bh_status bh_session_challenges(bh_session *session, int32_t timeout_ms, bh_batch **challenges, bh_error *error);
bh_status bh_session_challenges_start(bh_session *session, bh_ticket **ticket, bh_error *error);

/* How a challenge is answered. */
enum {
    BH_RESPOND_REFUSE = 1,     /* the tasks that wait fail with BH_AUTHENTICATION_REQUIRED */
    BH_RESPOND_CREDENTIAL = 2, /* user and password, for the schemes Basic and Digest; both empty for Negotiate: the
                                  user's own Kerberos ticket */
    BH_RESPOND_HEADERS = 3,    /* header fields to send instead, such as "Authorization: Bearer …"; of a refresh they
                                  take the place of the tasks' own with the same names, durably */
    BH_RESPOND_DEFAULT = 4,    /* go on without: the tasks that wait end as their status says (Apple:
                                  performDefaultHandling); of a refresh: they are sent as they are */
    BH_RESPOND_URL = 5         /* of a refresh for a URL: the new one, https if the old one was. At another origin the
                                  headers of the request and of the session are not sent */
};

enum { BH_RESPONSE_KEEP = 1 }; /* also in the store (mode 0600), so that the next engine has it */

/* An answer to a challenge. It is used for the challenge's origin (or proxy) and this session only, is kept in the
 * engine's memory and nowhere else unless asked to, and is asked for again when an engine that had it is gone. */
typedef struct bh_response {
    size_t struct_size;
    int32_t kind;             /* BH_RESPOND_… */
    const char *user;         /* for BH_RESPOND_CREDENTIAL, without ':' (RFC 7617) */
    const char *password;     /* for BH_RESPOND_CREDENTIAL; may be empty */
    const bh_header *headers; /* for BH_RESPOND_HEADERS; for a proxy Proxy-Authorization, not Authorization */
    size_t header_count;
    const char *url;          /* for BH_RESPOND_URL */
    int64_t expires_ms;       /* Unix time in milliseconds: the host is asked again before a request starts later; 0:
                                 the answer is good until it is refused */
    uint32_t flags;           /* BH_RESPONSE_… bits */
} bh_response;

#define BH_RESPONSE_INIT {sizeof(bh_response), 0, NULL, NULL, NULL, 0, NULL, 0, 0}

/* Answers an open challenge and acknowledges its event; the tasks that wait for it are tried again, one before the
 * others. Consumers and producers. Errors: BH_NOT_FOUND when it is not open (any more), BH_INVALID_ARGUMENT (also for a
 * credential where neither Basic nor Digest is offered, or Negotiate for an empty one, for Authorization as an answer
 * to a proxy, for a URL where none was asked for, and for an expires_ms that has passed). */
bh_status bh_session_respond(bh_session *session, uint64_t challenge_id, const bh_response *response,
                             int32_t timeout_ms, bh_error *error);
bh_status bh_session_respond_start(bh_session *session, uint64_t challenge_id, const bh_response *response,
                                   bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Progress: live readings of the tasks that run. They are not events: what nobody reads is replaced by what is newer.
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct bh_progress {
    size_t struct_size;
    uint64_t task_id;
    int32_t state;             /* BH_TASK_… */
    int32_t reason;            /* BH_REASON_… */
    uint64_t offset;           /* bytes of the file that are here */
    uint64_t size;             /* bytes of the whole file, or BH_SIZE_UNKNOWN */
    uint64_t bytes_per_second; /* over the last seconds, both ways */
    uint64_t body_sent;        /* bytes of the request's body that were sent in this attempt */
    uint64_t body_size;        /* of the request's body; 0 without one */
} bh_progress;

/* Streams readings of the session's running tasks to this handle, at most one for each task in interval_ms (100 to
 * 60,000; 0 ends the stream). Any role. */
bh_status bh_session_watch_progress(bh_session *session, uint32_t interval_ms, int32_t timeout_ms, bh_error *error);
bh_status bh_session_watch_progress_start(bh_session *session, uint32_t interval_ms, bh_ticket **ticket,
                                          bh_error *error);

/* The newest readings of all tasks that have changed since this was last called, waiting up to timeout_ms for the
 * first: a batch of bh_progress, which may be empty. At most 1,024 tasks are followed at a time. */
bh_status bh_session_poll_progress(bh_session *session, int32_t timeout_ms, bh_batch **progress, bh_error *error);

/* A descriptor as bh_session_event_fd gives, readable while there are readings that bh_session_poll_progress has not
 * given. */
bh_status bh_session_progress_fd(bh_session *session, int *descriptor, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Tasks
 * ------------------------------------------------------------------------------------------------------------ */

/* Why a task is not moving. */
enum {
    BH_REASON_NONE = 0,      /* it is moving, or has ended */
    BH_REASON_TURN = 1,      /* other tasks run before it: limits on connections or running tasks */
    BH_REASON_SUSPENDED = 2, /* until resumed */
    BH_REASON_RETRY = 3,     /* after an error, until next_attempt_ms */
    BH_REASON_CONNECTING = 4, /* the server has not answered yet */
    BH_REASON_STALLED = 5,   /* the server sends nothing */
    BH_REASON_FINISHING = 6, /* all bytes are here and being made durable */
    BH_REASON_DISK_FULL = 7, /* until there is space for the rest of the file and for a reserve, 32 MiB or a hundredth
                                of the file system, whichever is less; looked at again at next_attempt_ms. A file
                                larger than the whole file system is BH_TOO_LARGE at once */
    BH_REASON_CREDENTIAL = 8, /* until its challenge is answered: bh_session_challenges */
    BH_REASON_CONNECTIVITY = 9, /* until there is a route to the server: woken by changes of the network */
    BH_REASON_RATE = 10,     /* its bytes per second are used up for the moment */
    BH_REASON_POWER = 11,    /* requires_external_power, and the machine runs on battery */
    BH_REASON_BATTERY = 12,  /* until the battery has minimum_battery_percent, or there is external power */
    BH_REASON_HEAT = 13,     /* the machine is hotter than maximum_thermal_state */
    BH_REASON_PRESSURE = 14, /* processor, disk or memory are under more pressure than the limits allow */
    BH_REASON_METERED = 15,  /* requires_unmetered, and the network is metered */
    BH_REASON_NETWORK = 16,  /* the network is of a kind that is not among `networks` */
    BH_REASON_THROUGHPUT = 17, /* less than minimum_bytes_per_second came; a probe is made at next_attempt_ms */
    BH_REASON_EARLIEST_START = 18, /* until earliest_start_ms */
    BH_REASON_QUIET_HOURS = 19, /* until quiet_hours are over, at next_attempt_ms */
    BH_REASON_BUDGET = 20,   /* the bytes of the day or month are used up on this network, until next_attempt_ms */
    BH_REASON_SLEEP = 21,    /* the machine is about to sleep, or sleeps */
    BH_REASON_PORTAL = 22    /* all servers fail in the same way: a portal asks for a login, or the uplink is dead */
};

/* Size of a file that no answer has told yet. */
#define BH_SIZE_UNKNOWN UINT64_MAX

typedef struct bh_task {
    size_t struct_size;
    uint64_t id;
    uint64_t round;
    int32_t state;            /* BH_TASK_… */
    int32_t reason;           /* BH_REASON_… */
    const char *reason_text;  /* one sentence; NULL with BH_REASON_NONE */
    int64_t next_attempt_ms;  /* Unix time in milliseconds when it will be looked at again, or 0 */
    const char *url;
    const char *destination;  /* NULL: kept in the store */
    const char *idempotency_key;
    const void *user_data;
    size_t user_data_size;
    int32_t priority;
    bh_status status;         /* of the last failed attempt or of the end, else BH_OK */
    const char *error_message; /* of the same, or NULL */
    int32_t http_status;
    uint32_t attempts;
    uint64_t offset;          /* bytes of the file that are here */
    uint64_t size;            /* bytes of the whole file, or BH_SIZE_UNKNOWN */
    uint64_t bytes_per_second; /* over the last seconds; 0 when not moving */
    int64_t enqueued_ms;      /* Unix time in milliseconds */
    int32_t kind;             /* BH_TASK_KIND_… */
    int32_t reserved;         /* 0 */
    const char *group;        /* or NULL */
    uint64_t body_sent;       /* as in bh_progress */
    uint64_t body_size;
    int64_t ended_ms;         /* Unix time in milliseconds, or 0 */
    const char *path;         /* where the file of a succeeded download lies, or NULL */
    int64_t earliest_start_ms; /* as in bh_request, or as bh_tasks_reschedule has said since */
    int64_t latest_start_ms;
    uint64_t expected_bytes_received;
    uint64_t expected_bytes_sent;
    const bh_policy *constraints; /* what the task itself states: the fields from `preset` on as it was enqueued, or as
                                     bh_tasks_set_constraints has said since; the others are 0. NULL: nothing. Always
                                     NULL in the history */
} bh_task;

/* Which tasks: those with one of `ids`, or all when id_count is 0, that are in one of `states` (bits 1 << BH_TASK_…; 0:
 * any) and in `group` (NULL: any). A NULL selection means all. */
typedef struct bh_task_selection {
    size_t struct_size;
    const uint64_t *ids;
    size_t id_count;
    uint32_t states;
    const char *group;
} bh_task_selection;

#define BH_TASK_SELECTION_INIT {sizeof(bh_task_selection), NULL, 0, 0, NULL}

/* Lists tasks by id, those with ids greater than `after`, up to `maximum` (1 to 10,000), with their live progress: a
 * batch of bh_task. Ended tasks are listed until their event is acknowledged. */
bh_status bh_session_tasks(bh_session *session, const bh_task_selection *selection, uint64_t after, size_t maximum,
                           int32_t timeout_ms, bh_batch **tasks, bh_error *error);
bh_status bh_session_tasks_start(bh_session *session, const bh_task_selection *selection, uint64_t after,
                                 size_t maximum, bh_ticket **ticket, bh_error *error);

/* One task: a batch with one bh_task, or BH_NOT_FOUND. */
bh_status bh_task_info(bh_session *session, uint64_t task_id, int32_t timeout_ms, bh_batch **task, bh_error *error);
bh_status bh_task_info_start(bh_session *session, uint64_t task_id, bh_ticket **ticket, bh_error *error);

/* Cancel ends the tasks as cancelled and removes their part files; suspend stops them and keeps what is there; resume
 * lets suspended ones run and sends waiting ones, but for those with BH_REASON_CREDENTIAL or BH_REASON_EARLIEST_START,
 * to their next attempt at once, as far as the conditions allow it; for those that wait with BH_REASON_PORTAL it tries
 * one; set_priority as bh_request.priority. `*affected` (optional) counts the tasks that changed, and those for
 * which one is tried; those that have ended or already are so are passed over. */
bh_status bh_tasks_cancel(bh_session *session, const bh_task_selection *selection, int32_t timeout_ms,
                          uint64_t *affected, bh_error *error);
bh_status bh_tasks_cancel_start(bh_session *session, const bh_task_selection *selection, bh_ticket **ticket,
                                bh_error *error);
bh_status bh_tasks_suspend(bh_session *session, const bh_task_selection *selection, int32_t timeout_ms,
                           uint64_t *affected, bh_error *error);
bh_status bh_tasks_suspend_start(bh_session *session, const bh_task_selection *selection, bh_ticket **ticket,
                                 bh_error *error);
bh_status bh_tasks_resume(bh_session *session, const bh_task_selection *selection, int32_t timeout_ms,
                          uint64_t *affected, bh_error *error);
bh_status bh_tasks_resume_start(bh_session *session, const bh_task_selection *selection, bh_ticket **ticket,
                                bh_error *error);
bh_status bh_tasks_set_priority(bh_session *session, const bh_task_selection *selection, int32_t priority,
                                int32_t timeout_ms, uint64_t *affected, bh_error *error);
bh_status bh_tasks_set_priority_start(bh_session *session, const bh_task_selection *selection, int32_t priority,
                                      bh_ticket **ticket, bh_error *error);

/* Limits the bytes per second of each of the tasks, both ways, from now on; 0: no limit but the session's and the
 * engine's. */
bh_status bh_tasks_set_rate(bh_session *session, const bh_task_selection *selection, uint64_t bytes_per_second,
                            int32_t timeout_ms, uint64_t *affected, bh_error *error);
bh_status bh_tasks_set_rate_start(bh_session *session, const bh_task_selection *selection, uint64_t bytes_per_second,
                                  bh_ticket **ticket, bh_error *error);

/* What each of the tasks demands of the conditions beside its session, from now on: the fields of `policy` from
 * `preset` on take the place of those that it was enqueued with; its other fields are 0. NULL: nothing. For a person
 * who wants a file now, whatever was wished when it was enqueued; the session's own demands stay (bh_session_update).
 */
bh_status bh_tasks_set_constraints(bh_session *session, const bh_task_selection *selection, const bh_policy *policy,
                                   int32_t timeout_ms, uint64_t *affected, bh_error *error);
bh_status bh_tasks_set_constraints_start(bh_session *session, const bh_task_selection *selection,
                                         const bh_policy *policy, bh_ticket **ticket, bh_error *error);

/* For bh_tasks_reschedule: the time stays as it is. */
#define BH_START_UNCHANGED (-1)

/* When each of the tasks is to start from now on: Unix times in milliseconds as in bh_request, 0 for none, or
 * BH_START_UNCHANGED. Tasks that may start now wait no longer, the others until their time; one that runs goes on, and
 * its next try waits. Where the latest start of a task would be before its earliest, the call is
 * BH_INVALID_ARGUMENT, names the task, and changes nothing. */
bh_status bh_tasks_reschedule(bh_session *session, const bh_task_selection *selection, int64_t earliest_start_ms,
                              int64_t latest_start_ms, int32_t timeout_ms, uint64_t *affected, bh_error *error);
bh_status bh_tasks_reschedule_start(bh_session *session, const bh_task_selection *selection,
                                    int64_t earliest_start_ms, int64_t latest_start_ms, bh_ticket **ticket,
                                    bh_error *error);

/* What came after an attempt. */
enum {
    BH_NEXT_END = 1,      /* the task ended */
    BH_NEXT_RETRY = 2,    /* another attempt, at next_attempt_ms */
    BH_NEXT_CHALLENGE = 3, /* a challenge */
    BH_NEXT_STOPPED = 4   /* none by itself: it was suspended, or its engine ended */
};

/* One request of a task, redirects included (Apple: URLSessionTaskTransactionMetrics). Times that end in _us are
 * microseconds after the start, or -1 when that was not reached, or not needed because a connection was used again. */
typedef struct bh_attempt {
    size_t struct_size;
    uint64_t task_id;
    uint32_t number;              /* from 1 */
    int32_t next;                 /* BH_NEXT_… */
    int64_t started_ms;           /* Unix time in milliseconds */
    int64_t next_attempt_ms;      /* Unix time in milliseconds, or 0 */
    bh_status status;             /* BH_OK, or what went wrong */
    int32_t error_domain;
    int64_t error_detail;
    const char *error_message;    /* or NULL */
    const char *url;              /* of the last request, after redirects */
    int32_t http_status;          /* 0 when no answer came */
    uint32_t redirects;
    uint64_t offset;              /* of the file's byte that it began with */
    uint64_t end_offset;          /* bytes of the file that were here after it */
    int64_t domain_lookup_us;     /* the name was resolved (Apple: domainLookupEndDate) */
    int64_t connect_us;           /* TCP, or the proxy's tunnel, was connected (connectEndDate) */
    int64_t secure_connection_us; /* TLS was agreed (secureConnectionEndDate) */
    int64_t request_start_us;     /* the request was about to be sent (requestStartDate) */
    int64_t request_end_us;       /* its last body byte was sent (requestEndDate) */
    int64_t response_start_us;    /* the first byte of the answer came (responseStartDate) */
    int64_t response_end_us;      /* the end (responseEndDate) */
    const char *protocol;         /* "h2", "http/1.1" (RFC 7301's names), or NULL (networkProtocolName) */
    int32_t reused_connection;    /* 1: the connection was open already (isReusedConnection) */
    int32_t proxy_connection;     /* 1: by way of a proxy (isProxyConnection) */
    const char *local_address;    /* or NULL */
    const char *remote_address;   /* of the server or proxy, or NULL */
    uint16_t local_port;
    uint16_t remote_port;
    uint32_t reserved;            /* 0 */
    const char *tls_version;      /* "TLSv1.3", or NULL */
    const char *tls_cipher;       /* "TLS_AES_256_GCM_SHA384", or NULL */
    uint64_t request_header_bytes;
    uint64_t request_body_bytes;
    uint64_t response_header_bytes;
    uint64_t response_body_bytes;
} bh_attempt;

/* The attempts of a task that is listed or in the history, oldest first; of many the first and the newest: a batch of
 * bh_attempt, at most 100. BH_NOT_FOUND when there is no such task. */
bh_status bh_task_attempts(bh_session *session, uint64_t task_id, int32_t timeout_ms, bh_batch **attempts,
                           bh_error *error);
bh_status bh_task_attempts_start(bh_session *session, uint64_t task_id, bh_ticket **ticket, bh_error *error);

/* A time in which a task did not move, and why. */
typedef struct bh_wait {
    size_t struct_size;
    int32_t reason;         /* BH_REASON_… */
    int32_t reserved;       /* 0 */
    const char *reason_text; /* one sentence */
    int64_t began_ms;       /* Unix time in milliseconds */
    int64_t ended_ms;       /* Unix time in milliseconds, or 0: it lasts */
} bh_wait;

/* When and why a task that is listed or in the history has waited, oldest first; of many the newest: a batch of
 * bh_wait, at most 1,000. Waits for a turn, for a rate and for an answer are too short and too many to be kept.
 * BH_NOT_FOUND when there is no such task. */
bh_status bh_task_waits(bh_session *session, uint64_t task_id, int32_t timeout_ms, bh_batch **waits, bh_error *error);
bh_status bh_task_waits_start(bh_session *session, uint64_t task_id, bh_ticket **ticket, bh_error *error);

/* Tasks whose event was acknowledged, by id, those with ids greater than `after`, up to `maximum` (1 to 10,000): a
 * batch of bh_task. The session keeps the newest, as many as its history_limit says. */
bh_status bh_session_history(bh_session *session, uint64_t after, size_t maximum, int32_t timeout_ms, bh_batch **tasks,
                             bh_error *error);
bh_status bh_session_history_start(bh_session *session, uint64_t after, size_t maximum, bh_ticket **ticket,
                                   bh_error *error);

/* Moves the kept file of a succeeded task to `destination` (absolute path), synced, across file systems if needed, and
 * once: then its event's path is the new one. Repeating it with the same destination is harmless.
 * Errors: BH_NOT_FOUND, BH_WRONG_STATE (not succeeded, or claimed elsewhere), BH_DESTINATION_EXISTS,
 * BH_DESTINATION_UNAVAILABLE, BH_DISK_…. */
bh_status bh_task_claim(bh_session *session, uint64_t task_id, const char *destination, int32_t if_exists,
                        int32_t timeout_ms, bh_error *error);
bh_status bh_task_claim_start(bh_session *session, uint64_t task_id, const char *destination, int32_t if_exists,
                              bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Conditions: what the system offers now, and what waits for it. See docs/conditions.md.
 * ------------------------------------------------------------------------------------------------------------ */

/* What a condition is about, and what its value means. */
enum {
    BH_CONDITION_EXTERNAL_POWER = 1,  /* value: 1 or 0 */
    BH_CONDITION_BATTERY = 2,         /* percent of the charge of all batteries together */
    BH_CONDITION_THERMAL_STATE = 3,   /* BH_THERMAL_… */
    BH_CONDITION_CPU_PRESSURE = 4,    /* percent, as maximum_cpu_pressure_percent */
    BH_CONDITION_IO_PRESSURE = 5,
    BH_CONDITION_MEMORY_PRESSURE = 6,
    BH_CONDITION_NETWORK = 7,         /* one of BH_NETWORK_…; 0: there is no default route. `name` is the network's */
    BH_CONDITION_METERED = 8,         /* 1 or 0 */
    BH_CONDITION_CONNECTIVITY = 9,    /* BH_CONNECTIVITY_… */
    BH_CONDITION_SLEEP = 10,          /* 1: the machine is about to sleep */
    BH_CONDITION_THROUGHPUT = 11      /* bytes per second of all transfers together, over the last seconds */
};

/* How far the network leads. */
enum {
    BH_CONNECTIVITY_NONE = 1,   /* no default route */
    BH_CONNECTIVITY_PORTAL = 2, /* a portal asks for a login */
    BH_CONNECTIVITY_LIMITED = 3, /* the uplink is dead */
    BH_CONNECTIVITY_FULL = 4
};

typedef struct bh_condition {
    size_t struct_size;
    int32_t kind;       /* BH_CONDITION_… */
    int32_t is_known;   /* 0: it cannot be read, and so holds nothing back */
    int64_t value;      /* as its kind says */
    const char *name;   /* of the network; otherwise NULL */
    const char *text;   /* what it means, in a few words: "on battery" */
    const char *source; /* where it was read: a path, "NetworkManager", "configured"; or why it could not be */
    int64_t since_ms;   /* Unix time in milliseconds since when it is so, as far as the engine has seen */
} bh_condition;

/* What the engine sees now, read for this call if nothing depends on it: a batch of bh_condition, one of each kind. */
bh_status bh_application_conditions(bh_application *application, int32_t timeout_ms, bh_batch **conditions,
                                    bh_error *error);
bh_status bh_application_conditions_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* Tasks of a session that are held back for one reason; each task is in one of these, by the reason of its bh_task. */
typedef struct bh_hold {
    size_t struct_size;
    const char *application;
    const char *session;     /* its identifier */
    const char *origin;      /* when those of one origin alone; otherwise NULL */
    int32_t reason;          /* BH_REASON_… */
    int32_t reserved;        /* 0 */
    const char *reason_text; /* one sentence */
    int64_t began_ms;        /* Unix time in milliseconds */
    int64_t next_look_ms;    /* Unix time in milliseconds when it will be looked at again, or 0: when it changes */
    uint64_t tasks;          /* how many are held back */
} bh_hold;

/* What is held back now, in all sessions of the store: a batch of bh_hold. */
bh_status bh_application_holds(bh_application *application, int32_t timeout_ms, bh_batch **holds, bh_error *error);
bh_status bh_application_holds_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* A network, and what its administrator says of it: NetworkManager's connection, else the interface of the default
 * route. Fields from `kind` on are only read. */
typedef struct bh_network {
    size_t struct_size;
    const char *name;          /* required: 1 to 255 bytes, as conditions and listings show it */
    int32_t metered;           /* BH_YES or BH_NO in place of what the system says; BH_DEFAULT: as the system says */
    uint32_t month_starts_on;  /* day on which a month of the budget begins, 1 to 28; 0: 1 */
    uint64_t daily_budget;     /* bytes that all sessions may move on it in a day of local time, both ways; 0: no limit;
                                  BH_BUDGET_NOTHING: none */
    uint64_t monthly_budget;
    int32_t kind;              /* BH_NETWORK_…, or 0 when it was not seen by this engine */
    int32_t is_current;        /* 1: the default route leads there */
    uint64_t used_today;       /* bytes; an engine that is killed forgets those of its last seconds */
    uint64_t used_this_month;
    int64_t day_ends_ms;       /* Unix time in milliseconds */
    int64_t month_ends_ms;
} bh_network;

#define BH_NETWORK_INIT {sizeof(bh_network), NULL, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}

/* Says so, durably and at once; all defaults forget what was said. */
bh_status bh_application_set_network(bh_application *application, const bh_network *network, int32_t timeout_ms,
                                     bh_error *error);
bh_status bh_application_set_network_start(bh_application *application, const bh_network *network,
                                           bh_ticket **ticket, bh_error *error);

/* Networks of which something was said or on which something was moved this month, and the current one: a batch of
 * bh_network. */
bh_status bh_application_networks(bh_application *application, int32_t timeout_ms, bh_batch **networks,
                                  bh_error *error);
bh_status bh_application_networks_start(bh_application *application, bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Activities: work that repeats (Apple: NSBackgroundActivityScheduler). Each has a window that opens interval_ms after
 * the last one was due and stays open for tolerance_ms. It starts in it when the conditions are as its quality of
 * service asks, and at its end in any case, once; windows that passed while no engine ran are made up for by one.
 * ------------------------------------------------------------------------------------------------------------ */

/* What an activity waits for within its window. */
enum {
    BH_QUALITY_BACKGROUND = 1,    /* BH_PRESET_DISCRETIONARY. The default */
    BH_QUALITY_UTILITY = 2,       /* an unmetered network */
    BH_QUALITY_USER_INITIATED = 3 /* nothing: it starts when its window opens */
};

typedef struct bh_activity {
    size_t struct_size;
    const char *identifier;    /* required: 1 to 255 bytes, its name within the session */
    uint64_t interval_ms;      /* required: 1,000 or more, at most ten years */
    uint64_t tolerance_ms;     /* how long the window stays open; less than interval_ms; 0: half of it */
    int32_t repeats;           /* BH_NO: once, then it is removed; default: BH_YES */
    int32_t quality_of_service; /* BH_QUALITY_… */
    const bh_request *request; /* what is enqueued, without an idempotency_key, files of a body, earliest and latest
                                  start; a destination with BH_IF_EXISTS_REPLACE, or named by the server. While its last
                                  task lives no other is made. NULL: BH_EVENT_ACTIVITY, which launches; one that repeats
                                  makes no other while that is unacknowledged */
    int64_t first_ms;          /* Unix time in milliseconds when the first window opens; 0: after interval_ms. Of one
                                  that exists: its next window */
    int64_t next_ms;           /* from here on only read: when the next window opens, or the open one has */
    int64_t next_ends_ms;      /* when that window ends */
    int64_t last_started_ms;   /* or 0 */
    uint64_t last_task;        /* or 0 */
    const char *url;           /* of the request, or NULL */
} bh_activity;

#define BH_ACTIVITY_INIT {sizeof(bh_activity), NULL, 0, 0, 0, 0, NULL, 0, 0, 0, 0, 0, NULL}

/* Makes the activity, durably, or takes the place of the one with its identifier, whose next window stays unless
 * first_ms or interval_ms is another. At most 1,000 in a session. Consumers and producers. */
bh_status bh_session_set_activity(bh_session *session, const bh_activity *activity, int32_t timeout_ms,
                                  bh_error *error);
bh_status bh_session_set_activity_start(bh_session *session, const bh_activity *activity, bh_ticket **ticket,
                                        bh_error *error);

/* Removes it; tasks that it has made go on. BH_NOT_FOUND. */
bh_status bh_session_remove_activity(bh_session *session, const char *identifier, int32_t timeout_ms,
                                     bh_error *error);
bh_status bh_session_remove_activity_start(bh_session *session, const char *identifier, bh_ticket **ticket,
                                           bh_error *error);

/* The session's activities by identifier: a batch of bh_activity, with `request` NULL. */
bh_status bh_session_activities(bh_session *session, int32_t timeout_ms, bh_batch **activities, bh_error *error);
bh_status bh_session_activities_start(bh_session *session, bh_ticket **ticket, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Batches: what listings and polls hand out. Immutable; any thread may read them.
 * ------------------------------------------------------------------------------------------------------------ */

/* 0 for NULL. */
size_t bh_batch_count(const bh_batch *batch);

/* 1 when there was more than the batch holds: ask again after its last item. Else 0. */
int32_t bh_batch_more(const bh_batch *batch);

/* The item at `index`, or NULL when the batch holds another kind or fewer items. Lives as long as the batch. */
const bh_event *bh_batch_event_at(const bh_batch *batch, size_t index);
const bh_task *bh_batch_task_at(const bh_batch *batch, size_t index);
const bh_session_info *bh_batch_session_at(const bh_batch *batch, size_t index);
const bh_session_configuration *bh_batch_configuration_at(const bh_batch *batch, size_t index);
const bh_challenge *bh_batch_challenge_at(const bh_batch *batch, size_t index);
const bh_progress *bh_batch_progress_at(const bh_batch *batch, size_t index);
const bh_launch *bh_batch_launch_at(const bh_batch *batch, size_t index);
const bh_launch_info *bh_batch_launch_info_at(const bh_batch *batch, size_t index);
const bh_engine_info *bh_batch_engine_at(const bh_batch *batch, size_t index);
const bh_attempt *bh_batch_attempt_at(const bh_batch *batch, size_t index);
const bh_limits *bh_batch_limits_at(const bh_batch *batch, size_t index);
const bh_wait *bh_batch_wait_at(const bh_batch *batch, size_t index);
const bh_condition *bh_batch_condition_at(const bh_batch *batch, size_t index);
const bh_hold *bh_batch_hold_at(const bh_batch *batch, size_t index);
const bh_network *bh_batch_network_at(const bh_batch *batch, size_t index);
const bh_activity *bh_batch_activity_at(const bh_batch *batch, size_t index);
const bh_existing_task *bh_batch_existing_task_at(const bh_batch *batch, size_t index);

/* NULL is accepted. */
void bh_batch_release(bh_batch *batch);

/* ---------------------------------------------------------------------------------------------------------------
 * Tickets: the outcome of a verb that was started, or whose wait timed out.
 * ------------------------------------------------------------------------------------------------------------ */

/* An answered ticket of this application that was not given by this function before, in the order of the answers, or
 * NULL in `*ticket` when there is none. Borrowed: it is the pointer that the host got when it started the verb. */
bh_status bh_application_next_ticket(bh_application *application, bh_ticket **ticket, bh_error *error);

/* Waits for the answer and returns the status of the verb, or BH_TIMEOUT (BH_ENGINE_UNRESPONSIVE while the engine's
 * process is stopped). May be repeated. */
bh_status bh_ticket_wait(bh_ticket *ticket, int32_t timeout_ms, bh_error *error);

/* The results of an answered verb; BH_WRONG_STATE when it was of another kind or was taken already, as bh_ticket_wait
 * when it is not answered yet, the verb's own status when it failed. A session or batch can be taken once. */
bh_status bh_ticket_session(bh_ticket *ticket, bh_session **session, int32_t *disposition, bh_error *error);
bh_status bh_ticket_batch(bh_ticket *ticket, bh_batch **batch, bh_error *error);
bh_status bh_ticket_count(bh_ticket *ticket, uint64_t *count, bh_error *error);

/* As the out parameters of bh_session_enqueue; `capacity` is the room in `results`. Filled also when it failed. */
bh_status bh_ticket_enqueued(bh_ticket *ticket, bh_enqueued *results, size_t capacity, size_t *applied,
                             bh_error *error);

/* Forgets the ticket; a started verb goes on. A session that was not taken is closed; events that were not taken count
 * as not handed out. NULL is accepted. */
void bh_ticket_release(bh_ticket *ticket);

#ifdef __cplusplus
}
#endif

#endif
