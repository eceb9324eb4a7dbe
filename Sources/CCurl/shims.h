// Typed forms of libcurl's variadic functions, because Swift cannot call variadic functions. Also constants and
// functions for macros and unions in libcurl's headers, because Swift cannot import these.
#pragma once
#include <curl/curl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/socket.h>
#include <unistd.h>

static inline CURLcode bhl_easy_set_long(CURL *easy, CURLoption option, long value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode bhl_easy_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode bhl_easy_set_seek(CURL *easy, curl_seek_callback function, void *data) {
    CURLcode result = (curl_easy_setopt)(easy, CURLOPT_SEEKFUNCTION, function);
    return result ? result : (curl_easy_setopt)(easy, CURLOPT_SEEKDATA, data);
}
static inline CURLcode bhl_easy_set_string(CURL *easy, CURLoption option, const char *value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode bhl_easy_set_pointer(CURL *easy, CURLoption option, void *value) {
    return (curl_easy_setopt)(easy, option, value);
}
static inline CURLcode bhl_easy_set_headers(CURL *easy, struct curl_slist *list) {
    return (curl_easy_setopt)(easy, CURLOPT_HTTPHEADER, list);
}
static inline CURLcode bhl_easy_set_proxy_headers(CURL *easy, struct curl_slist *list) {
    return (curl_easy_setopt)(easy, CURLOPT_PROXYHEADER, list);
}
static inline CURLcode bhl_easy_set_receiver(CURL *easy, CURLoption option, curl_write_callback function) {
    return (curl_easy_setopt)(easy, option, function);
}
static inline CURLcode bhl_easy_set_resolver_start(CURL *easy, curl_resolver_start_callback function, void *data) {
    CURLcode result = (curl_easy_setopt)(easy, CURLOPT_RESOLVER_START_FUNCTION, function);
    return result ? result : (curl_easy_setopt)(easy, CURLOPT_RESOLVER_START_DATA, data);
}
static inline CURLcode bhl_easy_set_open_socket(CURL *easy, curl_opensocket_callback function, void *data) {
    CURLcode result = (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETFUNCTION, function);
    return result ? result : (curl_easy_setopt)(easy, CURLOPT_OPENSOCKETDATA, data);
}
static inline CURLcode bhl_easy_set_close_socket(CURL *easy, curl_closesocket_callback function, void *data) {
    CURLcode result = (curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETFUNCTION, function);
    return result ? result : (curl_easy_setopt)(easy, CURLOPT_CLOSESOCKETDATA, data);
}
static inline CURLcode bhl_easy_set_before_request(CURL *easy, curl_prereq_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_PREREQFUNCTION, function);
}

static inline CURLcode bhl_easy_set_debug(CURL *easy, curl_debug_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_DEBUGFUNCTION, function);
}
static inline CURLcode bhl_easy_set_progress(CURL *easy, curl_xferinfo_callback function) {
    return (curl_easy_setopt)(easy, CURLOPT_XFERINFOFUNCTION, function);
}

static inline CURLcode bhl_easy_set_share(CURL *easy, CURLSH *share) {
    return (curl_easy_setopt)(easy, CURLOPT_SHARE, share);
}
static inline CURLSHcode bhl_share_set(CURLSH *share, CURLSHoption option, curl_lock_data data) {
    return (curl_share_setopt)(share, option, data);
}
static inline CURLcode bhl_easy_get_list(CURL *easy, CURLINFO info, struct curl_slist **list) {
    return (curl_easy_getinfo)(easy, info, list);
}

static inline CURLcode bhl_easy_get_pointer(CURL *easy, CURLINFO info, void **value) {
    return (curl_easy_getinfo)(easy, info, value);
}
static inline CURLcode bhl_easy_get_string(CURL *easy, CURLINFO info, const char **value) {
    return (curl_easy_getinfo)(easy, info, value);
}
static inline CURLcode bhl_easy_get_long(CURL *easy, CURLINFO info, long *value) {
    return (curl_easy_getinfo)(easy, info, value);
}
static inline CURLcode bhl_easy_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return (curl_easy_getinfo)(easy, info, value);
}

// libcurl has deprecated curl_multi_socket_all, because this function checks all transfers. Here, all transfers must be
// checked.
static inline CURLMcode bhl_multi_act_on_all(CURLM *multi, int *running) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
    return curl_multi_socket_all(multi, running);
#pragma GCC diagnostic pop
}
static inline CURLMcode bhl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return (curl_multi_setopt)(multi, option, value);
}
static inline CURLMcode bhl_multi_set_socket_function(CURLM *multi, curl_socket_callback function, void *data) {
    CURLMcode result = (curl_multi_setopt)(multi, CURLMOPT_SOCKETFUNCTION, function);
    return result ? result : (curl_multi_setopt)(multi, CURLMOPT_SOCKETDATA, data);
}
static inline CURLMcode bhl_multi_set_timer_function(CURLM *multi, curl_multi_timer_callback function, void *data) {
    CURLMcode result = (curl_multi_setopt)(multi, CURLMOPT_TIMERFUNCTION, function);
    return result ? result : (curl_multi_setopt)(multi, CURLMOPT_TIMERDATA, data);
}

// Returns the result from a message with the type CURLMSG_DONE. The result is in a union, whose members have no names
// in Swift.
static inline CURLcode bhl_message_result(const CURLMsg *message) { return message->data.result; }

// An address in libcurl.
static inline const void *bhl_curl_address(void) { return (const void *)curl_easy_init; }

static inline const curl_version_info_data *bhl_version(void) { return curl_version_info(CURLVERSION_NOW); }
static inline CURLcode bhl_global_init(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

// This is POLLRDHUP of poll(2), which glibc declares only if _GNU_SOURCE is defined.
enum { bhl_poll_read_end = 0x2000 };

// Swift does not import the next macros, because they contain casts and shifts.
enum { bhl_basic_authentication = CURLAUTH_BASIC, bhl_digest_authentication = CURLAUTH_DIGEST };
enum { bhl_headers_separate = CURLHEADER_SEPARATE };
enum { bhl_pause = CURL_WRITEFUNC_PAUSE };
static const curl_socket_t bhl_socket_timeout = CURL_SOCKET_TIMEOUT;

// Returns a socket that listens on a free port of this machine's own address, or -1.
static inline int bhl_listen_locally(uint16_t *port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    int number = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (number >= 0 && !bind(number, (struct sockaddr *)&address, size) && !listen(number, 1) &&
        !getsockname(number, (struct sockaddr *)&address, &size)) {
        *port = ntohs(address.sin_port);
        return number;
    }
    if (number >= 0) close(number);
    return -1;
}

// Returns the number of bytes that a connection has received, or -1. The number is tcpi_bytes_received of linux/tcp.h
// (Linux 4.1). libc's netinet/tcp.h lacks this field, and the two headers cannot be included together.
static inline int64_t bhl_received_bytes(int descriptor) {
    uint64_t info[17];
    socklen_t size = sizeof info;
    const int tcp_info = 11;
    if (getsockopt(descriptor, IPPROTO_TCP, tcp_info, info, &size) != 0 || size < sizeof info) return -1;
    return (int64_t)info[16];
}
