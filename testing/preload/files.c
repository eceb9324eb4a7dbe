// The files that a daemon changes below the testbed's directory. Each change is noted in the journal, with what was
// there before, and is a step at which the daemon can die.

#define _GNU_SOURCE
#include "preload.h"
#include "../journal.h"
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/uio.h>

static pthread_mutex_t journal_lock = PTHREAD_MUTEX_INITIALIZER;
static int journal = -1, removed = -1;
static char root[PATH_MAX], boot_id[PATH_MAX + 16];

void start_files(void) {
    char path[PATH_MAX + 16];
    if (!realpath(testbed, root)) abort();
    snprintf(boot_id, sizeof boot_id, "%s/" JOURNAL_BOOT, root);
    snprintf(path, sizeof path, "%s/" JOURNAL_REMOVED, root);
    removed = REAL(open)(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    snprintf(path, sizeof path, "%s/" JOURNAL_FILE, root);
    journal = REAL(open)(path, O_WRONLY | O_APPEND | O_CLOEXEC);
    if (removed < 0 || journal < 0) abort();
}

static void append(struct journal_record *record, const void *bytes, size_t size) {
    record->mark = JOURNAL_MARK;
    record->size = (uint32_t)size;
    struct iovec parts[] = {{record, sizeof *record}, {(void *)(uintptr_t)bytes, size}};
    if (REAL(writev)(journal, parts, 2) != (ssize_t)(sizeof *record + size)) abort();
}

static bool path_of(int file, char path[PATH_MAX]) {
    char link[32];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = REAL(readlink)(link, path, PATH_MAX - 1);
    path[size < 0 ? 0 : size] = 0;
    size_t count = strlen(root);
    return !strncmp(path, root, count) && (!path[count] || path[count] == '/');
}

// Whether it is a file or directory below the testbed's directory.
static bool is_followed(int file, struct stat *status, char path[PATH_MAX]) {
    int code = errno;
    bool is_found = journal >= 0 && !REAL(fstat)(file, status) &&
                    (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode)) && path_of(file, path);
    errno = code;
    return is_found;
}

// ---- Content

// A change of a file's content, between `begin` and `end`.
struct change {
    struct journal_record record;
    char *bytes;
    size_t size;
};

// Keeps the bytes before a write at the offset; a negative count: before the file is cut there.
static bool begin(struct change *change, int file, off_t offset, ssize_t count) {
    struct stat status;
    char path[PATH_MAX];
    if (!is_followed(file, &status, path) || !S_ISREG(status.st_mode)) return false;
    reach(BHT_POINT_STEP);
    off_t end = count < 0 || offset + count > status.st_size ? status.st_size : offset + count;
    pthread_mutex_lock(&journal_lock);
    *change = (struct change){
        .record = {.kind = JOURNAL_WRITTEN, .file = status.st_ino, .offset = offset, .length = status.st_size}};
    if (end <= offset) return true;
    change->size = (size_t)(end - offset);
    int reader = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    if (!(change->bytes = malloc(change->size)) ||
        REAL(pread)(reader, change->bytes, change->size, offset) != (ssize_t)change->size)
        change->size = 0; // the file was removed
    REAL(close)(reader);
    return true;
}

static void end(struct change *change, bool is_done) {
    int code = errno;
    if (is_done) append(&change->record, change->bytes, change->size);
    pthread_mutex_unlock(&journal_lock);
    free(change->bytes);
    errno = code;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    struct change change;
    if (!begin(&change, file, offset, (ssize_t)count)) return REAL(pwrite)(file, bytes, count, offset);
    ssize_t result = REAL(pwrite)(file, bytes, count, offset);
    end(&change, result >= 0);
    return result;
}

ssize_t write(int file, const void *bytes, size_t count) {
    struct change change;
    struct stat status;
    bool is_file = journal >= 0 && !REAL(fstat)(file, &status) && S_ISREG(status.st_mode);
    if (!is_file) return REAL(write)(file, bytes, count);
    bool appends = REAL(fcntl)(file, F_GETFL) & O_APPEND;
    off_t offset = appends ? status.st_size : lseek(file, 0, SEEK_CUR);
    if (!begin(&change, file, offset, (ssize_t)count)) return REAL(write)(file, bytes, count);
    ssize_t result = REAL(write)(file, bytes, count);
    end(&change, result >= 0);
    return result;
}

int ftruncate(int file, off_t size) {
    struct change change;
    if (!begin(&change, file, size, -1)) return REAL(ftruncate)(file, size);
    int result = REAL(ftruncate)(file, size);
    end(&change, !result);
    return result;
}

// ---- Syncs

static int sync_file(int file, int (*real)(int), bool all) {
    struct stat status;
    char path[PATH_MAX];
    if (!is_followed(file, &status, path)) return real(file);
    reach(BHT_POINT_STEP);
    bool is_end = S_ISREG(status.st_mode) && stores_end(path);
    struct journal_record record = {.kind = JOURNAL_SYNCED, .file = all ? 0 : status.st_ino};
    pthread_mutex_lock(&journal_lock);
    append(&record, NULL, 0);
    pthread_mutex_unlock(&journal_lock);
    int result = real(file);
    if (!result && is_end) reach(BHT_POINT_ENDED);
    return result;
}

int fsync(int file) { return sync_file(file, REAL(fsync), false); }
int fdatasync(int file) { return sync_file(file, REAL(fdatasync), false); }
int syncfs(int file) { return sync_file(file, REAL(syncfs), true); }

// ---- Names

// A name in a directory that is followed.
struct place {
    char path[PATH_MAX];
    uint64_t directory, inode; // inode 0: no file has the name
    bool is_directory;
};

static uint64_t present_inode(struct place *place) {
    struct stat status;
    bool is_found = !REAL(lstat)(place->path, &status) && (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode));
    place->is_directory = is_found && S_ISDIR(status.st_mode);
    return is_found ? status.st_ino : 0;
}

static bool find(struct place *place, int base, const char *path) {
    char parent[PATH_MAX];
    struct stat status;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    size_t size = (size_t)(name - path);
    if (journal < 0 || size >= sizeof parent) return false;
    memcpy(parent, path, size);
    strcpy(parent + size, ".");
    int code = errno, folder = REAL(openat)(base, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool is_found = folder >= 0 && is_followed(folder, &status, place->path) &&
                    strlen(place->path) + strlen(name) + 2 < sizeof place->path;
    if (folder >= 0) REAL(close)(folder);
    errno = code;
    if (!is_found) return false;
    strcat(strcat(place->path, "/"), name);
    place->directory = status.st_ino;
    place->inode = present_inode(place);
    return true;
}

// Notes a change of one name or two names. Each place has the inode from before the change.
static void note(enum journal_kind kind, struct place *first, struct place *second) {
    struct journal_record record = {.kind = kind};
    char paths[2 * PATH_MAX];
    size_t size = 0;
    struct place *places[] = {first, second};
    for (size_t i = 0; i < 2 && places[i]; i++) {
        uint64_t after = present_inode(places[i]);
        record.names[i] = (struct journal_name){places[i]->directory, places[i]->inode, after};
        if (kind == JOURNAL_CREATED) record.file = after;
        strcpy(paths + size, places[i]->path);
        size += strlen(places[i]->path) + 1;
    }
    append(&record, paths, size);
}

static void name_of_removed(uint64_t inode, char name[32]) { snprintf(name, 32, "%llu", (unsigned long long)inode); }

// A link keeps the file whose name is removed or replaced.
static void keep_removed(const struct place *place) {
    char name[32];
    name_of_removed(place->inode, name);
    if (place->inode && !place->is_directory) REAL(linkat)(AT_FDCWD, place->path, removed, name, 0);
}

// This link does not count for the daemon, which takes a file with another name for one that can be removed.
static int without_kept_link(int result, struct stat *status) {
    char name[32];
    struct stat kept;
    int code = errno;
    if (result || removed < 0 || !S_ISREG(status->st_mode) || status->st_nlink < 2) return result;
    name_of_removed(status->st_ino, name);
    if (!REAL(fstatat)(removed, name, &kept, AT_SYMLINK_NOFOLLOW) && kept.st_dev == status->st_dev) status->st_nlink--;
    errno = code;
    return result;
}

int fstatat(int base, const char *restrict path, struct stat *restrict status, int flags) {
    return without_kept_link(REAL(fstatat)(base, path, status, flags), status);
}

int stat(const char *restrict path, struct stat *restrict status) { return fstatat(AT_FDCWD, path, status, 0); }

int lstat(const char *restrict path, struct stat *restrict status) {
    return fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW);
}

int fstat(int file, struct stat *status) { return without_kept_link(REAL(fstat)(file, status), status); }

// Performs a change of names, whose call is the last argument, and notes it.
#define NOTED(kind, first, second, call)                                                                               \
    __extension__({                                                                                                    \
        pthread_mutex_lock(&journal_lock);                                                                             \
        __typeof__(call) result = call;                                                                                \
        int code = errno;                                                                                              \
        if (result >= 0) note(kind, first, second);                                                                    \
        pthread_mutex_unlock(&journal_lock);                                                                           \
        errno = code;                                                                                                  \
        result;                                                                                                        \
    })

static int open_file(int base, const char *path, int flags, mode_t mode) {
    struct place place;
    struct change change;
    if (!strcmp(path, "/proc/sys/kernel/random/boot_id") && *boot_id && !access(boot_id, R_OK)) path = boot_id;
    if (!(flags & (O_CREAT | O_TRUNC)) || !find(&place, base, path)) return REAL(openat)(base, path, flags, mode);
    if (flags & O_TRUNC && place.inode) {
        int file = REAL(openat)(base, path, flags & ~O_TRUNC, mode);
        if (file >= 0 && begin(&change, file, 0, -1)) end(&change, !REAL(ftruncate)(file, 0));
        return file;
    }
    if (place.inode || !(flags & O_CREAT)) return REAL(openat)(base, path, flags, mode);
    reach(BHT_POINT_STEP);
    return NOTED(JOURNAL_CREATED, &place, NULL, REAL(openat)(base, path, flags, mode));
}

static mode_t mode_of(int flags, va_list list) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(list, mode_t) : 0; }

int openat(int base, const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_file(base, path, flags, mode);
}

int open(const char *path, int flags, ...) {
    va_list list;
    va_start(list, flags);
    mode_t mode = mode_of(flags, list);
    va_end(list);
    return open_file(AT_FDCWD, path, flags, mode);
}

int mkdirat(int base, const char *path, mode_t mode) {
    struct place place;
    if (!find(&place, base, path)) return REAL(mkdirat)(base, path, mode);
    reach(BHT_POINT_STEP);
    return NOTED(JOURNAL_CREATED, &place, NULL, REAL(mkdirat)(base, path, mode));
}

int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }

int unlinkat(int base, const char *path, int flags) {
    struct place place;
    // The removal of a directory counts as synced.
    if (flags & AT_REMOVEDIR || !find(&place, base, path)) return REAL(unlinkat)(base, path, flags);
    reach(BHT_POINT_STEP);
    keep_removed(&place);
    return NOTED(JOURNAL_RENAMED, &place, NULL, REAL(unlinkat)(base, path, flags));
}

int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }

int linkat(int from_base, const char *from, int to_base, const char *to, int flags) {
    struct place target;
    bool is_followed = find(&target, to_base, to);
    before_move(from, to);
    if (is_followed) reach(BHT_POINT_STEP);
    int result = is_followed ? NOTED(JOURNAL_RENAMED, &target, NULL, REAL(linkat)(from_base, from, to_base, to, flags))
                             : REAL(linkat)(from_base, from, to_base, to, flags);
    if (!result) after_move(from, to);
    return result;
}

int link(const char *from, const char *to) { return linkat(AT_FDCWD, from, AT_FDCWD, to, 0); }

static int rename_file(int from_base, const char *from, int to_base, const char *to, unsigned flags) {
    struct place source, target;
    bool is_followed = find(&source, from_base, from) && find(&target, to_base, to);
    before_move(from, to);
    if (is_followed) reach(BHT_POINT_STEP);
    if (is_followed) keep_removed(&target);
    int result = is_followed ? NOTED(JOURNAL_RENAMED, &target, &source, renameat2(from_base, from, to_base, to, flags))
                             : renameat2(from_base, from, to_base, to, flags);
    if (!result) after_move(from, to);
    return result;
}

int renameat(int from_base, const char *from, int to_base, const char *to) {
    return rename_file(from_base, from, to_base, to, 0);
}

int rename(const char *from, const char *to) { return rename_file(AT_FDCWD, from, AT_FDCWD, to, 0); }

// glibc has no function for some calls, or had none in older versions.
long syscall(long number, ...) {
    long values[6];
    va_list list;
    va_start(list, number);
    for (int i = 0; i < 6; i++) values[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_renameat2 && journal >= 0)
        return rename_file((int)values[0], (const char *)values[1], (int)values[2], (const char *)values[3],
                           (unsigned)values[4]);
    if (number == SYS_copy_file_range && journal >= 0) { // as between file systems; the daemon then copies the bytes
        errno = EXDEV;
        return -1;
    }
    return REAL(syscall)(number, values[0], values[1], values[2], values[3], values[4], values[5]);
}

int ioctl(int file, unsigned long request, ...) {
    va_list list;
    va_start(list, request);
    void *argument = va_arg(list, void *);
    va_end(list);
    if (request == FICLONE && journal >= 0) { // as on a file system without it; the daemon then copies the bytes
        errno = EOPNOTSUPP;
        return -1;
    }
    return REAL(ioctl)(file, request, argument);
}

// ---- The names of these functions for files of any size, which have the same types on 64-bit systems

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
int openat64(int base, const char *path, int flags, ...) __attribute__((alias("openat")));
ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) __attribute__((alias("pwrite")));
int ftruncate64(int file, off64_t size) __attribute__((alias("ftruncate")));
int stat64(const char *restrict path, struct stat64 *restrict status) __attribute__((alias("stat")));
int lstat64(const char *restrict path, struct stat64 *restrict status) __attribute__((alias("lstat")));
int fstat64(int file, struct stat64 *status) __attribute__((alias("fstat")));
int fstatat64(int base, const char *restrict path, struct stat64 *restrict status, int flags)
    __attribute__((alias("fstatat")));
