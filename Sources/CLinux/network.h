// Routes and interfaces of the network namespace. Inline because sockaddr's many forms are casts in C and would be
// unsafe pointers in Swift.
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
#include <sys/socket.h>
#include <unistd.h>

// A socket that is told of every change of links, addresses and routes (rtnetlink(7)), or -1.
static inline int bhl_watch_routes(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address;
    memset(&address, 0, sizeof address);
    address.nl_family = AF_NETLINK;
    address.nl_groups =
        RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV4_ROUTE | RTMGRP_IPV6_IFADDR | RTMGRP_IPV6_ROUTE;
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

// 1 when a route leads to the numeric address, 0 when none does or it is no address. Sends nothing: connect(2) of a
// datagram socket only looks the route up.
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

// 1 when an interface other than the loopback is up, with an address that is not of its link alone.
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
