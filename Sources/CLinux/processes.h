// The system calls pidfd_open(2) and pidfd_send_signal(2), for processes that are not children. Only glibc 2.36 and
// newer declare them.
#pragma once
#include <signal.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_pidfd_send_signal
#define SYS_pidfd_send_signal 424
#endif

// Returns a descriptor with close-on-exec. Returns -1 if no process has this number. Also returns -1 if the kernel is
// older than 5.3, or if a filter of system calls refuses the call.
static inline int bhl_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
static inline int bhl_pidfd_signal(int descriptor, int number) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, (void *)0, 0);
}
