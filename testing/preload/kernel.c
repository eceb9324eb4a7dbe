// What the kernel of the test's machine reports to a daemon: events of devices, the default route, and interfaces. The
// files of the machine are in the testbed's directory; BACKHAUL_SYS_ROOT leads the daemon to them.

#define _GNU_SOURCE
#include "preload.h"
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum { MOST = 64, INTERFACE = 77 };

// A socket that stands for a netlink socket: the daemon's end, and the end of this file.
struct pair {
    int own, other, protocol;
    bool is_watch; // it is bound to a group of events
};

static pthread_mutex_t pairs_lock = PTHREAD_MUTEX_INITIALIZER;
static struct pair pairs[MOST];
static size_t pair_count;

static struct pair *find(int descriptor) {
    for (size_t i = 0; i < pair_count; i++)
        if (pairs[i].own == descriptor) return &pairs[i];
    return NULL;
}

static bool has_network(void) { return __atomic_load_n(&control->has_network, __ATOMIC_SEQ_CST); }

int socket(int domain, int type, int protocol) {
    bool is_ours = control && domain == AF_NETLINK && (protocol == NETLINK_KOBJECT_UEVENT || protocol == NETLINK_ROUTE);
    if (!is_ours) return REAL(socket)(domain, type, protocol);
    int both[2];
    int flags = type & (SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | flags, 0, both)) return -1;
    pthread_mutex_lock(&pairs_lock);
    if (pair_count < MOST)
        pairs[pair_count++] = (struct pair){both[0], both[1], protocol, false};
    else
        abort();
    pthread_mutex_unlock(&pairs_lock);
    return both[0];
}

int bind(int descriptor, const struct sockaddr *address, socklen_t size) {
    pthread_mutex_lock(&pairs_lock);
    struct pair *pair = find(descriptor);
    if (pair) pair->is_watch = true;
    pthread_mutex_unlock(&pairs_lock);
    return pair ? 0 : REAL(bind)(descriptor, address, size);
}

int close(int descriptor) {
    pthread_mutex_lock(&pairs_lock);
    struct pair *pair = find(descriptor);
    if (pair) {
        REAL(close)(pair->other);
        *pair = pairs[--pair_count];
    }
    pthread_mutex_unlock(&pairs_lock);
    forget_connection(descriptor);
    return REAL(close)(descriptor);
}

// ---- Events

void report_conditions(void) {
    static const char power[] = "change@/devices/x\0ACTION=change\0SUBSYSTEM=power_supply";
    static const char heat[] = "change@/devices/x\0ACTION=change\0SUBSYSTEM=thermal";
    pthread_mutex_lock(&pairs_lock);
    for (size_t i = 0; i < pair_count; i++) {
        if (!pairs[i].is_watch) continue;
        REAL(send)(pairs[i].other, power, sizeof power, MSG_NOSIGNAL);
        if (pairs[i].protocol == NETLINK_KOBJECT_UEVENT) REAL(send)(pairs[i].other, heat, sizeof heat, MSG_NOSIGNAL);
    }
    pthread_mutex_unlock(&pairs_lock);
}

// A message on the socket comes from the kernel.
ssize_t recvmsg(int descriptor, struct msghdr *message, int flags) {
    ssize_t count = REAL(recvmsg)(descriptor, message, flags);
    pthread_mutex_lock(&pairs_lock);
    bool is_ours = find(descriptor);
    pthread_mutex_unlock(&pairs_lock);
    if (is_ours && count >= 0 && message->msg_name) {
        struct sockaddr_nl kernel = {.nl_family = AF_NETLINK};
        memcpy(message->msg_name, &kernel, sizeof kernel);
    }
    return count;
}

// ---- Routes

// The reply to a request for a route: the interface, or that no route leads there.
static size_t answer(const struct nlmsghdr *query, char *reply) {
    struct nlmsghdr *head = (struct nlmsghdr *)(void *)reply;
    *head = (struct nlmsghdr){.nlmsg_seq = query->nlmsg_seq};
    if (!has_network()) {
        struct nlmsgerr failure = {.error = -ENETUNREACH};
        head->nlmsg_type = NLMSG_ERROR;
        head->nlmsg_len = NLMSG_LENGTH(sizeof failure);
        memcpy(NLMSG_DATA(head), &failure, sizeof failure);
        return head->nlmsg_len;
    }
    struct rtmsg route = {.rtm_type = RTN_UNICAST};
    unsigned index = INTERFACE;
    head->nlmsg_type = RTM_NEWROUTE;
    head->nlmsg_len = NLMSG_LENGTH(sizeof route) + RTA_LENGTH(sizeof index);
    memcpy(NLMSG_DATA(head), &route, sizeof route);
    struct rtattr *attribute = RTM_RTA((struct rtmsg *)NLMSG_DATA(head));
    *attribute = (struct rtattr){.rta_type = RTA_OIF, .rta_len = RTA_LENGTH(sizeof index)};
    memcpy(RTA_DATA(attribute), &index, sizeof index);
    return head->nlmsg_len;
}

ssize_t send(int descriptor, const void *bytes, size_t size, int flags) {
    pthread_mutex_lock(&pairs_lock);
    struct pair *pair = find(descriptor);
    int other = pair ? pair->other : -1;
    pthread_mutex_unlock(&pairs_lock);
    if (!pair) return send_to_host(descriptor, bytes, size, flags);
    char reply[256] __attribute__((aligned(NLMSG_ALIGNTO))) = {0};
    size_t count = size >= sizeof(struct nlmsghdr) ? answer(bytes, reply) : 0;
    REAL(send)(other, reply, count, MSG_NOSIGNAL);
    return (ssize_t)size;
}

// ---- The origin: it is on the loopback, but has an address of another machine for the daemon

static bool is_origin(const struct sockaddr *address, socklen_t size, in_addr_t number) {
    const struct sockaddr_in *internet = (const struct sockaddr_in *)(const void *)address;
    return control && address && size >= sizeof *internet && internet->sin_family == AF_INET &&
           internet->sin_addr.s_addr == htonl(number) && ntohs(internet->sin_port) == control->port;
}

int connect(int descriptor, const struct sockaddr *address, socklen_t size) {
    struct sockaddr_in loopback;
    if (!is_origin(address, size, CONTROL_ADDRESS)) return REAL(connect)(descriptor, address, size);
    if (!has_network()) {
        errno = ENETUNREACH;
        return -1;
    }
    memcpy(&loopback, address, sizeof loopback);
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return REAL(connect)(descriptor, (struct sockaddr *)&loopback, sizeof loopback);
}

int getpeername(int descriptor, struct sockaddr *restrict address, socklen_t *restrict size) {
    int result = REAL(getpeername)(descriptor, address, size);
    if (!result && is_origin(address, *size, INADDR_LOOPBACK))
        ((struct sockaddr_in *)(void *)address)->sin_addr.s_addr = htonl(CONTROL_ADDRESS);
    return result;
}

// ---- Interfaces

char *if_indextoname(unsigned index, char *name) {
    if (!control || index != INTERFACE) return REAL(if_indextoname)(index, name);
    return strcpy(name, CONTROL_INTERFACE);
}

// The loopback and the interface of the network, in one block of memory.
struct interfaces {
    struct ifaddrs entries[2];
    struct sockaddr_in addresses[2];
};

int getifaddrs(struct ifaddrs **list) {
    if (!control) return REAL(getifaddrs)(list);
    struct interfaces *made = calloc(1, sizeof *made);
    if (!made) return -1;
    for (size_t i = 0; i < 2; i++) {
        made->addresses[i].sin_family = AF_INET;
        made->addresses[i].sin_addr.s_addr = htonl(i ? CONTROL_ADDRESS + 1 : INADDR_LOOPBACK);
        made->entries[i].ifa_name = i ? (char *)CONTROL_INTERFACE : (char *)"lo";
        made->entries[i].ifa_flags = IFF_UP | IFF_RUNNING | (i ? 0 : IFF_LOOPBACK);
        made->entries[i].ifa_addr = (struct sockaddr *)&made->addresses[i];
    }
    made->entries[0].ifa_next = has_network() ? &made->entries[1] : NULL;
    *list = made->entries;
    return 0;
}

void freeifaddrs(struct ifaddrs *list) {
    if (!control)
        REAL(freeifaddrs)(list);
    else
        free(list);
}
