/* For preloaded libraries whose functions replace functions of other libraries. */
#pragma once
#include <dlfcn.h>
#include <string.h>

/* Declares a pointer `function` to the replaced function `name`. ISO C has no conversion from dlsym's result to a
 * function pointer, so the pointer is copied. */
#define FIND_REPLACED(result, name, parameters)                                                                        \
    static result(*_Atomic original) parameters;                                                                       \
    result(*function) parameters = original;                                                                           \
    if (!function) {                                                                                                   \
        void *found = dlsym(RTLD_NEXT, #name);                                                                         \
        memcpy(&function, &found, sizeof function);                                                                    \
        original = function;                                                                                           \
    }
