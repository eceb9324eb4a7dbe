// What a program gets from the kernel: random numbers, which the seed decides, and a few files of /dev and /proc.

#define _GNU_SOURCE
#include "simulated.h"
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

static void fill(uint8_t *bytes, size_t count) {
    for (size_t i = 0; i < count; i++) bytes[i] = (uint8_t)sim_random();
}

ssize_t getrandom(void *bytes, size_t count, unsigned flags) {
    if (!sim_is_on) return REAL(getrandom)(bytes, count, flags);
    fill(bytes, count);
    return (ssize_t)count;
}

int getentropy(void *bytes, size_t count) { return getrandom(bytes, count, 0) < 0 ? -1 : 0; }

// The Swift runtime and the library make these system calls directly.
long syscall(long number, ...) {
    va_list list;
    long given[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) given[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getrandom) return getrandom((void *)given[0], (size_t)given[1], (unsigned)given[2]);
    if (number == SYS_pidfd_open) return sim_pidfd_open((pid_t)given[0]);
    if (number == SYS_pidfd_send_signal) return sim_pidfd_signal((int)given[0], (int)given[1]);
    if (number == SYS_wait4 && sim_is_simulated()) return given[0]; // for the end of an intermediate process
    if (number == SYS_memfd_create) return sim_own_descriptor(memfd_create((char *)given[0], (unsigned)given[1]));
    if (number == SYS_renameat2)
        return renameat2((int)given[0], (char *)given[1], (int)given[2], (char *)given[3], (unsigned)given[4]);
    if (number == SYS_copy_file_range)
        return copy_file_range((int)given[0], (off64_t *)given[1], (int)given[2], (off64_t *)given[3], (size_t)given[4],
                               (unsigned)given[5]);
    return REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

static uint64_t boot;

void sim_set_boot(uint64_t number) { boot = number; }

int sim_open_kernel_file(const char *path) {
    uint8_t bytes[256];
    size_t count = sizeof bytes;
    int status;
    if (!strcmp(path, "/dev/urandom")) // SQLite seeds its random numbers from this file
        fill(bytes, sizeof bytes);
    else if (!strcmp(path, "/proc/meminfo")) // other programs have no dirty pages
        count = (size_t)sprintf((char *)bytes, "Dirty: 0 kB\n");
    else if (!strcmp(path, "/proc/sys/kernel/random/boot_id"))
        count = (size_t)sprintf((char *)bytes, "00000000-0000-4000-8000-%012llx\n", (unsigned long long)boot);
    else if ((status = sim_process_status(path, (char *)bytes, sizeof bytes)) >= 0)
        count = (size_t)status;
    else
        return -1;
    int file = memfd_create("kernel", MFD_CLOEXEC);
    if (file >= 0 && (write(file, bytes, count) < 0 || lseek(file, 0, SEEK_SET) < 0)) return -1;
    return file;
}

void sim_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void sim_make_repeatable(char **arguments, const char *store) {
    // https://github.com/swiftlang/swift/blob/main/stdlib/public/runtime/EnvironmentVariables.def
    static const char deterministic[] = "SWIFT_DETERMINISTIC_HASHING";
    if (getenv(deterministic)) return;
    setenv(deterministic, "1", 1);
    char joined[4096] = "";
    for (arguments++; *arguments && strlen(joined) + strlen(*arguments) + 2 < sizeof joined; arguments++)
        strcat(strcat(joined, *arguments), " ");
    setenv("SIMULATION_ARGUMENTS", joined, 1);
    setenv("HOME", "/nonexistent", 1); // no run may change the user's files
    unsetenv("XDG_STATE_HOME");
    personality(ADDR_NO_RANDOMIZE);
    execl("/proc/self/exe", "backhauld", "--store", store, NULL);
    abort();
}
