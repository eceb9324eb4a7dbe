// The calls on files. They are performed by the kernel on a tmpfs; the model of durable.c follows those below one
// folder. Faults, and the end of the process at a given step, come before a call.

#define _GNU_SOURCE
#include "durable.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/statfs.h>
#include <sys/uio.h>
#include <unistd.h>

static int (*decide_fault)(enum sim_file_call, const char *, uint64_t);
static uint64_t calls[SIM_FILE_CALLS], steps, last_step;
static void (*kill_body)(void);
static int64_t sync_time;
static enum sim_lie lie;
static uint64_t free_space = (uint64_t)100 << 30;

void sim_set_file_faults(int (*decide)(enum sim_file_call, const char *, uint64_t)) { decide_fault = decide; }
uint64_t sim_durable_steps(void) { return steps; }
void sim_set_sync_time(int64_t mean) { sync_time = mean; }
void sim_set_lie(enum sim_lie chosen) { lie = chosen; }
void sim_set_free_space(uint64_t bytes) { free_space = bytes; }

void sim_kill_at_step(uint64_t step, void (*body)(void)) {
    last_step = step;
    kill_body = body;
}

// Begins a call. Returns the fault: 0 or SIM_SHORT, or -2 after it has set errno.
enum { FAILED = -2 };
static int begin(enum sim_file_call call, const char *name) {
    if (!sim_is_simulated()) return 0;
    if (call >= SIM_CREATE && ++steps == last_step) kill_body();
    calls[call]++;
    int fault = decide_fault ? decide_fault(call, name, calls[call]) : 0;
    if (fault <= 0) return call == SIM_WRITE ? fault : 0;
    errno = fault;
    return FAILED;
}

bool sim_call_fails(enum sim_file_call call) { return begin(call, "") == FAILED; }

static struct node *node_of(int file) {
    struct stat status;
    if (!durable.is_on || file < 0) return NULL;
    int code = errno;
    struct node *node = REAL(fstat)(file, &status) ? NULL : durable_find(&status);
    errno = code;
    return node;
}

// Functions that the library does not use, and the model does not follow.
static void refuse(const void *found) {
    if (found) abort();
}

// ---- Content

static ssize_t write_at(struct node *node, int file, const void *bytes, size_t count, off_t offset, bool moves) {
    int fault = begin(SIM_WRITE, node->name);
    if (fault == FAILED) return -1;
    if (fault == SIM_SHORT && count > 1) count /= 2;
    durable_before_write(node, file, offset, count);
    return moves ? REAL(write)(file, bytes, count) : REAL(pwrite)(file, bytes, count, offset);
}

ssize_t write(int file, const void *bytes, size_t count) {
    if (file == STDERR_FILENO && sim_is_simulated()) return (ssize_t)count; // what a daemon prints
    struct node *node = node_of(file);
    if (!node) return REAL(write)(file, bytes, count);
    bool appends = REAL(fcntl)(file, F_GETFL) & O_APPEND;
    return write_at(node, file, bytes, count, lseek(file, 0, appends ? SEEK_END : SEEK_CUR), true);
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    struct node *node = node_of(file);
    return node ? write_at(node, file, bytes, count, offset, false) : REAL(pwrite)(file, bytes, count, offset);
}

ssize_t writev(int file, const struct iovec *parts, int count) {
    refuse(node_of(file));
    return REAL(writev)(file, parts, count);
}

int ftruncate(int file, off_t size) {
    struct node *node = node_of(file);
    if (!node) return REAL(ftruncate)(file, size);
    if (begin(SIM_TRUNCATE, node->name)) return -1;
    durable_before_truncate(node, file, size);
    return REAL(ftruncate)(file, size);
}

ssize_t pread(int file, void *bytes, size_t count, off_t offset) {
    struct node *node = node_of(file);
    return node && begin(SIM_READ, node->name) ? -1 : REAL(pread)(file, bytes, count, offset);
}

ssize_t preadv2(int file, const struct iovec *parts, int count, off_t offset, int flags) {
    struct node *node = node_of(file);
    return node && begin(SIM_READ, node->name) ? -1 : REAL(preadv2)(file, parts, count, offset, flags);
}

// A store is opened without shared memory and mapped pages.
void *mmap(void *address, size_t size, int protection, int flags, int file, off_t offset) {
    if (flags & MAP_SHARED && protection & PROT_WRITE) refuse(node_of(file));
    return REAL(mmap)(address, size, protection, flags, file, offset);
}

// As on ext4. The library then copies the bytes itself.
ssize_t copy_file_range(int from, off64_t *in, int to, off64_t *out, size_t size, unsigned flags) {
    if (!node_of(to)) return REAL(copy_file_range)(from, in, to, out, size, flags);
    errno = EOPNOTSUPP;
    return -1;
}

int ioctl(int file, unsigned long request, ...) {
    enum { CLONE = 0x40049409 };
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request != CLONE || !node_of(file)) return REAL(ioctl)(file, request, argument);
    errno = EOPNOTSUPP;
    return -1;
}

// ---- Syncs

// Most syncs take about the mean, and some take much longer. Other threads run meanwhile.
static void wait_for_disk(void) {
    if (!sync_time || !sim_is_simulated()) return;
    uint64_t mean = (uint64_t)sync_time;
    // A call fails after 5 s without a reply, so a few long syncs in a row are shorter than that.
    uint64_t most = 1000000, rare = 16 * mean < most ? 16 * mean : most;
    usleep((useconds_t)(mean / 2 + sim_random() % mean + (sim_random() % 64 ? 0 : rare)));
}

// What was written before the sync is on the disk at its end, perhaps earlier; what other threads write meanwhile may
// be, too.
static int sync_node(struct node *node, bool only_data, const char *name) {
    if (lie == (node && node->is_directory ? SIM_IGNORES_DIRECTORY_SYNCS : SIM_IGNORES_FILE_SYNCS)) return 0;
    bool fails = begin(SIM_SYNC, name);
    bool is_early = durable.is_on && sim_random() % 2;
    int code = errno;
    if (!fails && is_early) durable_sync(node, only_data);
    wait_for_disk();
    if (!fails && !is_early) durable_sync(node, only_data);
    if (fails && node) durable_fail_sync(node);
    errno = code;
    return fails ? -1 : 0;
}

int fsync(int file) {
    struct node *node = node_of(file);
    return node ? sync_node(node, false, node->name) : REAL(fsync)(file);
}

int fdatasync(int file) {
    struct node *node = node_of(file);
    return node ? sync_node(node, !node->is_directory, node->name) : REAL(fdatasync)(file);
}

int syncfs(int file) {
    struct node *node = node_of(file);
    return node ? sync_node(NULL, false, node->name) : REAL(syncfs)(file);
}

int sync_file_range(int file, off64_t offset, off64_t count, unsigned flags) {
    return node_of(file) ? 0 : REAL(sync_file_range)(file, offset, count, flags);
}

// ---- Names

// A name in a directory.
struct place {
    struct node *directory; // NULL: not followed
    int base;
    const char *path, *name;
    struct node *present; // NULL: no file has the name
};

static struct place find(int base, const char *path) {
    struct place place = {.base = base, .path = path, .name = path};
    char parent[4096] = ".";
    struct stat status;
    if (!durable.is_on) return place;
    int code = errno;
    const char *slash = strrchr(path, '/');
    if (slash) {
        place.name = slash + 1;
        if ((size_t)(slash - path) + 2 < sizeof parent) {
            memcpy(parent, path, (size_t)(slash - path) + 1);
            parent[slash - path + 1] = 0;
        }
    }
    if (!REAL(fstatat)(base, parent, &status, 0)) place.directory = durable_find(&status);
    if (!strcmp(place.name, ".") || !strcmp(place.name, "..")) place.directory = NULL;
    if (place.directory && !REAL(fstatat)(base, path, &status, AT_SYMLINK_NOFOLLOW))
        place.present = durable_find(&status);
    errno = code;
    return place;
}

static void add(const struct place *place) {
    struct stat status;
    if (REAL(fstatat)(place->base, place->path, &status, AT_SYMLINK_NOFOLLOW)) return;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) // names of sockets and links are on the disk at once
        durable_create(place->directory, place->name, &status);
}

static void truncate_present(const struct place *place) {
    int file = REAL(openat)(place->base, place->path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    durable_before_truncate(place->present, file, 0);
    close(file);
}

static int open_unowned(int base, const char *path, int flags, mode_t mode) {
    int kernel_file = sim_is_on ? sim_open_kernel_file(path) : -1;
    if (kernel_file >= 0) return kernel_file;
    struct place place = find(base, path);
    if (!place.directory) return REAL(openat)(base, path, flags, mode);
    if ((flags & O_TMPFILE) == O_TMPFILE) refuse(place.directory);
    bool creates = flags & O_CREAT && !place.present;
    bool truncates = flags & O_TRUNC && place.present;
    if (begin(creates ? SIM_CREATE : truncates ? SIM_TRUNCATE : SIM_OPEN, place.name)) return -1;
    if (truncates) truncate_present(&place);
    int file = REAL(openat)(base, path, flags, mode);
    if (file >= 0 && creates) add(&place);
    return file;
}

static int open_file(int base, const char *path, int flags, mode_t mode) {
    return sim_own_descriptor(open_unowned(base, path, flags, mode));
}

int openat(int base, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_file(base, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0;
    va_end(list);
    return open_file(AT_FDCWD, path, flags, mode);
}

int mkdirat(int base, const char *path, mode_t mode) {
    struct place place = find(base, path);
    if (place.directory && begin(SIM_DIRECTORY, place.name)) return -1;
    int result = REAL(mkdirat)(base, path, mode);
    if (place.directory && !result) add(&place);
    return result;
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int base, const char *path, int flags) {
    struct place place = find(base, path);
    if (!place.present) return REAL(unlinkat)(base, path, flags);
    if (begin(place.present->is_directory ? SIM_DIRECTORY : SIM_UNLINK, place.name)) return -1;
    if (place.present->is_directory) {
        int result = REAL(unlinkat)(base, path, flags);
        if (!result) durable_remove_directory(place.present);
        return result;
    }
    durable_bury(place.present, base, path);
    int result = REAL(unlinkat)(base, path, flags);
    struct entry entry = {place.directory, (char *)place.name, place.present->inode, 0};
    if (!result) durable_change(UNLINKS, place.present, &entry, 1);
    durable_release(place.present);
    return result;
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }

int linkat(int from_base, const char *from, int to_base, const char *to, int flags) {
    struct place source = find(from_base, from), target = find(to_base, to);
    if (!target.directory) return REAL(linkat)(from_base, from, to_base, to, flags);
    if (begin(SIM_LINK, target.name)) return -1;
    int result = REAL(linkat)(from_base, from, to_base, to, flags);
    if (result) return result;
    if (!source.present) abort(); // a link to a file that is not followed
    struct entry entry = {target.directory, (char *)target.name, 0, source.present->inode};
    durable_change(LINKS, source.present, &entry, 1);
    return 0;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

int renameat2(int from_base, const char *from, int to_base, const char *to, unsigned flags) {
    struct place source = find(from_base, from), target = find(to_base, to);
    struct node *moved = source.present, *replaced = flags & RENAME_NOREPLACE ? NULL : target.present;
    if (replaced && replaced->is_directory) replaced = NULL; // the call fails
    if (!source.directory && !target.directory) return REAL(renameat2)(from_base, from, to_base, to, flags);
    if (begin(SIM_RENAME, target.name)) return -1;
    if (!moved || !target.directory || moved == replaced || flags & RENAME_EXCHANGE) {
        if (!REAL(renameat2)(from_base, from, to_base, to, flags)) abort(); // not followed
        return -1;
    }
    if (moved->is_directory) refuse(moved);
    if (replaced) durable_bury(replaced, to_base, to);
    int result = REAL(renameat2)(from_base, from, to_base, to, flags);
    if (!result) {
        struct entry entries[2] = {
            {source.directory, (char *)source.name, moved->inode, 0},
            {target.directory, (char *)target.name, replaced ? replaced->inode : 0, moved->inode}};
        durable_change(RENAMES, moved, entries, 2);
    }
    if (replaced) durable_release(replaced);
    return result;
}

int renameat(int from_base, const char *from, int to_base, const char *to) {
    return renameat2(from_base, from, to_base, to, 0);
}

int rename(const char *from, const char *to) { return renameat2(AT_FDCWD, from, AT_FDCWD, to, 0); }

// ---- Status. The results are changed, because the time of the last change of a file's status cannot be set. The
// inode's number also depends on other users of the tmpfs.

static struct timespec time_of(int64_t nanoseconds) {
    return (struct timespec){.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
}

static int simulate_status(int result, struct stat *status) {
    struct node *node = result ? NULL : durable_find(status);
    if (!node) return result;
    status->st_ino = node->number;
    status->st_nlink -= node->has_grave;
    status->st_mtim = time_of(node->modified);
    status->st_ctim = time_of(node->changed);
    return result;
}

int fstat(int file, struct stat *status) { return simulate_status(REAL(fstat)(file, status), status); }
int stat(const char *path, struct stat *status) { return simulate_status(REAL(stat)(path, status), status); }
int lstat(const char *path, struct stat *status) { return simulate_status(REAL(lstat)(path, status), status); }

static char hidden_directory[256];
static bool is_hidden_from[SIM_PROCESSES + 1];

void sim_hide(const char *path, int process) {
    snprintf(hidden_directory, sizeof hidden_directory, "%s", path);
    is_hidden_from[process] = true;
}

int fstatat(int base, const char *path, struct stat *status, int flags) {
    if (is_hidden_from[sim_process()] && !strcmp(path, hidden_directory)) {
        errno = ENOENT;
        return -1;
    }
    return simulate_status(REAL(fstatat)(base, path, status, flags), status);
}

static int64_t set_time(const struct timespec *time, int64_t present) {
    if (time && time->tv_nsec == UTIME_OMIT) return present;
    return !time || time->tv_nsec == UTIME_NOW ? durable_time() : (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

int futimens(int file, const struct timespec times[2]) {
    struct node *node = node_of(file);
    if (node) {
        node->modified = set_time(times ? &times[1] : NULL, node->modified);
        node->changed = durable_time();
    }
    return REAL(futimens)(file, times);
}

// A disk of 200 GB with ext4 or Btrfs, so that the library uses what it uses on a disk.
static int simulate_space(int result, struct statfs *status, const struct node *node) {
    if (result || !node) return result;
    long type = durable.rules == SIM_ORDERED ? 0xef53 : 0x9123683e;
    *status = (struct statfs){.f_type = type, .f_bsize = 4096, .f_frsize = 4096, .f_namelen = 255};
    status->f_fsid.__val[0] = status->f_fsid.__val[1] = 0x5eed;
    status->f_blocks = ((uint64_t)200 << 30) / 4096;
    status->f_bfree = status->f_bavail = free_space / 4096;
    return result;
}

int fstatfs(int file, struct statfs *status) {
    return simulate_space(REAL(fstatfs)(file, status), status, node_of(file));
}

int statfs(const char *path, struct statfs *status) {
    struct stat found;
    struct node *node = REAL(stat)(path, &found) ? NULL : durable_find(&found);
    return simulate_space(REAL(statfs)(path, status), status, node);
}

// ---- The names of these functions for files of any size, which have the same types on 64-bit systems

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int base, const char *path, int flags, ...) __attribute__((alias("openat")));
ssize_t pread64(int file, void *bytes, size_t count, off64_t offset) __attribute__((alias("pread")));
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) __attribute__((alias("pwrite")));
int ftruncate64(int file, off64_t size) __attribute__((alias("ftruncate")));
int fstat64(int file, struct stat64 *status) __attribute__((alias("fstat")));
int stat64(const char *path, struct stat64 *status) __attribute__((alias("stat")));
int lstat64(const char *path, struct stat64 *status) __attribute__((alias("lstat")));
int fstatat64(int base, const char *path, struct stat64 *status, int flags) __attribute__((alias("fstatat")));
int fstatfs64(int file, struct statfs64 *status) __attribute__((alias("fstatfs")));
int statfs64(const char *path, struct statfs64 *status) __attribute__((alias("statfs")));
void *mmap64(void *address, size_t size, int protection, int flags, int file, off64_t offset)
    __attribute__((alias("mmap")));

void sim_list(const char *directory, void (*found)(const char *name, void *context), void *context) {
    DIR *entries = opendir(directory);
    if (!entries) return;
    for (struct dirent *entry; (entry = readdir(entries));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..")) found(entry->d_name, context);
    closedir(entries);
}
