// Reads the state that OpenSSL has for the connection of a request. The functions are looked up in the OpenSSL library
// that libcurl has loaded. They are not linked, for two reasons. At run time, libcurl may use another TLS library or
// another version of OpenSSL than at build time. And the host, which is the program that embeds the library, may have
// loaded an OpenSSL of its own.
#pragma once
#include <curl/curl.h>
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct bhl_tls {
    const char *(*version)(const void *session);
    const void *(*cipher)(const void *session);
    const char *(*cipher_name)(const void *cipher);
    void (*protocol)(const void *session, const unsigned char **name, unsigned *length);
    int (*shutdown_state)(const void *session);
    int (*pending)(const void *session);
    int (*has_pending)(const void *session);
    int (*peek)(void *session, void *bytes, int count);
    int (*error)(const void *session, int result);
    void *(*read_bio)(const void *session);
    void *(*write_bio)(const void *session);
    void (*set_read_bio)(void *session, void *side);
    void (*set_write_bio)(void *session, void *side);
    void *(*new_bio)(int socket, int closes);
    int (*retain_bio)(void *side);
    void (*clear_errors)(void);
    void (*set_record_function)(void *session, void *function);
    long (*control)(void *session, int command, long number, void *pointer);
};

typedef void (*bhl_tls_record)(int is_written, int version, int type, const void *bytes, size_t size, void *session,
                               void *receiver);

// Sets all members and returns 1. Returns 0 if a function is missing. `libcurl` is libcurl's handle: dlsym(3) also
// searches the libraries on which libcurl depends. So the functions are those that libcurl uses, even if a wheel has
// OpenSSL under another name, or if the process has loaded a second OpenSSL.
static inline int bhl_tls_load(struct bhl_tls *functions, void *libcurl) {
    int found = 1;
#define BHL_LOAD(member, name)                                                                                         \
    found &= (functions->member = (__typeof__(functions->member))dlsym(libcurl, name)) != NULL
    BHL_LOAD(version, "SSL_get_version");
    BHL_LOAD(cipher, "SSL_get_current_cipher");
    BHL_LOAD(cipher_name, "SSL_CIPHER_get_name");
    BHL_LOAD(protocol, "SSL_get0_alpn_selected");
    BHL_LOAD(shutdown_state, "SSL_get_shutdown");
    BHL_LOAD(pending, "SSL_pending");
    BHL_LOAD(has_pending, "SSL_has_pending");
    BHL_LOAD(peek, "SSL_peek");
    BHL_LOAD(error, "SSL_get_error");
    BHL_LOAD(read_bio, "SSL_get_rbio");
    BHL_LOAD(write_bio, "SSL_get_wbio");
    BHL_LOAD(set_read_bio, "SSL_set0_rbio");
    BHL_LOAD(set_write_bio, "SSL_set0_wbio");
    BHL_LOAD(new_bio, "BIO_new_socket");
    BHL_LOAD(retain_bio, "BIO_up_ref");
    BHL_LOAD(clear_errors, "ERR_clear_error");
    BHL_LOAD(set_record_function, "SSL_set_msg_callback");
    BHL_LOAD(control, "SSL_ctrl");
#undef BHL_LOAD
    return found;
}

// Returns the TLS session of the request. Returns NULL if the request has no TLS session, or if its session is not one
// of OpenSSL. May be called only in call-backs, while the request has a connection. If there is a tunnel through an
// https proxy, the result is the session with the server.
static inline void *bhl_tls_session(CURL *easy) {
    struct curl_tlssessioninfo *session = NULL;
    if ((curl_easy_getinfo)(easy, CURLINFO_TLS_SSL_PTR, &session) != CURLE_OK || !session) return NULL;
    return session->backend == CURLSSLBACKEND_OPENSSL ? session->internals : NULL;
}

// Reads the TLS version and the cipher. The strings are constants of OpenSSL. Returns 0 if a string is missing.
static inline int bhl_tls_describe(const struct bhl_tls *functions, const void *session, const char **version,
                                   const char **cipher) {
    *version = functions->version(session);
    *cipher = functions->cipher_name(functions->cipher(session));
    return *version && *cipher;
}

// Returns whether the TLS handshake selected HTTP/2 (RFC 9113, section 3.2).
static inline int bhl_tls_is_http2(const struct bhl_tls *functions, const void *session) {
    const unsigned char *name = NULL;
    unsigned length = 0;
    functions->protocol(session, &name, &length);
    return length == 2 && memcmp(name, "h2", 2) == 0;
}

// Returns whether the server has sent close_notify. The bit 2 is SSL_RECEIVED_SHUTDOWN.
static inline int bhl_tls_is_closed(const struct bhl_tls *functions, const void *session) {
    return (functions->shutdown_state(session) & 2) != 0;
}

// Makes OpenSSL call `function` for each record of the session, with `receiver` as an argument. The command 16 is
// SSL_CTRL_SET_MSG_CALLBACK_ARG.
static inline void bhl_tls_report_records(const struct bhl_tls *functions, void *session, bhl_tls_record function,
                                          void *receiver) {
    functions->set_record_function(session, (void *)function);
    functions->control(session, 16, 0, receiver);
}

enum { bhl_input_none, bhl_input_partial, bhl_input_data, bhl_input_end };

// Returns what the received TLS bytes contain: a part of a record, application data, or the end of the connection.
// Returns bhl_input_none if they contain none of these, for example if they are only a session ticket. No application
// data is consumed. During this call, OpenSSL reads the socket itself, because libcurl's reader works only during a
// call of libcurl.
static inline int bhl_tls_input(const struct bhl_tls *functions, void *session, int socket) {
    void *reader = functions->read_bio(session), *writer = functions->write_bio(session);
    void *side = reader && writer ? functions->new_bio(socket, 0) : NULL;
    if (!side) return bhl_input_data;
    functions->retain_bio(reader);
    functions->retain_bio(writer);
    functions->retain_bio(side);
    functions->set_read_bio(session, side);
    functions->set_write_bio(session, side);
    functions->clear_errors();
    char byte;
    int result = functions->peek(session, &byte, 1);
    int error = functions->error(session, result);
    functions->clear_errors();
    functions->set_read_bio(session, reader);
    functions->set_write_bio(session, writer);
    if (result > 0) return bhl_input_data;
    // The error 2 is SSL_ERROR_WANT_READ.
    if (error != 2) return bhl_input_end;
    return functions->has_pending(session) ? bhl_input_partial : bhl_input_none;
}
