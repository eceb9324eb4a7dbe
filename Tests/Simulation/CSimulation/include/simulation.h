// A simulated system for the threads of this process. Functions of the C library are replaced: threads run one at a
// time, in an order that a seed decides; time passes only when each thread waits; and connections lead to simulated
// servers. So a program runs in the same way each time it gets the same seed, and as fast as it can compute.
//
// The functions are replaced for all libraries that are linked dynamically, because the dynamic linker finds a symbol
// in the program first (ld.so(8)). The program that is tested contains nothing for the simulation.

#ifndef SIMULATION_H
#define SIMULATION_H

#include <stddef.h>
#include <stdint.h>

// ---- Time and chance

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

#endif
