// Errors, times and waits.

#define _GNU_SOURCE
#include "kit.h"
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
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

void bht_demand(bool is_right, const char *format, ...) {
    if (is_right) return;
    va_list list;
    va_start(list, format);
    fputs("backhaul_testing: ", stderr);
    vfprintf(stderr, format, list);
    fputs("\n", stderr);
    va_end(list);
    abort();
}

bh_status bht_time_out(bht_testbed *testbed, bh_error *error, const char *format, ...) {
    char text[BH_ERROR_MESSAGE_SIZE];
    if (bht_is_closing(testbed)) return bht_fail(error, BH_INVALID_HANDLE, "the testbed is closed; open another one");
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    bht_append_failures(testbed, text, sizeof text);
    return bht_fail(error, BH_TIMEOUT, "%s", text);
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

void bht_begin_wait(bht_testbed *testbed) {
    pthread_mutex_lock(&testbed->lock);
    testbed->waits++;
    pthread_mutex_unlock(&testbed->lock);
}

void bht_end_wait(bht_testbed *testbed) {
    pthread_mutex_lock(&testbed->lock);
    testbed->waits--;
    pthread_cond_broadcast(&testbed->waited);
    pthread_mutex_unlock(&testbed->lock);
}

bool bht_is_closing(bht_testbed *testbed) {
    pthread_mutex_lock(&testbed->lock);
    bool is_closing = testbed->is_closing;
    pthread_mutex_unlock(&testbed->lock);
    return is_closing;
}

bool bht_await_descriptor(bht_testbed *testbed, int descriptor, const struct timespec *deadline) {
    struct pollfd events[] = {{.fd = testbed->closing, .events = POLLIN}, {.fd = descriptor, .events = POLLIN}};
    for (;;) {
        int left = bht_left(deadline);
        int count = poll(events, 2, left);
        if (count > 0) return !events[0].revents;
        if (!left) return false;
    }
}
