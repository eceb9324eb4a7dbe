// Functions for three purposes: to find the file that contains this code, to read the environment, and to release
// memory.
#pragma once
#include "shims.h"

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

// The declaration of dl_iterate_phdr(3) and the first members of struct dl_phdr_info. libc declares them only if
// _GNU_SOURCE is defined.
#include <elf.h>
#include <sys/mman.h>
#if __SIZEOF_POINTER__ == 8
typedef Elf64_Phdr bhl_program_header;
#else
typedef Elf32_Phdr bhl_program_header;
#endif
struct bhl_object {
    uintptr_t base;
    const char *name;
    const bhl_program_header *headers;
    uint16_t count;
};
extern int dl_iterate_phdr(int (*visit)(struct bhl_object *object, size_t size, void *context), void *context);

static inline int bhl_unmap_code(struct bhl_object *object, size_t size, void *context) {
    (void)size;
    const uintptr_t page = *(const uintptr_t *)context;
    // The program itself has an empty name, and libraries have a path. The kernel's own object (vDSO) is not a file.
    if (object->name[0] != '\0' && object->name[0] != '/') return 0;
    for (int index = 0; index < object->count; index++) {
        const bhl_program_header *header = &object->headers[index];
        if (header->p_type != PT_LOAD || (header->p_flags & PF_W) != 0) continue;
        uintptr_t start = (object->base + header->p_vaddr + page - 1) & ~(page - 1);
        uintptr_t end = (object->base + header->p_vaddr + header->p_memsz) & ~(page - 1);
        if (end > start) madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

// Drops the pages of code and constants from the memory of this process. These pages have the same content as the files
// of the program and its libraries. So when such a page is used again, the kernel maps it from the page cache
// (madvise(2)).
static inline void bhl_unmap_unused_code(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(bhl_unmap_code, &page);
}
