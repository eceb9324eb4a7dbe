// What the files of this module share.

#ifndef SIMULATED_H
#define SIMULATED_H

#include "simulation.h"
#include <stdbool.h>
#include <sys/types.h>
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

// The process of the calling thread; 0: the simulation itself.
int sim_process(void);

// Starts a thread of a process, ends all threads of a process, and stops the calling thread, which was ended.
void sim_start_thread(int process, void *(*body)(void *), void *argument);
void sim_end_threads(int process);
_Noreturn void sim_stop_thread(void);

bool sim_is_stopped(int process);

// Decides whether a call fails that is not a call on a file. Sets errno.
bool sim_call_fails(enum sim_file_call call);

// Notes that the process of the calling thread owns a new descriptor, and returns the descriptor.
int sim_own_descriptor(int descriptor);
void sim_forget_descriptor(int descriptor);
// Makes the timers expire that the kernel cancels when the calendar is set.
void sim_cancel_timers(void);

// From now on, code that is loaded sees the number of this process; 0: of this process itself.
void sim_load_as(int process);

int sim_pidfd_open(pid_t number);
int sim_pidfd_signal(int descriptor, int signal);
pid_t sim_process_number(int process);

// Writes what /proc/PID/stat has. Returns the size, 0 if the process has ended, or -1 if this is another path.
int sim_process_status(const char *path, char *text, size_t size);

// Notes who is at the other end of a Unix socket.
struct ucred;
void sim_unix_listens(void);
void sim_unix_connected(int descriptor);
void sim_set_peer(int descriptor, struct ucred *credentials);

// The next random number of a series with this state.
uint64_t sim_next_random(uint64_t *state);

// Opens a file of the kernel whose content the simulation decides. Returns -1 if the path is no such file.
int sim_open_kernel_file(const char *path);

#endif
