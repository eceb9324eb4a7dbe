#pragma once
#include <errno.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>

// libc declares this function only with _GNU_SOURCE.
extern int pthread_setname_np(pthread_t thread, const char *name);

static inline int bh_swift_errno(void) { return errno; }
