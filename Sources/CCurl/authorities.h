// Reads the certificates of the certificate authorities in advance, for all connections. Without these functions,
// libcurl would read and parse the file of certificates on the thread of the event loop. As in tls.h, the functions are
// from the OpenSSL library that libcurl has loaded.
#pragma once
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>

struct bhl_authorities {
    void *(*new_store)(void);
    void (*free_store)(void *store);
    int (*add)(void *store, void *certificate);
    int (*set_flags)(void *store, unsigned long flags);
    void (*use)(void *context, void *store);
    void *(*new_source)(const void *bytes, int size);
    int (*free_source)(void *source);
    void *(*read)(void *source, void **reuse, void *ask, void *password);
    void (*free_certificate)(void *certificate);
    unsigned long (*last_error)(void);
    void (*clear_errors)(void);
};

// Sets all members and returns 1. Returns 0 if a function is missing. `libcurl` is libcurl's handle: dlsym(3) also
// searches the libraries on which libcurl depends. So the functions are those that libcurl uses, even if a wheel has
// OpenSSL under another name, or if the process has loaded a second OpenSSL.
static inline int bhl_authorities_load(struct bhl_authorities *functions, void *libcurl) {
    int found = 1;
#define BHL_LOAD(member, name)                                                                                         \
    found &= (functions->member = (__typeof__(functions->member))dlsym(libcurl, name)) != NULL
    BHL_LOAD(new_store, "X509_STORE_new");
    BHL_LOAD(free_store, "X509_STORE_free");
    BHL_LOAD(add, "X509_STORE_add_cert");
    BHL_LOAD(set_flags, "X509_STORE_set_flags");
    BHL_LOAD(use, "SSL_CTX_set1_cert_store");
    BHL_LOAD(new_source, "BIO_new_mem_buf");
    BHL_LOAD(free_source, "BIO_free");
    BHL_LOAD(read, "PEM_read_bio_X509_AUX");
    BHL_LOAD(free_certificate, "X509_free");
    BHL_LOAD(last_error, "ERR_peek_last_error");
    BHL_LOAD(clear_errors, "ERR_clear_error");
#undef BHL_LOAD
    return found;
}

// Makes an OpenSSL store (X509_STORE) with all certificates in a PEM text, for any number of connections. Returns NULL
// if there is no certificate, or if a certificate cannot be read. If a certificate cannot be read, `count` is the
// number of certificates before the unreadable one.
static inline void *bhl_authorities_make(const struct bhl_authorities *functions, const void *text, int size,
                                         int *count) {
    *count = 0;
    void *store = functions->new_store(), *source = functions->new_source(text, size), *certificate;
    int is_whole = store && source;
    functions->clear_errors();
    // With the empty password, OpenSSL does not ask for a password on the terminal of this process.
    while (is_whole && (certificate = functions->read(source, NULL, NULL, (void *)""))) {
        is_whole = functions->add(store, certificate);
        functions->free_certificate(certificate);
        *count += is_whole;
    }
    // The lowest bits of the error contain the reason. The reason 108 is PEM_R_NO_START_LINE, which means the end of
    // the text.
    if (is_whole) is_whole = *count > 0 && (functions->last_error() & 0xFFF) == 108;
    functions->clear_errors();
    if (source) functions->free_source(source);
    // 0x8000 is X509_V_FLAG_TRUSTED_FIRST, and 0x80000 is X509_V_FLAG_PARTIAL_CHAIN. libcurl also sets these flags for
    // the stores that it makes.
    if (is_whole && functions->set_flags(store, 0x8000 | 0x80000)) return store;
    if (store) functions->free_store(store);
    return NULL;
}

// Sets a function that libcurl calls for each TLS context that it makes. libcurl passes the receiver to this function.
static inline CURLcode bhl_easy_set_context_function(CURL *easy, curl_ssl_ctx_callback function, void *receiver) {
    CURLcode result = (curl_easy_setopt)(easy, CURLOPT_SSL_CTX_FUNCTION, function);
    return result ? result : (curl_easy_setopt)(easy, CURLOPT_SSL_CTX_DATA, receiver);
}

// Sets an option from bytes, which libcurl copies.
static inline CURLcode bhl_easy_set_bytes(CURL *easy, CURLoption option, const void *bytes, size_t size) {
    struct curl_blob blob = {(void *)bytes, size, CURL_BLOB_COPY};
    return (curl_easy_setopt)(easy, option, &blob);
}
