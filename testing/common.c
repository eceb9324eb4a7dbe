// Errors and times.

#define _GNU_SOURCE
#include "kit.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bh_status bht_fail(bh_error *error, bh_status status, const char *format, ...) {
    if (!error || error->struct_size < sizeof *error) return status;
    size_t size = error->struct_size;
    memset(error, 0, sizeof *error);
    error->struct_size = size;
    error->status = status;
    error->index = BH_NO_INDEX;
    va_list list;
    va_start(list, format);
    vsnprintf(error->message, sizeof error->message, format, list);
    va_end(list);
    return status;
}

bh_status bht_succeed(bh_error *error) {
    if (error && error->struct_size >= sizeof *error) {
        error->status = BH_OK;
        error->ticket = NULL;
    }
    return BH_OK;
}

struct timespec bht_deadline(int32_t milliseconds) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    int64_t wait = milliseconds == BH_WAIT_DEFAULT ? 30000 : milliseconds < 0 ? 0 : milliseconds;
    time.tv_sec += wait / 1000;
    time.tv_nsec += wait % 1000 * 1000000;
    time.tv_sec += time.tv_nsec / 1000000000;
    time.tv_nsec %= 1000000000;
    return time;
}

int bht_left(const struct timespec *deadline) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    int64_t left = (deadline->tv_sec - now.tv_sec) * 1000 + (deadline->tv_nsec - now.tv_nsec + 999999) / 1000000;
    return left < 0 ? 0 : (int)left;
}
