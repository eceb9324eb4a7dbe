// What the files of the kit share.

#ifndef KIT_H
#define KIT_H

#include "backhaul_testing.h"
#include "control.h"
#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

struct origin;

struct bht_host {
    bht_host *next;
    bht_testbed *testbed;
    pid_t process;
    int descriptor;              // a pidfd; -1: the host had ended before the pidfd could be opened
    bool has_ended, is_reported; // a killed host counts as reported
    int32_t exit_code;
};

struct bht_testbed {
    bht_testbed *next;    // the next open testbed
    pthread_mutex_t lock; // of `hosts`, the ends of hosts, `taken`, `is_closing` and `waits`
    pthread_cond_t waited;
    bool is_closing;
    size_t waits; // calls that wait
    int closing;  // an eventfd, which is readable when the testbed is closed
    char directory[PATH_MAX - 64], store[PATH_MAX];
    char daemon[PATH_MAX], preload[PATH_MAX], launcher[PATH_MAX]; // files of the installation
    struct control *control;
    char **environment;
    struct origin *origin;
    int launches; // the listening socket for launches
    char *taken;  // the text of the last launch
    bht_host *hosts;
};

// Fills the error and returns the status.
__attribute__((format(printf, 3, 4))) bh_status bht_fail(bh_error *error, bh_status status, const char *format, ...);
bh_status bht_succeed(bh_error *error);

// Ends the test with a message if an argument of a function without a result is wrong.
__attribute__((format(printf, 2, 3))) void bht_demand(bool is_right, const char *format, ...);

// A time-out as a time of the monotonic clock.
struct timespec bht_deadline(int32_t milliseconds);
int bht_left(const struct timespec *deadline);

// A wait, which bht_close ends.
void bht_begin_wait(bht_testbed *testbed);
void bht_end_wait(bht_testbed *testbed);
bool bht_is_closing(bht_testbed *testbed);

// Fails with BH_TIMEOUT, or with BH_INVALID_HANDLE if the testbed is closed.
__attribute__((format(printf, 3, 4))) bh_status bht_time_out(bht_testbed *testbed, bh_error *error, const char *format,
                                                             ...);

// Waits until the descriptor is readable. Returns false at the deadline, and when the testbed is closed.
bool bht_await_descriptor(bht_testbed *testbed, int descriptor, const struct timespec *deadline);

// Writes a file of the testbed's directory.
bool bht_write_file(const bht_testbed *testbed, const char *name, mode_t mode, const char *text);

// Starts and ends the server, which listens on this port.
bh_status bht_origin_open(bht_testbed *testbed, bh_error *error);
void bht_origin_end_waits(struct origin *origin);
void bht_origin_close(struct origin *origin);

// Starts a program with an environment, which ends with NULL, and with the environment of the test if `own` is true.
// Returns the process, or -1 with errno.
pid_t bht_spawn(const char *const *words, char *const *environment, bool own, const char *directory);

// The testbed's socket for launches; -1 with errno.
int bht_listen_for_launches(const char *directory);

// Whether all bytes that the server sends have arrived, as far as the receivers take them. Adds its state to the sum.
bool bht_origin_is_idle(struct origin *origin, uint64_t *sum);

// The running daemons of the testbed, at most CONTROL_DAEMONS. Returns their number.
size_t bht_daemons(bht_testbed *testbed, pid_t *processes);

// Waits until the number, which daemons change before they report, is not the value.
bool bht_await_report(bht_testbed *testbed, const uint32_t *number, uint32_t value, int32_t timeout);

// Waits until the daemons have nothing to do at the present time.
void bht_settle(bht_testbed *testbed);

// Forgets the launches that were not taken.
void bht_drop_launches(bht_testbed *testbed);

// Makes the files of the journal (journal.h).
bool bht_make_journal(const bht_testbed *testbed);

// Kills a process, and waits until it has ended. Returns whether it ran.
bool bht_kill_process(pid_t process);

// Removes a file, or a directory with all that is in it.
void bht_remove(const char *path);

// Appends the hosts that have ended with an error that no wait has reported to the text.
void bht_append_failures(bht_testbed *testbed, char *text, size_t size);

// Kills the hosts; the second function also frees them.
void bht_kill_hosts(bht_testbed *testbed);
void bht_end_hosts(bht_testbed *testbed);

#endif
