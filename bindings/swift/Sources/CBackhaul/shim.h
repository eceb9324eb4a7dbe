#pragma once
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// In a checkout of the project, the package uses the header of this checkout. Elsewhere, it uses the installed header.
#if __has_include("../../../../include/backhaul.h")
#include "../../../../include/backhaul.h"
#else
#include <backhaul.h>
#endif

// libc declares this function only with _GNU_SOURCE.
extern int pthread_setname_np(pthread_t thread, const char *name);

static inline int bh_swift_errno(void) { return errno; }
