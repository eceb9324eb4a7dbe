// Random numbers of the kernel, for the Swift runtime and for SQLite: the seed decides them.

#define _GNU_SOURCE
#include "simulated.h"
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>
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

// The Swift runtime makes this system call directly.
long syscall(long number, ...) {
    va_list list;
    long given[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) given[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_getrandom) return getrandom((void *)given[0], (size_t)given[1], (unsigned)given[2]);
    return REAL(syscall)(number, given[0], given[1], given[2], given[3], given[4], given[5]);
}

// SQLite seeds its random numbers from this file.
static int open_random(void) {
    uint8_t bytes[256];
    int file = memfd_create("urandom", MFD_CLOEXEC);
    fill(bytes, sizeof bytes);
    if (file >= 0 && (write(file, bytes, sizeof bytes) < 0 || lseek(file, 0, SEEK_SET) < 0)) return -1;
    return file;
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    if (sim_is_on && !strcmp(path, "/dev/urandom")) return open_random();
    return REAL(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
