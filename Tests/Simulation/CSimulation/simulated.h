// What the files of this module share.

#ifndef SIMULATED_H
#define SIMULATED_H

#include "simulation.h"
#include <stdbool.h>
#include <time.h>

// Returns the C library's own function. It replaces a call of a function that this module replaces.
#define REAL(name)                                                                                                     \
    __extension__({                                                                                                    \
        static __typeof__(&name) function;                                                                             \
        if (!function) function = (__typeof__(&name))sim_real(#name);                                                  \
        function;                                                                                                      \
    })
void *sim_real(const char *name);

// Whether the simulation has begun.
extern bool sim_is_on;

// Whether the calling thread is a simulated thread, and no event runs.
bool sim_is_simulated(void);

// Waits until one of the descriptors is ready (poll(2)), or until the time has come; -1: without a limit.
struct pollfd;
void sim_wait_for(struct pollfd *descriptors, size_t count, int64_t until);

// The next random number of a series with this state.
uint64_t sim_next_random(uint64_t *state);

// Opens a file of the kernel whose content the simulation decides. Returns -1 if the path is no such file.
int sim_open_kernel_file(const char *path);

#endif
