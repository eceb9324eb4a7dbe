// Makes calls of the C API, legal and illegal, as the bytes of an input choose them.
#pragma once
#include <stddef.h>
#include <stdint.h>

typedef struct bh_application bh_application;

// Opens the library on a store, so that its engine runs until fuzz_close.
bh_application *fuzz_open(const char *store);
void fuzz_close(bh_application *application);

// Opens the library on a store, makes the calls in three threads, and closes everything. Paths are in the folder
// `files`. Returns NULL, or what was wrong. The caller frees the text.
char *fuzz_calls(const uint8_t *bytes, size_t size, const char *store, const char *files);
