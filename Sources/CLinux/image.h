// Which file this code was loaded from, and the environment as a whole.
#pragma once
#include "shims.h"

// dladdr(3), shown by libc under _GNU_SOURCE only; the layout of Dl_info.
struct bhl_image {
    const char *file; // as it was named to the dynamic linker; of a program its argv[0]
    void *base;
    const char *symbol;
    void *address;
};
extern int dladdr(const void *address, struct bhl_image *out);
extern char **environ;

static inline const char *bhl_image_file(void) {
    static const char here = 0; // one in each image that this is compiled into
    struct bhl_image image;
    return dladdr(&here, &image) != 0 ? image.file : NULL;
}

// Nth entry of the environment, or NULL behind the last.
static inline const char *bhl_environment_entry(size_t index) { return environ ? environ[index] : NULL; }

// glibc's; elsewhere there is nothing to set up.
#if defined(__GLIBC__)
#include <malloc.h>
static inline void bhl_limit_arenas(int count) { mallopt(M_ARENA_MAX, count); }
static inline void bhl_trim(void) { malloc_trim(0); }
#else
static inline void bhl_limit_arenas(int count) { (void)count; }
static inline void bhl_trim(void) {}
#endif

// dl_iterate_phdr(3), shown by libc under _GNU_SOURCE only; the beginning of struct dl_phdr_info.
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
    // The program itself has no name; the kernel's own object is no file.
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

// Takes the pages of code and constants out of this process's memory, all of which are as they are in their files: what
// is used again comes back from the page cache (madvise(2)).
static inline void bhl_unmap_unused_code(void) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(bhl_unmap_code, &page);
}
