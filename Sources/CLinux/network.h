// Reads the routes and interfaces of the network namespace. These are C functions, because the casts between the forms
// of sockaddr would need unsafe pointers in Swift.
#pragma once
#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

// Returns a socket that receives each change of links, addresses, routes and rules, or only of addresses
// (rtnetlink(7)). A rule chooses the table of routes. Returns -1 after an error.
static inline int bhl_watch_network(int only_addresses) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    if (!only_addresses) {
        address.nl_groups |= RTMGRP_LINK | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_ROUTE;
        address.nl_groups |= RTMGRP_IPV4_RULE | 1U << (RTNLGRP_IPV6_RULE - 1);
    }
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

// Returns 1 if no interface has the socket's local address any more, because bind(2) then refuses the address. Also
// returns 1 if the socket is connecting from a link-local address of IPv6, or from ::1. The kernel chooses such an
// address if it has no other, and the packets do not reach other networks. Connections within this machine do not wait.
// Returns 0 otherwise, or if this cannot be determined.
static inline int bhl_lacks_local_address(int descriptor) {
    struct sockaddr_storage address, peer;
    socklen_t size = sizeof address, peer_size = sizeof peer;
    if (getsockname(descriptor, (struct sockaddr *)&address, &size) != 0) return 0;
    const struct in6_addr *local = &((struct sockaddr_in6 *)&address)->sin6_addr;
    if (address.ss_family == AF_INET6 && (IN6_IS_ADDR_LINKLOCAL(local) || IN6_IS_ADDR_LOOPBACK(local)) &&
        getpeername(descriptor, (struct sockaddr *)&peer, &peer_size) != 0) {
        return 1;
    }
    // The port has the same offset for both families.
    ((struct sockaddr_in *)&address)->sin_port = 0;
    int probe = socket(address.ss_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (probe < 0) return 0;
    // ENODEV: the interface of a link-local address was removed.
    int result = bind(probe, (struct sockaddr *)&address, size) != 0 && (errno == EADDRNOTAVAIL || errno == ENODEV);
    close(probe);
    return result;
}

// Disconnects a TCP socket with a reset (connect(2), AF_UNSPEC).
static inline void bhl_reset(int descriptor) {
    struct sockaddr none;
    memset(&none, 0, sizeof none);
    none.sa_family = AF_UNSPEC;
    connect(descriptor, &none, sizeof none);
}

// Returns 1 if a route leads to the numeric address. Returns 0 if there is no such route, or if the text is not an
// address. Sends nothing, because connect(2) of a datagram socket only finds the route.
static inline int bhl_has_route(const char *text) {
    struct addrinfo hints, *found = NULL;
    memset(&hints, 0, sizeof hints);
    hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
    hints.ai_socktype = SOCK_DGRAM;
    if (getaddrinfo(text, "53", &hints, &found) != 0 || !found) return 0;
    int descriptor = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int result = descriptor >= 0 && connect(descriptor, found->ai_addr, found->ai_addrlen) == 0;
    if (descriptor >= 0) close(descriptor);
    freeaddrinfo(found);
    return result;
}

// Returns 1 if an interface other than the loopback is up, and has an IPv4 address or an IPv6 address that is not
// link-local. Otherwise returns 0.
static inline int bhl_has_network(void) {
    struct ifaddrs *list = NULL;
    if (getifaddrs(&list) != 0) return 0;
    int found = 0;
    for (struct ifaddrs *entry = list; entry && !found; entry = entry->ifa_next) {
        unsigned needed = IFF_UP | IFF_RUNNING;
        if (!entry->ifa_addr || (entry->ifa_flags & IFF_LOOPBACK) || (entry->ifa_flags & needed) != needed) continue;
        if (entry->ifa_addr->sa_family == AF_INET) found = 1;
        if (entry->ifa_addr->sa_family != AF_INET6) continue;
        found = !IN6_IS_ADDR_LINKLOCAL(&((struct sockaddr_in6 *)entry->ifa_addr)->sin6_addr);
    }
    freeifaddrs(list);
    return found;
}

// The interface of a route.
struct bhl_route {
    char name[IF_NAMESIZE]; // terminated by a zero
    int type;               // ARPHRD_… (linux/if_arp.h), or -1
};

static inline void bhl_describe_link(unsigned index, struct bhl_route *out) {
    memset(out, 0, sizeof *out);
    out->type = -1;
    struct ifreq request;
    memset(&request, 0, sizeof request);
    if (!if_indextoname(index, out->name)) return;
    memcpy(request.ifr_name, out->name, IF_NAMESIZE);
    int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    if (ioctl(descriptor, SIOCGIFHWADDR, &request) == 0) out->type = request.ifr_hwaddr.sa_family;
    close(descriptor);
}

// If a route leads to the numeric address, returns 1 and the interface. If there is no such route, returns 0. If the
// address is one of this machine, or a broadcast address, returns 2. If this cannot be determined, returns -1 and sets
// errno. Uses RTM_GETROUTE of rtnetlink(7). The kernel replies immediately, and sends nothing on the network. Security
// modules and packet filters do not affect the reply.
static inline int bhl_find_route(int family, const char *text, struct bhl_route *out) {
    struct {
        struct nlmsghdr head;
        struct rtmsg route;
        struct rtattr attribute;
        unsigned char address[16];
    } query;
    memset(&query, 0, sizeof query);
    int size = family == AF_INET ? 4 : 16;
    query.head.nlmsg_len = (unsigned)(sizeof query - 16 + (size_t)size);
    query.head.nlmsg_type = RTM_GETROUTE;
    query.head.nlmsg_flags = NLM_F_REQUEST;
    query.route.rtm_family = (unsigned char)family;
    query.route.rtm_dst_len = (unsigned char)(size * 8);
    query.attribute.rta_type = RTA_DST;
    query.attribute.rta_len = (unsigned short)RTA_LENGTH(size);
    if (inet_pton(family, text, query.address) != 1) return errno = EINVAL, -1;

    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    char response[4096] __attribute__((aligned(NLMSG_ALIGNTO)));
    ssize_t count = send(descriptor, &query, query.head.nlmsg_len, 0);
    if (count >= 0) count = recv(descriptor, response, sizeof response, 0);
    int code = errno;
    close(descriptor);
    errno = code;
    if (count < 0) return -1;
    struct nlmsghdr *head = (struct nlmsghdr *)(void *)response;
    if (!NLMSG_OK(head, (size_t)count)) return errno = EPROTO, -1;
    if (head->nlmsg_type == NLMSG_ERROR && head->nlmsg_len >= NLMSG_LENGTH(sizeof(struct nlmsgerr))) {
        errno = -((struct nlmsgerr *)NLMSG_DATA(head))->error;
        // With these errors, there is no route, or its type is unreachable, prohibit or blackhole.
        return errno == ENETUNREACH || errno == EHOSTUNREACH || errno == EACCES || errno == EINVAL ? 0 : -1;
    }
    if (head->nlmsg_type != RTM_NEWROUTE || head->nlmsg_len < NLMSG_LENGTH(sizeof(struct rtmsg))) {
        return errno = EPROTO, -1;
    }
    struct rtmsg *route = (struct rtmsg *)NLMSG_DATA(head);
    int type = route->rtm_type;
    if (type == RTN_BLACKHOLE || type == RTN_UNREACHABLE || type == RTN_PROHIBIT || type == RTN_THROW) return 0;
    if (type != RTN_UNICAST) return 2;
    int left = (int)RTM_PAYLOAD(head);
    for (struct rtattr *entry = RTM_RTA(route); RTA_OK(entry, left); entry = RTA_NEXT(entry, left)) {
        if (entry->rta_type != RTA_OIF || RTA_PAYLOAD(entry) < sizeof(unsigned)) continue;
        unsigned index;
        memcpy(&index, RTA_DATA(entry), sizeof index);
        bhl_describe_link(index, out);
        return out->name[0] != 0;
    }
    return 0;
}

// The same for a route to the internet. Returns 1, 0 or -1.
static inline int bhl_default_route(int family, struct bhl_route *out) {
    // This is the address of a.root-servers.net. It is outside of all local networks and does not change.
    int result = bhl_find_route(family, family == AF_INET ? "198.41.0.4" : "2001:503:ba3e::2:30", out);
    return result == 2 ? 0 : result;
}

// Returns 1 if the kernel knows that no route leads to the numeric address. Otherwise returns 0.
static inline int bhl_lacks_route(const char *text) {
    struct bhl_route route;
    return bhl_find_route(strchr(text, ':') ? AF_INET6 : AF_INET, text, &route) == 0;
}
