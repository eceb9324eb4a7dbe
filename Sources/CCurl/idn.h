// Converts international host names with libidn2, on which Debian's libcurl depends. libcurl's own conversion reads the
// name in the locale of the process, which the host may have set to any value. libidn2 is loaded when it is first
// needed, and its functions are declared here. So Backhaul can be built and used without this library.
#pragma once
#include <dlfcn.h>
#include <stddef.h>

// Returns the ASCII form of a name in UTF-8. The caller must free it with free(). If the name is invalid, returns NULL
// and sets a reason. If the library is missing, returns NULL without a reason.
static inline char *bhl_idn_ascii(const char *name, const char **reason) {
    *reason = NULL;
    void *library = dlopen("libidn2.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return NULL;
    int (*lookup)(const char *, char **, int) = (int (*)(const char *, char **, int))dlsym(library, "idn2_lookup_u8");
    const char *(*text)(int) = (const char *(*)(int))dlsym(library, "idn2_strerror");
    if (!lookup || !text) return NULL;
    char *ascii = NULL;
    // IDN2_NFC_INPUT and IDN2_NONTRANSITIONAL (UTS #46), as in libcurl and in browsers.
    int code = lookup(name, &ascii, 1 | 8);
    if (code == 0) return ascii;
    *reason = text(code);
    return NULL;
}
