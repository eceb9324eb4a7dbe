// libFuzzer's function for programs that have a main function of their own
// (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library). The toolchain has no header with it.
#pragma once
#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*test)(const uint8_t *bytes, size_t size));
