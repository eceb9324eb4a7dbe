// Connections to simulated servers. A socket of the program is one end of a pair of Unix sockets, so that libuv and
// libcurl can use it as any descriptor. The other end belongs to the simulated server. Bytes wait for the latency of
// the connection between the pair and the server.

#define _GNU_SOURCE
#include "simulated.h"
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct chunk {
    struct chunk *next;
    size_t count, taken;
    uint8_t bytes[];
};

struct queue {
    struct chunk *first, **last;
};

// The references are those of the descriptor and of the events that are due.
struct sim_connection {
    int descriptor; // the program's end; -1 after it was closed
    int other;      // the server's end; -1 before the program connects, and after the server has ended
    int references;
    int error;      // the error of the socket (SO_ERROR)
    size_t filling; // how many bytes fill the pair until the connection is made
    bool is_open;   // the connection is made
    bool is_paused; // the server reads nothing
    bool ends, resets;
    uint64_t received;       // how many bytes have arrived at the program
    int64_t last_arrival[2]; // bytes do not overtake others: to the server, to the program
    struct sockaddr_in own, peer;
    struct queue sent, arrived;
    void *context;
};

enum { MAXIMUM_DESCRIPTORS = 65536, TO_SERVER = 0, TO_PROGRAM = 1 };

static sim_connection *connections[MAXIMUM_DESCRIPTORS];
static sim_servers servers;

void sim_set_servers(const sim_servers *given) { servers = *given; }
void sim_connection_set_context(sim_connection *connection, void *context) { connection->context = context; }
void *sim_connection_context(const sim_connection *connection) { return connection->context; }

static sim_connection *connection_of(int descriptor) {
    if (!sim_is_on || descriptor < 0 || descriptor >= MAXIMUM_DESCRIPTORS) return NULL;
    return connections[descriptor];
}

static void put(struct queue *queue, const void *bytes, size_t count) {
    struct chunk *chunk = malloc(sizeof *chunk + count);
    chunk->next = NULL;
    chunk->count = count;
    chunk->taken = 0;
    memcpy(chunk->bytes, bytes, count);
    if (!queue->first) queue->last = &queue->first;
    *queue->last = chunk;
    queue->last = &chunk->next;
}

static void drop_first(struct queue *queue) {
    struct chunk *first = queue->first;
    queue->first = first->next;
    free(first);
}

static void release(sim_connection *connection) {
    if (--connection->references) return;
    while (connection->sent.first) drop_first(&connection->sent);
    while (connection->arrived.first) drop_first(&connection->arrived);
    free(connection);
}

static void later(sim_connection *connection, int64_t delay, void (*body)(void *)) {
    connection->references++;
    sim_after(delay, body, connection);
}

// Returns the delay until bytes that are sent now arrive, after the bytes that were sent before.
static int64_t delay_of(sim_connection *connection, int direction) {
    int64_t arrival = sim_now() + servers.latency(connection);
    if (arrival < connection->last_arrival[direction]) arrival = connection->last_arrival[direction];
    connection->last_arrival[direction] = arrival;
    return arrival - sim_now();
}

static void close_other(sim_connection *connection) {
    if (connection->other >= 0) REAL(close)(connection->other);
    connection->other = -1;
}

// ---- From the program to the server

static void arrive_at_server(void *context) {
    sim_connection *connection = context;
    struct chunk *chunk = connection->sent.first;
    if (chunk && connection->is_open && connection->other >= 0) {
        connection->sent.first = chunk->next;
        servers.received(connection, chunk->bytes, chunk->count);
        free(chunk);
    }
    release(connection);
}

// Takes the bytes that the program has written.
static void take_bytes(sim_connection *connection) {
    uint8_t bytes[65536];
    ssize_t count;
    if (connection->is_paused || !connection->is_open) return;
    while (connection->other >= 0 && (count = REAL(recv)(connection->other, bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
        put(&connection->sent, bytes, (size_t)count);
        later(connection, delay_of(connection, TO_SERVER), arrive_at_server);
    }
}

void sim_pause(sim_connection *connection, int paused) {
    connection->is_paused = paused;
    take_bytes(connection);
}

// ---- From the server to the program

// Hands over the bytes that have arrived, as far as the program's buffer has room.
static void hand_over(sim_connection *connection) {
    while (connection->other >= 0 && connection->arrived.first) {
        struct chunk *chunk = connection->arrived.first;
        ssize_t count = REAL(send)(connection->other, chunk->bytes + chunk->taken, chunk->count - chunk->taken,
                                   MSG_DONTWAIT | MSG_NOSIGNAL);
        if (count < 0) return;
        chunk->taken += (size_t)count;
        if (chunk->taken < chunk->count) return;
        drop_first(&connection->arrived);
    }
    if (connection->ends && connection->other >= 0) shutdown(connection->other, SHUT_WR);
}

struct delivery {
    sim_connection *connection;
    size_t count;
    bool ends, resets;
    uint8_t bytes[];
};

static void arrive_at_program(void *context) {
    struct delivery *delivery = context;
    sim_connection *connection = delivery->connection;
    if (delivery->count) put(&connection->arrived, delivery->bytes, delivery->count);
    connection->received += delivery->count;
    connection->ends |= delivery->ends;
    if (delivery->resets) {
        connection->resets = true;
        close_other(connection);
    }
    hand_over(connection);
    free(delivery);
    release(connection);
}

static void deliver(sim_connection *connection, const void *bytes, size_t count, bool ends, bool resets) {
    struct delivery *delivery = malloc(sizeof *delivery + count);
    *delivery = (struct delivery){connection, count, ends, resets};
    if (count) memcpy(delivery->bytes, bytes, count);
    connection->references++;
    sim_after(delay_of(connection, TO_PROGRAM), arrive_at_program, delivery);
}

void sim_send(sim_connection *connection, const void *bytes, size_t count) {
    if (count) deliver(connection, bytes, count, false, false);
}

void sim_end(sim_connection *connection, int reset) { deliver(connection, NULL, 0, !reset, reset); }

// ---- The functions of sockets

static int make_socket(void) {
    static uint16_t last_port; // a program distinguishes connections by their ports
    int pair[2];
    if (REAL(socketpair)(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair)) return -1;
    sim_connection *connection = calloc(1, sizeof *connection);
    connection->descriptor = pair[0];
    connection->other = pair[1];
    connection->references = 1;
    connection->own = (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(32768 + last_port++ % 28000), .sin_addr = {0x0100000a}};
    connections[pair[0]] = connection;
    sim_forget_descriptor(pair[1]);
    return sim_own_descriptor(pair[0]);
}

int socket(int family, int type, int protocol) {
    bool is_stream = (type & 0xf) == SOCK_STREAM;
    if (sim_call_fails(SIM_SOCKET)) return -1;
    if (!sim_is_simulated() || family == AF_UNIX) return sim_own_descriptor(REAL(socket)(family, type, protocol));
    if (family == AF_INET && is_stream) return make_socket();
    errno = EAFNOSUPPORT;
    return -1;
}

// A connection that is not made yet is not writable, because its pair is full.
static void fill(sim_connection *connection) {
    static const uint8_t zeros[65536];
    ssize_t count;
    while ((count = REAL(send)(connection->descriptor, zeros, sizeof zeros, MSG_DONTWAIT | MSG_NOSIGNAL)) > 0)
        connection->filling += (size_t)count;
}

static void become_open(void *context) {
    sim_connection *connection = context;
    uint8_t bytes[65536];
    while (connection->other >= 0 && connection->filling) {
        ssize_t count = REAL(recv)(connection->other, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count <= 0) break;
        connection->filling -= (size_t)count;
    }
    connection->is_open = true;
    release(connection);
}

static void refuse(void *context) {
    close_other(context);
    release(context);
}

int connect(int descriptor, const struct sockaddr *address, socklen_t size) {
    sim_connection *connection = connection_of(descriptor);
    if (!connection) {
        // Not to the message buses and the journal of this system.
        const struct sockaddr_un *path = (const void *)address;
        if (sim_is_simulated() && strncmp(path->sun_path, "/proc/self/fd/", 14)) {
            errno = ECONNREFUSED;
            return -1;
        }
        int result = REAL(connect)(descriptor, address, size);
        if (!result && sim_is_simulated()) sim_unix_connected(descriptor);
        return result;
    }
    connection->peer = *(const struct sockaddr_in *)(const void *)address;
    int64_t delay = 0;
    int answer =
        servers.connects(connection, ntohl(connection->peer.sin_addr.s_addr), ntohs(connection->peer.sin_port), &delay);
    fill(connection);
    connection->error = answer > 0 ? answer : 0;
    if (answer >= 0) later(connection, delay, answer ? refuse : become_open);
    errno = EINPROGRESS;
    return -1;
}

int listen(int descriptor, int backlog) {
    if (sim_is_simulated() && !connection_of(descriptor)) sim_unix_listens();
    return REAL(listen)(descriptor, backlog);
}

ssize_t send(int descriptor, const void *bytes, size_t count, int flags) {
    sim_connection *connection = connection_of(descriptor);
    ssize_t sent = REAL(send)(descriptor, bytes, count, flags);
    if (connection && sent > 0) take_bytes(connection);
    if (connection && sent < 0 && connection->resets) errno = ECONNRESET;
    return sent;
}

ssize_t recv(int descriptor, void *bytes, size_t count, int flags) {
    sim_connection *connection = connection_of(descriptor);
    ssize_t received = REAL(recv)(descriptor, bytes, count, flags);
    if (!connection) return received;
    if (received == 0 && connection->resets) {
        errno = ECONNRESET;
        return -1;
    }
    int code = errno;
    hand_over(connection);
    errno = code;
    return received;
}

int getsockopt(int descriptor, int level, int name, void *value, socklen_t *size) {
    sim_connection *connection = connection_of(descriptor);
    if (!connection || level != SOL_SOCKET || name != SO_ERROR) {
        if (connection && level == IPPROTO_TCP) {
            struct tcp_info info = {.tcpi_bytes_received = name == TCP_INFO ? connection->received : 0};
            if (*size > sizeof info) *size = sizeof info;
            memcpy(value, &info, *size);
            return 0;
        }
        int result = REAL(getsockopt)(descriptor, level, name, value, size);
        if (!result && level == SOL_SOCKET && name == SO_PEERCRED) sim_set_peer(descriptor, value);
        return result;
    }
    *(int *)value = connection->error;
    connection->error = 0;
    return 0;
}

int setsockopt(int descriptor, int level, int name, const void *value, socklen_t size) {
    return connection_of(descriptor) ? 0 : REAL(setsockopt)(descriptor, level, name, value, size);
}

static int give_address(const struct sockaddr_in *own, struct sockaddr *address, socklen_t *size) {
    memcpy(address, own, *size < sizeof *own ? *size : sizeof *own);
    *size = sizeof *own;
    return 0;
}

int getpeername(int descriptor, struct sockaddr *address, socklen_t *size) {
    sim_connection *connection = connection_of(descriptor);
    return connection ? give_address(&connection->peer, address, size) : REAL(getpeername)(descriptor, address, size);
}

int getsockname(int descriptor, struct sockaddr *address, socklen_t *size) {
    sim_connection *connection = connection_of(descriptor);
    return connection ? give_address(&connection->own, address, size) : REAL(getsockname)(descriptor, address, size);
}

int close(int descriptor) {
    sim_connection *connection = connection_of(descriptor);
    sim_forget_descriptor(descriptor);
    if (!connection) return REAL(close)(descriptor);
    connections[descriptor] = NULL;
    if (connection->context) servers.closed(connection);
    connection->descriptor = -1;
    close_other(connection);
    release(connection);
    return REAL(close)(descriptor);
}
