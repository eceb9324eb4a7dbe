// Removes cipher suites from a TLS context. As in tls.h, the functions are from the OpenSSL library that libcurl has
// loaded.
#pragma once
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct bhl_ciphers {
    void *(*list)(const void *context);
    int (*count)(const void *list);
    const void *(*at)(const void *list, int index);
    const char *(*name)(const void *cipher);
    int (*set)(void *context, const char *names);
};

// Sets all members and returns 1. Returns 0 if a function is missing. `libcurl` is libcurl's handle: dlsym(3) also
// searches the libraries on which libcurl depends.
static inline int bhl_ciphers_load(struct bhl_ciphers *functions, void *libcurl) {
    int found = 1;
#define BHL_LOAD(member, name)                                                                                         \
    found &= (functions->member = (__typeof__(functions->member))dlsym(libcurl, name)) != NULL
    BHL_LOAD(list, "SSL_CTX_get_ciphers");
    BHL_LOAD(count, "OPENSSL_sk_num");
    BHL_LOAD(at, "OPENSSL_sk_value");
    BHL_LOAD(name, "SSL_CIPHER_get_name");
    BHL_LOAD(set, "SSL_CTX_set_cipher_list");
#undef BHL_LOAD
    return found;
}

// Removes the suites of TLS 1.2 with Diffie-Hellman over a finite field (DHE) from the context. The other suites stay
// in their order, because the policy of the system may have chosen them. OpenSSL sets the suites of TLS 1.3 separately,
// and keeps them. If no other suite of TLS 1.2 is left, the context stays as it is.
static inline void bhl_ciphers_remove_dhe(const struct bhl_ciphers *functions, void *context) {
    char names[8192];
    size_t length = 0;
    const void *list = functions->list(context);
    int count = list ? functions->count(list) : 0;
    for (int index = 0; index < count; index++) {
        const char *name = functions->name(functions->at(list, index));
        size_t size = strlen(name);
        if (strncmp(name, "DHE-", 4) == 0 || strncmp(name, "TLS_", 4) == 0) continue;
        if (length + size + 1 > sizeof names) return;
        memcpy(names + length, name, size);
        names[length + size] = ':';
        length += size + 1;
    }
    if (length == 0) return;
    names[length - 1] = 0;
    functions->set(context, names);
}
