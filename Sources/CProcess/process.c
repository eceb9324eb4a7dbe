// After a process has opened an application, its forked children must not use the library. Before that, they may, with
// a precaution: the Swift runtime computes each global value once, under a lock that contains the id of the thread.
// Each thread stores its id at its first such lock, and the thread that loads the library does so while it loads it. In
// a forked child, this thread still has its id from the parent. If another thread waits for its lock, both threads wait
// for ever. So in a forked child, calls of this thread run on a new thread, which has the right id.

#define _GNU_SOURCE

#include "process.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

static pid_t loader;
// 0 until an application is opened.
static atomic_int opener;

__attribute__((constructor)) static void note_loader(void) { loader = getpid(); }

void bhl_note_opening(void) {
    int none = 0;
    atomic_compare_exchange_strong(&opener, &none, getpid());
}

enum bhl_origin bhl_process_origin(void) {
    const pid_t process = getpid();
    const int opened = atomic_load(&opener);
    if (opened != 0 && opened != process) return BHL_FORKED_AFTER_OPEN;
    return loader == process ? BHL_LOADED_LIBRARY : BHL_FORKED_AFTER_LOAD;
}

struct call {
    void (*function)(void *);
    void *argument;
};

static void *make_call(void *argument) {
    const struct call *call = argument;
    call->function(call->argument);
    return NULL;
}

void bhl_call_on_new_thread(void (*function)(void *), void *argument) {
    struct call call = {function, argument};
    pthread_t thread;
    sigset_t all, before;
    // The new thread inherits the mask, so the host's signal handlers do not run on it.
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int error = pthread_create(&thread, NULL, make_call, &call);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0) {
        pthread_join(thread, NULL);
    } else {
        function(argument);
    }
}
