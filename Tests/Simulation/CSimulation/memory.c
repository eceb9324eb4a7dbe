// Allocations that fail. Swift ends the process if there is no memory, but SQLite, libcurl and libuv report it. There
// is one exception: libuv ends the process if it cannot enlarge its table of descriptors
// (https://github.com/libuv/libuv/issues/4755). Of its functions that the library uses, only this one calls realloc(3).
// So realloc(3) never fails for libuv.

#define _GNU_SOURCE
#include "simulated.h"
#include <link.h>
#include <string.h>

// The functions behind malloc(3) in glibc. dlsym(3), which `REAL` uses, may itself allocate.
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);

enum { MAXIMUM_RANGES = 64 };

// The code of the libraries whose allocations may fail.
static struct {
    uintptr_t start, end;
    bool is_libuv;
} ranges[MAXIMUM_RANGES];
static size_t range_count;

static int add_ranges(struct dl_phdr_info *library, size_t size, void *context) {
    (void)size, (void)context;
    const char *slash = strrchr(library->dlpi_name, '/'), *name = slash ? slash + 1 : library->dlpi_name;
    if (!strstr(name, "sqlite") && !strstr(name, "curl") && !strstr(name, "libuv")) return 0;
    for (size_t i = 0; i < library->dlpi_phnum && range_count < MAXIMUM_RANGES; i++) {
        const ElfW(Phdr) *part = &library->dlpi_phdr[i];
        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
        uintptr_t start = library->dlpi_addr + part->p_vaddr;
        ranges[range_count].start = start;
        ranges[range_count].end = start + part->p_memsz;
        ranges[range_count++].is_libuv = strstr(name, "libuv");
    }
    return 0;
}

void sim_let_allocations_fail(void) { dl_iterate_phdr(add_ranges, NULL); }

static bool fails(const void *caller, bool resizes) {
    for (size_t i = 0; i < range_count; i++)
        if ((uintptr_t)caller >= ranges[i].start && (uintptr_t)caller < ranges[i].end)
            return !(resizes && ranges[i].is_libuv) && sim_call_fails(SIM_MEMORY);
    return false;
}

void *malloc(size_t size) { return fails(__builtin_return_address(0), false) ? NULL : __libc_malloc(size); }

void *calloc(size_t count, size_t size) {
    return fails(__builtin_return_address(0), false) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return fails(__builtin_return_address(0), true) ? NULL : __libc_realloc(memory, size);
}
