// The page that the kit shares with the daemons of a testbed: the file `control` in the testbed's directory.

#ifndef CONTROL_H
#define CONTROL_H

#include <linux/futex.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// The variable with the path of the testbed's directory, in the environment of daemons and hosts.
#define CONTROL_VARIABLE "BACKHAUL_TESTBED"

// The interface of the machine's network.
#define CONTROL_INTERFACE "testbed0"

// The address of the origin for the daemons: 192.0.2.1, which no machine has (RFC 5737).
#define CONTROL_ADDRESS 0xc0000201
#define CONTROL_ADDRESS_TEXT "192.0.2.1"

enum { CONTROL_DAEMONS = 64 };

struct control {
    // A futex: the number of changes of the fields that the kit sets.
    uint32_t changes;
    // A futex: the number of reports of the daemons.
    uint32_t reports;
    // How far the clocks of the daemons are ahead, in nanoseconds.
    int64_t ahead;
    // The number of changes of the machine's conditions.
    uint32_t conditions;
    // Whether there is a default route.
    uint32_t has_network;
    // The process of the test.
    int32_t test;
    // The port of the origin.
    uint32_t port;
    // The ids of the started daemons. Daemon number n is at index n % CONTROL_DAEMONS.
    uint32_t daemon_count;
    int32_t daemons[CONTROL_DAEMONS];
};

// Waits until `*word` is not `value`, or until the relative time is over. NULL: no limit.
static inline long control_wait(uint32_t *word, uint32_t value, const struct timespec *limit) {
    return syscall(SYS_futex, word, FUTEX_WAIT, value, limit, NULL, 0);
}

static inline void control_bump(uint32_t *word) {
    __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
