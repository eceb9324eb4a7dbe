// Whether a daemon has something to do at the present time. The time may only pass when it has not: a response that the
// daemon has not handled yet would otherwise come hours late.

#define _GNU_SOURCE
#include "kit.h"
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_WAIT = 10000 };

// Reads a small file of /proc. Returns false if the thread has ended.
static bool read_text(const char *path, char *text, size_t size) {
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t count = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0) close(file);
    if (count > 0) text[count] = 0;
    return count > 0;
}

static uint64_t mix(uint64_t sum, uint64_t value) { return (sum ^ value) * 0x100000001b3 + 1; }

// Adds the thread to the sum: how often it has waited. Returns false if it runs, or waits for a disk.
static bool add_thread(const char *folder, const char *name, uint64_t *sum) {
    char path[512], text[4096];
    snprintf(path, sizeof path, "%s/%s/status", folder, name);
    if (!read_text(path, text, sizeof text)) return true;
    const char *state = strstr(text, "\nState:"), *switches = strstr(text, "\nvoluntary_ctxt_switches:");
    *sum = mix(*sum, strtoull(name, NULL, 10));
    if (switches) *sum = mix(*sum, strtoull(strchr(switches, ':') + 1, NULL, 10));
    return state && state[8] == 'S';
}

// Adds the threads of the process to the sum. Returns false if one of them has something to do.
static bool add_process(pid_t process, uint64_t *sum) {
    char folder[64];
    snprintf(folder, sizeof folder, "/proc/%d/task", process);
    DIR *threads = opendir(folder);
    bool is_idle = true;
    for (struct dirent *entry; threads && (entry = readdir(threads));)
        if (*entry->d_name != '.' && !add_thread(folder, entry->d_name, sum)) is_idle = false;
    if (threads) closedir(threads);
    return is_idle;
}

static bool add_all(bht_testbed *testbed, uint64_t *sum) {
    pid_t processes[CONTROL_DAEMONS];
    bool is_idle = bht_origin_is_idle(testbed->origin, sum);
    size_t count = bht_daemons(testbed, processes);
    for (size_t i = 0; i < count; i++)
        if (!add_process(processes[i], sum)) is_idle = false;
    return is_idle;
}

void bht_settle(bht_testbed *testbed) {
    static const struct timespec pause = {.tv_nsec = 1000000};
    struct timespec deadline = bht_deadline(LONGEST_WAIT);
    uint64_t last = 0;
    for (bool was_idle = false; bht_left(&deadline); nanosleep(&pause, NULL)) {
        uint64_t sum = 1;
        bool is_idle = add_all(testbed, &sum);
        if (is_idle && was_idle && sum == last) return;
        was_idle = is_idle;
        last = sum;
    }
}
