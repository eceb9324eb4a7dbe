// The functions of libsystemd that Backhaul uses. They are loaded when they are first needed, so that Backhaul can be
// linked and used without libsystemd. The header of libsystemd is needed at build time, but only for the types of these
// functions. Because Backhaul does not link libsystemd, a direct call of one of these functions would fail at link
// time. None of these functions is variadic, because Swift cannot call variadic functions. To build and read messages,
// libsystemd has variadic functions and functions with fixed arguments (sd-bus(3)). Backhaul uses only those with fixed
// arguments.
#pragma once
#include <dlfcn.h>
#include <systemd/sd-bus.h>

#define BHL_SYSTEMD_FUNCTIONS(X)                                                                                       \
    X(new) X(unref) X(close) X(set_address) X(set_bus_client) X(start)                                                 \
    X(get_fd) X(get_events) X(get_timeout) X(process) X(send)                                                          \
    X(message_unref) X(message_new_method_call) X(message_new_signal) X(message_set_auto_start)                        \
    X(message_get_reply_cookie) X(message_get_error) X(message_is_signal) X(message_get_sender) X(message_get_path)    \
    X(message_peek_type) X(message_open_container) X(message_close_container) X(message_append_basic)                  \
    X(message_enter_container) X(message_exit_container) X(message_read_basic) X(message_skip)

struct bhl_systemd {
#define BHL_MEMBER(name) __typeof__(&sd_bus_##name) name;
    BHL_SYSTEMD_FUNCTIONS(BHL_MEMBER)
#undef BHL_MEMBER
};

// Sets all members and returns 1. Returns 0 if the library or a function is missing. The library stays loaded.
static inline int bhl_systemd_load(struct bhl_systemd *functions) {
    void *library = dlopen("libsystemd.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
#define BHL_LOOK_UP(name)                                                                                              \
    functions->name = (__typeof__(&sd_bus_##name))dlsym(library, "sd_bus_" #name);                                     \
    if (!functions->name) return 0;
    BHL_SYSTEMD_FUNCTIONS(BHL_LOOK_UP)
#undef BHL_LOOK_UP
    return 1;
}
