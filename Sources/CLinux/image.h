// Functions for the file that contains this code, for the environment, and for releasing memory.
#pragma once
#include "shims.h"

// The declaration of dladdr(3), which libc has only for _GNU_SOURCE, and the layout of Dl_info.
struct bhl_image {
    const char *file; // the name that the dynamic linker got; for a program its argv[0]
    void *base;
    const char *symbol;
    void *address;
};
extern int dladdr(const void *address, struct bhl_image *out);
extern char **environ;

static inline const char *bhl_image_file(void) {
    static const char here = 0; // each image that contains this code has its own
    struct bhl_image image;
    return dladdr(&here, &image) != 0 ? image.file : NULL;
}

// Returns entry `index` of the environment, or NULL after the last entry.
static inline const char *bhl_environment_entry(size_t index) { return environ ? environ[index] : NULL; }

// mallopt and malloc_trim are functions of glibc. With other C libraries, the two functions below do nothing.
#if defined(__GLIBC__)
#include <malloc.h>
static inline void bhl_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }
static inline void bhl_trim(void) { malloc_trim(0); }
#else
static inline void bhl_limit_arenas(int count) { (void)count; }
static inline void bhl_trim(void) {}
#endif

// The declaration of dl_iterate_phdr(3), which libc has only for _GNU_SOURCE, and the beginning of struct dl_phdr_info.
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

// Drops the pages of code and constants from this process's memory. Their content is that of the files, so the kernel
// maps a page again from the page cache when it is used (madvise(2)).
static inline void bhl_unmap_unused_code(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(bhl_unmap_code, &page);
}
