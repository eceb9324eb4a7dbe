// A library that is preloaded into a process. The library makes calls of this process fail for a short time.
// test_transient_shortages.py builds and controls the library.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>

// A kind of call that can fail. While `first` is not 0, `calls` counts the calls, and `count` of them fail, beginning
// with call number `first`.
struct fault {
    atomic_long first, count, calls;
};
static struct fault memory, watches, processes;

static uintptr_t begin, end; // the code whose allocations fail

static int fails(struct fault *fault) {
    long first = fault->first;
    if (!first) return 0;
    long number = ++fault->calls;
    return number >= first && number < first + fault->count;
}

static void arm(struct fault *fault, long first, long count) {
    fault->first = 0;
    fault->calls = 0;
    fault->count = count;
    fault->first = first;
}

static int find(struct dl_phdr_info *info, size_t size, void *name) {
    (void)size;
    if (!strstr(info->dlpi_name, name)) return 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        begin = info->dlpi_addr + part->p_vaddr;
        end = begin + part->p_memsz;
        return 1;
    }
    return 0;
}

// Returns false if no library of that name is loaded.
int fail_allocations(const char *library, long first, long count) {
    begin = end = 0;
    if (!dl_iterate_phdr(find, (void *)library)) return 0;
    arm(&memory, first, count);
    return 1;
}
void fail_epoll_adds(long first, long count) { arm(&watches, first, count); }
void fail_process_reads(long first, long count) { arm(&processes, first, count); }
long allocation_count(void) { return memory.calls; }

static int allocation_fails(const void *caller) {
    uintptr_t address = (uintptr_t)caller;
    if (!memory.first || address < begin || address >= end || !fails(&memory)) return 0;
    errno = ENOMEM;
    return 1;
}

// The C library's own allocator. These names stay valid in a program that replaces malloc, calloc and realloc.
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t size) { return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_malloc(size); }
void *calloc(size_t count, size_t size) {
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *old, size_t size) {
    return allocation_fails(__builtin_return_address(0)) ? NULL : __libc_realloc(old, size);
}

int epoll_ctl(int set, int operation, int descriptor, struct epoll_event *event) {
    static int (*real)(int, int, int, struct epoll_event *);
    if (!real) real = (int (*)(int, int, int, struct epoll_event *))dlsym(RTLD_NEXT, "epoll_ctl");
    if (operation == EPOLL_CTL_ADD && fails(&watches)) {
        errno = ENOSPC;
        return -1;
    }
    return real(set, operation, descriptor, event);
}

int open(const char *path, int flags, ...) {
    static int (*real)(const char *, int, ...);
    if (!real) real = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
    va_list rest;
    va_start(rest, flags);
    int mode = va_arg(rest, int);
    va_end(rest);
    if (strncmp(path, "/proc/", 6) == 0 && strstr(path, "/stat") && fails(&processes)) {
        errno = EMFILE;
        return -1;
    }
    return real(path, flags, mode);
}
