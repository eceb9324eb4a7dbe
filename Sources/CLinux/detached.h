// Starts a program in a process that is not a child of this process. The memory, the signals and the children of this
// process belong to the host, which is the program that embeds the library. The start of another program must not
// affect them.
//
// These functions are in C, because a child that shares its parent's memory may make only system calls (vfork(2)). Such
// a child must not allocate memory, lock a mutex or use Swift's runtime.
#pragma once
#include "shims.h"
#include <linux/sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

// libc declares clone only if _GNU_SOURCE is defined. Unlike fork, clone does not call the handlers of pthread_atfork.
// These handlers expect that the child has a copy of the memory. In a child that shares the memory, they would close
// descriptors and reset state that the parent still uses.
extern int clone(int (*body)(void *), void *stack, int flags, void *argument, ...);
#ifndef __WALL
#define __WALL 0x40000000
#endif
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

enum bhl_detached_step {
    BHL_STEP_MEMORY,
    BHL_STEP_CLONE,
    BHL_STEP_SESSION,
    BHL_STEP_DIRECTORY,
    BHL_STEP_NULL_DEVICE,
    BHL_STEP_PROGRAM,
};

struct bhl_detached {
    const char *program;
    char *const *arguments;   // ends with NULL
    char *const *environment; // ends with NULL
    const char *directory;
    mode_t umask;
    const struct rlimit *core; // the program's limit for core dumps; NULL for the limit of this process
    int errors;                // the program's stderr, a descriptor above 2; or -1 for /dev/null
    // The results. The child processes write them to the shared memory.
    pid_t process;
    int descriptor; // a pidfd, or -1 if the kernel does not support pidfds
    int error;      // 0 if the program runs, else an errno
    int step;
    char *stack;
};

enum { BHL_DETACHED_STACK = 64 << 10 };

// Sanitizers expect the stack of the current thread, but these functions run on another stack.
#define BHL_NO_SANITIZE __attribute__((no_sanitize("address", "thread", "undefined")))

BHL_NO_SANITIZE static inline void bhl_close_from(int first) {
    if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
    // Linux before 5.9 does not have close_range, and a filter of system calls may refuse it. In these cases, the open
    // descriptors are listed. Because the list is sorted by number, closing a descriptor does not disturb the listing.
    int list = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
    if (list < 0) {
        struct rlimit limit;
        int end = getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_max < (1 << 20) ? (int)limit.rlim_max : 1 << 20;
        for (int number = first; number < end; number++) close(number);
        return;
    }
    char entries[4096] __attribute__((aligned(8))); // the records need this alignment
    long size;
    while ((size = syscall(SYS_getdents64, list, entries, sizeof entries)) > 0) {
        // In struct linux_dirent64 (getdents(2)), the record's size is at offset 16, and the name is at offset 19.
        for (long at = 0; at < size; at += *(unsigned short *)(void *)(entries + at + 16)) {
            int number = 0;
            const char *name = entries + at + 19;
            if (*name < '0' || *name > '9') continue;
            while (*name >= '0' && *name <= '9') number = number * 10 + (*name++ - '0');
            if (number >= first && number != list) close(number);
        }
    }
    close(list);
}

// Runs in the process of the program, before the execve.
BHL_NO_SANITIZE static int bhl_detached_program(void *argument) {
    struct bhl_detached *start = (struct bhl_detached *)argument;
    // In the kernel's structure for sigaction, zeros mean SIG_DFL, no flags and an empty mask. libc's function
    // sigaction is not used, because it refuses the signals that libc reserves.
    unsigned long by_default[8] = {0};
    unsigned long long none = 0;
    for (int number = 1; number <= 64; number++) syscall(SYS_rt_sigaction, number, by_default, NULL, 8);
    umask(start->umask);
    if (start->core) setrlimit(RLIMIT_CORE, start->core);
    start->step = BHL_STEP_DIRECTORY;
    if (chdir(start->directory) != 0) goto failed;
    start->step = BHL_STEP_NULL_DEVICE;
    int null = open("/dev/null", O_RDWR);
    if (null < 0) goto failed;
    for (int number = 0; number < 3; number++) {
        if (dup2(null, number) < 0) goto failed;
    }
    if (start->errors > 2) dup2(start->errors, 2);
    bhl_close_from(3);
    start->step = BHL_STEP_PROGRAM;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &none, NULL, 8);
    execve(start->program, start->arguments, start->environment);
failed:
    start->error = errno;
    _exit(127);
}

// Runs in an intermediate process: a child of the host, and the parent of the program. The intermediate process starts
// a session and a process group of its own. It exits, so that the program is not a child of the host. It shares its
// descriptors with the host, so that the host gets the pidfd. It opens no other descriptor, and closes none.
BHL_NO_SANITIZE static int bhl_detached_parent(void *argument) {
    struct bhl_detached *start = (struct bhl_detached *)argument;
    start->step = BHL_STEP_SESSION;
    if (setsid() < 0) {
        start->error = errno;
        return 0;
    }
    start->step = BHL_STEP_CLONE;
    pid_t process = clone(bhl_detached_program, start->stack + BHL_DETACHED_STACK, CLONE_VM | CLONE_VFORK, start);
    if (process < 0) {
        start->error = errno;
        return 0;
    }
    start->process = process;
    if (start->error != 0) return 0;
    // The program is still a child of this process, so its number cannot be reused yet.
    start->descriptor = (int)syscall(SYS_pidfd_open, process, 0);
    // A filter of system calls may have killed the program instead of returning an error. This process continues before
    // a killed program has ended, so it asks for the end for a moment.
    siginfo_t end;
    for (int attempt = 0; attempt < 10; attempt++) {
        end.si_pid = 0;
        if (waitid(P_PID, (id_t)process, &end, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 || end.si_pid != 0) break;
        const struct timespec millisecond = {.tv_nsec = 1000000};
        syscall(SYS_nanosleep, &millisecond, NULL);
    }
    if (end.si_pid == process && end.si_code != CLD_EXITED && end.si_status == SIGSYS) {
        start->error = EPERM;
    }
    return 0;
}

// A file in memory, whose descriptor is above 2; or -1.
static inline int bhl_memory_file(const char *name) {
    int file = (int)syscall(SYS_memfd_create, name, 1U /* MFD_CLOEXEC */);
    if (file < 0 || file > 2) return file;
    // A process that has closed its standard descriptors gets their numbers.
    int above = fcntl(file, F_DUPFD_CLOEXEC, 3);
    close(file);
    return above;
}

// Starts the program and sets the results. The calling thread blocks until the program runs or has failed. Until then,
// the child shares the host's memory. It has no copy of this memory, because a copy of the page tables would take long
// if the host is large.
static inline void bhl_start_detached(struct bhl_detached *start) {
    start->process = 0;
    start->descriptor = -1;
    start->error = 0;
    start->step = BHL_STEP_MEMORY;
    void *stacks =
        mmap(NULL, 2 * BHL_DETACHED_STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stacks == MAP_FAILED) {
        start->error = errno;
        return;
    }
    start->stack = (char *)stacks;
    // All signals are blocked, because the host's handlers must not run in a child that shares the host's memory.
    // libc's function sigprocmask is not used, because it would not block the signals that libc reserves.
    unsigned long long all = ~0ULL, before = 0;
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, 8);
    start->step = BHL_STEP_CLONE;
    // The flags contain no exit signal. So the host gets no SIGCHLD, and a waitpid(-1) of the host does not find this
    // child (wait(2)).
    pid_t parent =
        clone(bhl_detached_parent, start->stack + 2 * BHL_DETACHED_STACK, CLONE_VM | CLONE_VFORK | CLONE_FILES, start);
    if (parent < 0) start->error = errno;
    // waitpid(3) is not used, because it is a cancellation point.
    while (parent > 0 && syscall(SYS_wait4, parent, NULL, __WALL, NULL) < 0 && errno == EINTR) {
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, 8);
    munmap(stacks, 2 * BHL_DETACHED_STACK);
    if (start->error != 0 && start->descriptor >= 0) {
        close(start->descriptor);
        start->descriptor = -1;
    }
}
