// libcurl's easy and multi interfaces take their options as variadic arguments, which Swift cannot call: one typed
// function for each kind of argument.
#pragma once
#include <curl/curl.h>

static inline CURLcode bhc_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bhc_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}
static inline CURLcode bhc_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}
typedef size_t (*bhc_data_function)(char *bytes, size_t size, size_t count, void *context);
static inline CURLcode bhc_set_data_function(CURL *easy, CURLoption option, bhc_data_function function) {
    return curl_easy_setopt(easy, option, function);
}
static inline CURLcode bhc_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode bhc_get_string(CURL *easy, CURLINFO info, const char **value) {
    return curl_easy_getinfo(easy, info, value);
}
static inline CURLcode bhc_get_offset(CURL *easy, CURLINFO info, curl_off_t *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode bhc_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}
typedef int (*bhc_socket_function)(CURL *easy, curl_socket_t socket, int what, void *context, void *socket_context);
typedef int (*bhc_timer_function)(CURLM *multi, long milliseconds, void *context);
static inline CURLMcode bhc_multi_set_callbacks(
    CURLM *multi, bhc_socket_function socket, bhc_timer_function timer, void *context) {
    CURLMcode code = curl_multi_setopt(multi, CURLMOPT_SOCKETFUNCTION, socket);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_SOCKETDATA, context);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERFUNCTION, timer);
    if (!code) code = curl_multi_setopt(multi, CURLMOPT_TIMERDATA, context);
    return code;
}

// A finished transfer and its result; the union of CURLMsg is out of Swift's reach.
static inline CURL *bhc_multi_next_finished(CURLM *multi, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left))) {
        if (message->msg == CURLMSG_DONE) {
            *result = message->data.result;
            return message->easy_handle;
        }
    }
    return NULL;
}
