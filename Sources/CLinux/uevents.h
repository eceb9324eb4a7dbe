// Receives the kernel's events about devices (kobject uevents over netlink). These functions are in C, because control
// messages need casts.
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

// Returns a socket that receives the events of all devices in this network namespace, or -1.
static inline int bhl_watch_devices(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return -1;
    int yes = 1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = 1; // the group of the kernel; udev's group is 2
    if (setsockopt(descriptor, SOL_SOCKET, SO_PASSCRED, &yes, sizeof yes) == 0 &&
        bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) {
        return descriptor;
    }
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

// Returns the size of the next message. Accepts only messages from the kernel and from processes of root: returns 0 for
// other messages and for truncated messages. On an error, returns -1 and sets errno: EAGAIN if there is no message,
// ENOBUFS if messages were lost.
static inline ssize_t bhl_next_device_event(int descriptor, char *buffer, size_t size) {
    // This is the layout of struct ucred, which libc declares only if _GNU_SOURCE is defined.
    struct {
        pid_t process;
        uid_t user;
        gid_t group;
    } sender = {0, (uid_t)-1, (gid_t)-1};
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
        // The type 2 is SCM_CREDENTIALS, which libc declares only if _GNU_SOURCE is defined.
        if (head->cmsg_level == SOL_SOCKET && head->cmsg_type == 2 && head->cmsg_len >= CMSG_LEN(sizeof sender)) {
            memcpy(&sender, CMSG_DATA(head), sizeof sender);
        }
    }
    return from.nl_pid == 0 || sender.user == 0 ? count : 0;
}

// Returns 1 if the kernel sends the events of the machine's devices to this network namespace. Returns 0 if the kernel
// does not send them here, or if this is unknown. The kernel sends the events only to network namespaces of the first
// user namespace (lib/kobject_uevent.c in Linux). So a container with its own users does not get the events.
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

// For tests: moves the calling thread into a new network namespace (unshare(2)). Returns 0. If the process lacks the
// privilege for this, returns -1.
static inline int bhl_unshare_network(void) { return (int)syscall(SYS_unshare, 0x40000000 /* CLONE_NEWNET */); }

// For tests: sends a message to the sockets that watch the devices of this network namespace, in place of the kernel.
// Returns 0, or -1 on an error.
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
