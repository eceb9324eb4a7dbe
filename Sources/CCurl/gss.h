// Makes Kerberos tokens for Negotiate (RFC 4559) with the GSS library (RFC 2744) on which Debian's libcurl depends. The
// GSS library is loaded when it is first needed, and its types are declared here. So Backhaul can be built and used
// without this library.
#pragma once
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bhl_gss_buffer {
    size_t length;
    void *value;
};
struct bhl_gss_oid {
    uint32_t length;
    void *elements;
};

struct bhl_gss {
    uint32_t (*import_name)(uint32_t *, struct bhl_gss_buffer *, struct bhl_gss_oid *, void **);
    uint32_t (*init)(uint32_t *, void *, void **, void *, struct bhl_gss_oid *, uint32_t, uint32_t, void *,
                     struct bhl_gss_buffer *, struct bhl_gss_oid **, struct bhl_gss_buffer *, uint32_t *, uint32_t *);
    uint32_t (*display)(uint32_t *, uint32_t, int, struct bhl_gss_oid *, uint32_t *, struct bhl_gss_buffer *);
    uint32_t (*release_buffer)(uint32_t *, struct bhl_gss_buffer *);
    uint32_t (*release_name)(uint32_t *, void **);
    uint32_t (*delete_context)(uint32_t *, void **, struct bhl_gss_buffer *);
    struct bhl_gss_oid **hostbased_service;
};

// Sets all members and returns 1. Returns 0 if the library or a function is missing. The library stays loaded.
static inline int bhl_gss_load(struct bhl_gss *gss) {
    void *library = dlopen("libgssapi_krb5.so.2", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    gss->import_name = (__typeof__(gss->import_name))dlsym(library, "gss_import_name");
    gss->init = (__typeof__(gss->init))dlsym(library, "gss_init_sec_context");
    gss->display = (__typeof__(gss->display))dlsym(library, "gss_display_status");
    gss->release_buffer = (__typeof__(gss->release_buffer))dlsym(library, "gss_release_buffer");
    gss->release_name = (__typeof__(gss->release_name))dlsym(library, "gss_release_name");
    gss->delete_context = (__typeof__(gss->delete_context))dlsym(library, "gss_delete_sec_context");
    gss->hostbased_service = (struct bhl_gss_oid **)dlsym(library, "GSS_C_NT_HOSTBASED_SERVICE");
    return gss->import_name && gss->init && gss->display && gss->release_buffer && gss->release_name &&
           gss->delete_context && gss->hostbased_service;
}

// Returns the first token for a service such as "HTTP@example.org". The token is made from the user's own Kerberos
// tickets. The caller must free the token with free(). On a failure, returns NULL and writes a reason. The call may
// block while it uses the network.
static inline unsigned char *bhl_gss_token(const struct bhl_gss *gss, const char *service, size_t *size, char *reason,
                                           size_t reason_size) {
    // The object identifier of SPNEGO (RFC 4178) is 1.3.6.1.5.5.2.
    struct bhl_gss_oid mechanism = {6, (void *)"\x2b\x06\x01\x05\x05\x02"};
    struct bhl_gss_buffer name_text = {strlen(service), (void *)service}, token = {0, NULL};
    void *name = NULL, *context = NULL;
    uint32_t minor = 0, ignored = 0;
    uint32_t major = gss->import_name(&minor, &name_text, *gss->hostbased_service, &name);
    // The upper 16 bits of the result contain the errors. The value 1 in the lower 16 bits is GSS_S_CONTINUE_NEEDED,
    // which is not an error.
    if (!(major >> 16)) {
        major = gss->init(&minor, NULL, &context, name, &mechanism, 0, 0, NULL, NULL, NULL, &token, NULL, NULL);
    }
    unsigned char *copy = NULL;
    *size = 0;
    if (!(major >> 16) && token.length) copy = malloc(token.length);
    if (copy) {
        memcpy(copy, token.value, token.length);
        *size = token.length;
    } else {
        struct bhl_gss_buffer text = {0, NULL};
        uint32_t more = 0;
        // The type 2 is GSS_C_MECH_CODE, which selects the message of Kerberos itself.
        gss->display(&ignored, minor, 2, &mechanism, &more, &text);
        snprintf(reason, reason_size, "%.*s", (int)text.length, text.value ? (const char *)text.value : "");
        gss->release_buffer(&ignored, &text);
    }
    gss->release_buffer(&ignored, &token);
    if (context) gss->delete_context(&ignored, &context, NULL);
    if (name) gss->release_name(&ignored, &name);
    return copy;
}
