// The page that the kit shares with the daemons of a testbed: the file `control` in the testbed's directory.

#ifndef CONTROL_H
#define CONTROL_H

#include <fcntl.h>
#include <linux/futex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
    // Nanoseconds to subtract from the clocks that begin at boot.
    int64_t boot_behind;
    // A futex: whether the power is off.
    uint32_t is_off;
    // The point at which a daemon dies; 0: none. How often it comes there until then. The process that has died.
    uint32_t point, left;
    uint32_t died;
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
    struct {
        int32_t process;
        uint64_t start; // by which another process with the same id is recognised
    } daemons[CONTROL_DAEMONS];
};

// When the process was started, in ticks since boot; 0 if it has ended (proc_pid_stat(5), fields 3 and 22).
static inline uint64_t control_start_of(int32_t process) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%d/stat", process);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0) close(file);
    if (size <= 0) return 0;
    text[size] = 0;
    const char *field = strrchr(text, ')');
    if (!field || field[2] == 'Z' || field[2] == 'X') return 0;
    for (int number = 2; field && number < 22; number++) field = strchr(field + 1, ' ');
    return field ? strtoull(field, NULL, 10) : 0;
}

// Waits until `*word` is not `value`, or until the relative time is over. NULL: no limit.
static inline long control_wait(uint32_t *word, uint32_t value, const struct timespec *limit) {
    return syscall(SYS_futex, word, FUTEX_WAIT, value, limit, NULL, 0);
}

static inline void control_bump(uint32_t *word) {
    __atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    syscall(SYS_futex, word, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

#endif
