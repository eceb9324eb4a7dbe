// Processes that are no children: pidfd_open(2) and pidfd_send_signal(2), which libc shows from glibc 2.36 on only.
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

// Closed at exec. -1 where the kernel (before 5.3) or a filter has none to give, or there is no such process.
static inline int bhl_pidfd_open(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }
static inline int bhl_pidfd_signal(int descriptor, int number) {
    return (int)syscall(SYS_pidfd_send_signal, descriptor, number, (void *)0, 0);
}
