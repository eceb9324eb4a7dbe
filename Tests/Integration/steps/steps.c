// A library that is preloaded into hosts and daemons. It counts the calls of a process that change files or make
// changes durable, and kills the process instead of the call with the given number.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static atomic_long steps, last;
static const char *mark;

void kill_at_step(long number) {
    steps = 0;
    last = number;
}

// A daemon gets the number from its environment. Only one daemon is killed: it makes the file with the given name.
__attribute__((constructor)) static void read_environment(void) {
    const char *number = getenv("STEPS_OF_DAEMON");
    if (!number || strcmp(program_invocation_short_name, "backhauld")) return;
    mark = getenv("STEPS_MARK");
    kill_at_step(atol(number));
}

static void step(void) {
    if (++steps != last) return;
    if (mark && open(mark, O_CREAT | O_EXCL | O_CLOEXEC, 0600) < 0) return;
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

#define STEP(result, name, parameters, arguments)                                                                      \
    result name parameters {                                                                                           \
        static result(*next) parameters;                                                                               \
        if (!next) next = (result(*) parameters)dlsym(RTLD_NEXT, #name);                                               \
        step();                                                                                                        \
        return next arguments;                                                                                         \
    }

STEP(int, fsync, (int file), (file))
STEP(int, fdatasync, (int file), (file))
STEP(int, syncfs, (int file), (file))
STEP(int, ftruncate, (int file, off_t size), (file, size))
STEP(int, ftruncate64, (int file, off64_t size), (file, size))
STEP(ssize_t, pwrite, (int file, const void *data, size_t size, off_t start), (file, data, size, start))
STEP(ssize_t, pwrite64, (int file, const void *data, size_t size, off64_t start), (file, data, size, start))
STEP(int, rename, (const char *from, const char *to), (from, to))
STEP(int, renameat, (int old, const char *from, int new, const char *to), (old, from, new, to))
STEP(int, link, (const char *from, const char *to), (from, to))
STEP(int, linkat, (int old, const char *from, int new, const char *to, int flags), (old, from, new, to, flags))
STEP(int, unlink, (const char *path), (path))
STEP(int, unlinkat, (int directory, const char *path, int flags), (directory, path, flags))
STEP(int, mkdir, (const char *path, mode_t mode), (path, mode))
STEP(int, mkdirat, (int directory, const char *path, mode_t mode), (directory, path, mode))

// glibc has no function for some calls, or had none in older versions.
long syscall(long number, ...) {
    static long (*next)(long, ...);
    if (!next) next = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_renameat2 || number == SYS_copy_file_range) step();
    long values[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) values[i] = va_arg(list, long);
    va_end(list);
    return next(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}
