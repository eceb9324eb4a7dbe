// Functions that find the file that contains this code, read the environment, and release memory.
#pragma once
#include "shims.h"
#include <dlfcn.h>

// The declaration of dladdr(3) and the layout of Dl_info. libc declares them only if _GNU_SOURCE is defined.
struct bhl_image {
    const char *file; // the name that the dynamic linker was given; for a program, this is argv[0]
    void *base;
    const char *symbol;
    void *address;
};
extern int dladdr(const void *address, struct bhl_image *out);
extern char **environ;

static inline const char *bhl_image_file(void) {
    static const char here = 0; // each program or library that contains this code has its own variable
    struct bhl_image image;
    return dladdr(&here, &image) != 0 ? image.file : NULL;
}

// Returns the library that contains the address, for dlsym(3). Returns NULL if no library contains it.
static inline void *bhl_library_with(const void *address) {
    struct bhl_image image;
    return dladdr(address, &image) != 0 ? dlopen(image.file, RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL) : NULL;
}

// Returns entry `index` of the environment, or NULL after the last entry.
static inline const char *bhl_environment_entry(size_t index) { return environ ? environ[index] : NULL; }

// mallopt and malloc_trim are functions of glibc. With another C library, the next two functions do nothing.
#if defined(__GLIBC__)
#include <malloc.h>
static inline void bhl_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }
static inline void bhl_trim(void) { malloc_trim(0); }
#else
static inline void bhl_limit_arenas(int count) { (void)count; }
static inline void bhl_trim(void) {}
#endif
