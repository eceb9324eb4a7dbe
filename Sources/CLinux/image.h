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
