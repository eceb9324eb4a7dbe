// What OpenSSL says of a request's connection. Its functions are looked up in the library that libcurl has loaded:
// libcurl may use another TLS library, or another version of this one, than was here when this was built, and a host
// may have one of its own.
#pragma once
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

struct bhl_tls {
    const char *(*version)(const void *session);
    const void *(*cipher)(const void *session);
    const char *(*cipher_name)(const void *cipher);
};

// Fills every member and returns 1; 0 when no library of this name is loaded, or a function is missing.
static inline int bhl_tls_load(struct bhl_tls *functions, const char *library_name) {
    void *library = dlopen(library_name, RTLD_NOW | RTLD_NOLOAD | RTLD_LOCAL);
    if (!library) return 0;
    functions->version = (__typeof__(functions->version))dlsym(library, "SSL_get_version");
    functions->cipher = (__typeof__(functions->cipher))dlsym(library, "SSL_get_current_cipher");
    functions->cipher_name = (__typeof__(functions->cipher_name))dlsym(library, "SSL_CIPHER_get_name");
    return functions->version && functions->cipher && functions->cipher_name;
}

// The texts are OpenSSL's own and stay. 0 when the request has no TLS connection, or one of another library. Only while
// the request has its connection: in call-backs.
static inline int bhl_tls_look(
    const struct bhl_tls *functions, CURL *easy, const char **version, const char **cipher
) {
    struct curl_tlssessioninfo *session = NULL;
    if ((curl_easy_getinfo)(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return 0;
    if (session->backend != CURLSSLBACKEND_OPENSSL || !session->internals) return 0;
    *version = functions->version(session->internals);
    *cipher = functions->cipher_name(functions->cipher(session->internals));
    return *version && *cipher;
}
