/*
 * Backhaul's test kit: tests of hosts in milliseconds. This header is the C API and its reference manual.
 *
 * SPDX-License-Identifier: Apache-2.0
 *
 * A test of a host
 *   A *host* is a program that uses Backhaul. A *testbed* is all that a host meets in a test: an empty store in a
 *   temporary directory, the daemon of this store, an HTTP server (the *origin*), the clock of the daemon, and the
 *   machine's conditions. The test moves the clock, changes the conditions, decides how the origin answers, and starts
 *   and kills the host and the daemon. The daemon is the installed program backhauld.
 *
 *       bht_testbed *testbed;
 *       bht_resource *photo;
 *       bht_host *host;
 *       const char *words[] = {NULL, "host"};           // NULL: this program
 *       CHECK(bht_open(NULL, &testbed, &error));
 *       CHECK(bht_serve(testbed, "/1.jpg", "a picture", 9, &photo, &error));
 *       bht_stall(photo, 4);                            // the first response stops after 4 bytes
 *       CHECK(bht_start(testbed, words, 2, &host, &error));
 *       CHECK(bht_wait_for_bytes(photo, 4, 10000, &error));
 *       bht_kill(host);
 *       bht_release(photo);                             // the daemon finishes the download, and launches the host
 *       CHECK(bht_launch(testbed, 10000, &host, &error));
 *       CHECK(bht_wait_for_success(host, 10000, &error));
 *       bht_close(testbed);
 *
 * How the processes communicate
 *
 *       test                               daemon (backhauld)                   host
 *       -----------------------------      -------------------------------      --------------------------
 *       origin    <---- HTTP ------------  transfers, database        <------>  enqueues, handles events
 *       clock, conditions  ------------->  a preloaded library reads them
 *       starts, kills  ------------------------------------------------------>  a child of the test
 *       starts launched hosts  <---------  launches
 *
 *   The kit starts the daemon with a preloaded library (ld.so(8)). The library replaces the functions of libc that read
 *   clocks and wait. So the released library libbackhaul and the released daemon are tested. The clock of the host is
 *   the clock of the machine.
 *
 * Threads
 *   Any thread may call any function at any time. While other threads wait for an event, bht_close may be called: their
 *   waits fail with BH_INVALID_HANDLE. No other call may be in progress then, and none may follow.
 *
 * Errors
 *   Functions that can fail return a bh_status and fill a bh_error, as the functions of backhaul.h do. BH_TIMEOUT means
 *   that the awaited event has not come. Its message names hosts that have ended with an error that no bht_wait has
 *   returned, unless they were killed with SIGKILL or SIGTERM. BH_INVALID_HANDLE means that the testbed was closed
 *   during the wait. bht_open, bht_start, bht_launch and bht_take_launch can return BH_OUT_OF_RESOURCES.
 *
 *   Functions without a result cannot report an error. If an argument is wrong, such as a byte beyond the content or a
 *   status that no response has, they print a message to stderr, and call abort(3).
 *
 * Ownership
 *   The testbed owns its resources, hosts and requests: they are valid until bht_close. Arguments are copied.
 */
#ifndef BACKHAUL_TESTING_H
#define BACKHAUL_TESTING_H

#ifndef BACKHAUL_H
#include "backhaul.h"
#endif

#if defined(__cplusplus)
extern "C" {
#endif

/* ---------------------------------------------------------------------------------------------------------------
 * Testbed: a store in a temporary directory, with a daemon, an origin and a clock.
 * ------------------------------------------------------------------------------------------------------------ */

typedef struct bht_testbed bht_testbed;   /* a store, a daemon, an origin and a clock */
typedef struct bht_resource bht_resource; /* what the origin has at one path */
typedef struct bht_host bht_host;         /* a host that the test has started */

/* Options of a testbed. */
typedef struct bht_options {
    size_t struct_size;
    const char *daemon;    /* path of backhauld. NULL: BACKHAUL_DAEMON in the environment, or else the installed daemon
                              beside the library of the kit */
    const char *directory; /* an existing directory, in which the directory of the testbed is made. NULL: TMPDIR in the
                              environment, or else /tmp */
} bht_options;

/* Makes a testbed. Its origin runs; its daemon starts when a host needs it. `options` may be NULL. Errors:
 * BH_DAEMON_UNAVAILABLE if a program of the installation is missing. */
BH_API BH_CHECK_RESULT bh_status bht_open(const bht_options *options, bht_testbed **testbed, bh_error *error);

/* Ends the waits of other threads, kills the daemon and the hosts, and removes the store with the testbed's directory.
 * Waits for no timer. Accepts NULL. */
BH_API void bht_close(bht_testbed *testbed);

/* The testbed's directory. A test may make files in it. */
BH_API const char *bht_directory(const bht_testbed *testbed);

/* The path of the store. */
BH_API const char *bht_store(const bht_testbed *testbed);

/* The variables, as NAME=value, that lead a host to the testbed, such as BACKHAUL_STORE. bht_start and bht_launch set
 * them. A test that starts a host itself sets them, too. The array ends with NULL. */
BH_API const char *const *bht_environment(const bht_testbed *testbed);

/* ---------------------------------------------------------------------------------------------------------------
 * Origin: an HTTP/1.1 server. A resource answers requests with its content, with ranges, a strong entity tag and a
 * date. A script changes single responses: each fault below is for one response. Faults apply to responses in the order
 * of the calls. The place of a fault is in the content that the resource has at the call, or, for bht_drop and
 * bht_stall, at its end. A request for a path without a resource gets the status 404.
 *
 * The origin listens on 127.0.0.1. But for the daemon it has the address 192.0.2.1, because rules such as
 * requires_unmetered do not apply to servers on the same machine. Other programs, such as a host with embedded hosting,
 * reach the origin on the same port of 127.0.0.1.
 * ------------------------------------------------------------------------------------------------------------ */

/* The URL of the origin, without a slash at the end. */
BH_API const char *bht_origin_url(const bht_testbed *testbed);

/* Adds a resource. `path` begins with a slash, and may have a query. It is compared with the path of a request byte by
 * byte, so characters that a URL cannot have are percent-encoded. Errors: BH_INVALID_ARGUMENT; BH_ALREADY_EXISTS. */
BH_API BH_CHECK_RESULT bh_status bht_serve(bht_testbed *testbed, const char *path, const void *content, size_t size,
                                           bht_resource **resource, bh_error *error);

/* The resource's URL. */
BH_API const char *bht_url(const bht_resource *resource);

/* Replaces the content. The resource gets a new entity tag and a later date. Responses that are sent continue with the
 * earlier content. */
BH_API void bht_replace(bht_resource *resource, const void *content, size_t size);

/* From now on, requests need this credential (RFC 7617, Basic). Others get the status 401. `user` has no
 * colon. NULL: no credential. */
BH_API void bht_require(bht_resource *resource, const char *user, const char *password);

/* The connection is closed when the response has come to this byte of the content, counted from 0. */
BH_API void bht_drop(bht_resource *resource, uint64_t at);

/* The response stops before this byte of the content, until bht_release. */
BH_API void bht_stall(bht_resource *resource, uint64_t at);

/* Continues all stalled responses of the resource, and removes the stalls that have not begun. A following bht_pass
 * first waits until the daemon has handled the rest of these responses. */
BH_API void bht_release(bht_resource *resource);

/* The response has another byte at this place of the content. Its length and its entity tag are unchanged. */
BH_API void bht_corrupt(bht_resource *resource, uint64_t at);

/* The response has this status, from 200 to 599, and no content. `fields` are header fields, each with \r\n at its end,
 * or NULL: `bht_refuse(photo, 503, "Retry-After: 7200\r\n")`. */
BH_API void bht_refuse(bht_resource *resource, int status, const char *fields);

/* The response is a redirect (302) to this URL or path. */
BH_API void bht_redirect(bht_resource *resource, const char *target);

/* A request that the origin got. */
typedef struct bht_request {
    size_t struct_size;
    const char *method; /* such as "GET" */
    const char *head;   /* the whole head, with the request line; lines end with \r\n */
    uint64_t offset;    /* the first byte that the request asks for; 0 without a Range */
    int32_t status;     /* the status of the response */
    const void *body;   /* the body of an upload, or NULL */
    size_t body_size;
} bht_request;

/* Waits until the resource has got this number of requests since it was made. Errors: BH_TIMEOUT. */
BH_API BH_CHECK_RESULT bh_status bht_wait_for_requests(bht_resource *resource, size_t count, int32_t timeout_ms,
                                                       bh_error *error);

/* Waits until the origin has sent all bytes of the content before this one, in any of its responses since the content
 * was set. Errors: BH_TIMEOUT. */
BH_API BH_CHECK_RESULT bh_status bht_wait_for_bytes(bht_resource *resource, uint64_t count, int32_t timeout_ms,
                                                    bh_error *error);

/* The number of requests that the resource has got, and a copy of one of them, from 0. Returns false if there is no
 * request with this index. Set struct_size first. */
BH_API size_t bht_request_count(bht_resource *resource);
BH_API bool bht_request_at(bht_resource *resource, size_t index, bht_request *request);

/* ---------------------------------------------------------------------------------------------------------------
 * Hosts: programs that use Backhaul. The test starts them, and kills them.
 * ------------------------------------------------------------------------------------------------------------ */

/* Starts a host: a program and its arguments. If words[0] is NULL, the program is the program of the test. */
BH_API BH_CHECK_RESULT bh_status bht_start(bht_testbed *testbed, const char *const *words, size_t count,
                                           bht_host **host, bh_error *error);

/* Waits until the daemon launches a host (bh_launch_command), and starts the program of the launch command with its
 * environment. The daemon launches a host when a session needs it and no host is connected. A launch begins when the
 * daemon makes it: if the time of attach_timeout_ms passes before this call, the daemon ends the launch, and launches
 * again after a delay. Ended launches are skipped. Errors: BH_TIMEOUT. */
BH_API BH_CHECK_RESULT bh_status bht_launch(bht_testbed *testbed, int32_t timeout_ms, bht_host **host, bh_error *error);

/* A launch that the kit has taken from the daemon and not yet answered. */
typedef struct bht_launch_request {
    size_t struct_size;
    const char *const *words;       /* the program and its arguments; ends with NULL */
    const char *const *environment; /* the launched host's environment; ends with NULL */
    const char *directory;          /* its working directory */
    int connection;                 /* a descriptor. The launch ends when the caller has closed it, and each process
                                       that has inherited it has ended */
} bht_launch_request;

/* bht_launch without the start, for a test that starts the host itself. Close `connection` after the start; the rest of
 * the request is valid until the next call. Errors: BH_TIMEOUT. */
BH_API BH_CHECK_RESULT bh_status bht_take_launch(bht_testbed *testbed, int32_t timeout_ms, bht_launch_request *request,
                                                 bh_error *error);

/* The host's process id. */
BH_API int32_t bht_process_id(const bht_host *host);

/* Kills the host with SIGKILL, and waits until it has ended. */
BH_API void bht_kill(bht_host *host);

/* Waits until the host has ended. `exit_code` is 128 plus the signal's number if a signal has killed it. Errors:
 * BH_TIMEOUT; BH_WRONG_STATE if the test ignores SIGCHLD, so that the exit code is not known. */
BH_API BH_CHECK_RESULT bh_status bht_wait(bht_host *host, int32_t timeout_ms, int32_t *exit_code, bh_error *error);

/* bht_wait, but an exit code other than 0 is an error, too. Errors: BH_TIMEOUT; BH_WRONG_STATE, with the exit code in
 * error->detail. */
BH_API BH_CHECK_RESULT bh_status bht_wait_for_success(bht_host *host, int32_t timeout_ms, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Daemon: a host or the test starts it. It dies at once, at a point that the test names, or because the power fails.
 * ------------------------------------------------------------------------------------------------------------ */

/* Starts the daemon if none runs, as the machine does at boot with `backhaul service install`. A host also starts it.
 */
BH_API BH_CHECK_RESULT bh_status bht_start_daemon(bht_testbed *testbed, bh_error *error);

/* Kills the daemon with SIGKILL, and waits until it has ended. Returns whether one ran. */
BH_API bool bht_kill_daemon(bht_testbed *testbed);

/* A point at which a daemon dies. At the point, the disk has what the comment states, and no later change. A host
 * detects the death at its next call. */
BH_ENUM(bht_point){
    BHT_POINT_STEP = 1,        /* before a durable step: a call by which the daemon changes or syncs a file or a
                                   directory below the testbed's directory, such as its database */
    BHT_POINT_ENQUEUED = 2,    /* the tasks of a call of bh_session_enqueue are stored; the host has no reply */
    BHT_POINT_RECEIVED = 3,    /* all bytes of a download are on the disk; its file does not have its final name */
    BHT_POINT_PLACED = 4,      /* the file has its final name; the task has not ended */
    BHT_POINT_ENDED = 5,       /* the task of a placed file has ended, and its event is stored; no host has the event */
    BHT_POINT_ACKNOWLEDGED = 6 /* an acknowledgement is stored; the host has no reply */
};

/* From now on, counts how often the daemons of the testbed come to the point. At the given count, from 1, the daemon is
 * killed with SIGKILL. A count of 0 has the same effect as 1. This replaces an earlier point at which no daemon has
 * died. A connected host starts the next daemon at once. To let a daemon die in its start, call this function before
 * the start. */
BH_API void bht_kill_daemon_at(bht_testbed *testbed, bht_point point, uint32_t count);

/* Whether a daemon has died at the point of the last bht_kill_daemon_at. A test that repeats a run, and lets the daemon
 * die before the first step, the second and so on, ends with the run in which no daemon has died. */
BH_API bool bht_daemon_died(bht_testbed *testbed);

/* Waits until a daemon has died at the point of the last bht_kill_daemon_at. Errors: BH_TIMEOUT. */
BH_API BH_CHECK_RESULT bh_status bht_wait_for_death(bht_testbed *testbed, int32_t timeout_ms, bh_error *error);

/* The power fails, and the machine boots. The daemon and the hosts are killed. All that the daemons have not synced is
 * lost: writes to files, new names and removals of names, below the testbed's directory. The daemon gets the clocks and
 * the id of a new boot. It runs again when the test starts it or a host; a host in the process of the test starts it
 * itself. Launches that the test has not taken are lost.
 *
 * A real disk may keep a part of what was not synced; this disk keeps nothing. Changes by other processes, such as the
 * test, a host or an engine in a host, stay. The process of the test is not killed. Errors: BH_DISK_FAILED. */
BH_API BH_CHECK_RESULT bh_status bht_fail_power(bht_testbed *testbed, bh_error *error);

/* ---------------------------------------------------------------------------------------------------------------
 * Conditions: what the daemon reads about the machine, in place of the machine of the test. At first there is external
 * power without a battery, no temperature, and an Ethernet network. Each function first waits until the daemon has done
 * what it can do under the present conditions, reports the change to it, and waits until it has handled the report.
 * ------------------------------------------------------------------------------------------------------------ */

/* Sets whether there is external power, and the charge of the battery. */
BH_API void bht_set_power(bht_testbed *testbed, bool is_external, uint8_t battery_percent);

/* Sets the temperature of the machine, as a state. A state is left only at a clearly lower temperature:
 * BH_THERMAL_NOMINAL is always low enough. */
BH_API void bht_set_heat(bht_testbed *testbed, bh_thermal_state state);

/* Sets the kind of the network: one bit. 0: no route leads to the origin and to other machines. Cellular and Bluetooth
 * networks count as metered. */
BH_API void bht_set_network(bht_testbed *testbed, bh_network_kinds kind);

/* ---------------------------------------------------------------------------------------------------------------
 * Clock: all clocks of the daemon. They run as the machine's clocks do, and are moved by the test.
 * ------------------------------------------------------------------------------------------------------------ */

/* Lets time pass at once. First waits until the daemon has done what it can do at the present time, such as the
 * handling of a response. Then moves the clocks of the present daemon and of later daemons in seven steps, to 1/64,
 * 1/32, … 1/2 and the whole of the time. After each step, timers that are due run, and the function waits for their
 * work. A timer that another timer sets begins at the time of the step. */
BH_API void bht_pass(bht_testbed *testbed, uint64_t milliseconds);

/* The time of the daemon, in Unix milliseconds. */
BH_API int64_t bht_now(const bht_testbed *testbed);

#if defined(__cplusplus)
}
#endif

#endif
