// The begin of the daemon's process.

#define _GNU_SOURCE
#include "preload.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct control *control;
const char *testbed;

static void report_daemon(void) {
    uint32_t number = __atomic_fetch_add(&control->daemon_count, 1, __ATOMIC_SEQ_CST);
    control->daemons[number % CONTROL_DAEMONS].start = control_start_of(getpid());
    __atomic_store_n(&control->daemons[number % CONTROL_DAEMONS].process, getpid(), __ATOMIC_SEQ_CST);
    control_bump(&control->reports);
}

void start_thread(void *(*body)(void *), void *argument) {
    pthread_t thread;
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!pthread_create(&thread, NULL, body, argument)) pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

// A daemon does not outlive the test: nothing would end it if the test was killed.
static void *await_test(void *argument) {
    struct pollfd ended = {.fd = (int)(intptr_t)argument, .events = POLLIN};
    while (REAL(poll)(&ended, 1, -1) <= 0) continue;
    kill(getpid(), SIGKILL);
    return NULL;
}

static void watch_test(void) {
    int test = (int)syscall(SYS_pidfd_open, control->test, 0);
    if (test < 0)
        _exit(1);
    else
        start_thread(await_test, (void *)(intptr_t)test);
}

__attribute__((constructor)) static void start(void) {
    char path[PATH_MAX];
    testbed = getenv(CONTROL_VARIABLE);
    if (!testbed || snprintf(path, sizeof path, "%s/control", testbed) >= (int)sizeof path) return;
    int file = open(path, O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    void *page = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (page == MAP_FAILED) return;
    find_functions();
    control = page;
    report_daemon();
    watch_test();
    // A daemon that a host starts while the power is off starts when the machine boots. Then the journal is a new one.
    while (__atomic_load_n(&control->is_off, __ATOMIC_SEQ_CST)) control_wait(&control->is_off, 1, NULL);
    start_files();
    start_clock();
}
