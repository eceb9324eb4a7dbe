// Adds functions that Swift's Glibc module lacks. There are three kinds: functions with fixed arguments that replace
// variadic functions, replacements for macros, and functions that libc declares only if the macro _GNU_SOURCE is
// defined. Swift parses libc's headers without this macro, so this header must not define it. Instead, the few
// declarations are repeated here.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/stat.h>
#include <pthread.h>
#include <pwd.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/timex.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifndef F_OFD_SETLK
#define F_OFD_SETLK 37
#endif
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#endif
extern int pthread_setname_np(pthread_t thread, const char *name);
extern const char *strerrordesc_np(int code);
extern char *secure_getenv(const char *name);
static inline const char *bhl_secure_getenv(const char *name) { return secure_getenv(name); }
extern int syncfs(int descriptor);
extern int sync_file_range(int descriptor, __off64_t offset, __off64_t size, unsigned flags);
#ifndef SYNC_FILE_RANGE_WRITE
#define SYNC_FILE_RANGE_WRITE 2
#endif
extern ssize_t preadv2(int descriptor, const struct iovec *buffers, int count, __off_t offset, int flags);
#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif
#ifndef RWF_NOWAIT
#define RWF_NOWAIT 8
#endif

// The next functions have fixed arguments. They replace variadic functions, which Swift's Glibc module lacks.
static inline int bhl_open(const char *path, int flags, mode_t mode) { return open(path, flags | O_CLOEXEC, mode); }
static inline int bhl_openat(int directory, const char *path, int flags, mode_t mode) {
    return openat(directory, path, flags | O_CLOEXEC, mode);
}
// Opens a directory, or a symbolic link itself, without rights to read it (O_PATH of open(2)).
static inline int bhl_open_place(int directory, const char *name, int is_link) {
    const int path_only = 010000000;
    return openat(directory, name, path_only | O_NOFOLLOW | O_CLOEXEC | (is_link ? 0 : O_DIRECTORY));
}
static inline int bhl_fcntl_int(int descriptor, int command, int argument) {
    return fcntl(descriptor, command, argument);
}

// Takes an exclusive open-file-description lock on the whole file. The lock belongs to the open file description, and
// not to the process.
static inline int bhl_lock_exclusive(int descriptor) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}
// If another open file description has the lock, returns 1. If no other description has the lock, returns 0. If
// this cannot be determined, returns -1 and sets errno. Does not take the lock.
static inline int bhl_is_locked(int descriptor) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    if (fcntl(descriptor, F_OFD_GETLK, &lock) != 0) return -1;
    return lock.l_type != F_UNLCK;
}
static inline int bhl_unlock(int descriptor) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);
    lock.l_type = F_UNLCK;
    lock.l_whence = SEEK_SET;
    return fcntl(descriptor, F_OFD_SETLK, &lock);
}

// Sets the modification time of the file (futimens(2)). The time is in nanoseconds since 1970; times before 1970 are
// negative. The access time does not change.
static inline int bhl_set_modified(int file, int64_t nanoseconds) {
    int64_t rest = nanoseconds % 1000000000;
    int64_t seconds = nanoseconds / 1000000000;
    if (rest < 0) {
        rest += 1000000000;
        seconds -= 1;
    }
    struct timespec times[2] = {{.tv_sec = 0, .tv_nsec = UTIME_OMIT}, {.tv_sec = seconds, .tv_nsec = rest}};
    return futimens(file, times);
}

// Reads bytes that are in the page cache (preadv2(2), RWF_NOWAIT), and does not wait for a disk. If the first byte is
// not in the page cache, returns -1 and sets errno to EAGAIN. If the file system has no such reads, sets errno to
// EOPNOTSUPP.
static inline ssize_t bhl_read_cached(int file, void *buffer, size_t size, long long offset) {
    struct iovec room = {.iov_base = buffer, .iov_len = size};
    return preadv2(file, &room, 1, offset, RWF_NOWAIT);
}

// Whether a program, such as an NTP client, keeps the calendar clock right (adjtimex(2)). 1 if it is not known.
static inline int bhl_clock_is_synchronised(void) {
    struct timex state = {0};
    int result = adjtimex(&state);
    return result < 0 || (result != TIME_ERROR && !(state.status & STA_UNSYNC));
}

// Makes the empty file `to` share the content of the file `from` (FICLONE, ioctl_ficlone(2)).
static inline int bhl_clone(int to, int from) { return ioctl(to, 0x40049409, from); }
// Copies up to `size` bytes from an offset to the same offset (copy_file_range(2)). glibc declares the function only if
// _GNU_SOURCE is defined.
static inline ssize_t bhl_copy_range(int from, int to, long long offset, size_t size) {
    long long in = offset, out = offset;
    return syscall(SYS_copy_file_range, from, &in, to, &out, size, 0);
}

static inline int bhl_rename(int from_directory, const char *from, int to_directory, const char *to, int replace) {
    return (int)syscall(SYS_renameat2, from_directory, from, to_directory, to, replace ? 0 : RENAME_NOREPLACE);
}

// Returns 1 if a file system, or a part of one, is mounted at the path (statx(2), STATX_ATTR_MOUNT_ROOT).
static inline int bhl_is_mount_point(const char *path) {
    struct statx status;
    if (syscall(SYS_statx, AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, 0, &status) != 0) return 0;
    return (status.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// Returns the id of the mount that has the open file or directory (statx(2), STATX_MNT_ID; proc_pid_mountinfo(5)); -1
// before Linux 5.8.
static inline long long bhl_mount_id(int file) {
    struct statx status;
    if (syscall(SYS_statx, file, "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0) return -1;
    return status.stx_mask & STATX_MNT_ID ? (long long)status.stx_mnt_id : -1;
}

static inline void bhl_hexadecimal(const unsigned char *bytes, size_t count, char *out) {
    for (size_t i = 0; i < count; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

// Writes the UUID of the file system, or the serial number of a FAT volume, as hexadecimal digits. Returns -1 if it has
// none. ext4 and Btrfs make `f_fsid` from their UUIDs. A UUID of tmpfs is new at each mount, so it is not used. If an
// earlier mount of a Btrfs drive is still in use, the next mount gets another UUID (since Linux 6.7). Only the UUID of
// the metadata stays.
static inline int bhl_file_system_uuid(int file, char out[40]) {
    struct statfs status;
    struct btrfs_ioctl_fs_info_args btrfs = {.flags = BTRFS_FS_INFO_FLAG_METADATA_UUID};
    struct {
        unsigned char size, bytes[16];
    } uuid = {0};
    struct { // struct xfs_fsop_geom_v1 (xfs/xfs_fs.h)
        uint32_t sizes[8];
        uint64_t counts[4];
        unsigned char uuid[16];
        uint32_t others[7];
    } geometry;
    uint32_t serial;
    if (fstatfs(file, &status) != 0 || status.f_type == TMPFS_MAGIC) return -1;
    if (status.f_type == BTRFS_SUPER_MAGIC && ioctl(file, BTRFS_IOC_FS_INFO, &btrfs) == 0 &&
        btrfs.flags & BTRFS_FS_INFO_FLAG_METADATA_UUID) {
        bhl_hexadecimal(btrfs.metadata_uuid, sizeof btrfs.metadata_uuid, out);
        return 0;
    }
    if (status.f_type == EXT4_SUPER_MAGIC || status.f_type == BTRFS_SUPER_MAGIC) {
        unsigned words[2];
        memcpy(words, &status.f_fsid, sizeof words);
        return snprintf(out, 40, "%08x%08x", words[0], words[1]) > 0 ? 0 : -1;
    }
    // XFS_IOC_FSGEOMETRY_V1
    if (status.f_type == XFS_SUPER_MAGIC && ioctl(file, _IOR('X', 100, geometry), &geometry) == 0) {
        bhl_hexadecimal(geometry.uuid, sizeof geometry.uuid, out);
        return 0;
    }
    // FS_IOC_GETFSUUID (linux/fs.h, since Linux 6.9) and FAT_IOCTL_GET_VOLUME_ID (linux/msdos_fs.h).
    if (ioctl(file, _IOR(0x15, 0, uuid), &uuid) == 0 && uuid.size > 0 && uuid.size <= 16) {
        bhl_hexadecimal(uuid.bytes, uuid.size, out);
        return 0;
    }
    if (status.f_type != MSDOS_SUPER_MAGIC || ioctl(file, _IOR('r', 0x13, uint32_t), &serial) != 0) return -1;
    return snprintf(out, 40, "%08x", serial) > 0 ? 0 : -1;
}

// Reads the calling user's home directory from the user database. The function is reentrant, because it does not use a
// static buffer of libc.
static inline int bhl_home_directory(char *out, size_t size) {
    char buffer[4096];
    struct passwd entry, *found = NULL;
    if (getpwuid_r(geteuid(), &entry, buffer, sizeof buffer, &found) != 0 || !found || !found->pw_dir) return -1;
    if (strlen(found->pw_dir) >= size) return -1;
    strcpy(out, found->pw_dir);
    return 0;
}

struct bhl_peer {
    pid_t pid;
    uid_t uid;
    gid_t gid;
};
static inline int bhl_peer_credential(int descriptor, struct bhl_peer *out) {
    socklen_t size = sizeof *out; // the layout of struct ucred
    return getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, out, &size);
}

static inline uint64_t bhl_device(const struct stat *status) { return (uint64_t)status->st_dev; }
static inline uint64_t bhl_make_device(unsigned major, unsigned minor) {
    return (uint64_t)gnu_dev_makedev(major, minor);
}
static inline int bhl_errno(void) { return errno; }

// Writes the text of an errno to the buffer. strerror_r is not used, because it has two forms, and feature macros
// decide which form is declared.
static inline void bhl_strerror(int code, char *buffer, size_t size) {
    const char *text = strerrordesc_np(code);
    if (text)
        snprintf(buffer, size, "%s", text);
    else
        snprintf(buffer, size, "error %d", code);
}

extern int accept4(int descriptor, struct sockaddr *address, socklen_t *size, int flags);
static inline int bhl_accept(int descriptor) { return accept4(descriptor, 0, 0, SOCK_CLOEXEC | SOCK_NONBLOCK); }
