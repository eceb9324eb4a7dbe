/*
 * Counts what a program demands of the disk: calls that sync, and bytes written to the write-ahead log of a database.
 *
 *   LD_PRELOAD=counting.so BENCH_COUNTS=FILE program …
 *
 * FILE must exist, and must have room for eight unsigned 64-bit numbers: the counts, in the order of `enum count`. The
 * processes that the program starts add to the same numbers. The numbers are in a shared mapping, so they are complete
 * even if the program is killed.
 */
#define _GNU_SOURCE
#include "replacing.h"
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

enum count { FSYNC, FDATASYNC, SYNCFS, SYNC_FILE_RANGE, WAL_WRITES, WAL_BYTES, COUNTS = 8 };

static _Atomic uint64_t *counts;

__attribute__((constructor)) static void map_counts(void) {
    const char *path = getenv("BENCH_COUNTS");
    int file = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *mapped = mmap(NULL, COUNTS * sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (mapped != MAP_FAILED) counts = mapped;
    close(file);
}

static void add(enum count count, uint64_t number) {
    if (counts) atomic_fetch_add_explicit(&counts[count], number, memory_order_relaxed);
}

static int is_wal(int file) {
    char link[64] = "/proc/self/fd/", path[4096];
    char digits[12];
    int at = sizeof digits;
    for (int rest = file; rest > 0 || at == sizeof digits; rest /= 10) digits[--at] = (char)('0' + rest % 10);
    memcpy(link + strlen(link), digits + at, sizeof digits - (size_t)at);
    ssize_t size = readlink(link, path, sizeof path);
    return size > 4 && memcmp(path + size - 4, "-wal", 4) == 0;
}

static void add_write(int file, ssize_t written) {
    if (written <= 0 || !is_wal(file)) return;
    add(WAL_WRITES, 1);
    add(WAL_BYTES, (uint64_t)written);
}

/* Defines a function that replaces a function of libc. The new function calls libc's function, and then counts with the
 * given statement. */
#define REPLACE(result, name, parameters, arguments, counted)                                                          \
    result name parameters {                                                                                           \
        FIND_REPLACED(result, name, parameters)                                                                        \
        result returned = function arguments;                                                                          \
        counted;                                                                                                       \
        return returned;                                                                                               \
    }

REPLACE(int, fsync, (int file), (file), add(FSYNC, 1))
REPLACE(int, fdatasync, (int file), (file), add(FDATASYNC, 1))
REPLACE(int, syncfs, (int file), (file), add(SYNCFS, 1))
REPLACE(int, sync_file_range, (int file, off64_t offset, off64_t size, unsigned flags), (file, offset, size, flags),
        add(SYNC_FILE_RANGE, 1))
REPLACE(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t offset), (file, bytes, size, offset),
        add_write(file, returned))
REPLACE(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t offset), (file, bytes, size, offset),
        add_write(file, returned))
REPLACE(ssize_t, pwritev, (int file, const struct iovec *parts, int count, off_t offset), (file, parts, count, offset),
        add_write(file, returned))
REPLACE(ssize_t, pwritev64, (int file, const struct iovec *parts, int count, off64_t offset),
        (file, parts, count, offset), add_write(file, returned))
