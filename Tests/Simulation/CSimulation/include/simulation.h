// A simulated system for the threads of this process. Functions of the C library are replaced: threads run one at a
// time, in an order that a seed decides; time passes only when each thread waits; and connections lead to simulated
// servers. So a program runs in the same way each time it gets the same seed, and as fast as it can compute.
//
// The functions are replaced for all libraries that are loaded dynamically, because the dynamic linker finds a symbol
// in the program first (ld.so(8)). The library that is tested contains nothing for the simulation.

#ifndef SIMULATION_H
#define SIMULATION_H

#include <backhaul.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// ---- Time and chance

// Starts this program again, so that it has the same addresses in each run, and the hashes of Swift's collections have
// no random part. In the second program, returns without an effect. Call it first. The second program has the arguments
// of the daemon of this store: a daemon reads the arguments of the whole process. The environment variable
// SIMULATION_ARGUMENTS has the given arguments.
void sim_make_repeatable(char **arguments, const char *store);

// Ends this process when its parent ends.
void sim_end_with_parent(void);

// Begins the simulation. The calling thread becomes the first simulated thread. Times are in microseconds: `calendar`
// since 1970, `boot` since the start of the machine.
void sim_begin(uint64_t seed, int64_t calendar, int64_t boot);

// Microseconds of simulated time since sim_begin.
int64_t sim_now(void);

// The next random number of the world. Threads are chosen with numbers of another series.
uint64_t sim_random(void);

// Sets the calendar, as a user or an NTP client does.
void sim_step_calendar(int64_t microseconds);

// Calls `body` after this number of microseconds, while no thread runs. `body` must not wait.
void sim_after(int64_t microseconds, void (*body)(void *), void *context);

// How often a thread was chosen to run.
uint64_t sim_switches(void);

// ---- Processes

// How many processes there can be. Process 0 is the simulation itself.
enum { SIM_PROCESSES = 12 };

// Starts a process with a number from 1 to SIM_PROCESSES. A number is used once.
void sim_start_process(int process, void *(*body)(void *), void *argument);
bool sim_is_running(int process);
// Makes getopt_long(3) begin with the first argument. It has one position for all simulated processes, so a process
// calls this right before it reads its arguments.
void sim_begin_arguments(void);

// Returns the process with this process id, as getpid(2) returns it in the process. 0: none.
int sim_process_of(int number);

// Ends a process at once, as SIGKILL does. Call it while no thread runs.
void sim_end_process(int process);

// Stops the threads of a process for this number of microseconds, as SIGSTOP and SIGCONT do. Call it while no thread
// runs.
void sim_stop_process(int process, int64_t microseconds);

// Ends the calling process; _exit(2) does the same.
_Noreturn void sim_exit(void);

// Ends the process of this system, and so all simulated processes.
_Noreturn void sim_end_run(int status);

// Sets what happens when the library starts a program: a process is started, and its number returned.
void sim_set_start(int (*start)(const char *const *arguments));

// Lets the other threads run. The calling thread never runs again.
_Noreturn void sim_sleep(void);

// The functions of the library that a program calls.
#define SIM_FUNCTIONS(FUNCTION)                                                                                        \
    FUNCTION(init)                                                                                                     \
    FUNCTION(status_name)                                                                                              \
    FUNCTION(application_open)                                                                                         \
    FUNCTION(application_close)                                                                                        \
    FUNCTION(session_create)                                                                                           \
    FUNCTION(session_attach)                                                                                           \
    FUNCTION(application_current_launch)                                                                               \
    FUNCTION(session_complete)                                                                                         \
    FUNCTION(session_close)                                                                                            \
    FUNCTION(session_get_configuration)                                                                                \
    FUNCTION(session_tasks)                                                                                            \
    FUNCTION(session_enqueue)                                                                                          \
    FUNCTION(session_poll)                                                                                             \
    FUNCTION(session_acknowledge)                                                                                      \
    FUNCTION(session_challenges)                                                                                       \
    FUNCTION(session_respond)                                                                                          \
    FUNCTION(tasks_cancel)                                                                                             \
    FUNCTION(tasks_suspend)                                                                                            \
    FUNCTION(tasks_resume)                                                                                             \
    FUNCTION(task_claim)                                                                                               \
    FUNCTION(batch_count)                                                                                              \
    FUNCTION(batch_item)                                                                                               \
    FUNCTION(batch_release)                                                                                            \
    FUNCTION(ticket_release)

struct sim_library {
#define SIM_MEMBER(name) __typeof__(&bh_##name) name;
    SIM_FUNCTIONS(SIM_MEMBER)
#undef SIM_MEMBER
    int (*run_daemon)(void); // the program of the daemon
};

// Loads the copy of the library for a process. `file` is the library, and `folder` gets files for a moment.
struct sim_library sim_load_library(const char *file, const char *folder, int process);

// ---- Network

typedef struct sim_connection sim_connection;

// The decisions of the simulated servers. The functions are called while no thread runs, and must not wait.
typedef struct {
    // A program connects to an IPv4 address. Returns 0 if the server accepts, an errno if it refuses, or -1 if nothing
    // answers. `*delay` is the time until then.
    int (*connects)(sim_connection *connection, uint32_t address, uint16_t port, int64_t *delay);
    // Bytes have arrived at the server.
    void (*received)(sim_connection *connection, const uint8_t *bytes, size_t count);
    // The program has closed its end. The connection is not valid after this call.
    void (*closed)(sim_connection *connection);
    // Returns the delay of the bytes that are sent on a connection.
    int64_t (*latency)(sim_connection *connection);
} sim_servers;

void sim_set_servers(const sim_servers *servers);

void sim_connection_set_context(sim_connection *connection, void *context);
void *sim_connection_context(const sim_connection *connection);

// Sends bytes to the program. They arrive after the connection's latency.
void sim_send(sim_connection *connection, const void *bytes, size_t count);

// Ends the server's direction after all sent bytes have arrived; with `reset`, ends the connection with ECONNRESET.
void sim_end(sim_connection *connection, int reset);

// If true, the server reads no bytes.
void sim_pause(sim_connection *connection, int paused);

// ---- Files: calls on the files below one folder, and what a disk has of them

// When changes of names are on the disk. Bytes of a file are on the disk after a sync of this file, and each page of 4
// KiB may also be there earlier, in whole or in part.
enum sim_file_system {
    // As with ext4 and XFS: changes are on the disk in their order. If a sync concerns one of them, all are there.
    SIM_ORDERED,
    // As POSIX promises at least: changes of a directory are on the disk after a sync of this directory, and a new name
    // after a sync of the new file. Each directory has an order of its own. Btrfs promises a little more: a sync of a
    // renamed file is enough.
    SIM_STRICT,
};

// Calls `found` for each name in a directory.
void sim_list(const char *directory, void (*found)(const char *name, void *context), void *context);

// Begins to follow the files below `root`, an existing folder of a tmpfs. Files that are there are on the disk. The
// path `root`.graves must be free. Call it after sim_begin.
void sim_files_begin(const char *root, enum sim_file_system rules);

// Saves what is not on the disk, and the simulated times of files. The next process loads it after sim_files_begin. A
// process must save if it is killed, because the memory of the kernel outlives it, and after sim_power_cut.
void sim_files_save(int descriptor);
void sim_files_load(int descriptor);

// Leaves below the folder what the disk may have, by seeded choice. Call it while no thread runs; the process must then
// end. Sentences about what was lost are written to `story`; -1: nowhere.
void sim_power_cut(uint64_t seed, int story);

// The kinds of calls. Those from SIM_CREATE on are durable steps: they change what a disk has to keep.
enum sim_file_call {
    SIM_SOCKET,
    SIM_THREAD, // pthread_create
    SIM_MEMORY, // malloc, calloc and realloc of SQLite, libcurl and libuv
    SIM_OPEN,
    SIM_READ,
    SIM_CREATE,
    SIM_WRITE,
    SIM_TRUNCATE,
    SIM_SYNC,
    SIM_RENAME,
    SIM_LINK,
    SIM_UNLINK,
    SIM_DIRECTORY, // mkdir and rmdir
    SIM_FILE_CALLS // the number of kinds
};

// Decides which calls of simulated threads fail: returns the errno, 0 for success, or SIM_SHORT for a write of half of
// the bytes. `number` counts the calls of this kind from 1. A sync that fails may lose the bytes, and a later sync
// does not know (fsync(2)).
enum { SIM_SHORT = -1 };
void sim_set_file_faults(int (*decide)(enum sim_file_call call, const char *name, uint64_t number));

// Lets the function of `sim_set_file_faults` decide about SIM_MEMORY, too. Call it when all libraries are loaded.
void sim_let_allocations_fail(void);

// The number of durable steps of this process.
uint64_t sim_durable_steps(void);

// Calls `body` before the step with this number. `body` saves the files and ends the process.
void sim_kill_at_step(uint64_t step, void (*body)(void));

// Makes syncs of files, or of directories, return at once without any effect. With such a disk, a correct program loses
// data, so a check that finds no loss is wrong.
enum sim_lie { SIM_HONEST, SIM_IGNORES_FILE_SYNCS, SIM_IGNORES_DIRECTORY_SYNCS };
void sim_set_lie(enum sim_lie lie);

// How long a sync takes on average, in microseconds.
void sim_set_sync_time(int64_t mean);

// Lets fstatat(2) of a process not find a directory, as in another mount namespace. All processes have the same path
// hidden.
void sim_hide(const char *path, int process);

// How many bytes are free, as the program sees it. Writes do not change it.
void sim_set_free_space(uint64_t bytes);

// Sets the kernel's boot ID. Call it before the program runs, with a new number after each power cut.
void sim_set_boot(uint64_t number);

#endif
