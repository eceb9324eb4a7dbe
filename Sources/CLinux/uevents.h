// The kernel's events about devices (kobject uevents over netlink), and whether this process can receive them. This is
// C because control messages need casts.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

// A socket that receives the events of all devices in this network namespace, or -1.
static inline int bhl_watch_devices(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return -1;
    int yes = 1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = 1; // the kernel's; 2 is udev's
    if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
        bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) {
        return descriptor;
    }
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

// The size of the next message. 0 for a message that is truncated, or from neither the kernel nor root. -1 on an error
// (errno: EAGAIN when there is no message, ENOBUFS when some were lost).
static inline ssize_t bhl_next_device_event(int descriptor, char *buffer, size_t size) {
    // The layout of struct ucred, which libc declares only for _GNU_SOURCE.
    struct { pid_t process; uid_t user; gid_t group; } sender = {0, (uid_t)-1, (gid_t)-1};
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(sizeof sender)];
    } control;
    struct sockaddr_nl from;
    struct iovec part = {buffer, size};
    struct msghdr message;
    memset(&message, 0, sizeof message);
    memset(&from, 0, sizeof from);
    message.msg_name = &from;
    message.msg_namelen = sizeof from;
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = &control;
    message.msg_controllen = sizeof control;
    ssize_t count = recvmsg(descriptor, &message, 0);
    if (count < 0) return -1;
    if (from.nl_family != AF_NETLINK || (message.msg_flags & MSG_TRUNC)) return 0;
    for (struct cmsghdr *head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        // 2: SCM_CREDENTIALS, which libc declares only for _GNU_SOURCE.
        if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == 2 && head->cmsg_len >= CMSG_LEN(sizeof sender)) {
            memcpy(&sender, CMSG_DATA(head), sizeof sender);
        }
    }
    return from.nl_pid == 0 || sender.user == 0 ? count : 0;
}

// 1 if the kernel sends the machine's device events here. It does so only in network namespaces of the first user
// namespace, so not in containers with their own users (lib/kobject_uevent.c in Linux). 0 also if this is unknown.
static inline int bhl_receives_device_events(void) {
    int network = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (network < 0) return 0;
    int owner = ioctl(network, 0xb701); // NS_GET_USERNS, ioctl_ns(2)
    close(network);
    if (owner < 0) return 0;
    struct stat status;
    int is_first = fstat(owner, &status) == 0 && status.st_ino == 0xEFFFFFFDU; // PROC_USER_INIT_INO
    close(owner);
    return is_first;
}

// For tests: gives the calling thread a new network namespace (unshare(2)). Returns 0, or -1 without the privilege.
static inline int bhl_unshare_network(void) { return (int)syscall(SYS_unshare, 0x40000000 /* CLONE_NEWNET */); }

// For tests: sends a message to the sockets that watch the devices of this network namespace, as the kernel would.
// Returns 0, or -1.
static inline int bhl_send_device_event(const char *message, size_t size) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = 1;
    ssize_t count = sendto(descriptor, message, size, 0, (struct sockaddr *)&address, sizeof address);
    close(descriptor);
    return count == (ssize_t)size ? 0 : -1;
}
