// What the files of the preloaded library share. The kit preloads this library (ld.so(8)) into the daemon of a testbed.
// Its functions replace functions of libc there, and only there: in a program without a testbed, they call libc.

#ifndef PRELOAD_H
#define PRELOAD_H

#include "../control.h"
#include "backhaul_testing.h"
#include <dlfcn.h>
#include <stdbool.h>
#include <sys/types.h>

// The page of the testbed; NULL: this process has no testbed.
extern struct control *control;

// The testbed's directory.
extern const char *testbed;

// libc's own function. Threads may look it up at the same time: each finds the same address.
#define REAL(name)                                                                                                     \
    __extension__({                                                                                                    \
        static __typeof__(&name) function;                                                                             \
        __typeof__(&name) found = __atomic_load_n(&function, __ATOMIC_RELAXED);                                        \
        if (!found) {                                                                                                  \
            found = (__typeof__(&name))dlsym(RTLD_NEXT, #name);                                                        \
            __atomic_store_n(&function, found, __ATOMIC_RELAXED);                                                      \
        }                                                                                                              \
        found;                                                                                                         \
    })

// Nanoseconds of the kernel's monotonic clock, and of the testbed's.
int64_t real_now(void);
int64_t moved_now(void);

// Starts a thread that blocks all signals.
void start_thread(void *(*body)(void *), void *argument);

// Starts the thread that wakes waiting threads when the clock is moved.
void start_clock(void);

// Reports to the daemon that conditions of the machine have changed.
void report_conditions(void);

// Opens the journal.
void start_files(void);

// The daemon has come to a point of bht_kill_daemon_at. Returns only if it does not die there.
void reach(bht_point point);

// The same for the points before and after a file gets another name.
void before_move(const char *from, const char *to);
void after_move(const char *from, const char *to);

// Whether a sync of the file, which begins now, stores the end of the task of a placed file.
bool stores_end(const char *path);

// send(2), except that the daemon may die instead.
ssize_t send_to_host(int descriptor, const void *bytes, size_t size, int flags);
void forget_connection(int descriptor);

// Finds the functions that the child of a vfork calls, which must not call the dynamic linker.
void find_functions(void);

#endif
