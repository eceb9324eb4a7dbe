// Copies of the library. The dynamic linker loads a file once, so each copy is a file of its own. The copies of SQLite
// have names of their own, too: SQLite keeps in global variables which files of the process are locked.

#define _GNU_SOURCE
#include "simulated.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char sqlite[] = "libsqlite3.so.0";

_Noreturn static void fail(const char *what) {
    dprintf(2, "simulate: %s: %s\n", what, dlerror());
    exit(2);
}

// Writes a copy of a file, in which each name of SQLite ends with the letter of this process.
static void copy(const char *from, const char *to, int process) {
    struct stat status;
    int source = open(from, O_RDONLY | O_CLOEXEC), target = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    if (source < 0 || target < 0 || fstat(source, &status)) fail(from);
    size_t size = (size_t)status.st_size;
    char *bytes = malloc(size);
    if (read(source, bytes, size) != (ssize_t)size) fail(from);
    for (char *at = bytes; (at = memmem(at, size - (size_t)(at - bytes), sqlite, sizeof sqlite)); at++)
        at[sizeof sqlite - 2] = (char)('a' + process);
    if (write(target, bytes, size) != (ssize_t)size) fail(to);
    close(source);
    close(target);
    free(bytes);
}

static void *load(const char *from, const char *folder, const char *name, int process) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s-%d", folder, name, process);
    copy(from, path, process);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library) fail(path);
    unlink(path);
    return library;
}

struct sim_library sim_load_library(const char *file, const char *folder, int process) {
    static void *original;
    struct link_map *map;
    if (!original) original = dlopen(sqlite, RTLD_NOW | RTLD_LOCAL);
    if (!original || dlinfo(original, RTLD_DI_LINKMAP, &map)) fail(sqlite);
    sim_load_as(process);
    load(map->l_name, folder, "sqlite", process);
    void *library = load(file, folder, "backhaul", process);
    sim_load_as(0);
    struct sim_library functions;
#define FIND(name)                                                                                                     \
    if (!(functions.name = (__typeof__(functions.name))dlsym(library, "bh_" #name))) fail("bh_" #name);
    SIM_FUNCTIONS(FIND)
    if (!(functions.run_daemon = (int (*)(void))dlsym(library, "bhd_run"))) fail("bhd_run");
    return functions;
}
