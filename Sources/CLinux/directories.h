// Reads the entries of directories. These functions are in C, because a dirent is only as long as its name requires
// (readdir(3)). Swift would copy all 256 bytes that d_name has by its declaration. So Swift would read beyond the end
// of readdir's buffer.
#pragma once
#include <dirent.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

struct bhl_name {
    const char *bytes; // points into the entry
    size_t size;       // without the terminating zero
};

// Returns the next entry. At the end, returns NULL with errno 0. On an error, returns NULL with another errno.
static inline const struct dirent *bhl_next_entry(DIR *directory) {
    errno = 0;
    return readdir(directory);
}

// Returns the name of the entry. Even if the entry's record is invalid, reads no byte beyond the record.
static inline struct bhl_name bhl_entry_name(const struct dirent *entry) {
    const size_t start = offsetof(struct dirent, d_name);
    struct bhl_name name = {(const char *)entry + start, 0};
    if (entry->d_reclen > start) name.size = strnlen(name.bytes, entry->d_reclen - start);
    return name;
}
